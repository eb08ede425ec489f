"""Fuzz what is read from texts and files: robots, constraints, parameters, recordings."""

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from support.fuzz import MOST_TEXT, cases, no_hang, rng_of, same_memory
from support.random_texts import damaged, damaged_bytes
from support.simple_recordings import recorded
from support.tiny_robots import EVERY_KIND, TWO_JOINTS

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.identification.csv_files import write_csv
from dynamics_node.identification.recording_files import read_recording
from dynamics_node.identification.trajectory_files import read_trajectory
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.declared import DEFAULTS, ModelParameters, checked
from dynamics_node.ros.sendable_messages import sentence
from dynamics_node.ros.services.constraint_request import constraints_in


def refusal(call, *arguments):
    """Return the message with which a call is refused; '' if it is not."""
    with no_hang():
        try:
            call(*arguments)
            return ''
        except DynamicsError as error:
            return sentence(str(error))


def outcome(messages):
    """Check messages: short ones, and both outcomes occur."""
    assert max(map(len, messages)) < MOST_TEXT
    assert any(messages) and not all(messages)


def test_every_robot_description_is_loaded_or_refused():
    """A loaded one has a mass matrix; the one before a refused one stays."""
    texts = [TWO_JOINTS, EVERY_KIND, ARM7.read_text(), MECHANISMS['gripper'].urdf.read_text()]
    current, messages = CurrentRobot(lambda: 0.0), []
    parameters = ModelParameters(compile=False)

    def load(text):
        current.load(text.encode('utf-8', 'replace'), parameters)
        current.robot.mass_matrix(current.robot.neutral())
        current.robot.report()

    with same_memory():
        for seed in cases(200):
            rng = rng_of(seed)
            messages.append(refusal(load, damaged(rng, rng.choice(texts))))
    outcome(messages)


def test_every_text_of_constraints_is_read_or_refused():
    """Whatever YAML it is."""
    texts = [mechanism.loops.read_text() for mechanism in MECHANISMS.values()]
    texts += [text.partition('passive')[0] for text in texts]
    with same_memory():
        messages = []
        for seed in cases(200):
            rng = rng_of(seed)
            messages.append(refusal(constraints_in, 'constraints_yaml',
                                    damaged(rng, rng.choice(texts), 3)))
    outcome(messages)


def test_every_parameter_value_is_used_or_refused():
    """Values of a wrong type are refused by rclpy before."""
    words = ['', 'x', 'a=1', 'full', 'fixed', 'nan']
    messages = []
    for seed in cases(500):
        rng = rng_of(seed)
        name = rng.choice(list(DEFAULTS))
        default = DEFAULTS[name]
        number = rng.choice([0, 1, -1, 10 ** 6, 10 ** 18, -10 ** 18])
        value = (damaged(rng, rng.choice(words), 2) if isinstance(default, str)
                 else rng.random() < 0.5 if isinstance(default, bool)
                 else number if isinstance(default, int)
                 else [rng.choice([0.0, 1.0, -1.0, 1e308, np.nan, np.inf])] * rng.choice(
                     [0, 1, 3, 7, 10_000]) if isinstance(default, list)
                 else rng.choice([float(number), np.nan, np.inf, -np.inf, 1e-320]))
        messages.append(refusal(checked, {**DEFAULTS, name: value}))
    outcome(messages)


def write_bag(path, raw):
    """Write the joint states of a RawRecording."""
    store = get_typestore(Stores.ROS2_JAZZY)
    kind, types = 'sensor_msgs/msg/JointState', store.types
    with Writer(path, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        connection = writer.add_connection('/joint_states', kind, typestore=store)
        for time, q, tau in zip(raw.time, raw.q, raw.tau):
            stamp = types['builtin_interfaces/msg/Time'](sec=int(time), nanosec=int(time % 1 * 1e9))
            message = types[kind](header=types['std_msgs/msg/Header'](stamp=stamp, frame_id=''),
                                  name=list(raw.joint_names), position=q, velocity=0.0 * q,
                                  effort=tau)
            writer.write(connection, int(time * 1e9), store.serialize_cdr(message, kind))


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    """Files of each kind that can be read, [(name of the file, its bytes)]."""
    folder = tmp_path_factory.mktemp('recordings')
    robot = Robot.from_urdf(TWO_JOINTS, compile=False)
    raw = recorded(robot, duration=1.0)
    write_csv(folder / 'motion.csv', raw)
    write_bag(folder / 'bag', raw)
    return [(path.name, path.read_bytes()) for path in
            [folder / 'motion.csv', *(folder / 'bag').glob('*.db3')]]


def test_every_recording_is_read_or_refused(recordings, tmp_path):
    """CSV files and bags. Memory is not compared: a process reads one of them, then it ends."""
    messages = []
    for seed in cases(60):
        rng = rng_of(seed)
        name, data = rng.choice(recordings)
        path = tmp_path / name
        path.write_bytes(damaged_bytes(rng, data))
        messages.append(refusal(read_recording, path))
    outcome(messages)


def test_every_trajectory_file_is_read_or_refused(tmp_path):
    """CSV and YAML."""
    table = 'time,shoulder,elbow\n' + ''.join(f'{k},0.{k},0.1\n' for k in range(20))
    message = ('joint_names: [shoulder, elbow]\npoints:\n' + ''.join(
        f'- {{positions: [0.{k}, 0.1], time_from_start: {{sec: {k}, nanosec: 0}}}}\n'
        for k in range(20)))
    messages = []
    for seed in cases(100):
        rng = rng_of(seed)
        name, text = rng.choice([('x.csv', table), ('x.yaml', message)])
        (tmp_path / name).write_text(damaged(rng, text, 2), errors='replace')
        messages.append(refusal(read_trajectory, tmp_path / name))
    outcome(messages)
