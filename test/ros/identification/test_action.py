"""Test ~/identify over DDS: goals, feedback, cancellation, refusals, and the robot afterwards."""

import json
import threading
import time

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from support import moving_mechanisms as moving  # noqa: E402
from support.recorded_arm import RATE, THREE_JOINTS, heavier, recorded
from support.remote_node import joint_state, wait_until

from dynamics_node import Robot
from dynamics_node.action import Identify
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.identification.csv_files import read_csv, write_csv
from dynamics_node.identification.recording import raw_recording

# Compiled, as by default: identification evaluates the regressors of thousands of samples.
pytestmark = [pytest.mark.long, pytest.mark.usefixtures('kernels')]

FASTER = 5.0    # than life do stamps run: what counts is what they say
BETTER = 5.0    # times smaller must the torque error be: masses were off by up to 30 %


class Goal:
    """A goal on its way."""

    def __init__(self, remote, **fields):
        self.remote, self.feedback = remote, []
        self._client = remote.identify
        future = self.remote.spun(lambda: self._client.send_goal_async(
            Identify.Goal(**fields), feedback_callback=lambda m: self.feedback.append(m.feedback)))
        self.handle = remote.reply(future, 'a goal response')
        assert self.handle.accepted
        self._result = self.remote.spun(self.handle.get_result_async)

    def cancel(self):
        return self.remote.reply(self.remote.spun(self.handle.cancel_goal_async),
                                 'a cancel response')

    def result(self):
        """Return (status, result)."""
        reply = self.remote.reply(self._result, 'a result')
        return reply.status, reply.result


@pytest.fixture(scope='module')
def remote(launch_once, tmp_path_factory):
    """A node with a declared meaning of effort."""
    urdf = tmp_path_factory.mktemp('robot') / 'arm.urdf'
    urdf.write_text(THREE_JOINTS)
    node = launch_once(f'robot_description:={urdf}', 'observer.effort_meaning:=motor_torque',
                       f'shared_folders:=[{tmp_path_factory.getbasetemp()}]')
    node.identify = ActionClient(node.client, Identify, f'{node.name}/identify')
    wait_until(node.identify.server_is_ready, 'the action')
    return node


@pytest.fixture(scope='module')
def truth():
    return heavier(Robot.from_urdf(THREE_JOINTS))[0]


@pytest.fixture(scope='module')
def csv(tmp_path_factory, truth):
    """A recording of an arm that is heavier than its URDF."""
    path = tmp_path_factory.mktemp('recording') / 'motion.csv'
    write_csv(path, recorded(truth))
    return path


def refusal(remote, **fields):
    """Return why a goal is refused."""
    status, result = Goal(remote, **fields).result()
    assert status == GoalStatus.STATUS_ABORTED
    assert not result.success
    assert not result.parameter_names
    return result.message


def test_a_large_error_on_another_recording_is_no_success(remote, csv, tmp_path):
    """The result has all numbers and the reason, and is not applied."""
    before = remote.call('model_report').model_id
    other = recorded(Robot.from_urdf(THREE_JOINTS))
    write_csv(tmp_path / 'other.csv', other._replace(tau=other.tau + 3.0 * np.std(other.tau)))
    status, result = Goal(remote, recording=str(csv), validation=str(tmp_path / 'other.csv'),
                          apply=True).result()
    assert (status, result.success) == (GoalStatus.STATUS_ABORTED, False)
    assert 'the model does not explain the recording' in result.message
    assert len(result.values) == 42 and result.error_share > 0.3
    assert result.model_id == before == remote.call('model_report').model_id


def test_a_recording_is_identified(remote, csv, tmp_path, truth):
    """Feedback on the way, all numbers in the result, five files in the folder, nothing applied."""
    before = remote.call('model_report').model_id
    goal = Goal(remote, recording=str(csv), output=str(tmp_path / 'out'))
    status, result = goal.result()
    assert (status, result.success, result.message) == (GoalStatus.STATUS_SUCCEEDED, True, '')
    assert result.gain > BETTER
    assert 0.0 < result.error_share < 0.1
    total = np.sqrt(np.mean(np.array(result.rms_torque) ** 2))
    assert result.error == pytest.approx(result.error_share * total)
    assert result.joint_names == list(truth.joint_names)
    assert (np.array(result.rms_after) < np.array(result.rms_before)).all()
    assert len(result.parameter_names) == len(result.values) == len(result.sigmas) == 42
    shares = [each.progress for each in goal.feedback]
    assert shares == sorted(shares)
    assert len({each.stage for each in goal.feedback}) >= 3
    assert goal.feedback[-1].condition == result.condition
    assert 0.0 < goal.feedback[-1].residual < 0.2   # noise of 0.05 N m, and what is left
    assert np.isnan(goal.feedback[0].condition)
    files = {path.name: path for path in (tmp_path / 'out').iterdir()}
    assert set(files) == {'robot.urdf', 'friction.yaml', 'recording.csv', 'report.html',
                          'report.json'}
    assert files['robot.urdf'].read_text() == result.urdf
    assert files['friction.yaml'].read_text() == result.friction_yaml
    assert json.loads(files['report.json'].read_text())['gain'] == result.gain
    assert np.array_equal(read_csv(files['recording.csv']).tau, read_csv(csv).tau)
    assert result.model_id == before == remote.call('model_report').model_id
    for fields in ({'recording': str(csv)}, {'duration': 10.0}):   # files are not replaced
        message = refusal(remote, output=str(tmp_path / 'out'), **fields)
        assert 'has robot.urdf, ' in message and 'name another folder' in message


def test_files_are_replaced_where_the_operator_permits_it(launch, csv, tmp_path):
    """By a parameter at start; a peer cannot change it."""
    node = launch(f'robot_description:={THREE_JOINTS}', f'shared_folders:=[{csv.parent}]',
                  'overwrite_files:=true')
    assert 'read-only' in node.set_parameters({'overwrite_files': False})
    assert 'read-only' in node.set_parameters({'shared_folders': ['/']})
    node.identify = ActionClient(node.client, Identify, f'{node.name}/identify')
    wait_until(node.identify.server_is_ready, 'the action')
    (csv.parent / 'out').mkdir()
    (tmp_path / 'kept').write_text('kept')
    (csv.parent / 'out' / 'robot.urdf').symlink_to(tmp_path / 'kept')
    (csv.parent / 'out' / 'friction.yaml').write_text('old')
    status, result = Goal(node, recording=csv.name, output='out').result()
    assert (status, result.success) == (GoalStatus.STATUS_SUCCEEDED, True), result.message
    assert (csv.parent / 'out' / 'robot.urdf').read_text() == result.urdf
    assert (csv.parent / 'out' / 'friction.yaml').read_text() == result.friction_yaml
    assert (tmp_path / 'kept').read_text() == 'kept'   # the link was replaced, not followed


def test_a_second_goal_is_refused_and_a_goal_can_be_cancelled(remote, csv,
                                                                               tmp_path):
    """Services reply meanwhile; afterwards the next goal is served."""
    before = remote.call('model_report').model_id
    goal = Goal(remote, recording=str(csv), output=str(tmp_path / 'out'), apply=True)
    assert 'under way' in refusal(remote, recording=str(csv))
    assert 'under way' in remote.call('identify_payload', question='poses', frame='wrist_link',
                                      position=[0.0] * 9, effort=[0.0] * 9).message
    assert goal.cancel().goals_canceling
    status, result = goal.result()
    assert (status, result.success, result.message) == (GoalStatus.STATUS_CANCELED, False,
                                                        'cancelled')
    assert list((tmp_path / 'out').glob('*')) == []
    assert remote.call('model_report').model_id == before
    assert 'no such file' in refusal(remote, recording='no such file').lower()


@pytest.mark.parametrize(('fields', 'words'), [
    ({'recording': '/nowhere/motion.csv'}, ['/nowhere/motion.csv', 'shared_folders']),
    ({'recording': 'nowhere/motion.csv'}, ['/nowhere/motion.csv cannot be read']),
    ({'recording': 'nowhere/bag'}, ['there is no bag', '/nowhere/bag']),
    ({'duration': 1.0}, ['duration', '1 s', '5']),
    ({'duration': float('nan')}, ['duration', 'nan']),
    ({'recording': 'x.csv', 'method': 'best'}, ['method', "'best'", 'weighted']),
    ({'recording': 'x.csv', 'prior_weight': -1.0}, ['prior_weight', '-1']),
    ({'recording': 'x.csv', 'validation_share': 1.0}, ['validation_share', 'below 1']),
    ({'recording': 'x.csv', 'cutoff': float('nan')}, ['cutoff', 'nan']),
    ({'recording': 'x.csv', 'stribeck_speed': float('inf')}, ['stribeck_speed', 'inf']),
    ({'recording': 'x.csv', 'output': '/proc/here'}, ['/proc/here', 'shared_folders']),
    ({'duration': 10.0, 'output': '../out'}, ['output', '../out', 'shared_folders']),
])
def test_bad_goals_are_refused_by_name(remote, fields, words):
    """With the reason in the result."""
    message = refusal(remote, **fields)
    assert [word for word in words if word not in message] == []


def test_a_poor_recording_is_refused_with_what_to_record(remote, tmp_path):
    """The reason comes from the worker process."""
    robot, time = Robot.from_urdf(THREE_JOINTS), np.arange(1000) / RATE
    still = np.zeros((1000, 3))
    write_csv(tmp_path / 'still.csv', raw_recording(robot.joint_names, time, still, still))
    assert 'did not move' in refusal(remote, recording=str(tmp_path / 'still.csv'))


def test_a_live_recording_is_identified_and_applied(remote, truth):
    """Joint states are recorded as they arrive; the node then uses the result.

    A payload stays. While a goal is recorded, services answer as ever.
    """
    assert remote.call('set_payload', name='tool', frame='wrist_link',
                       payload=_kilogram()).success
    seconds, started = 25.0, time.time_ns()
    raw = recorded(truth.with_payload('tool', 'wrist_link', 1.0), 40.0)
    stop = threading.Event()

    def play():
        for k in range(len(raw.time)):
            stamp = started + round(1e9 * raw.time[k])
            remote.publish(joint_state(stamp, raw.joint_names, raw.q[k], raw.v[k], raw.tau[k]))
            if stop.wait(1.0 / (FASTER * RATE)):
                return
    thread = threading.Thread(target=play)
    thread.start()
    try:
        goal = Goal(remote, duration=seconds, apply=True)
        status, result = goal.result()
    finally:
        stop.set()
        thread.join()
    assert (status, result.success) == (GoalStatus.STATUS_SUCCEEDED, True), result.message
    assert goal.feedback[0].stage == 'recording'
    assert goal.feedback[-1].samples > 0.5 * seconds * RATE
    assert result.gain > BETTER
    report = remote.call('model_report')
    assert report.model_id == result.model_id
    assert remote.call('list_payloads').names == ['tool']
    links = Robot.from_urdf(result.urdf)
    assert report.total_mass == pytest.approx(links.total_mass + 1.0, rel=1e-12)
    friction = remote.call('set_friction')
    places = [result.parameter_names.index(f'{name}.viscous') for name in truth.joint_names]
    np.testing.assert_allclose(friction.damping, np.array(result.values)[places], rtol=1e-8)


def test_a_mechanism_with_loops_is_identified_by_its_motors_and_applied(launch_once, tmp_path):
    """From a table of the shoulders alone; the node then uses it, its loops closed."""
    bundled = MECHANISMS['five_bar']
    node = launch_once(f'robot_description:={bundled.urdf}', f'constraints:={bundled.loops}',
                       f'shared_folders:=[{tmp_path}]')
    node.identify = ActionClient(node.client, Identify, f'{node.name}/identify')
    wait_until(node.identify.server_is_ready, 'the action')
    robot = moving.mechanism('five_bar')
    layout, truth = moving.other_mechanism(robot)
    motion = moving.moved('five_bar', robot, 1200, 3)
    tau = moving.torques(robot, layout, truth, motion)
    write_csv(tmp_path / 'motion.csv', moving.raw(robot, motion, tau, motion.names, (0.0, 0.01)))
    before = node.call('model_report').model_id
    status, result = Goal(node, recording=str(tmp_path / 'motion.csv'), apply=True).result()
    assert (status, result.success) == (GoalStatus.STATUS_SUCCEEDED, True), result.message
    assert result.joint_names == ['left_shoulder', 'right_shoulder']
    assert result.gain > 3.0
    assert '2 equations per sample, of left_shoulder, right_shoulder' in result.warnings[0]
    report = node.call('model_report')
    assert report.model_id == result.model_id != before
    assert 'loops, 2 rows' in report.report
    damping = dict(zip(robot.joint_names, node.call('set_friction').damping))
    found = dict(zip(result.parameter_names, result.values))
    assert damping['left_elbow'] == pytest.approx(found['left_elbow.viscous'], rel=1e-8)


def _kilogram():
    from geometry_msgs.msg import Inertia
    return Inertia(m=1.0)


def test_efforts_of_unknown_meaning_are_not_recorded(remote):
    """The reason is that of the observer."""
    assert remote.set_parameters({'observer.effort_meaning': 'unknown'}) == ''
    assert 'effort_meaning is unknown' in refusal(remote, duration=10.0)
