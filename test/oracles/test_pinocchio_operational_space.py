"""Test operational-space dynamics of real robots against Pinocchio."""

import numpy as np
import pytest
from support.oracle_agreement import Case, relative_error
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.tolerances import PINOCCHIO

REAL = {'panda': 'panda_hand', 'ur5': 'tool0', 'xarm7': 'link7', 'solo12': 'FL_FOOT',
        'talos': 'gripper_left_base_link'}


@pytest.mark.parametrize('name', REAL)
def test_pinocchio_agrees(name):
    """Its M, J, dJ/dt and forces, put together by the equations."""
    case = Case(next(robot for robot in ROBOTS if robot.name == name), PinocchioOracle, seed=3)
    q, v, frame = case.states.q, case.states.v, REAL[name]
    ours = case.robot.operational_space(q, v, frame)
    J = case.oracle.jacobians(q, frames=[frame])[:, 0]
    drift = np.einsum('nij,nj->ni', case.oracle.jacobian_rates(q, v, frames=[frame])[:, 0], v)
    inverse = np.linalg.inv(case.oracle.mass_matrix(q))
    gravity = case.oracle.gravity_torque(q)
    coriolis = case.oracle.bias_torque(q, v) - gravity
    regular = ~(ours.damping > 0.0).any(axis=1)
    assert regular.any()
    for k in np.flatnonzero(regular):
        inertia = np.linalg.inv(J[k] @ inverse[k] @ J[k].T)
        back = inverse[k] @ J[k].T @ inertia
        theirs = (inertia, back.T @ coriolis[k] - inertia @ drift[k], back.T @ gravity[k], J[k],
                  drift[k], back)
        for part, mine, its in zip(ours._fields, ours, theirs):
            assert relative_error(mine[k:k + 1], its[None]) < PINOCCHIO, part
