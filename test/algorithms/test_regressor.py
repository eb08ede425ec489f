"""Test that dynamics is linear in the inertial, friction and rotor parameters: regressors."""

import numpy as np
from support.differences import along, relative
from support.sums_over_parameters import energies, torques
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.algorithms.energy_regressor import energy_regressor
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics, newton_euler
from dynamics_node.algorithms.regressor import (
    regressor,
)
from dynamics_node.algorithms.wrenches import body_wrenches


def test_inverse_dynamics_is_the_regressor_times_the_parameters(tree):
    """ID = Y pi + Y_f (damping, friction) + Y_r armature - sum J'F, with a payload in pi."""
    robot, _, q, v, a, _, wrenches = tree
    loaded = robot.with_payload('load', 'l4', 3.0, (0.1, 0.2, -0.3), np.eye(3))
    for model in (robot.model, loaded.model):
        assert relative(torques(model, q, v, a), inverse_dynamics(model, q, v, a)) < EXACT_MATHS
    w = body_wrenches(robot.model, wrenches)
    held = newton_euler(robot.model.with_(gravity=np.zeros(3)), q, 0 * v, 0 * a, w)
    assert relative(torques(robot.model, q, v, a) + held,
                    inverse_dynamics(robot.model, q, v, a, w)) < EXACT_MATHS


def test_the_regressor_depends_on_the_motion_alone(tree):
    """Other masses on the same tree give the same Y, ten columns per body."""
    robot, rng, q, v, a, *_ = tree
    model = robot.model
    Y = regressor(model, q, v, a)
    assert Y.shape == (model.nv, 10 * len(model.bodies))
    heavier = tuple(inertia + inertia for inertia in model.inertias)
    np.testing.assert_array_equal(Y, regressor(model.with_(inertias=heavier), q, v, a))


def test_rows_of_a_joint_depend_on_its_subtree_alone(tree):
    """Blocks of Y outside the subtree of a joint are zero, those inside are not."""
    model, q, v, a = tree.robot.model, tree.q, tree.v, tree.a
    Y = regressor(model, q, v, a)
    for joint in model.joints:
        carriers = {i for i, body in enumerate(model.bodies) if body.v == joint.v}
        for i in range(len(model.bodies)):
            carried = bool(carriers & {i, *model.ancestors(i)})
            assert Y[joint.v, 10 * i:10 * i + 10].any() == carried


def test_energies_are_their_regressors_times_the_parameters(tree):
    """T and U, up to what rotors and the ground have."""
    robot, _, q, v, *_ = tree
    kinetic, potential = energies(robot, q, v)
    assert relative(kinetic, robot.kinetic_energy(q, v)) < EXACT_MATHS
    assert relative(potential, robot.potential_energy(q)) < EXACT_MATHS


def test_power_of_every_parameter_is_the_rate_of_its_energy(tree):
    """Column j of v'Y = d/dt (T_j + U_j)."""
    robot, _, q, v, a, *_ = tree
    model = robot.model

    def total(x, speed):
        rows = energy_regressor(model, x, speed)
        return rows.kinetic + rows.potential

    h = np.finfo(float).eps ** (1 / 3)
    rate = (along(robot, lambda x: total(x, v), q, v)
            + (total(q, v + h * a) - total(q, v - h * a)) / (2 * h))
    assert relative(v @ regressor(model, q, v, a), rate) < RATE_BY_DIFFERENCES
