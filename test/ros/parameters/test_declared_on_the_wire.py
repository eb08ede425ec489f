"""Test parameters of the running node: described, in the shipped file, checked on change."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from ament_index_python import get_package_share_directory
from geometry_msgs.msg import Inertia, Vector3, Vector3Stamped
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python
from support import shipped_config
from support.remote_node import PATIENCE, assert_close, floats, joint_state
from support.reply_stamps import stamp_of
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.parameters.declared import DECLARED, DEFAULTS, declared_name

JOINTS = [f'joint_{k}' for k in range(1, 8)]
CONFIG = Path(get_package_share_directory('dynamics_node'), 'config/dynamics_node.yaml')
# what rclpy declares on every node
STANDARD = ('use_sim_time', 'start_type_description_service', 'qos_overrides.')


@pytest.fixture(scope='module')
def node(launch_once):
    """A node with the bundled arm, which has measured nothing."""
    return launch_once(f'robot_description:={ARM7}')


def get(node, *names):
    """Return the values of parameters as the node has them."""
    reply = node.ask(GetParameters, 'get_parameters', GetParameters.Request(names=names))
    return [plain(parameter_value_to_python(value)) for value in reply.values]


def plain(value):
    return list(value) if isinstance(value, tuple) or hasattr(value, 'typecode') else value


@pytest.fixture
def restored(node):
    """Return the node; the parameters are restored after the test."""
    names = ('base', 'gravity', 'friction', 'friction_speed')
    before = get(node, *names)
    yield node
    of_joints = [name for name in listed(node) if name not in DEFAULTS]
    assert node.set_parameters({**dict(zip(names, before)), **dict.fromkeys(of_joints)}) == ''


def listed(node):
    """Return the names of the parameters that the node has beside those of rclpy."""
    reply = node.ask(ListParameters, 'list_parameters', ListParameters.Request())
    return [name for name in reply.result.names if not name.startswith(STANDARD)]


# The file --------------------------------------------------------------------------------------

def flat(tree, prefix=''):
    """Return {'a.b': value} of nested dicts."""
    return {name: value for key, branch in tree.items() for name, value in (
        flat(branch, f'{prefix}{key}.') if isinstance(branch, dict)
        else {f'{prefix}{key}': branch}).items()}


def test_the_shipped_file_has_every_parameter_with_its_default():
    """No more and no less, and above each is what it means."""
    (node_name, content), = yaml.safe_load(CONFIG.read_text()).items()
    assert node_name == '/**/dynamics_node'
    found = flat(content['ros__parameters'])
    assert found == DEFAULTS
    assert [type(value) for value in found.values()] == [
        type(DEFAULTS[name]) for name in found]  # ROS would not take 0 for 0.0
    assert CONFIG.read_text() == shipped_config.text(), (
        'the file differs from the declared parameters; `PYTHONPATH=.:test python -m '
        'support.shipped_config` writes it')


@pytest.mark.parametrize('namespace', ['', '/cell_3/left'])
def test_the_node_reads_the_shipped_file(launch, tmp_path, namespace):
    """In any namespace; a copy with other numbers shows that this file is read."""
    copy = tmp_path / 'copy.yaml'
    text = CONFIG.read_text()
    assert 'friction_speed: 0.01' in text
    copy.write_text(text.replace('friction_speed: 0.01', 'friction_speed: 0.75'))
    node = launch(namespace=namespace, arguments=('--params-file', str(copy)))
    names = list(DEFAULTS)
    assert dict(zip(names, get(node, *names))) == {**DEFAULTS, 'friction_speed': 0.75}
    assert 'Traceback' not in node.process.log()


def test_the_node_declares_every_parameter(node):
    """And those that rclpy adds to every node."""
    assert set(listed(node)) == set(DEFAULTS)


def test_every_parameter_is_described(node):
    """Meaning and unit, choices or range, and whether it may change."""
    names = list(DEFAULTS)
    reply = node.ask(DescribeParameters, 'describe_parameters',
                     DescribeParameters.Request(names=names))
    assert [found.name for found in reply.descriptors] == names
    for found in reply.descriptors:
        meta = DECLARED[declared_name(found.name)].metadata
        assert found.description.startswith(meta['text'])
        assert all(choice in found.description for choice in meta['one_of'] or ())
        spans = [(span.from_value, span.to_value) for span in (
            *found.floating_point_range, *found.integer_range)]
        assert spans == ([meta['bounds']] if meta['bounds'] else [])
        assert found.read_only == bool(meta.get('read_only'))


@pytest.mark.parametrize(('parameter', 'words'), [
    ('friction_speed:=-1.0', ['friction_speed', '-1.0', '1e-06', '10.0']),
    ('gravity:=down', ['gravity', "'down'", 'DOUBLE_ARRAY']),
    ('locked:=finger=0.02', ['finger=0.02', 'a map', 'locked.joint_1']),
    ('torque.kp:=[50.0]', ['[50.0]', 'a map', 'torque.kp.joint_1', 'torque.kp.default']),
    ('torque.cpu:=3', ['torque.cpu is 3', 'a list', '[2, 3]']),
    ('torque.joints:=5', ['torque.joints is 5', 'a list', "['first', 'second']"]),
])
def test_a_node_with_invalid_parameters_exits_with_an_error(start_node, parameter, words):
    """In one line, without a traceback."""
    process = start_node(parameter)
    assert process.wait(PATIENCE) == 2
    assert 'Traceback' not in process.log()
    for word in words:
        assert word in process.log()


# Changes that are refused ----------------------------------------------------------------------

BAD = [
    ('base', 'swinging', ['base', "'swinging'", 'fixed', 'floating']),
    ('base', 3, ['wrong parameter type']),
    ('missing_velocity', 'guess', ['missing_velocity', "'guess'", 'difference', 'fault']),
    ('gravity', [0.0, -9.81], ['gravity', '[0.0, -9.81]', 'three']),
    ('gravity', [0.0, math.nan, -9.81], ['gravity', 'nan', 'finite']),
    ('gravity', [0.0, math.inf, -9.81], ['gravity', 'inf', 'finite']),
    ('locked', 'joint_1=0.1', ['locked', "'joint_1=0.1'", 'a map', 'locked.joint_1']),
    ('locked.elbow', 0.1, ["'elbow'", *JOINTS]),
    ('locked.joint_1', math.nan, ['locked.joint_1', 'nan', 'finite']),
    ('locked.joint_1', '0.1', ['locked.joint_1', "'0.1'", 'finite number']),
    ('armature.elbow', 0.1, ["'elbow'", *JOINTS]),
    ('armature.joint_1', -0.1, ['armature', 'joint_1', '-0.1']),
    ('damping.elbow', 0.1, ["'elbow'", *JOINTS]),
    ('dry_friction.joint_1', -0.1, ['dry_friction', 'joint_1', '-0.1']),
    ('torque.kp', [50.0], ['torque.kp', '50.0', 'a map', 'torque.kp.default']),
    ('torque.kp.elbow', 50.0, ["'elbow'", *JOINTS]),
    ('torque.kp.joint_1', 2e5, ['torque.kp.joint_1', '200000', '100000']),
    ('torque.joints', 'joint_1 joint_2', ['torque.joints', "['joint_1', 'joint_2']"]),
    ('torque.joints', 5, ['torque.joints is 5', "['first', 'second']"]),
    ('torque.joints', 2.5, ['torque.joints is 2.5', "['first', 'second']"]),
    ('torque.joints', True, ['torque.joints is True', "['first', 'second']"]),
    ('torque.joints', [b'a'], ['torque.joints', "['first', 'second']"]),
    ('torque.joints', None, ['torque.joints', 'cannot be deleted']),
    ('no.such', 1.0, ["'no.such'", 'ros2 param list']),
    ('friction_speed', 0.0, ['friction_speed', '1e-06', '10']),
    ('friction_speed', 11.0, ['friction_speed', '1e-06', '10']),
    ('velocity_filter_time', -1.0, ['velocity_filter_time', '0', '0.1']),
    ('velocity_filter_time', math.nan, ['velocity_filter_time']),
    ('max_state_age', -1.0, ['max_state_age', '0', '3600']),
    ('max_state_age', '1', ['wrong parameter type']),
    ('robot_description', '/no/such/file.urdf', ['/no/such/file.urdf', 'shared_folders']),
    ('robot_description', 'no/such/file.urdf', ['no file', '/no/such/file.urdf']),
    ('robot_description', '<robot name="r"/>', ['<link>']),
    ('autostart', False, ['autostart', 'read-only']),
    ('base_state', 'pose_and_twist', ['base_state', 'read-only']),
]


def holds(node):
    """Return all that a parameter could have changed."""
    state = {'position': [0.3] * 7, 'velocity': [0.2] * 7}
    names = sorted(listed(node))
    return (names, get(node, *names), node.call('model_report'),
            node.call('inverse_dynamics', **state))


@pytest.mark.parametrize(('name', 'value', 'words'), BAD, ids=[
    f'{name}-{k}' for k, (name, _, _) in enumerate(BAD)])
def test_a_bad_value_is_refused_with_a_reason(node, name, value, words):
    """The parameter, the value, the valid values; and nothing has changed."""
    before = holds(node)
    reason = node.set_parameters({name: value})
    assert reason
    for word in words:
        assert word.lower() in reason.lower()
    assert repr(holds(node)) == repr(before)  # as text: nan limits are not equal to themselves
    node.assert_alive()


def test_one_bad_value_refuses_all_that_are_set_together(node):
    """They are set together or not at all."""
    before = holds(node)
    assert "'elbow'" in node.set_parameters({'gravity': [0.0, 0.0, -1.62],
                                           'locked.elbow': 0.1})
    assert repr(holds(node)) == repr(before)


def test_a_change_that_would_remove_the_frame_of_a_payload_is_refused(restored):
    """Valid for the robot, but not with its payload."""
    node = restored
    assert node.call('set_payload', name='tool', frame='link_7', payload=Inertia(m=1.0)).success
    try:
        text = ARM7.read_text().replace('link_7', 'hand')
        assert "payload 'tool'" in node.set_parameters({'robot_description': text})
        assert node.set_parameters({'locked.joint_7': 0.5}) == ''
        check(node, 'joint_7: 0.5', locked={'joint_7': 0.5}, payload=('tool', 'link_7', 1.0))
    finally:
        assert node.call('set_payload', name='tool', remove=True).success


# Changes that are taken ------------------------------------------------------------------------

def check(node, what, payload=None, **options):
    """Assert that the node gives the results of a library robot with these options."""
    robot = Robot.from_urdf(ARM7, **options)
    robot = robot.with_payload(*payload) if payload else robot
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    reply = node.call('inverse_dynamics', position=floats(q), velocity=floats(v),
                      acceleration=floats(a))
    assert reply.success, f'{what}: {reply.message}'
    assert tuple(reply.joint_names) == robot.joint_names
    assert_close(reply.effort, robot.inverse_dynamics(q, v, a), EXACT_MATHS)
    return reply.model_id


@pytest.mark.parametrize(('name', 'value', 'options'), [
    ('locked.joint_2', 0.3, {'locked': {'joint_2': 0.3}}),
    ('locked.joint_1', 1, {'locked': {'joint_1': 1.0}}),
    ('base', 'floating', {'base': 'floating'}),
    ('gravity', [1.0, 2.0, -3.0], {'gravity': (1.0, 2.0, -3.0)}),
    ('gravity', [0.0, 0.0, 0.0], {'gravity': (0.0, 0.0, 0.0)}),
    ('armature.joint_4', 0.7, {'armature': {'joint_4': 0.7}}),
    ('friction', False, {'friction': False}),
    ('friction_speed', 1.5, {'friction_speed': 1.5}),
])
def test_a_change_takes_effect_at_once(restored, name, value, options):
    """After the reply to the change the next result is that of the new robot; and back."""
    before = check(restored, 'before')
    assert restored.set_parameters({name: value}) == ''
    assert check(restored, name, **options) != before
    assert restored.set_parameters({name: DEFAULTS.get(name)}) == ''
    assert check(restored, 'after') == before


def test_numbers_of_joints_are_listed_while_they_exist(restored):
    """As `ros2 param list` and `ros2 param dump` show them; no name has a value and parts."""
    assert restored.set_parameters({'torque.kp.joint_1': 80.0, 'torque.joints': JOINTS[:2]}) == ''
    assert set(listed(restored)) == {*DEFAULTS, 'torque.kp.joint_1'}
    assert get(restored, 'torque.kp.joint_1', 'torque.kp.default', 'torque.joints') == [
        80.0, 50.0, JOINTS[:2]]
    assert not {f'{name}.' for name in listed(restored)} & {
        f'{name.rpartition(".")[0]}.' for name in listed(restored)}
    assert restored.set_parameters({'torque.kp.joint_1': None, 'torque.joints': []}) == ''
    assert set(listed(restored)) == set(DEFAULTS)
    assert restored.set_parameters({'torque.joints': ['']}) == ''


def test_maps_and_lists_of_a_file_are_used(launch, tmp_path):
    """Nested, whole numbers too; and another robot than they are for does not block the node."""
    file = tmp_path / 'maps.yaml'
    file.write_text("""\
/**/dynamics_node:
  ros__parameters:
    locked: {joint_6: 0.1, joint_7: 1}
    torque:
      joints: [joint_2, joint_1]
      kp: {default: 20.0, joint_1: 80.0}
      cpu: []
""")
    node = launch(f'robot_description:={ARM7}', arguments=('--params-file', str(file)))
    check(node, 'file', locked={'joint_6': 0.1, 'joint_7': 1.0})
    assert get(node, 'torque.joints', 'torque.kp.joint_1', 'torque.cpu') == [
        ['joint_2', 'joint_1'], 80.0, [-1]]
    assert 'elbow' in node.set_parameters({'robot_description': TWO_JOINTS})   # joints to lock
    assert node.set_parameters({'robot_description': TWO_JOINTS, 'locked.joint_6': None,
                                'locked.joint_7': None}) == ''
    assert node.call('model_report').robot != 'arm7'
    for change in ({'torque.kp.joint_1': None}, {'torque.joints': ['']}):
        assert node.set_parameters(change) == ''
    assert node.set_parameters({'torque.kp.elbow': 30.0}) == ''


def test_a_map_is_added_to_that_of_the_file_before(launch, tmp_path):
    """As the launch argument `locked`, which launch_ros writes into a file of its own."""
    first, second = tmp_path / 'first.yaml', tmp_path / 'second.yaml'
    first.write_text(f'/**/dynamics_node: {{ros__parameters: {{robot_description: "{ARM7}", '
                     'locked: {joint_5: 0.3, joint_6: 0.5}}}')
    second.write_text('/left/dynamics_node: {ros__parameters: {locked.joint_6: 0.1, '
                      'locked.joint_7: 0.2}}')
    node = launch(namespace='/left', arguments=('--params-file', str(first),
                                                '--params-file', str(second)))
    check(node, 'files', locked={'joint_5': 0.3, 'joint_6': 0.1, 'joint_7': 0.2})


def test_the_newer_gravity_of_parameter_and_service_is_used(restored):
    """Set by the service, then by the parameter."""
    vector = Vector3Stamped(vector=Vector3(x=1.0, z=-9.0))
    assert restored.call('set_gravity', gravity=vector).success
    check(restored, 'service', gravity=(1.0, 0.0, -9.0))
    assert restored.set_parameters({'gravity': [0.0, 0.0, -1.62]}) == ''
    check(restored, 'parameter', gravity=(0.0, 0.0, -1.62))


def test_measured_joints_stay_measured_when_others_are_locked(restored):
    """A locked joint needs no measurement, and the others keep theirs."""
    names = JOINTS[:6]
    restored.publish_until(lambda: restored.call('model_report').never_measured == ['joint_7'],
                           joint_state(3, names, [0.1] * 6, [0.2] * 6))
    assert restored.set_parameters({'locked.joint_7': 0.5}) == ''
    reply = restored.call('inverse_dynamics')
    robot = Robot.from_urdf(ARM7, locked={'joint_7': 0.5})
    assert_close(reply.effort, robot.inverse_dynamics([0.1] * 6, [0.2] * 6, [0.0] * 6),
                 EXACT_MATHS)
    assert stamp_of(reply) % 1_000_000_000 == 3


def test_the_robot_can_be_changed_by_parameter(launch):
    """A path or a text, while the node runs."""
    node = launch(f'shared_folders:=[{ARM7.resolve().parent}]')
    assert not node.call('model_report').success
    assert node.set_parameters({'robot_description': ARM7.name}) == ''
    check(node, 'path')
    text = ARM7.read_text().replace('name="arm7"', 'name="other"')
    assert node.set_parameters({'robot_description': text}) == ''
    assert node.call('model_report').robot == 'other'
