"""Test mode task_space by the motion of the frame, on robots of every kind."""

import numpy as np
import pytest
import scipy.linalg
from support.differences import relative
from support.task_references import aim, best_frame, gains
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node.algorithms.operational_space import consistent
from dynamics_node.control.gains import TaskGains
from dynamics_node.control.pose_coordinates import pose_error
from dynamics_node.control.task_laws import (
    critical_damping,
    stiffness_and_damping,
    task_rows,
    task_space,
)
from dynamics_node.control.task_reference import selection
from dynamics_node.control.torque_terms import TorqueTerms
from dynamics_node.spatial import so3

UNTOUCHED = 1e-9          # [m/s^2, rad/s^2]
ROOT_OF_ROUNDING = 1e-6   # a damper is 2 sqrt(k), k = 0 but for rounding
FORCE_AXES = [(False, False, True, False, False, False), (True, True, False, False, False, True),
              (False, False, False, True, True, False), (True,) * 6]

PASSING = 0.003   # [rad] of the elbow, either way: where the hybrid motion law is steepest

@pytest.fixture
def frame(tree):
    """A frame of the tree that is not near a singular configuration."""
    name = best_frame(tree.robot, tree.q, tree.v)
    assert not tree.robot.operational_space(tree.q, tree.v, name).damping.any()
    return name


def unhurried(robot, *scales):
    """Return TorqueTerms without speed limits of the joints: the laws are exact."""
    terms = TorqueTerms(robot, *scales)
    terms.max_velocity = np.full(robot.nv, np.inf)
    return terms


def lossless(robot):
    none = dict.fromkeys(robot.joint_names, 0.0)
    return robot.with_friction(none, none)


def acceleration_of(robot, q, v, frame, tau):
    """Return the acceleration of a frame under torques, by forward dynamics, (6,)."""
    a = robot.forward_dynamics(q, v, tau)
    return robot.jacobian(q, frame) @ a + robot.jacobian_rate(q, v, frame) @ v


def deviation(robot, tree, motion):
    """Return (e, w* - w) of the frame."""
    frame = motion.reference.frame
    return (pose_error(robot.frame_pose(tree.q, frame), motion.pose_motion.pose),
            motion.pose_motion.twist - robot.jacobian(tree.q, frame) @ tree.v)


def in_contact(robot, q, v, frame, tau, rows):
    """Return the frame's acceleration and the forces that it exerts along fixed rows.

    By the equations of motion with  A (J a + dJ/dt v) = 0,  A being rows of unit wrenches, solved
    whole: an oracle that knows nothing of Lambda.
    """
    J, M = rows @ robot.jacobian(q, frame), robot.mass_matrix(q)
    h = robot.inverse_dynamics(q, v, np.zeros(robot.nv))
    k = len(rows)
    whole = np.block([[M, J.T], [J, np.zeros((k, k))]])
    right = np.concatenate([tau - h, -rows @ robot.jacobian_rate(q, v, frame) @ v])
    a, force = np.split(np.linalg.solve(whole, right), [robot.nv])
    return robot.jacobian(q, frame) @ a + robot.jacobian_rate(q, v, frame) @ v, force


# Motion ------------------------------------------------------------------------------------------


def test_motion_makes_the_error_unit_masses_on_springs(tree, frame):
    """By  e'' + D e' + K e = 0  along every axis, for any posture."""
    robot = lossless(tree.robot)
    motion, g = aim(robot, tree.q, frame, tree.rng), gains(robot, tree.rng, 'motion')
    tau = task_space(unhurried(robot), tree.q, tree.v, motion, g)
    e, de = deviation(robot, tree, motion)
    X = motion.reference.selection.rotation
    wanted = (motion.pose_motion.acceleration + X @ (g.stiffness * (X.T @ e))
              + X @ (2 * g.damping_ratio * np.sqrt(g.stiffness) * (X.T @ de)))
    assert relative(acceleration_of(robot, tree.q, tree.v, frame, tau), wanted) < 100 * SOLVED


def test_impedance_is_a_body_on_springs(tree, frame):
    """By  Lambda e'' + D e' + K e = -F_ext,  its inertia being the robot's own."""
    robot = lossless(tree.robot)
    motion = aim(robot, tree.q, frame, tree.rng, stiffness=(30.0, 4.0), damping=[7.0])
    tau = task_space(unhurried(robot), tree.q, tree.v, motion, gains(robot, tree.rng))
    external = tree.rng.normal(size=6)
    J = robot.jacobian(tree.q, frame)
    w = acceleration_of(robot, tree.q, tree.v, frame, tau + J.T @ external)
    e, de = deviation(robot, tree, motion)
    inertia = np.linalg.inv(J @ np.linalg.solve(robot.mass_matrix(tree.q), J.T))
    forces = np.repeat([30.0, 4.0], 3) * e + 7.0 * de + external
    assert relative(inertia @ (w - motion.pose_motion.acceleration), forces) < 100 * SOLVED


def test_critical_damping_makes_every_mode_critical():
    """In the modes of K and Lambda, as SciPy finds them: d = 2 sqrt(k), nothing between modes."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        A, B = rng.normal(size=(2, 6, 6))
        inertia, stiffness = A @ A.T + np.eye(6), B @ B.T
        k, U = scipy.linalg.eigh(stiffness, inertia)
        assert relative(U.T @ critical_damping(inertia, stiffness) @ U,
                        np.diag(2 * np.sqrt(k))) < 100 * SOLVED


def test_a_spring_of_no_stiffness_is_free(arm):
    """Its mode has neither spring nor damper."""
    rng = np.random.default_rng(1)
    q, v = arm.random_configuration(rng), np.zeros(7)
    motion = aim(arm, q, 'tool0', rng, stiffness=(100.0, 100.0, 0.0, 5.0, 5.0, 5.0))
    terms = TorqueTerms(arm)
    rows = task_rows(terms, q, v, motion)
    inertia = consistent(rows.jacobian, rows.inverse, rows.reference).inertia
    K, D = stiffness_and_damping(inertia, rows.reference, motion.reference, TaskGains.of(7))
    dampers = np.linalg.eigvalsh(D)
    assert K.tolist() == [100.0, 100.0, 0.0, 5.0, 5.0, 5.0]
    assert dampers[0] < ROOT_OF_ROUNDING * dampers[-1] and dampers[1] > 1e-3 * dampers[-1]


# Force -------------------------------------------------------------------------------------------


def test_selection_matrices_separate_force_and_motion_axes():
    """S_M x is x without its part along the axes of force: the columns of C."""
    rng = np.random.default_rng(0)
    C = so3.exp(rng.normal(size=3))
    chosen, x = selection(C, np.array(FORCE_AXES[0])), rng.normal(size=6)
    external = np.array([*(C[:, 2] * (C[:, 2] @ x[:3])), 0, 0, 0])
    np.testing.assert_allclose(chosen.motion @ x, x - external, atol=EXACT_MATHS)
    assert chosen.controlled.all() and chosen.force.tolist() == list(FORCE_AXES[0])
    np.testing.assert_allclose(chosen.rows @ x, chosen.rotation.T @ x, atol=EXACT_MATHS)


@pytest.mark.parametrize('law', ['impedance', 'motion'])
@pytest.mark.parametrize('axes', FORCE_AXES, ids=['one', 'three', 'torques', 'all'])
def test_force_and_motion_control_are_decoupled(tree, frame, law, axes):
    """In rigid contact the frame exerts F_c and moves as commanded, independently.

    The frame does not move along the axes of contact, as in a contact it would not.
    """
    robot, rng, force = lossless(tree.robot), tree.rng, np.array(axes)
    J, g = robot.jacobian(tree.q, frame), gains(tree.robot, rng, law)
    found = []
    for _ in range(2):
        motion = aim(robot, tree.q, frame, np.random.default_rng(7), force_axes=axes)
        rows = motion.reference.selection.rotation.T[force]
        wrench = rows.T @ rng.normal(size=len(rows))
        motion = motion._replace(reference=motion.reference._replace(wrench=wrench))
        v = tree.v - np.linalg.pinv(rows @ J) @ (rows @ J @ tree.v)
        tau = task_space(unhurried(robot), tree.q, v, motion, g)
        w, exerted = in_contact(robot, tree.q, v, frame, tau, rows)
        assert relative(exerted, rows @ wrench) < 1000 * SOLVED
        found.append(w)
    assert np.abs(found[0] - found[1]).max() < UNTOUCHED
    if law == 'motion':
        e, de = deviation(robot, tree._replace(v=v), motion)
        X = motion.reference.selection.rotation[:, ~force]
        k = g.stiffness[~force]
        wanted = (X.T @ motion.pose_motion.acceleration + k * (X.T @ e)
                  + 2 * g.damping_ratio * np.sqrt(k) * (X.T @ de))
        assert relative(X.T @ found[0], wanted) < 1000 * SOLVED


def test_a_frame_that_loses_its_contact_is_damped(arm):
    """Along an axis of force the damping takes energy from the frame."""
    rng = np.random.default_rng(2)
    q, v = arm.random_configuration(rng), rng.normal(size=7)
    motion = aim(arm, q, 'tool0', rng, force_axes=(True,) * 6, damping=[20.0, 2.0])
    with_damping, without = (task_space(unhurried(arm), q, v, each, gains(arm, rng, posture=False))
                             for each in (motion, motion._replace(
                                 reference=motion.reference._replace(damping=np.zeros(6)))))
    w = arm.jacobian(q, 'tool0') @ v
    assert (with_damping - without) @ v == pytest.approx(-w @ (np.repeat([20.0, 2.0], 3) * w))


# Near singular configurations --------------------------------------------------------------------


@pytest.mark.parametrize('law, stiffness', [('impedance', (400.0, 30.0)), ('motion', [100.0])])
@pytest.mark.parametrize('axes', [(False,) * 6, FORCE_AXES[0]], ids=['motion', 'hybrid'])
def test_the_torque_is_continuous_through_a_singular_configuration(arm, law, stiffness, axes):
    """The elbow passes stretched: steps a quarter as long change torques a quarter as much.

    Dry friction apart, which changes its sign with the commanded velocity of a joint.
    """
    arm = lossless(arm)
    rng, terms, g = np.random.default_rng(3), TorqueTerms(arm), TaskGains.of(7, law, stiffness)
    q, v = np.array([0.3, 0.5, -0.4, 0.0, 0.2, -0.6, 0.1]), rng.normal(size=7)
    motion = aim(arm, q, 'tool0', rng, force_axes=axes)
    assert arm.operational_space(q, v, 'tool0').singular_values[-1] < 1e-6

    def steepest(steps):
        torques = [task_space(terms, q + elbow * np.eye(7)[3], v, motion, g)
                   for elbow in np.linspace(-PASSING, PASSING, steps)]
        return np.abs(np.diff(torques, axis=0)).max()
    assert steepest(121) < 0.3 * steepest(31)


# The rest of the joints --------------------------------------------------------------------------


@pytest.mark.parametrize('law', ['impedance', 'motion'])
def test_the_posture_does_not_accelerate_the_frame(tree, frame, law):
    """It moves joints."""
    robot = tree.robot
    motion, g = aim(robot, tree.q, frame, tree.rng), gains(robot, tree.rng, law)
    other = motion._replace(posture=robot.integrate(tree.q, tree.rng.normal(size=robot.nv)))
    taus = [task_space(unhurried(robot), tree.q, tree.v, each, g) for each in (motion, other)]
    one, two = (acceleration_of(robot, tree.q, tree.v, frame, tau) for tau in taus)
    assert np.abs(one - two).max() < UNTOUCHED
    assert np.abs(taus[0] - taus[1]).max() > 0.1


def test_gravity_and_friction_are_those_of_every_mode(tree, frame):
    """Scaled joint by joint; friction at the velocity of the reference."""
    robot, rng = tree.robot, tree.rng
    motion, g = aim(robot, tree.q, frame, rng), gains(robot, rng)
    scale, share = rng.uniform(0.5, 1.5, (2, robot.nv))
    plain, scaled = (task_space(terms, tree.q, tree.v, motion, g) for terms in (
        unhurried(lossless(robot)), unhurried(robot, scale, share)))
    wanted = robot.operational_space(tree.q, tree.v, frame).consistent_inverse
    losses = share * robot.friction_torque(wanted @ motion.pose_motion.twist)
    assert relative(scaled - plain,
                    (scale - 1.0) * robot.gravity_torque(tree.q) + losses) < 1000 * EXACT_MATHS
