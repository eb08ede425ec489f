"""Test constraint Jacobians of real robots against Pinocchio, in our convention.

Pinocchio holds frame 1 against frame 2, the other sign. Its 6D rows are seen from frame 1's origin,
ours from frame 2's; its 3D rows leave out w1 x d, which is nothing where the loop is closed.
"""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.oracle_agreement import Case, agree, each_state
from support.pinocchio_oracle import PinocchioOracle
from support.random_loops import random_pose
from support.real_robots import ROBOTS
from support.tolerances import PINOCCHIO

from dynamics_node.constrained.constraint import Constraint, validate
from dynamics_node.constrained.rows import constraint_matrix, residual, rows

KINDS = {'weld': pin.ContactType.CONTACT_6D, 'spherical': pin.ContactType.CONTACT_3D}


class Oracle(PinocchioOracle):
    """Pinocchio's constraints in our coordinates."""

    def place(self, link, pose):
        """Return (joint, placement) of a closure in a link, or in the world."""
        closure = pin.XYZQUATToSE3(np.array(pose))
        if link == 'world':
            return 0, closure
        frame = self.model.frames[self.frame(link)]
        return frame.parentJoint, frame.placement * closure

    def relative(self, q, link, pose, to):
        """Return where a closure in a link is, seen from another link: x y z, quaternion."""
        pin.framesForwardKinematics(self.model, self.data, self.configuration(q))
        (joint, placement), (other, its_place) = self.place(link, pose), self.place(
            to, (0, 0, 0, 0, 0, 0, 1))
        return pin.SE3ToXYZQUAT((self.data.oMi[other] * its_place).inverse()
                                * self.data.oMi[joint] * placement)

    @each_state
    def constraint_jacobian(self, q, kind, one, two):
        """Return its Jacobian of frame 1 against frame 2, linear rows first."""
        model = pin.RigidConstraintModel(KINDS[kind], self.model, *self.place(*one),
                                         *self.place(*two), pin.ReferenceFrame.LOCAL)
        data = model.createData()
        pin.computeJointJacobians(self.model, self.data, self.configuration(q))
        model.calc(self.model, self.data, data)
        return pin.getConstraintJacobian(self.model, self.data, model, data) @ self.G


@cache
def make_case(example):
    return Case(example, Oracle, seed=7)


@pytest.fixture(params=ROBOTS, ids=str)
def case(request):
    return make_case(request.param)


@pytest.fixture(params=['link', 'world'])
def ends(request, case):
    """(frame, to): the robot's last link, and the furthest before it that moves against it."""
    model = case.robot.model
    frame = next(link for link in case.links[::-1] if model.frame(link).body >= 0)
    to = 'world' if request.param == 'world' else next(
        link for link in case.links[len(case.links) // 3:] + case.links
        if model.frame(link).body != model.frame(frame).body)
    return frame, to


@pytest.mark.parametrize('kind', KINDS)
def test_rows_of_closed_loops_agree(case, ends, kind):
    """The closure in frame 1 is where frame 2 is."""
    (frame, to), model = ends, case.robot.model
    pose = random_pose(np.random.default_rng(1))
    for q in case.states.q:
        to_pose = tuple(case.oracle.relative(q, frame, pose, to))
        loop = [Constraint('loop', kind, frame, to, pose, to_pose)]
        validate(model, loop)
        assert np.abs(residual(model, q, loop)).max() < PINOCCHIO
        theirs = case.oracle.constraint_jacobian([q], kind=kind, one=(to, to_pose),
                                                 two=(frame, pose))
        agree([constraint_matrix(model, q, loop)], -theirs, PINOCCHIO)


def test_rows_of_a_violated_weld_agree(case, ends):
    """Seen from frame 2's origin: u' there is u' at frame 1's plus w x u."""
    (frame, to), model = ends, case.robot.model
    rng = np.random.default_rng(2)
    pose, to_pose = random_pose(rng), random_pose(rng)
    weld = [Constraint('weld', 'weld', frame, to, pose, to_pose)]
    q = case.states.q
    theirs = -case.oracle.constraint_jacobian(q, kind='weld', one=(to, to_pose), two=(frame, pose))
    for x, J in zip(q, theirs):
        u = residual(model, x, weld)[:3]
        J[:3] += np.cross(J[3:], u, axisa=0, axisc=0)
    agree([constraint_matrix(model, x, weld) for x in q], theirs, PINOCCHIO)


def test_a_flat_contact_has_the_rows_of_the_frames_jacobian(case):
    """In world axes, and gamma is its rate times v."""
    model = case.robot.model
    frame = next(link for link in case.links[::-1] if model.frame(link).body >= 0)
    contact = [Constraint('foot', 'flat_contact', frame)]
    q, v = case.states.q, case.states.v
    ours = [rows(model, *state, contact) for state in zip(q, v)]
    agree([found.A for found in ours], case.oracle.jacobians(q, frames=[frame])[:, 0], PINOCCHIO)
    rates = case.oracle.jacobian_rates(q, v, frames=[frame])[:, 0]
    agree([found.gamma for found in ours], np.einsum('sij,sj->si', rates, v), PINOCCHIO)
