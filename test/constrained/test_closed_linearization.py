"""Test the linearisation of closed mechanisms: differences, equivalence of coordinates."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import STEP, relative
from support.rolling_car import rolling_car
from support.tolerances import RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS

CASES = [*((name, None) for name in MECHANISMS),
         ('five_bar', ['left_elbow', 'right_elbow']), ('stewart', ['platform_joint'])]


def robot_of(name):
    bundled = MECHANISMS[name]
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False)


def joints_of(robot, coordinates):
    names = coordinates or [name for name in robot.joint_names if name not in robot.loops.passive]
    return names, [k for name in names for k in range(robot.nv)[robot.model.joint(name).v]]


@pytest.mark.parametrize(('name', 'coordinates'), CASES, ids=str)
def test_the_slopes_are_those_of_differences(name, coordinates):
    """Of the accelerations of the coordinates; the loops are closed again after each step."""
    robot = robot_of(name)
    q, v, tau = standing(robot.model, robot.loops.constraints, 2)
    names, entries = joints_of(robot, coordinates)
    k = len(entries)
    G = robot.closed_dynamics(q, v, coordinates=coordinates).transmission

    def acceleration(x, torque):
        """Return du/dt after a deviation x (2 k,)."""
        there = robot.project_configuration(robot.integrate(q, G @ x[:k]), fixed=names)
        moved = v.copy()
        moved[entries] += x[k:]
        speed = robot.closed_dynamics(there, moved, coordinates=coordinates).transmission @ (
            moved[entries])
        return robot.constrained_forward_dynamics(there, speed, torque).a[entries]

    found = robot.closed_linearization(q, v, tau, coordinates=coordinates)
    rest, rng = np.zeros(2 * k), np.random.default_rng(k)
    # Along random directions: each has a part of every column.
    for x in rng.normal(size=(3, 2 * k)):
        slope = (acceleration(STEP * x, tau) - acceleration(-STEP * x, tau)) / (2 * STEP)
        assert relative(found.A[k:] @ x, slope) < RATE_BY_DIFFERENCES
    still = acceleration(rest, tau)
    for torque in rng.normal(size=(3, robot.nv)):
        change = acceleration(rest, tau + torque) - still
        assert relative(found.B[k:] @ torque, change) < SOLVED
    assert np.array_equal(found.A[:k, k:], np.eye(k)) and not found.B[:k].any()
    assert relative(found.drift, [*v[entries], *still]) < SOLVED


def test_deviations_of_a_floating_coordinate_turn_with_it():
    """dx/dt = du - ad_v x: the difference of two motions of the platform, by differences."""
    robot = robot_of('stewart')
    q, v, tau = standing(robot.model, robot.loops.constraints, 2)
    names, entries = joints_of(robot, ['platform_joint'])
    A = robot.closed_linearization(q, v, tau, coordinates=names).A[:6, :6]
    h = 1e-4  # of a second difference: rounding and truncation are both about 1e-8

    def apart(x, t):
        """Return the deviation after a time t of motions that were x apart."""
        offset = np.zeros(robot.nv)
        offset[entries] = x
        return robot.difference(robot.integrate(q, v, t), robot.integrate(
            robot.integrate(q, offset), v, t))[entries]
    for x, column in zip(h * np.eye(6), A.T):
        second = apart(x, h) - apart(x, -h) - apart(-x, h) + apart(-x, -h)
        assert relative(second / (4 * h * h), column) < RATE_BY_DIFFERENCES


def test_legs_and_platform_of_a_stewart_platform_have_the_same_modes():
    """At rest and in balance, the eigenvalues do not depend on the coordinates."""
    robot = robot_of('stewart')
    q, v, _ = standing(robot.model, robot.loops.constraints, 1)
    rest = np.zeros(robot.nv)
    tau = robot.constrained_inverse_dynamics(q, rest, rest).tau
    squares = [np.sort_complex(np.linalg.eigvals(
        robot.closed_linearization(q, rest, tau, coordinates=names).A[-6:, :6]))
        for names in (None, ['platform_joint'])]
    assert relative(*squares) < 1e-8  # eigenvalues lose digits where they are close


def test_batches_and_steps():
    """Row by row; one step by the exponential of the continuous model."""
    from scipy.linalg import expm
    robot = robot_of('five_bar')
    q, v, tau = map(np.array, zip(*(standing(robot.model, robot.loops.constraints, seed)
                                    for seed in range(3))))
    batch = robot.closed_linearization(q, v, tau, step=0.01)
    one = robot.closed_linearization(q[1], v[1], tau[1])
    assert batch.A.shape == (3, 4, 4) and batch.B.shape == (3, 4, 4)
    assert relative(batch.A[1], expm(0.01 * one.A)) < SOLVED


def test_what_has_no_linear_model_is_refused():
    """By name, with the state of the batch."""
    robot = robot_of('five_bar')
    q, v, tau = standing(robot.model, robot.loops.constraints, 0)
    with pytest.raises(DynamicsError, match='left_elbow do not determine the motion'):
        robot.closed_linearization(q, v, tau, coordinates=['left_elbow'])
    with pytest.raises(DynamicsError, match='step'):
        robot.closed_linearization(q, v, tau, step=-1.0)
    with pytest.raises(DynamicsError, match='state 1 of the batch: the loops are open'):
        robot.closed_linearization([q, q + 0.1], v, tau)


def test_rolling_is_refused():
    """The place beside the path is a state too, which coordinates of the motion lack."""
    car = rolling_car()
    with pytest.raises(DynamicsError, match="row 'roll.s1' restricts velocities, not positions"):
        car.closed_linearization(car.neutral(), np.zeros(4), np.zeros(4),
                                 coordinates=['car_joint', 'wheel_joint'])
