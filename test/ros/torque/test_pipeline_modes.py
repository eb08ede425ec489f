"""Test that torque.mode changes without a jump while torques are published, in closed loop."""

from itertools import permutations

import numpy as np
import pytest
from support.pipeline_rig import Rig
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError
from dynamics_node.control.laws import MODES, TASK_SPACE, WITH_REFERENCE
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.torque import law_kernels

pytestmark = pytest.mark.usefixtures('awaited_kernels')

DT = 0.004                   # [s]
FEEDBACK = (WITH_REFERENCE | {TASK_SPACE}) - {'feedforward'}
SETTLED = 0.1                # [rad/s] 0.6 s after the change, with feedback
AWAY = 0.25                  # [rad] greatest way meanwhile; the reference goes 0.2
WAY = np.array([0.2, -0.2])  # [rad]
COMMON = {'gains': 'kp_kd', 'kp': PerJoint(30.0), 'kd': PerJoint(12.0), 'task_frame': 'elbow_link',
          'task_stiffness': (40.0, 5.0)}


class MovingRig(Rig):
    """A rig whose robot moves by its torques."""

    def move(self, steps):
        for _ in range(steps):
            tau = self.step(DT)
            self.v = self.v + DT * self.robot.forward_dynamics(self.q, self.v, tau)
            self.q = self.q + DT * self.v

    def change(self, **values):
        """Change parameters as the node does."""
        parameters = TorqueParameters(**{**vars(self.pipeline.parameters), **values})
        self.pipeline.check(parameters, self.settings)
        self.pipeline.use(parameters, self.settings)

    @property
    def slewed(self):
        """Whether the gate had to limit the change of a torque."""
        return any(which == 'slew' for which, _ in self.gate.status().limited)


def enabled(mode, **values):
    rig = MovingRig(TWO_JOINTS, node={'friction': False}, mode=mode, **{**COMMON, **values})
    rig.q = np.array([0.2, 0.4])
    rig.enable()
    rig.move(30)
    assert rig.state == 'enabled'
    return rig


def set_in_motion(rig, mode):
    """Let the robot move at about 0.3 rad/s: it is pushed, or follows a reference."""
    if mode in WITH_REFERENCE:
        rig.pipeline.follow(list(rig.robot.joint_names), None, np.array([0.6]), (rig.q + WAY)[None],
                            None, None)
        rig.move(50)
    else:
        rig.v = 1.5 * WAY
        rig.move(2)
    assert np.abs(rig.v).max() > 0.25


@pytest.mark.parametrize('moving', [False, True], ids=['at rest', 'moving'])
@pytest.mark.parametrize(('before', 'after'), permutations(MODES, 2))
def test_a_mode_takes_over_without_a_jump(before, after, moving):
    """The gate has no slew to limit, and a mode with feedback brings the robot to rest."""
    rig = enabled(before)
    goal = rig.q + WAY
    if moving:
        set_in_motion(rig, before)
    start = rig.q.copy()
    rig.change(mode=after)
    rig.move(150)
    assert (rig.state, rig.slewed) == ('enabled', False)
    if not moving:
        assert np.abs(rig.q - start).max() < 1e-3
    elif after in FEEDBACK:
        assert np.abs(rig.v).max() < SETTLED and np.abs(rig.q - start).max() < AWAY
        if {before, after} <= WITH_REFERENCE:   # the reference went on
            assert np.abs(rig.q - goal).max() < 0.05


def test_the_torque_after_a_change_is_that_of_the_new_mode():
    rig = enabled('impedance')
    rig.pipeline.follow(list(rig.robot.joint_names), None, np.array([0.4]), (rig.q + 0.05)[None],
                        None, None)
    rig.q, rig.v = rig.q.copy(), np.zeros(2)
    rig.run(1.0)
    rig.change(mode='gravity')
    first = rig.step(DT)
    held = rig.robot.gravity_torque(rig.q)
    assert first == pytest.approx(held + 30.0 * 0.05 * (1.0 - DT / 0.2), rel=1e-3)
    rig.run(0.3)
    assert rig.step() == pytest.approx(held)


def test_a_mode_that_would_fling_the_arm_is_refused():
    """The spring of the old mode would be lost too fast."""
    rig = enabled('impedance', kp=PerJoint(400.0), max_start_error=1.0)
    rig.pipeline.follow(list(rig.robot.joint_names), None, np.array([0.4]), (rig.q + 0.1)[None],
                        None, None)
    rig.run(1.0)   # something holds the robot
    with pytest.raises(DynamicsError, match='change the torque too fast: joint .shoulder'):
        rig.change(mode='gravity')
    assert rig.state == 'enabled' and rig.pipeline.parameters.mode == 'impedance'


def test_a_second_change_waits_for_the_end_of_the_first():
    rig = enabled('gravity')
    rig.change(mode='impedance')
    rig.move(2)
    with pytest.raises(DynamicsError, match='try again in a moment'):
        rig.change(mode='computed_torque')
    rig.change(kp=PerJoint(20.0))   # gains of the new mode wait by themselves
    rig.move(150)
    rig.change(mode='computed_torque')
    rig.move(10)
    assert (rig.state, rig.slewed) == ('enabled', False)


def test_a_mode_does_not_change_while_torques_ramp_out():
    rig = enabled('impedance')
    rig.pipeline.disable()
    with pytest.raises(DynamicsError, match='try again in a moment'):
        rig.change(mode='gravity')


def test_a_mode_whose_kernels_are_missing_is_refused(monkeypatch):
    """The next change, once they are compiled, is accepted."""
    rig = enabled('gravity')

    def missing(robot):
        raise DynamicsError('3 kernels of the torque are being compiled: try again in a moment')
    with monkeypatch.context() as patch:
        patch.setattr(law_kernels, 'check_kernels', missing)
        with pytest.raises(DynamicsError, match='being compiled'):
            rig.change(mode='impedance')
    assert rig.pipeline.parameters.mode == 'gravity'
    rig.change(mode='impedance')
    rig.move(60)
    assert rig.state == 'enabled'


def test_parameters_of_task_space_change_before_it_is_used_only():
    rig = enabled('gravity')
    rig.change(task_frame='shoulder_link', task_timeout=0.2)
    rig.change(mode='task_space')
    rig.move(60)
    with pytest.raises(DynamicsError, match='disable first'):
        rig.change(task_frame='elbow_link')
