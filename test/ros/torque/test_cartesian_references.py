"""Test poses, twists and wrenches as references of mode task_space, on the wire.

The node can import a stand-in for tf2_ros, which has no wheel.
"""

import os
import shutil

import numpy as np
import pytest
from support import tf2_stand_in, torque_wire

from dynamics_node.msg import TaskReference
from dynamics_node.ros import convert
from dynamics_node.ros.torque.cartesian_references import LEAD, LEAD_TURN, _share
from dynamics_node.spatial import so3

STIFFNESS, TIMEOUT, BLEND = 300.0, 0.1, 0.1
TASK = {'torque__mode': 'task_space', 'torque__task_frame': 'tool0',
        'torque__task_stiffness': [STIFFNESS, 20.0], 'torque__task_max_speed': 1.0,
        'torque__blend_time': BLEND, 'torque__task_timeout': TIMEOUT,
        'safety__max_state_age': 1.0}   # the law runs in NumPy here, which is slow


@pytest.fixture(scope='module')
def arm_with_tf2(launch_once, tmp_path_factory):
    """An arm whose frames have a prefix in tf."""
    folder = tmp_path_factory.mktemp('tf2')
    shutil.copy(tf2_stand_in.__file__, folder / 'tf2_ros.py')
    path = os.pathsep.join([str(folder), os.environ.get('PYTHONPATH', '')])
    arm = torque_wire.Arm(launch_once(*torque_wire.parameters(frame_prefix='left/'),
                                      environment={'PYTHONPATH': path}))
    yield arm
    arm.close()


@pytest.fixture
def arm(arm_with_tf2, monkeypatch):
    """An arm at rest that holds its tool; at a pace that the node can keep in NumPy."""
    monkeypatch.setattr(torque_wire, 'PACE', 0.025)
    return arm_with_tf2.prepared(**TASK).enabled()


def send(arm, kind, frame='', **fields):
    """Publish a stamped message on its topic, ~/reference_<kind>."""
    from geometry_msgs import msg
    message_type = getattr(msg, f'{kind.capitalize()}Stamped')
    message = message_type(**{kind: getattr(msg, kind.capitalize())(**fields)})
    message.header.frame_id = frame
    publisher = arm.node.publisher(message_type, f'dynamics_node/reference_{kind}')
    arm.run_until(publisher.get_subscription_count, 'the subscription')
    publisher.publish(message)


def vector(x, y, z):
    return convert.vector3([x, y, z])


def is_pulled(arm, wrench):
    """Assert that the torque settles at that of gravity and of a wrench at the tool."""
    pull = arm.robot.jacobian(arm.q, 'tool0').T @ np.asarray(wrench, dtype=float)
    arm.run_until(lambda: abs(arm.last - arm.gravity()).max() > 0.5, 'a pull')
    arm.run(30)
    arm.settles_at(arm.gravity() + arm.in_order(pull), 1e-6)


def ended(arm):
    arm.disable()
    arm.ended_safely()


def test_a_pose_is_followed(arm):
    """Of the task frame, in the frame of the header."""
    pose = arm.robot.frame_pose(arm.q, 'tool0')
    pose[:3, 3] += [0.0, 0.02, 0.0]
    message = convert.pose(pose)
    send(arm, 'pose', position=message.position, orientation=message.orientation)
    is_pulled(arm, [0, 0.02 * STIFFNESS, 0, 0, 0, 0])
    ended(arm)


def test_a_twist_is_followed_for_the_timeout_and_then_stops(arm):
    """It moves by v (timeout + half of the time to come to rest), in the axes of the header."""
    v = 0.1
    send(arm, 'twist', 'tool0', linear=vector(0.0, 0.0, v))
    way = v * (TIMEOUT + BLEND / 2)
    axis = arm.robot.frame_pose(arm.q, 'tool0')[:3, 2]
    is_pulled(arm, [*(STIFFNESS * way * axis), 0, 0, 0])
    ended(arm)


def test_twists_that_a_blocked_arm_cannot_follow_build_up_no_more_than_the_lead(arm):
    """The wanted pose stays that close to the measured one, however many arrive."""
    v = 0.5
    for _ in range(15):
        send(arm, 'twist', linear=vector(0.0, v, 0.0))
        arm.run(2)
    arm.run(30)
    J = arm.robot.jacobian(arm.q, 'tool0')
    pull = np.linalg.lstsq(J.T, (arm.last - arm.gravity())[np.argsort(
        [arm.order.index(name) for name in arm.robot.joint_names])], rcond=None)[0]
    assert LEAD * STIFFNESS * 0.9 < pull[1] <= (LEAD + v * (TIMEOUT + BLEND / 2)) * STIFFNESS + 1e-6
    ended(arm)


def test_a_wrench_is_exerted_along_its_own_axes(arm):
    """And the pose is kept along the others; a wrench of zero keeps the pose along all."""
    send(arm, 'wrench', 'tool0', force=vector(0.0, 0.0, 12.0))
    is_pulled(arm, [*(12.0 * arm.robot.frame_pose(arm.q, 'tool0')[:3, 2]), 0, 0, 0])
    send(arm, 'wrench')
    arm.run(30)
    arm.settles_at(arm.gravity(), 1e-6)
    ended(arm)


# Frames of other trees --------------------------------------------------------------------------

def frame_pose(frame):
    """Return the pose of a frame in the root, as the stand-in has it."""
    (x, y, z), angle = tf2_stand_in.FRAMES[frame]
    pose = np.eye(4)
    pose[:3, :3] = so3.from_quaternion([0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)])
    pose[:3, 3] = x, y, z
    return pose


def tool_in(arm, frame, by):
    """Return the pose of the tool, moved in root axes, as it is seen from a frame."""
    pose = arm.robot.frame_pose(arm.q, 'tool0')
    pose[:3, 3] += by
    return convert.pose(np.linalg.solve(frame_pose(frame), pose))


def test_a_pose_in_the_map_is_followed(arm):
    pose = tool_in(arm, 'map', [0.0, 0.02, 0.0])
    send(arm, 'pose', 'map', position=pose.position, orientation=pose.orientation)
    is_pulled(arm, [0, 0.02 * STIFFNESS, 0, 0, 0, 0])
    ended(arm)


def test_a_wrench_acts_along_the_axis_of_the_map(arm):
    """One axis of the map is controlled by force, the others keep the pose."""
    send(arm, 'wrench', 'map', force=vector(8.0, 0.0, 0.0))
    is_pulled(arm, [*(8.0 * frame_pose('map')[:3, 0]), 0, 0, 0])
    ended(arm)


@pytest.mark.parametrize('camera', ['camera', 'left/camera'])
def test_a_task_reference_seen_from_a_camera_is_followed(arm, camera):
    """One frame of another tree has the prefix of the robot in its name, and keeps it."""
    message = TaskReference(pose=tool_in(arm, camera, [0.0, 0.0, 0.02]))
    message.header.frame_id = camera
    publisher = arm.node.publisher(TaskReference, 'dynamics_node/task_reference')
    arm.run_until(publisher.get_subscription_count, 'the subscription')
    publisher.publish(message)
    is_pulled(arm, [0, 0, 0.02 * STIFFNESS, 0, 0, 0])
    ended(arm)


def test_refusals_name_the_reason(arm):
    """A frame that tf2 does not know, a twist that is too fast; the one before continues."""
    before, count = arm.log(), arm.counted('references refused')
    send(arm, 'twist', 'nowhere', linear=vector(0.1, 0.0, 0.0))
    arm.run_until(lambda: "tf2 has no transform from 'nowhere' to 'left/base_link'" in
                  arm.log()[len(before):], 'the refusal')
    assert ("the reference twist was refused: header.frame_id: no frame 'nowhere'; the robot has: "
            'base_link') in arm.log()[len(before):]
    arm.run_until(lambda: arm.counted('references refused') > count, 'a refusal that is counted')
    send(arm, 'twist', linear=vector(2.0, 0.0, 0.0))
    arm.run_until(lambda: 'the reference twist was refused: twist.linear reaches 2' in
                  arm.log()[len(before):], 'the refusal')
    arm.run(10)
    arm.is_held()
    ended(arm)


@pytest.mark.parametrize(('ahead', 'share'), [
    ([0.0] * 6, 1.0), ([LEAD / 2, 0, 0, 0, 0, LEAD_TURN / 2], 1.0),
    ([0, 2 * LEAD, 0, 0, 0, 0], 0.5), ([LEAD, 0, 0, 0, 4 * LEAD_TURN, 0], 0.25)])
def test_a_distance_is_cut_to_the_lead(ahead, share):
    assert _share(np.array(ahead)) == pytest.approx(share, rel=1e-12)
