"""Test four-bar, slider-crank and pendulum against formulas derived by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bundled_mechanisms import load
from support.linkage_closed_forms import FourBar, G, SliderCrank
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.constrained.inverse import constrained_inverse_dynamics
from dynamics_node.constrained.rows import rows

LINKAGES = {'four_bar': FourBar(), 'slider_crank': SliderCrank()}
TURNS = np.linspace(0.1, 2.0 * np.pi + 0.1, 8, endpoint=False)  # all round, at no special angle
SPEED, TORQUE = -3.0, 1.7  # of the crank [rad/s, N m]


@pytest.fixture(params=[(name, t) for name in LINKAGES for t in TURNS],
                ids=lambda case: f'{case[0]}-{case[1]:.1f}')
def posed(request):
    """A bundled linkage without friction, its closed form, and one state of the two."""
    name, t = request.param
    textbook = LINKAGES[name]
    found = textbook.at(t)
    v = np.array([slope.first for slope in found.slopes]) * SPEED
    return load(name, friction=False), found, textbook.coordinates(t), v


def test_the_closed_form_keeps_the_constraints(posed):
    """Positions, velocities and accelerations of the textbook."""
    mechanism, found, q, v = posed
    residual, A, gamma = rows(mechanism.model, q, v, mechanism.constraints)
    a = np.array([slope.second for slope in found.slopes]) * SPEED ** 2
    assert_allclose(residual, 0.0, atol=SOLVED)
    assert_allclose(A @ v, 0.0, atol=SOLVED)
    assert_allclose(A @ a, -gamma, atol=SOLVED * np.abs(gamma).max())


def test_forward_dynamics_is_lagranges_with_one_coordinate(posed):
    """A torque on the crank accelerates the linkage as I alpha + I' w^2 / 2 + V' = torque."""
    mechanism, found, q, v = posed
    alpha = found.acceleration(SPEED, TORQUE)
    expected = [slope.first * alpha + slope.second * SPEED ** 2 for slope in found.slopes]
    result = constrained_forward_dynamics(mechanism.model, q, v, np.array([TORQUE, 0.0, 0.0]),
                                          mechanism.constraints)
    assert_allclose(result.a, expected, rtol=SOLVED, atol=SOLVED * np.abs(expected).max())
    assert np.all(result.margin > 0.0)


def test_inverse_dynamics_is_lagranges_with_one_coordinate(posed):
    """The torque at the crank for a wanted acceleration; the passive joints have none."""
    mechanism, found, q, v = posed
    alpha = 11.0
    a = np.array([slope.first * alpha + slope.second * SPEED ** 2 for slope in found.slopes])
    result = constrained_inverse_dynamics(mechanism.model, q, v, a, mechanism.constraints,
                                          mechanism.active)
    assert_allclose(result.tau, [found.torque(SPEED, alpha), 0.0, 0.0], rtol=SOLVED)
    assert result.redundancy == 0


def test_minimal_coordinates_give_the_same_motion(posed):
    r"""The tree's own M and b, projected on q(t): q' M q' alpha + q' (M q'' w^2 + b) = torque.

    Here the constrained solver is left out: that the two agree proves it once more, on all of a.
    """
    mechanism, found, q, v = posed
    first, second = np.transpose(found.slopes)
    M = mass_matrix(mechanism.model, q)
    b = inverse_dynamics(mechanism.model, q, v, np.zeros(3))
    assert_allclose(first @ M @ first, found.I, rtol=SOLVED)
    alpha = (TORQUE - first @ (M @ second * SPEED ** 2 + b)) / (first @ M @ first)
    result = constrained_forward_dynamics(mechanism.model, q, v, np.array([TORQUE, 0.0, 0.0]),
                                          mechanism.constraints)
    expected = first * alpha + second * SPEED ** 2
    assert_allclose(result.a, expected, rtol=SOLVED, atol=SOLVED * np.abs(expected).max())


@pytest.mark.parametrize('t', TURNS)
def test_the_pin_force_obeys_newton_at_the_rocker(t):
    """The moment about the rocker's foot: (J + m c^2/4) alpha4 = -m g c/2 cos t4 - c f_x.

    f is the force on the rocker in the rocker's own axes; it is minus the multiplier, which is the
    force on the coupler. The rocker's x axis points against its turn.
    """
    mechanism, textbook = load('four_bar', friction=False), LINKAGES['four_bar']
    found = textbook.at(t)
    v = np.array([slope.first for slope in found.slopes]) * SPEED
    result = constrained_forward_dynamics(mechanism.model, textbook.coordinates(t), v,
                                          np.array([TORQUE, 0.0, 0.0]), mechanism.constraints)
    c, m, J = textbook.c, textbook.masses[2], textbook.J[2]
    turn = found.slopes[2]
    alpha = turn.first * found.acceleration(SPEED, TORQUE) + turn.second * SPEED ** 2
    moment = (J + m * c * c / 4.0) * alpha + m * G * c / 2.0 * np.cos(found.angles[1])
    assert_allclose(result.multipliers[0], moment / c, rtol=SOLVED)


# A mass on a rod: the pendulum -----------------------------------------------------------------

MASS, ROD, PIVOT = 0.7, 0.8, (0.2, -0.1, 1.5)
BALL = f"""<robot name="ball"><link name="ball"><inertial><mass value="{MASS}"/>
  <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link></robot>"""
HELD = (Constraint('rod', 'distance', 'ball', to_pose=PIVOT, distance=ROD),)


@pytest.mark.parametrize('angle', [0.0, 0.4, 1.5, 2.9])
@pytest.mark.parametrize('speed', [0.0, 2.5])
def test_a_mass_on_a_rod_is_a_pendulum(angle, speed):
    """Angle'' = -g/L sin(angle), tension m (g cos(angle) + L speed^2), with any spin."""
    model = Robot.from_urdf(BALL, base='floating', compile=False).model
    along = np.array([np.sin(angle), 0.0, -np.cos(angle)])      # from the pivot to the mass
    across = np.array([np.cos(angle), 0.0, np.sin(angle)])
    spin = np.array([0.3, -1.0, 0.5])
    q = np.array([*(PIVOT + ROD * along), 0.0, 0.0, 0.0, 1.0])  # body axes = world axes
    v = np.array([*(ROD * speed * across), *spin])
    result = constrained_forward_dynamics(model, q, v, np.zeros(6), HELD)
    # the base accelerates in its own turning axes: d/dt of the body's velocity
    linear = result.a[:3] + np.cross(spin, v[:3])
    swing = -G / ROD * np.sin(angle)
    assert_allclose(linear, ROD * (swing * across - speed ** 2 * along), atol=SOLVED * 10.0)
    assert_allclose(result.multipliers,
                    -MASS * (G * np.cos(angle) + ROD * speed ** 2), rtol=SOLVED)
