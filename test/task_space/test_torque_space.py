"""Test the equations of the whole-body problem by the torques, on floats: laws, real robots."""

import numpy as np
import pytest
from support.real_robots import ROBOTS

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.model.model import Model
from dynamics_node.task_space.qp_terms import affine
from dynamics_node.task_space.torque_space import (
    DependentRows,
    TorqueSpace,
    number_count,
    refused,
    row_count,
    torque_space,
)

SOLVED = 1e-8   # condition numbers of humanoids and hands up to 1e6
NO_RATES = np.zeros(2)


def space_of(model: Model, constraints, q, v, parts, actuated, numbers=None):
    numbers = np.zeros(sum(map(number_count, parts))) if numbers is None else numbers
    *found, margin = torque_space(model, constraints, q, v, numbers, NO_RATES, parts, actuated, ())
    return TorqueSpace(*found), margin


@pytest.mark.parametrize('entry', ROBOTS[::4], ids=str)
def test_every_torque_gives_a_motion_that_obeys_the_laws(entry):
    """M a + h = S' u + A' f and A a + gamma = 0 for random torques, on a contact of the last link.

    The torques are the residuals of a task of kind torque.
    """
    robot = Robot.from_urdf(entry.path, base='floating', compile=False)
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    contact = (Constraint('tip', 'point_contact', robot.frame_names[-1]),)
    actuated = tuple(range(6, robot.nv))
    space, margin = space_of(robot.model, contact, q, v, (('torque', len(actuated)),), actuated)
    if not (margin > 0.0).all():
        pytest.skip('a link without inertia')
    u = rng.normal(size=len(actuated))
    a, f, errors = np.split(affine(space.rows, u), [robot.nv, robot.nv + 3])
    held = robot.constraint_rows(q, v, contact)
    torque = np.concatenate([np.zeros(6), u])
    push = robot.inverse_dynamics(q, v, a)
    scale = max(np.abs(push).max(), np.abs(held.A.T @ f).max(), 1.0)
    assert np.abs(push - torque - held.A.T @ f).max() <= SOLVED * scale
    assert np.abs(held.A @ a + held.gamma).max() <= SOLVED * (1.0 + np.abs(a).max())
    assert (errors == u).all()


def test_the_numbers_and_rows_of_a_part_are_counted():
    """The kernel's inputs and results have these sizes."""
    parts = (('frame', 'hand', (0, 2)), ('center_of_mass', (1,)), ('posture', (7, 8), (6, 7)),
             ('force', (9, 10, 11)), ('torque', 4))
    assert [row_count(part) for part in parts] == [2, 1, 2, 3, 4]
    assert [number_count(part) for part in parts] == [20, 8, 6, 3, 4]


def test_one_contact_twice_has_no_margin():
    """Its forces are no function of the torques; the NumPy path of the kernel says so."""
    robot = Robot.from_urdf(ROBOTS[0].path, base='floating', compile=False)
    twice = tuple(Constraint(name, 'point_contact', robot.frame_names[-1]) for name in 'ab')
    q, actuated = robot.neutral(), tuple(range(6, robot.nv))
    with np.errstate(all='ignore'):
        _, margin = space_of(robot.model, twice, q, np.zeros(robot.nv),
                             (('torque', len(actuated)),), actuated)
    assert not (margin > 0.0).all()
    with pytest.raises(DependentRows):
        refused()
