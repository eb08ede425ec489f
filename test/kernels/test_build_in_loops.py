"""Test kernels that solve in loops: results of NumPy, the choice by size, and what it saves."""

import numpy as np
import pytest
from support.differences import relative
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.compiler.operation_counts import instructions, straight_line
from dynamics_node.compiler.trace import check, evaluate
from dynamics_node.kernels import build
from dynamics_node.kernels.keys import key_of
from dynamics_node.model.configuration import random_configuration

FILES = {str(example): example for example in ROBOTS}
SOLVING = ('mass_matrix_inverse', 'forward_dynamics_derivatives', 'hybrid_dynamics_derivatives')
# M^-1 multiplies rounding by the condition number of M, up to 1e5 for legged robots
SOLVED = 1e-9


def robot_of(name, base='floating', **options):
    return Robot.from_urdf(FILES[name].urdf, base=base, **options)


def states_of(robot, count):
    rng = np.random.default_rng(3)
    q = np.array([random_configuration(robot.model, rng) for _ in range(count)])
    return q, *rng.normal(size=(3, count, robot.nv)), rng.random(robot.nv) < 0.4


def answers(robot, q, v, a, tau, given):
    """Return the results of all kernels that solve, as one list of arrays."""
    return [robot.mass_matrix_inverse(q), *robot.forward_dynamics_derivatives(q, v, tau),
            *robot.hybrid_dynamics_derivatives(q, v, a, tau, given)]


# with mimic joints, which fill zeros of M; two arms of seven joints
@pytest.mark.parametrize(('name', 'base'), [('solo12_coupled', 'floating'), ('baxter', 'fixed')])
def test_loops_agree_with_numpy(name, base, monkeypatch):
    """Single states and batches, on small robots for which loops are not chosen otherwise."""
    monkeypatch.setattr(build, 'IN_LOOPS', 0)
    robot, plain = robot_of(name, base), robot_of(name, base, compile=False)
    keys = [key_of(robot.model, kernel) for kernel in SOLVING]
    robot._dispatcher.compile(keys, wait=True)
    states = states_of(robot, 17)   # whole blocks and a rest, at any width
    for k in (0, 16):
        one = [*(part[k] for part in states[:-1]), states[-1]]
        for got, want in zip(answers(robot, *one), answers(plain, *one), strict=True):
            assert relative(got, want) < SOLVED
    many = answers(robot, *states)
    for got, want in zip(many, answers(plain, *states), strict=True):
        assert relative(got, want) < SOLVED
    np.testing.assert_array_equal(many[0], np.swapaxes(many[0], 1, 2))
    np.testing.assert_array_equal(many[3], np.swapaxes(many[3], 1, 2))


@pytest.mark.parametrize('name', ['g1', 'talos'])
def test_programs_of_humanoids_agree_with_numpy(name):
    """Derivatives of forward dynamics under wrenches, interpreted: no compilation of seconds."""
    robot = robot_of(name, compile=False, friction=False)
    key = key_of(robot.model, 'forward_dynamics_derivatives', with_wrenches=True)
    program = build.program_of(robot.model, key)
    check(program)
    assert program.rows is not None
    assert straight_line(program) < 0.5 * instructions(program)
    q, v, tau = (part[0] for part in states_of(robot, 1)[:3])
    wrenches = np.random.default_rng(5).normal(size=(len(robot.model.bodies), 6))
    got = evaluate(program, np.concatenate([q, v, tau, wrenches.ravel(), robot.gravity,
                                            robot.model.armature]))
    want = key.spec.numpy_algorithm(robot.model, q, v, tau, wrenches)
    for ours, numpy in zip(got, want, strict=False):
        assert relative(ours, numpy) < SOLVED


def test_small_robots_have_straight_line_code(monkeypatch):
    """Loops are chosen by the number of instructions, and never for rows shorter than a register.

    The count of the loops leaves zeros out: it is nearly that of the straight-line program.
    """
    robot = robot_of('solo12', compile=False, friction=False)
    key = key_of(robot.model, 'mass_matrix_inverse')
    written_out = build.program_of(robot.model, key)
    assert written_out.rows is None
    monkeypatch.setattr(build, 'IN_LOOPS', 0)
    looped = build.program_of(robot.model, key)
    assert instructions(looped) < 1.1 * instructions(written_out)
    assert straight_line(looped) < 0.6 * instructions(written_out)
    arm = robot_of('ur5', 'fixed', compile=False)
    assert build.program_of(arm.model, key_of(arm.model, 'mass_matrix_inverse')).rows is None
