"""Test states of mechanisms: loops are closed, motors have the torques of virtual work."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.inspector.figures import MotionState, figures, frame_ellipsoids
from dynamics_node.inspector.loop_state import LoopState
from dynamics_node.inspector.torque_parts import torque_parts


def moved(robot, loops, seed=1):
    """Return a state near the last one: the motors move, other joints are as they were."""
    rng = np.random.default_rng(seed)
    q, (v, a) = loops.last.copy(), rng.normal(size=(2, robot.nv))
    for name in loops.coordinates:
        q[robot.model.joint(name).q.start] += rng.uniform(-0.05, 0.05)
    return MotionState(q, v, a)


@pytest.mark.parametrize('name', MECHANISMS)
def test_every_bundled_mechanism_is_closed_and_has_figures(name):
    """The sum of the parts is the power of the motors; closed_dynamics is another path to it."""
    urdf, constraints = MECHANISMS[name]
    robot = Robot.from_urdf(urdf, loops=constraints, compile=False)
    loops = LoopState(robot)
    state = loops.complete(moved(robot, loops))
    rows = robot.constraint_rows(state.q, state.v)
    assert np.abs(rows.residual).max() < 1e-9
    assert np.abs(rows.A @ state.v).max() < 1e-9
    assert np.abs(rows.A @ state.a + rows.gamma).max() < 1e-8
    found = figures(robot, state, robot.frame_names[-1], coordinates=loops.coordinates)
    terms = robot.closed_dynamics(state.q, state.v, coordinates=loops.coordinates)
    k = [robot.model.joint(joint).v.start for joint in loops.coordinates]
    expected = (terms.mass_matrix @ state.a[k] + terms.coriolis + terms.gravity + terms.friction)
    assert relative(terms.transmission.T @ found.torque, expected) < 1e3 * SOLVED
    assert found.mass_matrix.shape == (len(k), len(k))
    ellipsoids = frame_ellipsoids(robot, state.q, robot.frame_names[-1], loops.coordinates)
    assert (ellipsoids.inertia[1] > 0.0).all()


def test_each_part_of_a_mechanism_is_that_of_its_motors():
    urdf, constraints = MECHANISMS['five_bar']
    robot = Robot.from_urdf(urdf, loops=constraints, compile=False)
    loops = LoopState(robot)
    state = loops.complete(moved(robot, loops))
    parts = torque_parts(robot, *state)
    terms = robot.closed_dynamics(state.q, state.v)
    assert relative(terms.transmission.T @ parts.gravity, terms.gravity) < SOLVED
    passive = [robot.model.joint(name).v.start for name in robot.loops.passive]
    assert not np.any(np.array(parts)[:, passive])


def test_a_tree_stays_as_it_is():
    robot = Robot.from_urdf(ARM7, compile=False)
    loops, state = LoopState(robot), MotionState(*np.random.default_rng(0).normal(size=(3, 7)))
    assert loops.coordinates is None and loops.complete(state) is state
