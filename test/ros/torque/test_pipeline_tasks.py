"""Test mode task_space of the torque pipeline, without ROS: held, followed, refused, timed out."""

import math

import numpy as np
import pytest
from support.pipeline_rig import IMPEDANCE, Rig, to
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError
from dynamics_node.control.pose_coordinates import pose_error
from dynamics_node.example_robots import ARM7
from dynamics_node.parameter import PerJoint
from dynamics_node.spatial import so3

pytestmark = pytest.mark.usefixtures('awaited_kernels')

TASK = {'mode': 'task_space', 'task_frame': 'tool0'}
BENT = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
TURN = (0.0, 0.0, 0.0, 1.0)


def rig_of(**torque):
    rig = Rig(ARM7, **{**TASK, **torque})
    rig.q = BENT.copy()
    return rig


def here(rig, by=(0.0, 0.0, 0.0), **more):
    """Return the arguments of a task reference a little off where the frame is measured."""
    pose = rig.robot.frame_pose(rig.q, 'tool0')
    return {'measured': rig.node_state.snapshot(), 'start': None, 'frame': '',
            'position': pose[:3, 3] + by,
            'orientation': so3.to_quaternion(pose[:3, :3]), **more}


def test_without_a_reference_the_frame_is_held():
    """By gravity alone; a displaced frame is pulled back."""
    rig = rig_of().enabled()
    assert rig.step() == pytest.approx(rig.robot.gravity_torque(BENT), abs=1e-6)
    rig.q = BENT + 0.02 * np.arange(7)
    away = pose_error(rig.robot.frame_pose(rig.q, 'tool0'), rig.robot.frame_pose(BENT, 'tool0'))
    pull = rig.run(0.3) - rig.robot.gravity_torque(rig.q)
    J = rig.robot.jacobian(rig.q, 'tool0')
    space = rig.robot.operational_space(rig.q, rig.v, 'tool0')
    assert space.consistent_inverse.T @ pull == pytest.approx(
        np.repeat([500.0, 30.0], 3) * away, abs=1e-6)   # the springs, and nothing of the posture
    posture = pull - J.T @ (np.repeat([500.0, 30.0], 3) * away)
    assert np.abs(J @ rig.robot.mass_matrix_inverse(rig.q) @ posture).max() < 1e-9


def test_a_reference_is_approached_and_held():
    rig = rig_of(blend_time=0.1, task_max_speed=1.0).enabled()
    rig.pipeline.follow_task(**here(rig, (0.0, 0.05, 0.0), stiffness=[200.0, 10.0]))
    rig.run(1.0)
    pull = rig.step() - rig.robot.gravity_torque(rig.q)
    assert pull == pytest.approx(rig.robot.jacobian(rig.q, 'tool0').T @ [0, 10.0, 0, 0, 0, 0],
                                 abs=1e-6)
    assert rig.state == 'enabled'


def test_a_wrench_is_exerted_along_an_axis_of_force():
    """The other axes are held; the sign is that of the robot's action."""
    rig = rig_of().enabled()
    rig.pipeline.follow_task(**here(rig, wrench=(0, 0, -15.0, 0, 0, 0),
                                 force_axes=np.arange(6) == 2))
    rig.run(0.5)
    push = rig.step() - rig.robot.gravity_torque(rig.q)
    assert push == pytest.approx(rig.robot.jacobian(rig.q, 'tool0').T @ [0, 0, -15.0, 0, 0, 0],
                                 abs=1e-6)


@pytest.mark.parametrize('wrong, expected', [
    ({'frame': 'tool7'}, "no frame 'tool7'"),
    ({'frame': 'base_link'}, "'base_link' is fixed: no joint moves it"),
    ({'seen_from': 'table'}, "header.frame_id: no frame 'table'"),
    ({'orientation': (0, 0, 0, 0)}, 'pose.orientation has the norm 0'),
    ({'position': (math.nan, 0, 0)}, 'pose.position'),
    ({'stiffness': [-5.0]}, r'stiffness\[0\] is -5.0'),
    ({'wrench': (0, 0, 5.0, 0, 0, 0)}, 'wrench has 5 along z .* axis of motion'),
    ({'twist': (0.1, 0, 0, 0, 0, 0), 'force_axes': np.ones(6, dtype=bool)},
     'twist has 0.1 along x .* axis of force'),
    ({'start': 1_600_000_000_000_000_000}, 'the stamp is .* ago')])
def test_a_bad_reference_is_refused_by_name_and_the_old_one_goes_on(wrong, expected):
    rig = rig_of().enabled()
    rig.pipeline.follow_task(**here(rig, (0.0, 0.02, 0.0)))
    rig.run(1.0)
    before = rig.step()
    with pytest.raises(DynamicsError, match=expected):
        rig.pipeline.follow_task(**{**here(rig), **wrong})
    assert rig.step() == pytest.approx(before) and rig.state == 'enabled'


def test_a_reference_is_refused_in_modes_that_follow_none():
    with pytest.raises(DynamicsError, match='torques are disabled: enable them first'):
        rig_of().pipeline.follow_task(**here(rig_of()))
    rig = rig_of().enabled()
    with pytest.raises(DynamicsError, match="'task_space', which follows no reference; modes that"):
        rig.pipeline.follow(*to([0.3] * 7, names=rig.robot.joint_names))
    rig = rig_of(**IMPEDANCE).enabled()
    with pytest.raises(DynamicsError, match="'impedance', which follows no task reference; .* do: "
                                            'task_space'):
        rig.pipeline.follow_task(**here(rig))


def test_a_stream_that_stops_is_held_or_a_fault():
    """It comes to rest and is held; or, with hold_reference: false, is a fault."""
    patient, strict = rig_of(), rig_of(hold_reference=False)
    for rig in (patient, strict):
        rig.enabled().run(1.0)
        assert rig.state == 'enabled'      # no reference, no timeout
        for _ in range(20):
            rig.pipeline.follow_task(**here(rig, twist=(0.02, 0, 0, 0, 0, 0)))
            rig.step()
        assert rig.pipeline._reference.at(rig.pipeline.now()).pose_motion.twist[0] > 0.0
        rig.run(rig.settings.max_reference_age + 0.4)
    assert patient.state == 'enabled'
    assert not patient.pipeline._reference.at(patient.pipeline.now()).pose_motion.twist.any()
    assert strict.state == 'fault' and 'max_reference_age' in strict.reason


def test_the_posture_is_the_measured_or_the_given_one():
    rig = rig_of(task_posture=PerJoint(named={'joint_3': 0.7})).enabled()
    np.testing.assert_allclose(rig.pipeline._reference.at(rig.pipeline.now()).posture,
                               [*BENT[:2], 0.7, *BENT[3:]])


@pytest.mark.parametrize('source, torque, expected', [
    (ARM7, {'task_frame': ''}, 'torque.task_frame is empty; expected .*tool0'),
    (ARM7, {'task_frame': 'hand'}, "no frame 'hand'"),
    (ARM7, {'joints': tuple(f'joint_{k}' for k in range(1, 7))},
     "'tool0' is moved by joint_7, not in torque.joints"),
    (ARM7, {'task_posture': PerJoint(named={'joint_9': 0.1})}, "no joint 'joint_9'"),
    (ARM7, {'task_posture': PerJoint(named={'joint_4': -9.0})},
     r'torque.task_posture.joint_4 is -9; expected -'),
    (ARM7, {'task_stiffness': (1.0, 2.0, 3.0)}, 'torque.task_stiffness has 3 values')])
def test_robots_that_cannot_be_driven_are_refused_on_enable(source, torque, expected):
    rig = Rig(source, **{**TASK, **torque})
    with pytest.raises(DynamicsError, match=expected):
        rig.enable()
    assert rig.state == 'disabled'


def test_a_floating_base_is_refused():
    rig = Rig(TWO_JOINTS, node={'base': 'floating'}, mode='task_space', task_frame='elbow_link')
    with pytest.raises(DynamicsError, match='task_space is for robots without floating joints'):
        rig.pipeline.enable(rig.node_state.snapshot())


def test_gains_may_change_while_enabled():
    rig = rig_of().enabled()
    rig.pipeline.follow_task(**here(rig, (0.0, 0.02, 0.0)))
    rig.run(1.0)
    other = type(rig.parameters)(**{**vars(rig.parameters), 'task_stiffness': (100.0, 30.0)})
    rig.pipeline.check(other, rig.settings)
    rig.pipeline.use(other, rig.settings)
    rig.run(0.3)
    pull = rig.step() - rig.robot.gravity_torque(rig.q)
    assert pull == pytest.approx(rig.robot.jacobian(rig.q, 'tool0').T @ [0, 2.0, 0, 0, 0, 0],
                                 abs=1e-6)
    with pytest.raises(DynamicsError, match='disable first'):
        rig.pipeline.check(type(other)(**{**vars(other), 'task_law': 'motion'}), rig.settings)
