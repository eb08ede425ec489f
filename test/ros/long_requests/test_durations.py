"""Test which requests are long: by their sizes, the robot, and kernels that are ready."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from support.current_robots import node_state_at  # noqa: E402
from support.long_samples import long_services, request_of  # noqa: E402
from support.node_states import MANY, node_state_of  # noqa: E402
from support.tiny_robots import TWO_JOINTS  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.kernels.keys import key_of  # noqa: E402
from dynamics_node.ros.long_requests.durations import (  # noqa: E402
    LONG,
    REFUSED,
    duration_of,
)
from dynamics_node.ros.services.table import SERVICES  # noqa: E402

CHANGES = {'set_payload', 'set_gravity', 'set_friction', 'identify_payload'}   # the node


@pytest.fixture(scope='module')
def in_numpy():
    """The bundled arm without kernels."""
    return node_state_of(str(ARM7))


@pytest.fixture(scope='module')
def compiled(kernel_cache):
    """A small robot with all kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('DYNAMICS_NODE_COMPILE', '1')
        patch.setenv('DYNAMICS_NODE_CACHE', str(kernel_cache))
        node_state = node_state_of(TWO_JOINTS)
        node_state.robot.compile(wait=True)
        yield node_state


def estimated(service, node_state, request):
    return duration_of(SERVICES[service].duration, node_state, request)


def of(service, node_state, **fields):
    return estimated(service, node_state, SERVICES[service].kind.Request(**fields))


def batch(states, joints=7, **fields):
    return {'question': 'inverse', 'position': [0.0] * (states * joints), **fields}


def test_services_that_change_the_node_are_never_long():
    """Another process could not change it."""
    assert not CHANGES & set(long_services())
    assert set(SERVICES) > CHANGES | set(long_services())


@pytest.mark.parametrize('service', long_services())
def test_every_sample_has_a_duration(in_numpy, service):
    """Of one state or three."""
    request = request_of(service, in_numpy.robot, np.random.default_rng(0))
    states, seconds = estimated(service, in_numpy, request)
    assert states == {**dict.fromkeys(MANY, 3), 'trajectory_torques': 23}.get(service, 1)
    assert 0.0 < seconds < 5.0


@pytest.mark.parametrize('fields, states', [
    (batch(1), 1), (batch(10), 10), (batch(1, velocity=[0.0] * 35), 5),
    (batch(0, acceleration=[0.0] * 14), 2), (batch(4, joints=2, joint_names=[
        'joint_3', 'joint_1']), 4), (batch(0), 1)])
def test_states_are_counted_by_the_largest_field(in_numpy, fields, states):
    """For the joints that the request names."""
    assert of('batch_dynamics', in_numpy, **fields).states == states


def test_without_kernels_a_hundred_states_are_long(in_numpy):
    """And a few are not; terms take longer than torques."""
    assert of('batch_dynamics', in_numpy, **batch(10)).seconds < LONG
    assert of('batch_dynamics', in_numpy, **batch(100)).seconds > LONG
    assert of('batch_dynamics', in_numpy, **batch(100)).seconds < of(
        'batch_dynamics', in_numpy, **{**batch(100), 'question': 'terms'}).seconds


def test_with_kernels_thousands_of_states_are_short(compiled):
    """A hundred times as many."""
    assert of('batch_dynamics', compiled, **batch(1000, 2)).seconds < LONG / 10.0
    assert of('batch_dynamics', compiled, **batch(1_000_000, 2)).seconds > LONG


def test_a_request_that_waits_for_a_kernel_is_long(compiled):
    """Derivatives and inverse kinematics, until theirs are compiled."""
    robot, rng = compiled.robot, np.random.default_rng(0)
    request = request_of('inverse_kinematics', robot, rng)
    assert estimated('inverse_kinematics', compiled, request).seconds > LONG
    SERVICES['inverse_kinematics'].handler(compiled, request,
                                           SERVICES['inverse_kinematics'].kind.Response())
    assert estimated('inverse_kinematics', compiled, request).seconds < LONG
    derivatives = {**batch(300, 2), 'question': 'forward'}
    assert of('dynamics_derivatives', compiled, **derivatives).seconds > LONG
    q = np.zeros((300, 2))
    robot.forward_dynamics_derivatives(q, q, q)
    assert of('dynamics_derivatives', compiled, **derivatives).seconds < LONG


@pytest.mark.parametrize('fields', [
    {'constraints_yaml': '[' + '{name: a, kind: weld, frame: b}, ' * 50 + ']'},
    {'constraints_yaml': '- name: a\n  kind: weld\n  frame: b\n' * 50}])
def test_many_constraints_are_long(in_numpy, fields):
    """Their number is known before the text is read."""
    assert of('constrained_dynamics', in_numpy).seconds < LONG
    assert of('constrained_dynamics', in_numpy, **fields).seconds > LONG
    contacts = {'contact_frames': ['elbow_link'] * 50}
    assert of('contact_and_impact', in_numpy, **contacts).seconds > LONG


@pytest.mark.parametrize('service, fields', [
    ('batch_dynamics', {'question': 'what'}), ('batch_dynamics', {'joint_names': ['no_joint']}),
    ('dynamics_derivatives', {'question': 'terms'}), ('inverse_kinematics', {}),
    ('kinematics', {'frames': ['no_frame']})])
def test_a_bad_request_is_left_to_its_handler(in_numpy, service, fields):
    """Which names the field; no process is started for it."""
    assert of(service, in_numpy, **fields) == REFUSED


@pytest.mark.parametrize(('period', 'states'), [
    (0.0, 3), (-1.0, 3), (np.nan, 3), (np.inf, 3), (5e-324, REFUSED.states),
    (1e-300, REFUSED.states)])
def test_any_period_of_a_trajectory_has_a_duration(in_numpy, period, states):
    """Its handler refuses those that are not valid, or too short."""
    request = request_of('trajectory_torques', in_numpy.robot, np.random.default_rng(0))
    request.check_period = period
    assert estimated('trajectory_torques', in_numpy, request).states == states


def test_a_closed_mechanism_takes_longer_than_its_open_tree():
    """Terms of one state, and samples of a trajectory; a Stewart platform without kernels."""
    node_state, _ = node_state_at('stewart')
    opened, closed = (of('dynamics_terms', node_state, closed=closed) for closed in (False, True))
    assert opened.seconds < closed.seconds and closed.seconds > LONG
    for service, fields in (('dynamics_derivatives', {'question': 'inverse'}), ('kinematics', {}),
                            ('operational_space', {'frames': ['tool'] * 10})):
        opened, closed = (of(service, node_state, closed=closed, **fields)
                          for closed in (False, True))
        assert opened.seconds < closed.seconds and closed.seconds > LONG
    assert of('dynamics_derivatives', node_state, closed=True, question='hybrid') == REFUSED
    path = JointTrajectory(joint_names=['leg_1_slide'], points=[JointTrajectoryPoint()] * 50)
    opened, closed = (of('trajectory_torques', node_state, trajectory=path, closed=closed)
                      for closed in (False, True))
    assert opened.states == closed.states == 50
    assert opened.seconds < closed.seconds


def test_derivatives_of_a_closed_mechanism_are_short_with_kernels(compiler_on):
    """With the motors as coordinates; other coordinates have no kernel."""
    node_state, _ = node_state_at('four_bar')
    robot = node_state.robot
    fields = {'question': 'inverse', 'closed': True, 'position': [0.0] * 300}
    slow = of('dynamics_derivatives', node_state, **fields)
    key = key_of(robot.model, 'closed_inverse_derivatives', ((0,),), False,
                 robot.loops.constraints)
    robot._dispatcher.compile([key], wait=True)
    fast = of('dynamics_derivatives', node_state, **fields)
    other = of('dynamics_derivatives', node_state, **fields, coordinates=['rocker_joint'])
    assert fast.states == slow.states == other.states == 100
    assert fast.seconds < LONG < slow.seconds <= other.seconds
