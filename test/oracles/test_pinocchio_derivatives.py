"""Test derivatives against those of Pinocchio, robot by robot."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.oracle_agreement import Case, agree, at_frames, each_state
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.tolerances import PINOCCHIO

from dynamics_node.algorithms.christoffel_symbols import christoffel_symbols
from dynamics_node.algorithms.forward_dynamics import forward_dynamics
from dynamics_node.algorithms.forward_dynamics_derivatives import forward_dynamics_derivatives
from dynamics_node.algorithms.gravity_stiffness import gravity_stiffness
from dynamics_node.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from dynamics_node.algorithms.kinematics_derivatives import frame_twist_derivatives
from dynamics_node.algorithms.wrenches import body_wrenches

# Tiago's wrist: M has a condition number of 5e6, and the rounding in computeABADerivatives comes
# back as 1.5e-8 (ours differ by 2e-14 from the same recursions in long doubles).
ILL_CONDITIONED = 1e6
AXES = {False: pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, True: pin.ReferenceFrame.LOCAL}


class Oracle(PinocchioOracle):
    """Pinocchio's matrices in our coordinates: v = G ours, torques = G' theirs."""

    def _ours(self, *matrices):
        return [self.G.T @ matrix @ self.G for matrix in matrices]

    @each_state
    def inverse(self, q, v, a, wrenches, frames):
        """Return (dq, dv, da) of inverse dynamics."""
        dq, dv, M = pin.computeRNEADerivatives(
            self.model, self.data, self.configuration(q), self.G @ v, self.G @ a,
            self._joint_forces(wrenches, frames))
        return self._ours(dq, dv, np.triu(M) + np.triu(M, 1).T)

    @each_state
    def forward(self, q, v, tau, wrenches, frames):
        """Return (dq, dv, dtau) of forward dynamics; of a projected one, by solving."""
        if self.reduced:
            a = self.forward_dynamics_under([q], [v], [tau], [wrenches], frames=frames)[0]
            dq, dv, M = self.inverse([q], [v], [a], [wrenches], frames=frames)[0]
            return -np.linalg.solve(M, dq), -np.linalg.solve(M, dv), np.linalg.inv(M)
        dq, dv, inverse = pin.computeABADerivatives(
            self.model, self.data, self.configuration(q), self.G @ v, self.G @ tau,
            self._joint_forces(wrenches, frames))
        return self._ours(dq, dv, np.triu(inverse) + np.triu(inverse, 1).T)

    @each_state
    def stiffness(self, q):
        return self._ours(pin.computeGeneralizedGravityDerivatives(
            self.model, self.data, self.configuration(q)))[0]

    @each_state
    def twists(self, q, v, frames, local):
        """Return (dq, dv) of the velocity of each frame's origin.

        In world axes Pinocchio takes the velocity at a point that stays where it is in space;
        an origin that moves on by its Jacobian's column sees w x that column more.
        """
        v = self.G @ v
        pin.computeForwardKinematicsDerivatives(self.model, self.data, self.configuration(q), v,
                                                0 * v)
        results = []
        for name in frames:
            dq, J = pin.getFrameVelocityDerivatives(self.model, self.data, self.frame(name),
                                                    AXES[local])
            if not local:
                dq[:3] += np.cross(J[3:] @ v, J[:3], axisb=0, axisc=0)
            results.append([dq @ self.G, J @ self.G])
        return results


@cache
def make_case(example):
    return Case(example, Oracle, seed=4)


@pytest.fixture(params=ROBOTS, ids=str)
def case(request):
    return make_case(request.param)


def for_each(function, *states):
    """Return the results for a batch as an oracle does: state, result, row, column."""
    return np.array([np.array(function(*row)) for row in zip(*states)])


def wrenches_of(case):
    """Return (wrenches for the oracle, the same on our bodies), a row per state."""
    theirs = case.states.wrenches[:, :len(case.forced)]
    return theirs, [body_wrenches(case.robot.model, dict(zip(case.forced, row))) for row in theirs]


def test_inverse_derivatives_agree(case, q, v):
    theirs, ours = wrenches_of(case)
    got = for_each(lambda *state: inverse_dynamics_derivatives(case.robot.model, *state),
                   q, v, case.states.a, ours)
    agree(got, case.oracle.inverse(q, v, case.states.a, theirs, frames=case.forced), PINOCCHIO)


@cache
def forward_derivatives(case):
    """Return (dq, dv, dtau) of forward dynamics in each state, under the wrenches."""
    states = case.states
    return for_each(lambda *state: forward_dynamics_derivatives(case.robot.model, *state)[:3],
                    states.q, states.v, states.tau, wrenches_of(case)[1])


def test_forward_derivatives_agree(case, q, v):
    theirs, got = wrenches_of(case)[0], forward_derivatives(case)
    expected = case.oracle.forward(q, v, case.states.tau, theirs, frames=case.forced)
    agree(got[:, 2], expected[:, 2], PINOCCHIO)
    if np.linalg.cond(case.oracle.mass_matrix(q)).max() < ILL_CONDITIONED:
        agree(got[:, 0], expected[:, 0], PINOCCHIO)
        agree(got[:, 1], expected[:, 1], PINOCCHIO)


def test_forward_derivatives_solve_pinocchios_equation(case, q, v):
    theirs, ours = wrenches_of(case)
    got = forward_derivatives(case)
    a = for_each(lambda *state: forward_dynamics(case.robot.model, *state).a,
                 q, v, case.states.tau, ours)
    dq, dv, M = np.moveaxis(case.oracle.inverse(q, v, a, theirs, frames=case.forced), 1, 0)
    agree(M @ got[:, 0], -dq, PINOCCHIO)
    agree(M @ got[:, 1], -dv, PINOCCHIO)


def test_gravity_stiffness_agrees(case, q):
    got = for_each(lambda row: gravity_stiffness(case.robot.model, row), q)
    agree(got, case.oracle.stiffness(q), PINOCCHIO)


def test_christoffel_symbols_make_pinocchios_coriolis_matrix(case, q, v):
    got = for_each(lambda q, v: christoffel_symbols(case.robot.model, q) @ v, q[:1], v[:1])
    agree(got, case.oracle.coriolis_matrix(q[:1], v[:1]), PINOCCHIO)


@pytest.mark.parametrize('local', [False, True], ids=['world_axes', 'local'])
def test_twist_derivatives_of_links_agree(case, q, v, local):
    ours = at_frames([for_each(lambda q, v, link=link: frame_twist_derivatives(
        case.robot.model, q, v, link, local), q, v) for link in case.forced])
    agree(ours, case.oracle.twists(q, v, frames=case.forced, local=local), PINOCCHIO)
