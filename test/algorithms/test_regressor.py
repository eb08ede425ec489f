"""Test that dynamics is linear in the inertial, friction and rotor parameters: regressors."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.differences import along, relative
from support.oracle_agreement import Case, agree
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.tolerances import EXACT_MATHS, PINOCCHIO, RATE_BY_DIFFERENCES

from dynamics_node.algorithms.energy_regressor import energy_regressor
from dynamics_node.algorithms.inertial_parameters import inertial_parameters
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics, newton_euler
from dynamics_node.algorithms.regressor import (
    armature_regressor,
    friction_regressor,
    regressor,
)
from dynamics_node.algorithms.wrenches import body_wrenches


def torques(model, q, v, a):
    """Return inverse dynamics as the sum over parameters."""
    return (regressor(model, q, v, a) @ inertial_parameters(model)
            + friction_regressor(model, v) @ np.concatenate([model.damping, model.friction])
            + armature_regressor(model, a) @ model.armature)


def energies(robot, q, v):
    """Return the kinetic and potential energy as sums over parameters, rotors and ground added."""
    model, rows = robot.model, energy_regressor(robot.model, q, v)
    pi, ground = inertial_parameters(model), model.inertias[-1]
    return (rows.kinetic @ pi + model.armature @ (v * v) / 2,
            rows.potential @ pi - model.gravity @ ground.moment)


# Random trees -------------------------------------------------------------------------------------


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


# Real robots --------------------------------------------------------------------------------------


@cache
def make_case(example):
    return Case(example, PinocchioOracle, seed=1)


@pytest.fixture(params=ROBOTS, ids=str)
def case(request):
    return make_case(request.param)


def blocks(case):
    """Return where Pinocchio keeps the ten columns of each of our bodies."""
    model = case.oracle.model
    names = [body.joint_name for body in case.robot.model.bodies]
    if case.example.base == 'floating':
        names[0] = 'root_joint'
    assert sorted(names) == sorted(model.names.tolist()[1:])
    return np.concatenate([np.arange(10) + 10 * (model.getJointId(name) - 1) for name in names])


def states(case, *names):
    return zip(*(getattr(case.states, name) for name in names))


def test_torques_of_real_robots_are_linear_in_their_parameters(case):
    """With damping, friction and rotors."""
    robot = case.loaded(armature=dict.fromkeys(case.robot.joint_names, 0.1))
    for q, v, a in states(case, 'q', 'v', 'a'):
        assert relative(torques(robot.model, q, v, a),
                        inverse_dynamics(robot.model, q, v, a)) < EXACT_MATHS
        kinetic, potential = energies(robot, q, v)
        assert relative(kinetic, robot.kinetic_energy(q, v)) < EXACT_MATHS
        assert relative(potential, robot.potential_energy(q)) < EXACT_MATHS


def test_regressor_agrees(case):
    """G'Y_pin, columns by the name of the joint."""
    oracle, order = case.oracle, blocks(case)
    ours, theirs = [], []
    for q, v, a in states(case, 'q', 'v', 'a'):
        ours.append(regressor(case.robot.model, q, v, a))
        theirs.append(oracle.G.T @ pin.computeJointTorqueRegressor(
            oracle.model, oracle.data, oracle.configuration(q),
            oracle.G @ v, oracle.G @ a)[:, order])
    agree(ours, theirs, PINOCCHIO)


def test_energy_regressors_agree(case):
    oracle, order = case.oracle, blocks(case)
    ours, theirs = [], []
    for q, v in states(case, 'q', 'v'):
        ours.append(np.array(energy_regressor(case.robot.model, q, v)))
        x = oracle.configuration(q)
        theirs.append([
            pin.computeKineticEnergyRegressor(oracle.model, oracle.data, x, oracle.G @ v)[order],
            pin.computePotentialEnergyRegressor(oracle.model, oracle.data, x)[order]])
    agree(ours, theirs, PINOCCHIO)
