"""Test joint friction with Stribeck and asymmetric terms, by formulas and differences."""

import numpy as np
import pytest
from support import complex_steps
from support.differences import relative
from support.real_robots import ROBOTS
from support.rough_joints import rough
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.friction import friction_slope, friction_torque
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives


def test_the_law_is_that_of_the_papers(arm):
    """Far above the speed of the smoothed sign: Hess and Soom 1990, and one law per direction."""
    v = np.array([-2.0, -0.3, -0.1, 0.1, 0.25, 0.6, 2.0])
    names = arm.joint_names
    robot = arm.with_friction(dict.fromkeys(names, 0.5), dict.fromkeys(names, 2.0),
                              dict.fromkeys(names, 0.8), dict.fromkeys(names, 0.2),
                              dict.fromkeys(names, -0.3), dict.fromkeys(names, 0.1))
    robot = robot.with_friction(friction_speed=dict.fromkeys(names, 1e-9))
    coulomb = np.where(v > 0.0, 2.0 - 0.3, 2.0 + 0.3)
    damping = np.where(v > 0.0, 0.5 + 0.1, 0.5 - 0.1)
    expected = damping * v + np.sign(v) * (coulomb + 0.8 / (1.0 + (v / 0.2) ** 2))
    assert relative(robot.friction_torque(v), expected) < EXACT_MATHS
    assert not robot.friction_torque(np.zeros(7)).any()


def test_friction_never_drives_a_joint(arm):
    """Its power is not negative, even with the greatest asymmetry that is permitted."""
    names = arm.joint_names
    one = dict.fromkeys(names, 1.0)
    robot = arm.with_friction(one, one, one, one, one, dict.fromkeys(names, -1.0))
    v = np.linspace(-3.0, 3.0, 601)[:, None] * np.ones(7)
    assert (v * robot.friction_torque(v) >= 0.0).all()


def test_the_slope_is_a_complex_step(tree):
    """Near rest and far from it."""
    model = rough(tree.robot).model
    for velocity in (tree.v, 0.01 * tree.v, np.zeros(model.nv)):
        slope = complex_steps.by(lambda x: friction_torque(model, x), velocity)
        assert relative(np.diag(friction_slope(model, velocity)), slope) < EXACT_MATHS


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_derivatives_of_real_robots_are_right(example):
    """Of inverse and forward dynamics by velocity, at slow and at fast joints."""
    robot = rough(Robot.from_urdf(example.urdf, base=example.base, compile=False))
    robot = Robot(robot.model.with_(armature=np.full(robot.nv, 0.1)), compile=False)
    model, rng = robot.model, np.random.default_rng(0)
    q, a = robot.random_configuration(rng), rng.normal(size=robot.nv)
    v = rng.normal(size=robot.nv) * rng.choice([0.02, 1.0], size=robot.nv)
    direction = rng.normal(size=robot.nv)
    dv = inverse_dynamics_derivatives(model, q, v, a)[1]
    step = inverse_dynamics(model, q, v + 1e-30j * direction, a).imag / 1e-30
    assert relative(dv @ direction, step) < EXACT_MATHS
    tau = inverse_dynamics(model, q, v, a)
    assert relative(robot.forward_dynamics(q, v, tau), a) < SOLVED
    dv = robot.forward_dynamics_derivatives(q, v, tau).dv
    h = 1e-7
    ahead, behind = (robot.forward_dynamics(q, v + s * h * direction, tau) for s in (1.0, -1.0))
    assert relative(dv @ direction, (ahead - behind) / (2.0 * h)) < RATE_BY_DIFFERENCES


def test_the_directional_derivative_by_friction_leaves_further_terms_alone(arm, states):
    """Of friction it is the smoothed sign, of damping the velocity, whatever the asymmetry is."""
    robot, (q, v, a, _) = rough(arm), states
    by = robot.inverse_dynamics_directional_derivative(
        q[0], v[0], a[0], dfriction={arm.joint_names[2]: 1.0}, ddamping={arm.joint_names[2]: 2.0})
    expected = v[0, 2] / np.sqrt(v[0, 2] ** 2 + 0.05 ** 2) + 2.0 * v[0, 2]
    assert by[2] == pytest.approx(expected, rel=1e-12)
    assert not np.delete(by, 2).any()
