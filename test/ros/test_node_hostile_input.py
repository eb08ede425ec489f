"""Test hostile input: files that block, text that cannot be sent, endless names."""

import os
import signal

import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from support.recorded_arm import THREE_JOINTS
from support.remote_node import PATIENCE, wait_until

from dynamics_node.action import Identify
from dynamics_node.example_robots import ARM7

HALF = r'- {name: "\ud800", kind: x}'     # YAML whose name is half a character
LONG = 'x' * 10_000_000
SHORT = 11_000   # characters
METADATA = r"""
rosbag2_bagfile_information:
  version: 5
  storage_identifier: mcap
  relative_file_paths: [x.mcap]
  duration: {nanoseconds: 1}
  starting_time: {nanoseconds_since_epoch: 1}
  message_count: 1
  compression_format: ''
  compression_mode: ''
  topics_with_message_count:
  - message_count: 1
    topic_metadata: {name: "/\ud800", type: sensor_msgs/msg/JointState, serialization_format: cdr,
                     offered_qos_profiles: ''}
"""


@pytest.fixture(scope='module')
def node(launch_once, tmp_path_factory):
    """A node for all tests of this file."""
    urdf = tmp_path_factory.mktemp('robot') / 'arm.urdf'
    urdf.write_text(THREE_JOINTS)
    node = launch_once(f'robot_description:={urdf}',
                       f'shared_folders:=[{tmp_path_factory.getbasetemp()}]')
    node.identify = ActionClient(node.client, Identify, f'{node.name}/identify')
    wait_until(node.identify.server_is_ready, 'the action')
    node.first = node.call('model_report').model_id
    return node


@pytest.fixture(autouse=True)
def unharmed(node):
    """After each test the node gives the same results, and its log has no internal error."""
    yield
    assert node.call('model_report').model_id == node.first
    assert 'Traceback' not in node.process.log()


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / 'fifo'
    os.mkfifo(path)
    return path


STATE = {'position': [0.1] * 3, 'velocity': [0.0] * 3}
YAML = [('constrained_dynamics', {'question': 'inverse', 'constraints_yaml': HALF, **STATE}),
        ('contact_and_impact', {'question': 'forces', 'contacts_yaml': HALF, **STATE}),
        ('task_control', {'constraints_yaml': HALF, **STATE})]


@pytest.mark.parametrize(('service', 'fields'), YAML, ids=[service for service, _ in YAML])
def test_an_invalid_character_in_a_request_is_refused(node, service, fields):
    assert 'not valid YAML' in node.call(service, **fields).message


def test_an_invalid_character_in_a_parameter_is_refused(node):
    assert 'not valid YAML' in node.set_parameters({'constraints': HALF})


@pytest.mark.parametrize(('service', 'fields', 'words'), [
    ('inverse_dynamics', {'joint_names': [LONG]}, ['no moving joint', 'wrist']),
    ('kinematics', {'frames': [LONG], **STATE}, ['no frame', 'wrist_link']),
    ('batch_dynamics', {'question': LONG}, ['characters of question: 10000000']),
    ('set_payload', {'name': LONG, 'frame': 'wrist_link'}, ['characters of name: 10000000']),
    ('set_payload', {'name': LONG, 'remove': True}, ['characters of name: 10000000']),
    ('constrained_dynamics', {'question': 'inverse', 'constraint_names': [LONG]}, []),
], ids=lambda value: value if isinstance(value, str) else '')
def test_names_of_ten_megabytes_are_not_echoed(node, service, fields, words):
    """The message still has the valid ones."""
    message = node.call(service, **fields).message
    assert 0 < len(message) < SHORT
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize('name', ['base', 'robot_description', 'constraints', 'torque.joints',
                                  'gravity', LONG, f'torque.kp.{LONG}'])
def test_long_parameter_values_and_names_are_not_echoed(node, name):
    """Neither by this package nor by rclpy."""
    assert 0 < len(node.set_parameters({name: LONG})) < SHORT


# Files ---------------------------------------------------------------------------------------

@pytest.mark.parametrize('parameter', ['constraints', 'robot_description'])
@pytest.mark.parametrize('name', ['fifo', 'terminal', 'endless', 'folder', 'long name'])
def test_a_parameter_that_names_no_regular_file_is_refused(node, fifo, parameter, name):
    """At once, by its path: no process ever writes into the fifo."""
    terminal = os.ttyname(os.openpty()[1])
    path, why = {'fifo': (str(fifo), 'it is a fifo'), 'folder': (str(fifo.parent), 'a directory'),
                 'terminal': (terminal, 'shared_folders'),
                 'endless': ('/dev/zero', 'shared_folders'),
                 'long name': (f'{fifo}/' + 'x' * 100_000, 'shared_folders')}[name]
    reason = node.set_parameters({parameter: path})
    assert why in reason and path[:20] in reason and len(reason) < SHORT


@pytest.mark.parametrize('parameter', ['constraints', 'robot_description'])
def test_a_file_outside_the_folders_is_refused_as_a_parameter(launch, tmp_path, parameter):
    """The same whether it exists or not, and by any way to it; before the node is configured too.

    The file that was named at launch is permitted at any time.
    """
    arm, shared = tmp_path / 'arm.urdf', tmp_path / 'shared'
    arm.write_text(THREE_JOINTS)
    (tmp_path / 'other').write_text('root_hash')
    shared.mkdir()
    (shared / 'link').symlink_to('../other')
    (shared / 'file').write_text('root_hash')
    for autostart in ('true', 'false'):
        node = launch(f'robot_description:={arm}', f'shared_folders:=[{shared}]',
                      f'autostart:={autostart}')
        for path in (tmp_path / 'other', '../other', 'link', '/etc/passwd', tmp_path / 'missing'):
            reason = node.set_parameters({parameter: str(path)})
            assert f'parameter {parameter} is' in reason and str(shared) in reason
        assert node.set_parameters({'robot_description': str(arm)}) == ''
        if autostart == 'true':
            reason = node.set_parameters({parameter: 'file'})
            assert 'no robot can be built with file' in reason
        assert 'root_hash' not in reason + node.process.log()


def refusal(node, recording):
    """Return why a recording is refused."""
    goal = node.reply(node.spun(lambda: node.identify.send_goal_async(
        Identify.Goal(recording=str(recording)))))
    reply = node.reply(node.spun(goal.get_result_async), 'a result')
    assert reply.status == GoalStatus.STATUS_ABORTED
    return reply.result.message


def test_a_bag_whose_topic_is_an_invalid_character_is_refused(node, tmp_path):
    (tmp_path / 'metadata.yaml').write_text(METADATA)
    (tmp_path / 'x.mcap').write_bytes(b'')
    assert 'metadata.yaml cannot be read' in refusal(node, tmp_path)


@pytest.mark.parametrize('path', ['/etc/passwd', '../' * 9 + 'etc/passwd', 'link.csv', 'links',
                                  '/dev/zero', '/proc/self/environ', '\u00fc\n\u202e'])
def test_a_recording_outside_the_folders_is_refused(node, tmp_path_factory, path):
    """Nothing of it is told."""
    base = tmp_path_factory.getbasetemp()
    if path == 'links':
        (base / path).mkdir()
        (base / path / 'metadata.yaml').symlink_to('/etc/passwd')
    elif path == 'link.csv':
        (base / path).symlink_to('/etc/passwd')
    message = refusal(node, path)
    assert 'root' not in message.replace(str(base), '')
    assert ('shared_folders' if path.isascii() else 'there is no bag') in message


@pytest.mark.parametrize('name', ['motion.csv', 'bag', 'x.mcap'])
def test_a_recording_that_is_a_fifo_is_refused(node, tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert 'it is a fifo; expected a regular file' in refusal(node, tmp_path / name)


@pytest.mark.parametrize('output', ['/' + 'x' * 100_000, 'a/' * 1500, '\u00fc' * 5_000_000])
def test_a_folder_that_cannot_be_made_is_refused(node, tmp_path, output):
    """A thousand nested folders are more than Python makes."""
    goal = node.reply(node.spun(lambda: node.identify.send_goal_async(
        Identify.Goal(recording='x.csv', output=output))))
    message = node.reply(node.spun(goal.get_result_async), 'a result').result.message
    assert ('shared_folders' if len(output) > 4000 else 'cannot write into') in message
    assert len(message) < SHORT


# At the start --------------------------------------------------------------------------------

@pytest.mark.parametrize('parameter', ['constraints', 'robot_description'])
def test_a_node_started_with_a_fifo_has_no_robot_and_stops_on_request(launch, fifo,
                                                                            parameter):
    """The log has the reason, and Ctrl-C works."""
    other = launch(*(['robot_description:=' + str(ARM7)] if parameter == 'constraints' else []),
                   f'{parameter}:={fifo}')
    assert 'it is a fifo' in other.call('inverse_dynamics').message
    other.process.send_signal(signal.SIGINT)
    assert other.process.wait(PATIENCE) == 0


@pytest.mark.parametrize(('name', 'words'), [('fifo', 'it is a fifo'), ('no', 'No such file'),
                                             ('bad', 'No value at line')])
def test_an_unreadable_parameters_file_ends_the_node_with_one_line(start_node, fifo, name, words):
    """Before ROS would wait for it."""
    (fifo.parent / 'bad').write_text('/**:\n  ros__parameters:\n    base:\n')
    process = start_node(arguments=['--params-file', str(fifo.parent / name)])
    assert process.wait(PATIENCE) == 2
    assert 'FATAL' in process.log() and words in process.log()
    assert 'Traceback' not in process.log()
