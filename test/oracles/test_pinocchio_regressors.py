"""Test regressors of real robots: torques are linear in them, and Pinocchio's are the same."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.differences import relative
from support.oracle_agreement import Case, agree
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.sums_over_parameters import energies, torques
from support.tolerances import EXACT_MATHS, PINOCCHIO

from dynamics_node.algorithms.energy_regressor import energy_regressor
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.regressor import regressor


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
