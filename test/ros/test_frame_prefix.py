"""Test frame names with a prefix: in every frame field, and two robots of one model in a graph."""

import numpy as np
import pytest
from support import torque_wire
from support.real_robots import ROBOTS
from support.remote_node import (
    BEST_EFFORT,
    RELIABLE,
    Served,
    assert_close,
    stamped_wrench,
    wait_until,
)
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.frame_prefix import FRAME_FIELDS, add_prefix, remove_prefix
from dynamics_node.ros.message_fields import message_fields
from dynamics_node.ros.services.table import SERVICES

PANDA = next(robot for robot in ROBOTS if robot.name == 'panda')
SIDES = 'left', 'right'


# Messages ----------------------------------------------------------------------------------------

def test_every_name_of_a_frame_loses_and_gets_the_prefix():
    """In a header, in a list, in a list of messages; other texts are not changed."""
    request = SERVICES['task_control'].kind.Request()
    request.external_wrenches = [stamped_wrench('left/tool0', np.zeros(6)),
                                 stamped_wrench('tool0', np.zeros(6))]
    request.joint_names = ['left/joint']
    remove_prefix('left/', request)
    assert [each.header.frame_id for each in request.external_wrenches] == ['tool0', 'tool0']
    assert request.joint_names == ['left/joint']
    reply = SERVICES['kinematics'].kind.Response(frames=['tool0', 'base'], model_id='tool0')
    add_prefix('left/', reply)
    assert (reply.frames, reply.model_id) == (['left/tool0', 'left/base'], 'tool0')


def test_an_empty_name_stays_empty():
    """It stands for the root, or for a default."""
    wrench = stamped_wrench('', np.zeros(6))
    add_prefix('left/', wrench)
    remove_prefix('left/', wrench)
    assert wrench.header.frame_id == ''


def texts_with_frame(message_type, seen=()):
    """Return the names of the text fields, at any depth, that have `frame` in their names."""
    found = set()
    for field, kind in message_fields(message_type).items():
        if kind.is_text and 'frame' in field:
            found.add(field)
        elif kind.message is not None:
            found |= texts_with_frame(kind.message)
    return found


def test_every_field_of_the_services_that_names_frames_is_known():
    """New ones too."""
    found = set().union(*(texts_with_frame(message_type) for kind, *_ in SERVICES.values()
                          for message_type in (kind.Request, kind.Response)))
    assert len(found) > 4
    assert found <= FRAME_FIELDS


# Two nodes ---------------------------------------------------------------------------------------

@pytest.fixture(scope='module')
def pandas(launch_once):
    """{side: Served} of two equal arms, each with its namespace and prefix, in different poses."""
    robot = Robot.from_urdf(PANDA.urdf, compile=False)
    nodes = {side: launch_once(f'robot_description:={PANDA.path}', f'frame_prefix:={side}/',
                               'compile:=false', namespace=f'/{side}') for side in SIDES}
    return {side: Served.by(node, robot, seed) for seed, (side, node) in enumerate(nodes.items())}


@pytest.mark.parametrize('side', SIDES)
def test_services_take_and_return_names_with_the_prefix(pandas, side):
    """Names without it are taken too; those of the other robot are refused."""
    node, robot, q, v, *_ = pandas[side]
    for frame in ('panda_hand', f'{side}/panda_hand'):
        reply = node.call('kinematics', frames=[frame])
        assert list(reply.frames) == [f'{side}/panda_hand']
        assert_close(convert.xyz(reply.poses[0].position),
                     robot.frame_pose(q, 'panda_hand')[:3, 3], EXACT_MATHS)
    F = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    reply = node.call('inverse_dynamics',
                      external_wrenches=[stamped_wrench(f'{side}/panda_hand', F)])
    want = robot.inverse_dynamics(q, v, np.zeros(robot.nv), {'panda_hand': F})
    assert_close(reply.effort, want, EXACT_MATHS)
    assert f'{side}/panda_hand' in node.call('model_report').frame_names
    other, = set(SIDES) - {side}
    reply = node.call('kinematics', frames=[f'{other}/panda_hand'])
    assert (reply.success, f"no frame '{other}/panda_hand'" in reply.message) == (False, True)


def test_a_payload_of_one_robot_is_not_one_of_the_other(pandas):
    """It is attached by a name with the prefix, and listed so."""
    from geometry_msgs.msg import Inertia
    left, right = (pandas[side].node for side in SIDES)
    assert left.call('set_payload', name='cup', frame='left/panda_hand',
                     payload=Inertia(m=0.3)).success
    assert list(left.call('list_payloads').frames) == ['left/panda_hand']
    assert list(right.call('list_payloads').frames) == []
    assert left.call('set_payload', name='cup', remove=True).success


def test_markers_of_both_robots_are_in_frames_of_their_own(pandas):
    """So one RViz shows both."""
    from visualization_msgs.msg import MarkerArray
    shown = {side: set() for side in SIDES}

    def show(side, message):
        shown[side] |= {marker.header.frame_id for marker in message.markers}
    for side in SIDES:
        node = pandas[side].node
        node.client.create_subscription(MarkerArray, f'{node.name}/markers',
                                        lambda message, side=side: show(side, message), RELIABLE)
    wait_until(lambda: all(shown.values()), 'markers of both')
    root = Robot.from_urdf(PANDA.urdf, compile=False).model.root
    assert shown == {side: {f'{side}/{root}'} for side in SIDES}


# Torques -----------------------------------------------------------------------------------------

@pytest.fixture
def arm(launch, monkeypatch):
    """An arm whose frames have a prefix."""
    monkeypatch.setattr(torque_wire, 'PACE', 0.025)
    arm = torque_wire.Arm(launch(*torque_wire.parameters(), 'frame_prefix:=left/'))
    yield arm
    arm.close()


def test_task_references_and_estimated_wrenches_have_the_prefix(arm):
    """The frame to move, the frame of the numbers, the frame of the estimate."""
    from geometry_msgs.msg import WrenchStamped

    from dynamics_node.msg import TaskReference
    frames = []
    arm.node.client.create_subscription(
        WrenchStamped, f'{arm.node.name}/external_wrench_estimate',
        lambda message: frames.append(message.header.frame_id), BEST_EFFORT)
    arm.prepared(torque__mode='task_space', torque__task_frame='tool0',
                 observer__effort_meaning='motor_torque', observer__frame='tool0',
                 safety__max_state_age=1.0)
    arm.effort = arm.robot.gravity_torque(arm.q)
    arm.enabled()
    publisher = arm.node.publisher(TaskReference, 'dynamics_node/task_reference')
    arm.run_until(publisher.get_subscription_count, 'the subscription')
    message = TaskReference(frame='left/tool0',
                            force_axes=[False, False, True, False, False, False])
    message.header.frame_id, message.wrench.force.z = 'left/tool0', 12.0
    publisher.publish(message)
    pull = arm.robot.jacobian(arm.q, 'tool0').T @ np.array(
        [*(12.0 * arm.robot.frame_pose(arm.q, 'tool0')[:3, 2]), 0.0, 0.0, 0.0])
    arm.run_until(lambda: abs(arm.last - arm.gravity()).max() > 0.5, 'a push')
    arm.run(30)
    arm.settles_at(arm.gravity() + arm.in_order(pull), 1e-6)
    arm.run_until(lambda: frames, 'an estimate')
    assert set(frames) == {'left/tool0'}
    arm.disable()
    arm.ended_safely()
