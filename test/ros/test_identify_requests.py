"""Test the identification that the inspector runs: progress, result, report, cancellation."""

import threading
import time

import numpy as np
import pytest
import rclpy
from support.recorded_arm import RATE, THREE_JOINTS, heavier, recorded
from support.remote_node import joint_state, wait_until

from dynamics_node import Robot
from dynamics_node.action import Identify
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.trajectory_files import TimedPoints
from dynamics_node.ros.identify_requests import IdentifyRequests, found_of

pytestmark = [pytest.mark.usefixtures('kernels')]

FASTER = 5.0     # than life do stamps run
SECONDS = 8.0    # of a recording
POINTS = TimedPoints(('shoulder',), np.array([0.0, 1.0]), np.zeros((2, 1)), None, None)


@pytest.fixture(scope='module')
def remote(launch_once, tmp_path_factory):
    """A node with a declared meaning of effort."""
    folder = tmp_path_factory.mktemp('robot')
    (folder / 'arm.urdf').write_text(THREE_JOINTS)
    return launch_once(f'robot_description:={folder / "arm.urdf"}',
                       'observer.effort_meaning:=motor_torque', f'shared_folders:=[{folder}]')


LONG = POINTS._replace(times=np.array([0.0, 3000.0]))


class ReferencesStandIn:
    """Counts what ControlRequests would send."""

    def __init__(self, sent):
        self._sent = sent

    def follow(self, points):
        self._sent.append(points)
        return 'sent'

    def stop(self):
        self._sent.append('stop')
        return 'the joints are stopped'


@pytest.fixture(scope='module')
def sent():
    return []


@pytest.fixture(scope='module')
def requests(remote, sent):
    rclpy.init(args=[])

    opened = IdentifyRequests(remote.name, ReferencesStandIn(sent))
    yield opened
    opened.close()
    assert opened.begin(5.0, None) == 'refused: the inspector ends'
    rclpy.try_shutdown()


@pytest.fixture
def playing(remote):
    """Joint states of an arm that is heavier than its URDF, for as long as the test runs."""
    raw = recorded(heavier(Robot.from_urdf(THREE_JOINTS))[0])
    stop, started = threading.Event(), time.time_ns()

    def play():
        for k in range(len(raw.time)):
            stamp = started + round(1e9 * raw.time[k])
            remote.publish(joint_state(stamp, raw.joint_names, raw.q[k], raw.v[k], raw.tau[k]))
            if stop.wait(1.0 / (FASTER * RATE)):
                return
    thread = threading.Thread(target=play)
    thread.start()
    yield
    stop.set()
    thread.join()


def ended(requests):
    return wait_until(lambda: not requests.state().running and requests.state(), 'the end')


def test_a_motion_is_recorded_identified_and_used(requests, remote, sent, playing):
    """The reference is sent once the recording runs; the report of the node is read."""
    before = remote.call('model_report').model_id
    assert requests.use() == 'refused: nothing was recorded yet'
    assert requests.begin(SECONDS, POINTS) == 'started'
    assert requests.begin(SECONDS, POINTS).startswith('refused: an identification is under way')
    state = ended(requests)
    assert state.stage == 'done' and sent == [POINTS], state.stage
    assert state.found.gain > 2.0 and (state.found.rms_after < state.found.rms_before).all()
    assert state.condition == state.found.condition and state.residual < 0.2
    assert state.found.report.startswith(b'<!') and b'Identification' in state.found.report
    assert remote.call('model_report').model_id == before
    assert requests.use() == 'started'
    assert ended(requests).stage == 'done'
    assert remote.call('model_report').model_id != before


def test_an_identification_is_cancelled(requests, playing):
    assert requests.cancel() == 'nothing is identified now'
    requests.begin(3000.0, None)
    wait_until(lambda: requests.state().stage == 'recording', 'the recording')
    assert requests.cancel() == 'cancelled'
    assert 'cancelled' in ended(requests).stage


def test_a_cancellation_stops_the_robot(requests, sent, playing):
    """The excitation of the recording would go on for as long as it takes."""
    sent.clear()
    requests.begin(3000.0, LONG)
    wait_until(lambda: sent, 'the reference')
    assert requests.cancel() == 'cancelled'
    stage = ended(requests).stage
    assert sent == [LONG, 'stop'] and 'cancelled' in stage, stage
    assert stage.endswith('the robot was stopped')


def test_a_refused_goal_has_the_reason(requests):
    requests.begin(1.0, None)
    assert 'duration is 1 s' in ended(requests).stage


def test_reports_of_other_folders_are_not_read(tmp_path):
    """A node could name any file: only one in the folder that the goal has named is read."""
    for folder in ('asked', 'other'):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / 'report.html').write_text(folder)
    files = [str(tmp_path / 'other' / 'report.html')]
    assert found_of(Identify.Result(files=files), 'asked').report is None
    assert found_of(Identify.Result(files=files), '').report is None
    files.append(str(tmp_path / 'asked' / 'report.html'))
    assert found_of(Identify.Result(files=files), 'asked').report == b'asked'
    (tmp_path / 'asked' / 'report.html').unlink()
    (tmp_path / 'asked' / 'report.html').symlink_to(tmp_path / 'other' / 'report.html')
    assert found_of(Identify.Result(files=files), 'asked').report is None


@pytest.mark.parametrize('field, names', [
    *((field, 'joint_names') for field in ('rms_before', 'rms_after', 'rms_torque')),
    *((field, 'parameter_names') for field in ('parameter_units', 'before', 'values',
                                               'determined'))])
def test_a_result_whose_fields_differ_in_size_is_refused(field, names):
    """It would end the page, which draws one row per joint and parameter."""
    result = Identify.Result(
        joint_names=['a'], rms_before=[1.0], rms_after=[1.0], rms_torque=[1.0],
        parameter_names=['m'], parameter_units=['kg'], before=[1.0], values=[1.0],
        determined=[True])
    assert found_of(result, '').joint_names == ['a']
    setattr(result, field, [])
    with pytest.raises(DynamicsError, match=f'malformed: {field} has 0 .* 1, as {names}'):
        found_of(result, '')
