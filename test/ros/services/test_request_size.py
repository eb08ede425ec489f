"""Test the size of requests: each list, name and text of each service has a cap."""

import pytest
from geometry_msgs.msg import WrenchStamped
from support.node_states import ask, node_state_of, refused, reply_of, scene, whole_state
from support.tiny_robots import TWO_JOINTS
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import msg
from dynamics_node.ros.message_fields import message_fields
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS, CapExceeded, Caps
from dynamics_node.ros.services.request_size import (
    LISTS_OF_TYPE,
    check_request,
    request_bytes,
)
from dynamics_node.ros.services.table import SERVICES

NOTHING = Caps(dict.fromkeys(DEFAULT_CAPS.most, 0))


def growable():
    """Yield (service, request with one list or text of length one, its field)."""
    for service, (kind, _, _) in SERVICES.items():
        for field, contains in message_fields(kind.Request).items():
            if (f'{kind.__name__}_Request', field) in LISTS_OF_TYPE and (
                    field in ('position', 'velocity', 'acceleration', 'effort')):
                continue   # states
            request = kind.Request()
            if contains.many and contains.message is not None:
                setattr(request, field, [contains.message()])
            elif contains.many:
                setattr(request, field, ['x'] if contains.is_text else [
                    type(next(iter(default), 1.0))() for default in [getattr(request, field)]])
            elif contains.is_text:
                setattr(request, field, 'x')
            else:
                continue
            yield pytest.param(service, request, field, id=f'{service}.{field}')


@pytest.mark.parametrize(('service', 'request_', 'field'), growable())
def test_every_list_and_text_of_every_service_has_a_cap(service, request_, field):
    """With caps of zero, one entry or character is refused, by the name of the field."""
    with pytest.raises(CapExceeded, match=rf'{field}: 1, at most 0 \(service\.max_'):
        check_request(NOTHING, request_)
    check_request(DEFAULT_CAPS, request_)


TARGET = msg.FrameTarget(frame='elbow_link', kind='position')
LARGE = [
    ('inverse_kinematics', {'targets': [TARGET] * 3000}, 'targets: 3000, at most 20 '
     '(service.max_targets)'),
    ('kinematics', {'frames': ['base'] * 100_000}, 'frames: 100000, at most 1000 '
     '(service.max_frames)'),
    ('operational_space', {'frames': ['base'] * 21}, 'frames: 21, at most 20 '
     '(service.max_targets)'),
    ('inverse_dynamics', {'external_wrenches': [WrenchStamped()] * 1001},
     'external_wrenches: 1001, at most 1000 (service.max_frames)'),
    ('inverse_dynamics', {'position': [0.1] * 10_001}, 'position: 10001, at most 10000 '
     '(service.max_entries)'),
    ('task_control', {'tasks': [msg.Task()] * 51}, 'tasks: 51, at most 50 (service.max_tasks)'),
    ('task_control', {'bounds': [msg.TaskBound()] * 51}, 'bounds: 51, at most 50 '
     '(service.max_tasks)'),
    ('task_control', {'bounds': [msg.TaskBound(sides=1000)]}, 'sides: 1000, at most 32 '
     '(service.max_sides)'),
    ('task_control', {'tasks': [msg.Task(name='x' * 201)]}, 'characters of name: 201, at most 200 '
     '(service.max_name)'),
    ('task_control', {'tasks': [msg.Task(value=[0.0] * 10_001)]}, 'value: 10001, at most 10000 '
     '(service.max_entries)'),
    ('constrained_dynamics', {'constraints_yaml': ' ' * 50_001}, 'characters of constraints_yaml: '
     '50001, at most 50000 (service.max_yaml)'),
    ('self_test', {'samples': 1001}, 'samples: 1001, at most 1000 (service.max_samples)'),
    ('inverse_kinematics', {'restarts': 1001}, 'restarts: 1001, at most 1000 '
     '(service.max_restarts)'),
]


@pytest.mark.parametrize(('service', 'fields', 'message'), LARGE,
                         ids=[message.partition(',')[0] for *_, message in LARGE])
def test_a_large_request_is_refused_with_the_number_and_the_cap(service, fields, message):
    """Without a robot too: nothing else is read."""
    from dynamics_node.ros.node_state import NodeState
    from dynamics_node.ros.parameters.declared import ModelParameters
    empty = NodeState(lambda: 0, lambda: 0.0, ModelParameters())
    assert refused(empty, service, **fields) == message


@pytest.mark.parametrize(('service', 'fields'), [
    ('constrained_dynamics', {'question': 'forward', 'effort': [0.0] * 2}),
    ('task_control', {}),
    ('contact_and_impact', {'question': 'forces', 'effort': [0.0] * 2})])
def test_600_welds_are_refused(service, fields):
    """They took the node 107 s; as many as the cap are computed."""
    node_state = node_state_of(TWO_JOINTS)
    name = 'contacts_yaml' if service == 'contact_and_impact' else 'constraints_yaml'
    welds = [f'- {{name: c{k}, kind: weld, frame: elbow_link}}' for k in range(600)]
    request = {**fields, **whole_state()}
    assert refused(node_state, service, **request, **{name: '\n'.join(welds)}) == (
        'constraints: 600, at most 50 (service.max_constraints)')
    assert ask(node_state, service, **request, **{name: '\n'.join(welds[:50])})


def test_refusals_are_counted_by_cap():
    """For the diagnostics."""
    from dynamics_node.ros.services.runner import ServiceRunner
    kind, handler, _ = SERVICES['kinematics']
    runner = ServiceRunner(scene(TWO_JOINTS).node_state, pytest.fail)
    runner.active = True
    reply = runner.callback(handler)
    for frames in (['base'] * 1001, ['base'] * 1001, ['no_frame'], ['base']):
        reply(kind.Request(frames=frames), kind.Response())
    assert (runner.refused_by, runner.refused, runner.served) == (
        {'service.max_frames': 2}, 3, 1)


def test_states_are_no_entries():
    """A batch may have more numbers than a single state."""
    node_state = scene(TWO_JOINTS).node_state
    node_state.caps.most['service.max_entries'] = 10
    assert ask(node_state, 'batch_dynamics', question='inverse', position=[0.1] * 200).states == 100
    trajectory = JointTrajectory(joint_names=['elbow'], points=[
        JointTrajectoryPoint(positions=[0.1]) for _ in range(11)])
    assert 'not after the point before it' in reply_of(
        node_state, 'trajectory_torques', trajectory=trajectory).message


@pytest.mark.parametrize(('service', 'fields', 'least'), [
    ('batch_dynamics', {'position': [0.1] * 1000, 'velocity': [0.1] * 1000}, 16_000),
    ('kinematics', {'frames': ['base'] * 100}, 10_000),
    ('constrained_dynamics', {'constraints_yaml': 'x' * 5000}, 5000),
    ('trajectory_torques', {'trajectory': JointTrajectory(
        joint_names=['elbow'], points=[JointTrajectoryPoint(positions=[0.1] * 10)] * 100)}, 8000)])
def test_the_bytes_of_a_request_are_those_of_its_lists_and_texts(service, fields, least):
    """Within a factor of two."""
    assert least <= request_bytes(SERVICES[service].kind.Request(**fields)) < 2 * least
