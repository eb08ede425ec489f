"""Test mode task_space on the wire: references in, torques within the contract out.

Each case ends in Arm.ended_safely or Arm.check, which look at every message since it began: limits
of effort, and of its change.
"""

import numpy as np
import pytest
from support import torque_wire
from support.remote_node import wait_until
from support.torque_wire import REST

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros import convert

pytestmark = pytest.mark.long

TASK = {'torque__mode': 'task_space', 'torque__task_frame': 'tool0',
        'torque__task_law': 'impedance',
        'torque__task_stiffness': [300.0, 20.0], 'torque__task_max_speed': 1.0,
        'torque__blend_time': 0.1,
        # the law runs in NumPy here, which is slow beside other processes
        'safety__max_state_age': 1.0}
STRETCHED = np.array([0.3, 0.5, -0.4, 0.0, 0.2, -0.6, 0.1])


@pytest.fixture
def arm(driven_arm, monkeypatch):
    """An arm at rest, its torques disabled; at a pace that the node can keep in NumPy."""
    monkeypatch.setattr(torque_wire, 'PACE', 0.025)
    return driven_arm.prepared()


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(ARM7, compile=False)


def reference(robot, q=REST, by=(0.0, 0.0, 0.0), frame='', seen_from='', **fields):
    """Return a TaskReference a little off where the tool is at q."""
    from dynamics_node.msg import TaskReference
    pose = robot.frame_pose(q, 'tool0')
    pose[:3, 3] += by
    message = TaskReference(frame=frame, **fields)
    message.header.frame_id = seen_from
    message.pose = convert.pose(pose)
    return message


def send(arm, message):
    from dynamics_node.msg import TaskReference
    publisher = arm.node.publisher(TaskReference, 'dynamics_node/task_reference')
    wait_until(publisher.get_subscription_count, 'the subscription')
    publisher.publish(message)


def is_pulled(arm, robot, wrench, within=1e-6):
    """Assert that the torque settles at that of gravity and of a wrench at the tool."""
    pull = robot.jacobian(arm.q, 'tool0').T @ np.asarray(wrench, dtype=float)
    arm.settles_at(arm.gravity() + arm.in_order(pull), within)


def test_the_frame_is_held_on_enable(arm):
    arm.prepared(**TASK).enabled()
    arm.run(20)
    arm.is_held()
    arm.disable()
    arm.ended_safely()


def test_a_reference_is_followed(arm, robot):
    """With the stiffness of the message; the frame of the parameter, or a named one."""
    arm.prepared(**TASK).enabled()
    send(arm, reference(robot, by=(0.0, 0.02, 0.0), stiffness=[400.0, 10.0]))
    arm.run_until(lambda: abs(arm.last - arm.gravity()).max() > 0.5, 'a pull')
    arm.run(30)
    is_pulled(arm, robot, [0, 8.0, 0, 0, 0, 0])
    send(arm, reference(robot, by=(0.0, 0.0, -0.01), frame='tool0'))
    arm.run(30)
    is_pulled(arm, robot, [0, 0, -3.0, 0, 0, 0])
    arm.disable()
    arm.ended_safely()


def test_numbers_may_be_in_the_axes_of_a_link(arm, robot):
    """The tool's own, with a wrench along its z axis."""
    from dynamics_node.msg import TaskReference
    arm.prepared(**TASK).enabled()
    message = TaskReference(force_axes=[False, False, True, False, False, False])
    message.header.frame_id, message.wrench.force.z = 'tool0', 12.0
    send(arm, message)
    arm.run_until(lambda: abs(arm.last - arm.gravity()).max() > 0.5, 'a push')
    arm.run(30)
    is_pulled(arm, robot, [*(12.0 * robot.frame_pose(arm.q, 'tool0')[:3, 2]), 0, 0, 0])
    arm.disable()
    arm.ended_safely()


def test_free_axes_are_not_controlled(arm, robot):
    """Of a pose that is off along x and y only x counts, if y is free."""
    arm.prepared(**TASK).enabled()
    send(arm, reference(robot, by=(0.02, 0.02, 0.0),
                        free_axes=[False, True, False, False, False, False]))
    arm.run_until(lambda: abs(arm.last - arm.gravity()).max() > 0.5, 'a pull')
    arm.run(30)
    is_pulled(arm, robot, [6.0, 0, 0, 0, 0, 0])
    arm.disable()
    arm.ended_safely()


def test_bad_references_are_refused_by_name_and_the_old_one_continues(arm, robot):
    arm.prepared(**TASK).enabled()
    send(arm, reference(robot, by=(0.0, 0.02, 0.0)))
    arm.run(30)
    bad = [reference(robot, frame='tool9'), reference(robot, seen_from='table'),
           reference(robot, stiffness=[-1.0]), reference(robot, damping=[1.0] * 5),
           reference(robot), reference(robot), reference(robot), reference(robot)]
    bad[4].pose.orientation.w = 5.0
    bad[5].pose.position.x = float('nan')
    bad[6].wrench.force.z = 5.0
    bad[7].force_axes[0], bad[7].twist.linear.x = True, 0.1
    words = ["no frame 'tool9'", "header.frame_id: no frame 'table'", 'stiffness[0] is -1.0',
             'damping must have shape', 'pose.orientation has the norm', 'pose.position is',
             'wrench has 5 along z', 'twist has 0.1 along x']
    before = arm.log()
    for message, word in zip(bad, words):
        send(arm, message)
        arm.run_until(lambda word=word: f'the task reference was refused: {word}' in
                      arm.log()[len(before):], word)
    arm.run_until(lambda: arm.counted('references refused') >= arm.refused + len(bad), 'a count')
    arm.run(10)
    is_pulled(arm, robot, [0, 6.0, 0, 0, 0, 0])
    assert arm.said('enabled')
    arm.disable()
    arm.ended_safely()


def test_a_stream_that_stops_is_a_fault_on_request(arm, robot):
    arm.prepared(**TASK, torque__hold_reference=False).enabled()
    for _ in range(10):
        send(arm, reference(robot, by=(0.01, 0.0, 0.0)))
        arm.run(2)
    arm.until_fault('old, more than max_reference_age, 0.5 s')
    arm.ended_safely()


def test_a_far_reference_causes_no_jump(arm, robot):
    """Half a metre away: the torque changes by the approach, not by the distance."""
    arm.prepared(**{**TASK, 'torque__task_max_speed': 0.1}).enabled()
    send(arm, reference(robot, by=(0.0, -0.5, 0.0)))
    arm.run(30)
    changes = [np.abs(one.effort - other.effort).max()
               for one, other in zip(arm.heard[1:], arm.heard)]
    assert max(changes[-20:]) < 5.0   # [N m]; at once it would be 300 N/m x 0.5 m
    arm.disable()
    arm.ended_safely()


@pytest.mark.parametrize('law, stiffness', [('impedance', [300.0, 20.0]), ('motion', [60.0])])
def test_the_slew_limit_holds_through_a_singular_configuration(arm, robot, law, stiffness):
    """The arm is measured to pass it, under a reference elsewhere."""
    arm.prepared(**{**TASK, 'torque__task_law': law, 'torque__task_stiffness': stiffness})
    arm.q = STRETCHED - 0.3 * np.eye(7)[3]
    arm.enabled()
    send(arm, reference(robot, STRETCHED, by=(0.05, 0.05, 0.05)))
    for elbow in np.linspace(-0.3, 0.3, 80):
        arm.q, arm.v = STRETCHED + elbow * np.eye(7)[3], 0.3 * np.eye(7)[3]
        arm.step()
    assert np.abs(arm.last - arm.gravity()).max() > 0.5
    assert arm.said('enabled'), arm.statuses[-1:]
    assert arm.check() > 40
    arm.v = np.zeros(7)
    arm.disable()
    arm.ended_safely()
