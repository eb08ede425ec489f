"""Test the robot description: early, late, replaced under load, invalid; and a restarted node."""

import random
import re
import threading
from contextlib import suppress

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Inertia, Vector3, Vector3Stamped
from support.remote_node import PATIENCE, RemoteNode, assert_close, floats, joint_state, wait_until
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.srv import InverseDynamics

pytestmark = pytest.mark.long

TEXT = ARM7.read_text()
JOINTS = [f'joint_{k}' for k in range(1, 8)]


def swapped(text, *pair):
    """Return a text in which two names have changed places."""
    places = {f'"{pair[0]}"': f'"{pair[1]}"', f'"{pair[1]}"': f'"{pair[0]}"'}
    return re.sub('|'.join(places), lambda found: places[found.group()], text)


# The same joint names, but in another order, other masses and limits.
OTHER = swapped(swapped(TEXT, 'joint_2', 'joint_5'), 'joint_1', 'joint_7').replace(
    'name="arm7"', 'name="other"').replace('mass value="4.2"', 'mass value="6.5"')
STATE = {'joint_names': JOINTS, 'position': [0.3] * 7, 'velocity': [0.2] * 7}


def torques(robot):
    """Return the reply to a request of STATE, in its order of joints."""
    order = [robot.joint_names.index(name) for name in JOINTS]
    return robot.inverse_dynamics([0.3] * 7, [0.2] * 7, [0.0] * 7)[order]


def wait_for_robot(node, name):
    """Return the report of a node when it holds that robot."""
    return wait_until(lambda: next((reply for reply in [node.call('model_report')]
                                    if reply.success and reply.robot == name), None), name)


def assert_serves(node, text, make=lambda robot: robot):
    """Assert that the node gives the results of the library for a text and settings."""
    reply = node.call('inverse_dynamics', **STATE)
    assert reply.success, reply.message
    assert_close(reply.effort, torques(make(Robot.from_urdf(text))), EXACT_MATHS)
    return reply.model_id


def test_the_two_robots_have_different_joint_orders():
    """Else the tests below prove little."""
    other = Robot.from_urdf(OTHER)
    assert set(other.joint_names) == set(JOINTS) != other.joint_names
    assert other.joint_names != Robot.from_urdf(TEXT).joint_names
    assert np.abs(torques(other) - torques(Robot.from_urdf(TEXT))).max() > 1.0


def test_an_early_description_is_received(client, start_node):
    """The publisher exists before the node."""
    node = RemoteNode(client, None, '/early')
    node.describe(TEXT)
    node.process = start_node(namespace='/early')
    wait_for_robot(node, 'arm7')
    assert_serves(node, TEXT)


def test_a_late_and_a_replaced_description_are_received(launch):
    """The publisher starts after the node; earlier joint states do not matter."""
    node = launch()
    assert node.call('model_report').message.startswith('no robot yet')
    node.publish(joint_state(1, JOINTS, [0.1] * 7))
    node.wait_for_diagnostics(lambda status: status.level == DiagnosticStatus.ERROR, 'no robot')
    node.describe(TEXT)
    wait_for_robot(node, 'arm7')
    first = assert_serves(node, TEXT)
    node.describe(OTHER)
    wait_for_robot(node, 'other')
    assert assert_serves(node, OTHER) != first
    node.describe(TEXT)
    wait_for_robot(node, 'arm7')
    assert assert_serves(node, TEXT) == first


def test_the_parameter_is_the_fallback_of_the_topic(launch):
    """Used until the topic has a description."""
    node = launch(f'robot_description:={ARM7}')
    assert_serves(node, TEXT)
    node.describe(OTHER)
    wait_for_robot(node, 'other')
    assert_serves(node, OTHER)
    bad = launch('robot_description:=/no/such/file.urdf')
    assert 'no file' in bad.call('model_report').message
    bad.describe(TEXT)
    wait_for_robot(bad, 'arm7')
    assert_serves(bad, TEXT)


def test_settings_survive_a_new_description(launch):
    """Payload, gravity, friction, and the measured state of joints that both have."""
    node = launch(f'robot_description:={ARM7}')
    robot, q, v = Robot.from_urdf(TEXT), np.arange(7) * 0.1, np.arange(7) * 0.2
    node.measure(robot, 5, JOINTS, q, v)
    assert node.call('set_payload', name='tool', frame='link_7', payload=Inertia(m=2.0)).success
    assert node.call('set_gravity', gravity=Vector3Stamped(vector=Vector3(x=1.0, z=-9.0))).success
    assert node.call('set_friction', joint_names=['joint_5'], damping=[3.0]).success

    def with_settings(robot):
        return robot.with_payload('tool', 'link_7', 2.0).with_gravity((1.0, 0.0, -9.0)) \
            .with_friction({'joint_5': 3.0})
    first = assert_serves(node, TEXT, with_settings)
    node.describe(OTHER)
    wait_for_robot(node, 'other')
    second = assert_serves(node, OTHER, with_settings)
    assert second != first
    other = with_settings(Robot.from_urdf(OTHER))
    order = [JOINTS.index(name) for name in other.joint_names]
    reply = node.call('inverse_dynamics')
    assert_close(reply.effort, other.inverse_dynamics(q[order], v[order], np.zeros(7)), EXACT_MATHS)
    assert reply.state_stamp.nanosec == 5
    assert node.call('list_payloads').names == ['tool']
    node.describe(TEXT)
    wait_for_robot(node, 'arm7')
    assert assert_serves(node, TEXT, with_settings) == first


@pytest.mark.parametrize(('bad', 'reason'), [
    ('<robot name="r"><link name="a"/><link', 'XML'),
    ('<robot name="r"/>', '<link>'),
    ('', 'empty'),
    ('/etc/passwd', 'URDF'),
    (TEXT.replace('mass value="4.2"', 'mass value="-4.2"'), '-4.2'),
    (TEXT.replace('<child link="link_3"/>', '<child link="link_9"/>'), 'link_9'),
    (TEXT.replace('"link_7"', '"hand"'), "payload 'tool' is attached to frame 'link_7'"),
])
def test_a_bad_text_is_refused_and_the_old_model_stays(loaded, bad, reason):
    """An error on /diagnostics with the reason; a valid text afterwards is accepted."""
    (node, model_id), before = loaded, len(loaded[0].heard)
    node.describe(bad)
    status = node.wait_for_diagnostics(
        lambda status: status.level == DiagnosticStatus.ERROR and reason in status.message, reason,
        since=before)
    assert 'still used' in status.message
    assert assert_serves(node, TEXT, loaded_robot) == model_id
    node.describe(OTHER)
    wait_for_robot(node, 'other')
    before = len(node.heard)
    node.describe(TEXT)
    wait_for_robot(node, 'arm7')
    assert assert_serves(node, TEXT, loaded_robot) == model_id
    node.wait_for_diagnostics(lambda status: status.level != DiagnosticStatus.ERROR, 'no error',
                              since=before)


def loaded_robot(robot):
    return robot.with_payload('tool', 'link_7', 2.0)


@pytest.fixture(scope='module')
def loaded(launch_once):
    """A node whose arm has a payload, and its model_id."""
    node = launch_once(f'robot_description:={ARM7}')
    reply = node.call('set_payload', name='tool', frame='link_7', payload=Inertia(m=2.0),
                      transition_time=Duration())
    return node, reply.model_id


class Caller(threading.Thread):
    """Request torques at random states, of random joints, with several calls at a time."""

    def __init__(self, node, seed, calls, under_way=4):
        super().__init__(daemon=True)
        self.node, self.calls, self.under_way = node, calls, under_way
        self.random = random.Random(seed)
        self.client = node.new_client(InverseDynamics, 'inverse_dynamics')
        wait_until(self.client.service_is_ready, 'inverse_dynamics')
        self.asked, self.replies = [], []

    def run(self):
        futures = []
        for k in range(self.calls):
            names = self.random.sample(JOINTS, self.random.choice([3, 5, 7]))
            q, v, a = ([self.random.uniform(-1, 1) for _ in names] for _ in range(3))
            self.asked.append((names, q, v, a))
            futures.append(self.client.call_async(InverseDynamics.Request(
                joint_names=names, position=q, velocity=v, acceleration=a)))
            if k >= self.under_way:
                self.replies.append(self.node.reply(futures[k - self.under_way]))
        self.replies += [self.node.reply(future) for future in futures[len(self.replies):]]

    def check(self, robots, q, v):
        """Compare every reply with the robot of its model_id, {model_id: Robot}."""
        assert len(self.replies) == self.calls
        assert {reply.model_id for reply in self.replies} == set(robots)
        for model_id, robot in robots.items():
            place = {name: k for k, name in enumerate(robot.joint_names)}
            pairs = [(asked, reply) for asked, reply in zip(self.asked, self.replies)
                     if reply.model_id == model_id]
            Q, V, A = (np.tile(x, (len(pairs), 1)) for x in (
                [q[name] for name in place], [v[name] for name in place], np.zeros(len(place))))
            found = np.empty_like(V)
            for row, ((names, *given), reply) in enumerate(pairs):
                assert reply.joint_names[:len(names)] == names
                for whole, part in zip((Q, V, A), given):
                    whole[row, [place[name] for name in names]] = part
                found[row, [place[name] for name in reply.joint_names]] = reply.effort
            assert_close(found, robot.inverse_dynamics(Q, V, A), EXACT_MATHS)


def test_a_new_robot_under_load_loses_no_call(launch):
    """Two thousand calls while the robot changes: none is lost, none mixes the two."""
    robots = [Robot.from_urdf(TEXT), Robot.from_urdf(OTHER)]
    q, v = dict(zip(JOINTS, np.arange(7) * 0.1)), dict(zip(JOINTS, np.arange(7) * -0.2))
    node = launch(f'robot_description:={ARM7}')
    node.measure(robots[0], 5, JOINTS, list(q.values()), list(v.values()))
    callers = [Caller(node, seed, calls=1000) for seed in range(2)]
    for caller in callers:
        caller.start()
    def running():
        return any(caller.is_alive() for caller in callers)

    def answers():
        return sum(len(caller.replies) for caller in callers)
    by_id, swaps = {}, 0
    while running():
        swaps += 1
        node.describe((TEXT, OTHER)[swaps % 2])
        report = wait_for_robot(node, ('arm7', 'other')[swaps % 2])
        by_id[report.model_id] = robots[swaps % 2]
        enough = answers() + 30
        wait_until(lambda enough=enough: answers() >= enough or not running(), 'more answers')
    assert swaps > 10
    assert len(by_id) == 2
    for caller in callers:
        caller.check(by_id, q, v)


def test_many_requests_at_once_are_all_served(launch):
    """Of many clients, each with several calls at a time."""
    node = launch(f'robot_description:={ARM7}')
    assert_serves(node, TEXT)
    clients = [node.new_client(InverseDynamics, 'inverse_dynamics') for _ in range(12)]
    for each in clients:
        wait_until(each.service_is_ready, 'inverse_dynamics')
        assert node.reply(each.call_async(InverseDynamics.Request(**STATE))).success
    futures = [each.call_async(InverseDynamics.Request(**STATE)) for _ in range(8)
               for each in clients]
    assert all(node.reply(future).success for future in futures)


def test_a_restarted_node_serves_a_client_that_retries(client, start_node):
    """The description is on its topic, so the node has the same robot."""
    node = RemoteNode(client, start_node(namespace='/phoenix'), '/phoenix')
    node.describe(TEXT)
    wait_for_robot(node, 'arm7')
    model_id = assert_serves(node, TEXT)
    service = node.ready(InverseDynamics, 'inverse_dynamics')
    request = InverseDynamics.Request(**{key: value if key == 'joint_names' else floats(value)
                                         for key, value in STATE.items()})
    replies, again, done = [], threading.Event(), threading.Event()

    def retry():
        while not done.is_set():
            reply = None
            with suppress(TimeoutError):   # since Kilted; None before
                reply = service.call(request, 0.5)
            replies.append(reply)
            if again.is_set() and reply is not None and reply.success:
                done.set()
    thread = threading.Thread(target=retry, daemon=True)
    thread.start()
    wait_until(lambda: len(replies) > 10, 'the first answers')
    node.process.kill()
    node.process.wait()
    wait_until(lambda: replies[-1] is None, 'a call without answer')
    node.process = start_node(namespace='/phoenix')
    again.set()
    assert done.wait(PATIENCE)
    thread.join(PATIENCE)
    assert replies[-1].model_id == model_id
    assert_close(replies[-1].effort, torques(Robot.from_urdf(TEXT)), EXACT_MATHS)


def test_two_robots_can_run_in_two_namespaces(client, start_node):
    """All names are relative: each node has its own topics and services."""
    left = RemoteNode(client, start_node('max_state_age:=0.0', namespace='/left'), '/left')
    right = RemoteNode(client, start_node(namespace='/right'), '/right')
    left.describe(TEXT)
    right.describe(OTHER)
    for node, name, text in ((left, 'arm7', TEXT), (right, 'other', OTHER)):
        wait_for_robot(node, name)
        assert_serves(node, text)
    left.measure(Robot.from_urdf(TEXT), 7, JOINTS, [0.1] * 7)
    assert left.call('model_report').never_measured == []
    assert set(right.call('model_report').never_measured) == set(JOINTS)
    assert left.call('set_payload', name='tool', frame='link_7', payload=Inertia(m=2.0)).success
    assert right.call('list_payloads').names == []
    assert_serves(right, OTHER)
