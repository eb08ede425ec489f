"""Test faults that the node survives: garbage, requests at a bad moment, a full link, no resources.

One node for all cases. Each ends in Arm.ended_safely or Arm.check, which look at every message.
"""

import math
import os
import resource
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import Inertia
from lifecycle_msgs.msg import Transition
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from support.gate_states import GATE_STATES, bring, change
from support.remote_node import BEST_EFFORT, LATCHED, PATIENCE, RELIABLE, joint_state
from support.tiny_robots import chain
from support.torque_wire import EFFORT, ROUNDING, Arm, parameters
from support.trajectories import trajectory

from dynamics_node.example_robots import ARM7
from dynamics_node.msg import TaskReference
from dynamics_node.ros.services.table import SERVICES

pytestmark = pytest.mark.long

MANY = 400   # joints of a robot whose pickle is larger than the socket of the link


@pytest.fixture
def arm(driven_arm):
    """An arm at rest, its torques disabled."""
    return driven_arm.prepared()


def goes_on(arm):
    """Assert that torques hold the arm as before, and that they end in the safe torque."""
    arm.is_held()
    assert arm.said('enabled')
    arm.disable()
    arm.ended_safely()
    assert 'Traceback' not in arm.log()


def is_safe(arm):
    """Assert that the last torque was the safe one, for a node that does not reply to requests."""
    arm.run(5)
    count = len(arm.heard)
    arm.run(20)
    assert len(arm.heard) == count
    np.testing.assert_allclose(arm.last, arm.gravity(), rtol=0.0, atol=ROUNDING)
    arm.check()


# Topics ------------------------------------------------------------------------------------------

def broken_odometry():
    message = Odometry(child_frame_id='\x01' * 1000)
    message.pose.pose.position.x = math.nan
    message.twist.twist.linear.x = math.inf
    return message


def broken_task():
    message = TaskReference(frame='nowhere', stiffness=[math.nan] * 7)
    message.pose.position.x = math.inf
    return message


STRANGE = [math.nan, math.inf, -math.inf, 1e308, 5e-324]
GARBAGE = {   # (topic, message)
    'joint states without names': ('joint_states', JointState(position=STRANGE)),
    'joint states without numbers': ('joint_states', JointState(name=list(EFFORT))),
    'joint states of 5000 joints': ('joint_states', joint_state(
        0, [f'joint_{k}' for k in range(8, 5008)], [math.nan] * 5000, [1e300] * 5000)),
    'joint states of 200 kB': ('joint_states', JointState(name=['x' * 200_000])),
    'joint states of 1 MB': ('joint_states', JointState(name=['x' * 1_000_000])),
    'a robot description of 1 MB': ('robot_description', String(data='<' * 1_000_000)),
    'a robot description of NULs': ('robot_description', String(data='\0' * 1000)),
    'a reference of nan': ('dynamics_node/reference', trajectory(
        EFFORT, [0.1, 0.2], positions=[[math.nan] * 7] * 2)),
    'a reference of 5000 points': ('dynamics_node/reference', trajectory(
        [*EFFORT, 'x'], [0.001 * k for k in range(5000)], positions=[[1e300] * 8] * 5000)),
    'a task reference of nan': ('dynamics_node/task_reference', broken_task()),
    'odometry of nan': ('odom', broken_odometry()),
    'a clock, though time is not simulated': ('/clock', Clock()),
}


@pytest.mark.parametrize('name', GARBAGE)
def test_garbage_on_a_topic_does_not_change_the_torque(arm, name):
    topic, message = GARBAGE[name]
    arm.prepared(torque__mode='impedance').enabled()
    qos = {'robot_description': LATCHED, 'joint_states': BEST_EFFORT}.get(topic, RELIABLE)
    for _ in range(5):
        arm.node.publish(message, topic=topic, qos=qos)
        arm.run(5)
    goes_on(arm)


@pytest.mark.parametrize('topic', ['joint_states', 'dynamics_node/reference'])
def test_another_type_of_message_on_a_topic_does_not_change_the_torque(arm, topic):
    """Sent by another participant: one cannot publish two types on a topic."""
    arm.enabled()
    context = rclpy.Context()
    rclpy.init(context=context)
    other = rclpy.create_node('other', context=context)
    publisher = other.create_publisher(String, f'{arm.node.namespace}/{topic}', 10)
    for _ in range(20):
        publisher.publish(String(data='x' * 1000))
        arm.step()
    other.destroy_node()
    rclpy.shutdown(context=context)
    goes_on(arm)


def test_a_burst_of_joint_states_is_no_fault(arm):
    """500 at once, each with its own time."""
    arm.enabled()
    for _ in range(500):
        message = joint_state(arm.now(), EFFORT, arm.q, arm.v)
        arm.sent.add(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
        arm.node.publish(message)
    arm.run(20)
    goes_on(arm)


def test_joint_states_out_of_order_are_no_fault(arm):
    """Every other one is 50 ms older than the one before it."""
    def spoil(message):
        arm.ahead = -50_000_000 - arm.ahead
    arm.enabled()
    arm.spoil = spoil
    arm.run(60)
    arm.ahead, arm.spoil = 0, lambda message: None
    goes_on(arm)


@pytest.mark.parametrize(('kind', 'topic'), [(Float64MultiArray, 'commands'),
                                             (JointState, 'dynamics_node/torque')],
                         ids=['commands', 'torque'])
@pytest.mark.parametrize('state', ['ramping in', 'ramping out', 'fault'])
def test_another_publisher_in_any_state_of_the_gate_ends_in_the_safe_torque(
        arm, state, kind, topic):
    """Enable is refused while it is there."""
    bring(arm, state)
    other = arm.node.client.create_publisher(kind, f'{arm.node.namespace}/{topic}', 1)
    try:
        arm.run_until(lambda: arm.said('fault: ') or arm.said('disabled'), 'the end')
        arm.ended_safely()
        arm.v[:] = 0.0
        arm.arrive()
        arm.run_until(lambda: 'another publisher' in arm.enable().message, 'a refusal')
        arm.until_silent()
    finally:
        arm.node.client.destroy_publisher(other)


def test_a_second_node_of_the_same_name_is_a_fault(arm, launch):
    """Neither of the two publishes a torque then."""
    arm.enabled()
    other = launch(*parameters(), namespace=arm.node.namespace)
    arm.until_fault('another publisher')
    arm.ended_safely()
    arm.run_until(lambda: 'another publisher' in arm.enable().message, 'a refusal')
    count = len(arm.heard)
    arm.run(20)
    assert len(arm.heard) == count
    other.process.send_signal(signal.SIGINT)
    assert other.process.wait(PATIENCE) == 0
    arm.run_until(lambda: arm.node.client.count_services(f'{arm.node.name}/enable') == 1, 'one')


def test_simulated_time_switched_on_while_enabled_ends_in_the_safe_torque(arm):
    """There is no clock: simulated time stands still."""
    bring(arm, 'ramping in')
    assert arm.set(use_sim_time=True).successful
    is_safe(arm)
    assert arm.set(use_sim_time=False).successful
    arm.prepared().enabled()
    goes_on(arm)


# Requests at a bad moment ------------------------------------------------------------------------

@pytest.mark.parametrize('state', GATE_STATES)
def test_parameters_changed_in_any_state_of_the_gate_keep_the_contract(arm, state):
    """Gains are used at once, the rest is refused while torques are published."""
    bring(arm, state, torque__mode='impedance')
    assert arm.set(torque__kp__default=80.0).successful
    for values in ({'torque__joints': ['joint_1']}, {'safety__ramp_in_time': 0.0},
                   {'safety__ramp_out_time': 0.0}):
        result = arm.set(**values)
        if state in ('ramping in', 'enabled'):   # the others may be over by now
            assert 'disable first' in result.reason
        elif result.successful:
            break
    arm.listen()
    arm.order = list(arm.heard[0].names)
    arm.disable()
    arm.ended_safely()


@pytest.mark.parametrize('state', GATE_STATES)
def test_deactivation_in_any_state_of_the_gate_ends_in_the_safe_torque(arm, state):
    """A transition that does not exist changes nothing; active again it waits for enable."""
    bring(arm, state)
    assert not change(arm, Transition.TRANSITION_CONFIGURE)
    assert not change(arm, Transition.TRANSITION_CLEANUP)
    assert change(arm, Transition.TRANSITION_DEACTIVATE)
    is_safe(arm)
    assert change(arm, Transition.TRANSITION_ACTIVATE)
    is_safe(arm)


@pytest.mark.parametrize('second', [True, False], ids=['two enables', 'enable and disable'])
def test_requests_of_two_clients_at_once_are_both_answered(arm, second):
    arm.enabled()
    clients = [arm.node.new_client(SetBool, 'enable') for _ in range(2)]
    for client in clients:
        arm.run_until(client.service_is_ready, 'enable')
    for _ in range(10):
        arm.enables.append((arm.now(), arm.now() + 10**12, arm.in_order([0.0] * 7)))
        futures = [client.call_async(SetBool.Request(data=data))
                   for client, data in zip(clients, (True, second))]
        arm.run_until(lambda asked=futures: all(future.done() for future in asked), 'both')
        replies = [future.result() for future in futures]
        assert all(reply.success for reply in replies), [reply.message for reply in replies]
        arm.run(3)
    for client in clients:
        arm.node.client.destroy_client(client)
    arm.disable()
    arm.ended_safely()


# The link between the processes ------------------------------------------------------------------

@contextmanager
def stopped(pid):
    """Stop a process for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_full_link_to_the_serving_process_does_not_delay_torques(arm):
    """It is stopped, while every refused reference makes a line of the log."""
    arm.prepared(torque__mode='impedance').enabled()
    process = arm.torque_process()
    bad = trajectory(['knee ' * 200], [1.0], positions=[[0.1]])
    with stopped(arm.node.process.pid):
        for _ in range(100):
            for _ in range(5):
                arm.node.publish(bad, topic='dynamics_node/reference', qos=RELIABLE)
            arm.step()
        count = len(arm.heard)
        arm.run(20)
        assert len(arm.heard) > count
    arm.run_until(lambda: arm.counted('references refused') > 300, 'the references')
    assert arm.torque_process() == process
    goes_on(arm)


def test_a_full_link_to_the_torque_process_keeps_the_contract(arm):
    """A robot larger than the socket is sent while it is stopped; it comes as a whole."""
    arm.enabled()
    process = arm.torque_process()
    with stopped(process.pid):
        arm.describe(chain(*[(f'joint_{k}', 'continuous') for k in range(MANY)]), both=False)
    arm.until_fault('')   # another robot, or old joint states
    heard = []
    while len(heard) < 2 or heard[-1] > heard[-2]:
        arm.run(40)
        heard.append(len(arm.heard))
    arm.check()
    assert arm.torque_process() == process


# Resources ---------------------------------------------------------------------------------------

@pytest.fixture
def own_arm(launch):
    """An arm of a node with an interpreter of its own: a forked one has all modules loaded."""
    made = Arm(launch(*parameters(), through=('env',)))
    yield made
    made.close()


@contextmanager
def limited(pid, what, value):
    """Lower a limit of a running process for a while."""
    old = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (value, old[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, what, old)


def free_descriptor(pid):
    """Return the lowest number that no open file of a process has; the next one would get it."""
    used = {int(path.name) for path in Path(f'/proc/{pid}/fd').iterdir()}
    return min(set(range(len(used) + 1)) - used)


@pytest.mark.parametrize('which', ['serving', 'torque'])
def test_a_process_without_file_descriptors_keeps_the_contract(own_arm, which):
    """What needs a file is refused; torques go on, and can be disabled and enabled."""
    arm = own_arm.prepared().enabled()
    pid = arm.node.process.pid if which == 'serving' else arm.torque_process().pid
    kind = SERVICES['set_payload'].kind
    with limited(pid, resource.RLIMIT_NOFILE, free_descriptor(pid)):
        if which == 'serving':
            assert 'Too many open files' in arm.set(robot_description=str(ARM7)).reason
        assert arm.ask(kind, 'set_payload', kind.Request(
            name='box', frame='tool0', payload=Inertia(m=1.0))).success
        arm.robot = arm.robot.with_payload('box', 'tool0', 1.0)
        arm.is_held()
        arm.disable()
        arm.ended_safely()
        arm.enabled()
    assert arm.ask(kind, 'set_payload', kind.Request(name='box', remove=True)).success
    arm.robot = arm.robot.without_payload('box')
    goes_on(arm)
