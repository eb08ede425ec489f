"""Test forces of all joints: against Pan's dense system, and by the balance of the whole robot."""

import numpy as np
import pytest
from support import looped_trees
from support.bundled_mechanisms import load, standing
from support.differences import relative
from support.tolerances import SOLVED
from support.universal_form import universal_form as dense_universal_form

from dynamics_node import DynamicsError, Robot
from dynamics_node.constrained.universal_form import universal_form
from dynamics_node.example_robots import ARM7, MECHANISMS

DUAL_PATHS = 1e-9  # as in test/laws/test_universal_form.py: conditions up to 1e5
LINEAR_FIRST = [3, 4, 5, 0, 1, 2]


def agree(found, dense):
    """Compare with the solution of the dense system, whose reactions are angular first."""
    for field in ('a', 'tau', 'multipliers', 'accelerations'):
        assert relative(getattr(found, field), getattr(dense, field)) < DUAL_PATHS, field
    assert relative(found.reactions, dense.reactions[:, LINEAR_FIRST]) < DUAL_PATHS


@pytest.mark.parametrize('prescribed', [False, True])
def test_looped_trees_agree_with_the_dense_system(looped, prescribed):
    """Every kind of constraint and joint, mimic joints, wrenches; problems 8 and 7."""
    given = (looped_trees.some_prescribed(looped) if prescribed
             else np.zeros(looped.model.nv, dtype=bool))
    state = looped.q, looped.v, looped.a, looped.tau, given
    agree(universal_form(looped.model, looped.constraints, *state, looped.wrenches),
          dense_universal_form(looped.model, *state, looped.constraints, looped.wrenches))


@pytest.mark.parametrize('name', MECHANISMS)
def test_mechanisms_agree_with_the_dense_system(name):
    """Forward dynamics, by the Robot."""
    mechanism = load(name)
    q, v, tau = standing(mechanism.model, mechanism.constraints, 2)
    nothing = np.zeros(mechanism.model.nv, dtype=bool)
    found = Robot(mechanism.model, compile=False).universal_form(
        q, v, 0.0 * v, tau, nothing, mechanism.constraints)
    agree(found, dense_universal_form(mechanism.model, q, v, 0.0 * v, tau, nothing,
                                      mechanism.constraints))


def test_torques_are_the_share_of_a_joint_wrench_along_its_axis(tree):
    """S' F = tau less friction and the rotors' inertia, and the reaction has no such share.

    The torque of a coordinate is the sum of those of the joints that mimic it.
    """
    robot, _, q, v, a, tau, _ = tree
    found = robot.universal_form(q, v, a, tau, np.ones(robot.nv, dtype=bool), ())
    along = np.zeros(robot.nv)
    for body, wrench, reaction in zip(robot.model.bodies, found.joint_wrenches, found.reactions):
        S = body.ratio * body.joint.subspace(body.ratio * q[body.q] + body.offset)[LINEAR_FIRST]
        along[body.v] += S.T @ wrench
        assert relative(S.T @ reaction, np.zeros(S.shape[1])) < SOLVED
    inner = robot.inverse_dynamics(q, v, a) - robot.friction_torque(v) - robot.model.armature * a
    assert relative(along, inner) < SOLVED


def test_the_first_joint_carries_the_weight():
    """At rest, the force on the first link from its joint is that of all links, upwards."""
    robot = Robot.from_urdf(ARM7, compile=False)
    q, rest = np.full(7, 0.3), np.zeros(7)
    found = robot.universal_form(q, rest, rest, rest, np.ones(7, dtype=bool))
    first = robot.model.bodies[0].name
    force = robot.frame_pose(q, first)[:3, :3] @ found.joint_wrenches[0, :3]
    moving = sum(body.inertia.mass for body in robot.model.bodies)
    assert relative(force, [0.0, 0.0, 9.81 * moving]) < SOLVED
    assert np.abs(found.accelerations).max() < SOLVED


def test_batches_give_the_results_of_single_states():
    """Also an empty one; a wrong state is named by its number."""
    mechanism = MECHANISMS['five_bar']
    robot = Robot.from_urdf(mechanism.urdf, loops=mechanism.loops, compile=False)
    states = [standing(robot.model, robot.loops.constraints, seed) for seed in range(3)]
    q, v, tau = map(np.array, zip(*states))
    given = np.zeros(4, dtype=bool)
    batch = robot.universal_form(q, v, 0.0 * v, tau, given)
    assert batch.reactions.shape == (3, len(robot.model.bodies), 6)
    for k, state in enumerate(states):
        one = robot.universal_form(*state[:2], np.zeros(4), state[2], given)
        for many, single in zip(batch, one, strict=True):
            assert np.array_equal(many[k], single)
    empty = robot.universal_form(q[:0], v[:0], v[:0], tau[:0], given)
    assert empty.multipliers.shape == (0, 2)
    with pytest.raises(DynamicsError, match='state 0 of the batch: .*contradict'):
        robot.universal_form(q, v, v + 1.0, tau, ~given)
