"""Test the torque modes by the acceleration they cause, on robots of every kind."""

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.control import laws
from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.torque_terms import TorqueTerms


def aim(tree, spread=0.5):
    """Return a Motion near the tree's state, and Gains that differ from joint to joint."""
    nv = tree.robot.nv
    q = tree.robot.integrate(tree.q, tree.rng.uniform(-spread, spread, nv))
    gains = Gains.per_joint(nv, tree.rng.uniform(1, 50, nv), tree.rng.uniform(1, 9, nv))
    return MotionSample(q, tree.rng.normal(size=nv), tree.rng.normal(size=nv)), gains


def commanded(tree, motion, gains):
    """Return a* + Kp e + Kd de."""
    e = tree.robot.difference(tree.q, motion.q)
    return motion.a + gains.kp * e + gains.kd * (motion.v - tree.v)


def at_rest(tree, motion):
    """Return the constant motion at this position."""
    return MotionSample(motion.q, np.zeros(tree.robot.nv), np.zeros(tree.robot.nv))


def lossless(robot):
    none = dict.fromkeys(robot.joint_names, 0.0)
    return robot.with_friction(none, none)


# What they do to the robot -----------------------------------------------------------------------


def test_gravity_holds_a_robot_at_rest(tree):
    """No acceleration at v = 0, for any joint friction."""
    tau = laws.gravity(TorqueTerms(tree.robot), tree.q, None, None, None)
    a = tree.robot.forward_dynamics(tree.q, np.zeros(tree.robot.nv), tau)
    assert np.abs(a).max() < 100 * SOLVED


def test_feedforward_gives_a_robot_on_its_reference_the_references_acceleration(tree):
    """Friction included, since the velocities agree."""
    motion, _ = aim(tree)
    tau = laws.feedforward(TorqueTerms(tree.robot), None, None, motion, None)
    assert relative(tree.robot.forward_dynamics(*motion[:2], tau), motion.a) < 100 * SOLVED


def test_computed_torque_makes_the_error_a_mass_on_a_spring(tree):
    """By  e'' + Kd e' + Kp e = 0:  the acceleration is the commanded one, without friction."""
    motion, gains = aim(tree)
    robot = lossless(tree.robot)
    tau = laws.computed_torque(TorqueTerms(robot), tree.q, tree.v, motion, gains)
    a = robot.forward_dynamics(tree.q, tree.v, tau)
    assert relative(a, commanded(tree, motion, gains)) < 100 * SOLVED


def test_friction_at_the_references_velocity_drives_the_error_by_its_difference_only(tree):
    """M (e'' + Kd e' + Kp e) = friction(v) - friction(v*)."""
    motion, gains = aim(tree)
    robot = tree.robot
    tau = laws.computed_torque(TorqueTerms(robot), tree.q, tree.v, motion, gains)
    a = robot.forward_dynamics(tree.q, tree.v, tau)
    left_over = robot.friction_torque(tree.v) - robot.friction_torque(motion.v)
    missed = robot.mass_matrix(tree.q) @ (commanded(tree, motion, gains) - a)
    assert relative(missed, left_over) < 1000 * SOLVED
    assert (left_over * (tree.v - motion.v) >= 0.0).all()  # it takes energy from the error


def test_computed_torque_is_the_textbook_equation(tree):
    """M (a* + Kp e + Kd de) + C v + g, with the matrix formed."""
    motion, gains = aim(tree)
    robot = tree.robot
    terms = TorqueTerms(robot, friction_scale=0.0)
    tau = laws.computed_torque(terms, tree.q, tree.v, motion, gains)
    M, C, g = (robot.mass_matrix(tree.q), robot.coriolis_matrix(tree.q, tree.v),
               robot.gravity_torque(tree.q))
    assert relative(tau, M @ commanded(tree, motion, gains) + C @ tree.v + g) < 10 * EXACT_MATHS


def test_springs_balance_an_external_wrench(tree):
    """At rest, Kp e = - J' F: the deflection is F / Kp, without gravity."""
    motion, gains = aim(tree)
    motion = at_rest(tree, motion)
    e = tree.robot.difference(tree.q, motion.q)
    for law in (laws.impedance, laws.impedance_with_bias):
        tau = law(TorqueTerms(tree.robot), tree.q, 0 * tree.v, motion, gains)
        push = -gains.kp * e  # a torque from outside
        a = tree.robot.forward_dynamics(tree.q, 0 * tree.v, tau + push)
        assert np.abs(a).max() < 100 * SOLVED


def test_impedance_with_bias_accelerates_the_inertia_by_the_springs(tree):
    """M a = Kp e + Kd de, at any speed; plain impedance has C v in it too."""
    motion, gains = aim(tree)
    robot = lossless(tree.robot)
    springs = gains.kp * robot.difference(tree.q, motion.q) + gains.kd * (motion.v - tree.v)
    tau = laws.impedance_with_bias(TorqueTerms(robot), tree.q, tree.v, motion, gains)
    a = robot.forward_dynamics(tree.q, tree.v, tau)
    assert relative(robot.mass_matrix(tree.q) @ a, springs) < 1000 * SOLVED
    plain = laws.impedance(TorqueTerms(robot), tree.q, tree.v, motion, gains)
    assert relative(tau - plain, robot.coriolis_matrix(tree.q, tree.v) @ tree.v) < 10 * EXACT_MATHS


@pytest.mark.parametrize('mode', sorted(laws.WITH_REFERENCE))
def test_friction_is_compensated_at_the_velocity_of_the_reference(tree, mode):
    """Never at the measured one, which is late and noisy; zero for a reference at rest."""
    aimed, gains = aim(tree)
    for motion in (aimed, at_rest(tree, aimed)):
        with_losses, without = (
            laws.JOINT_MODES[mode](TorqueTerms(robot), tree.q, tree.v, motion, gains)
                                for robot in (tree.robot, lossless(tree.robot)))
        expected = tree.robot.friction_torque(motion.v)
        assert relative(with_losses - without, expected) < 10 * EXACT_MATHS


# Scales ------------------------------------------------------------------------------------------


@pytest.mark.parametrize('mode', laws.JOINT_MODES)
def test_scales_multiply_gravity_and_friction_joint_by_joint(tree, mode):
    """tau(s_g, s_f) = tau(1, 1) + (s_g - 1) g + (s_f - 1) friction."""
    motion, gains = aim(tree)
    law, nv = laws.JOINT_MODES[mode], tree.robot.nv
    scales = tree.rng.uniform(0, 2, (2, nv))
    scaled, plain = (law(terms, tree.q, tree.v, motion, gains)
                     for terms in (TorqueTerms(tree.robot, *scales), TorqueTerms(tree.robot)))
    q = motion.q if mode == 'feedforward' else tree.q
    losses = tree.robot.friction_torque(motion.v) if mode in laws.WITH_REFERENCE else 0.0
    expected = (scales[0] - 1) * tree.robot.gravity_torque(q) + (scales[1] - 1) * losses
    assert relative(scaled - plain, expected) < 10 * EXACT_MATHS


def test_a_scale_is_not_negative_and_of_the_right_size(tree):
    """By name."""
    for name in ('gravity_scale', 'friction_scale'):
        with pytest.raises(DynamicsError, match=f'{name} is -1.0; expected zero or'):
            TorqueTerms(tree.robot, **{name: -1.0})
        with pytest.raises(DynamicsError, match=f'{name} must have shape'):
            TorqueTerms(tree.robot, **{name: [1.0, 1.0]})


# Errors on the manifold --------------------------------------------------------------------------

SPINNERS = """<robot name="spinners"><link name="base"/>{}</robot>""".format(''.join(
    f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
    f'ixz="0" iyz="0"/></inertial></link><joint name="j{k}" type="{kind}"><parent link="{parent}"/>'
    f'<child link="l{k}"/><axis xyz="0 0 1"/>{limit}</joint>'
    for k, (kind, parent, limit) in enumerate([
        ('continuous', 'base', ''), ('revolute', 'l0', '<limit lower="-9" upper="9"/>'),
        ('planar', 'l1', ''), ('continuous', 'base', ''),
        ('continuous', 'l3', '<mimic joint="j3" multiplier="0.5"/>')])))


def test_a_continuous_joint_takes_the_shorter_way():
    """A revolute joint must go back all the way; so must one that another mimics."""
    robot = Robot.from_urdf(SPINNERS)
    assert robot.dof_names == ('j0', 'j1', 'j2.x', 'j2.y', 'j2.theta', 'j3')
    error = TorqueTerms(robot).error(np.full(6, -3.1), np.full(6, 3.1))
    short, long = 6.2 - 2 * np.pi, 6.2
    np.testing.assert_allclose(error, [short, long, long, long, short, long], rtol=EXACT_MATHS)


@pytest.mark.parametrize('mode', sorted(laws.WITH_GAINS))
def test_wrapped_angles_change_no_torque(mode):
    """From just below pi to just above -pi, and after any number of turns."""
    robot = Robot.from_urdf(SPINNERS)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 6))
    motion, gains = MotionSample(q + 0.3, v, a), Gains.per_joint(6, 9.0, 3.0)
    wrapped = q + 2 * np.pi * np.array([1, 0, 0, 0, -3, 0])
    law = laws.JOINT_MODES[mode]
    assert relative(law(TorqueTerms(robot), wrapped, v, motion, gains),
                    law(TorqueTerms(robot), q, v, motion, gains)) < 10 * EXACT_MATHS


def test_batches_give_the_results_of_single_states():
    """Row by row."""
    tree = random_trees.make(random_trees.TREES[0])
    motion, gains = aim(tree)
    terms = TorqueTerms(tree.robot, 0.9, 0.8)
    for law in laws.JOINT_MODES.values():
        one = law(terms, tree.q, tree.v, motion, gains)
        many = law(terms, np.stack([tree.q] * 2), np.stack([tree.v] * 2),
                   MotionSample(*(np.stack([part] * 2) for part in motion)), gains)
        assert relative(many, np.stack([one] * 2)) < EXACT_MATHS
