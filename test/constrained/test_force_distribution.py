"""Test torques of a floating base: Hutter 2017, eq. 3.99 and 3.100, and infeasible motions."""

import numpy as np
import pytest
from support.contact_null_space import support_of
from support.differences import relative
from support.real_robots import ROBOTS
from support.rigid_robots import G, cart_with_loose_body, lever, point
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.constrained.contact_forces import contact_forces
from dynamics_node.constrained.force_distribution import floating_base_torques
from dynamics_node.constrained.rows import rows
from dynamics_node.errors import DynamicsError

FEET = ('FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT')
CHOICES = ('least_torque', 'least_force', 'weighted')


class Stance:
    """Solo12 on some of its feet, with a motion that they allow."""

    def __init__(self, feet, seed=0):
        path = next(robot.path for robot in ROBOTS if robot.name == 'solo12')
        self.robot = Robot.from_urdf(path, base='floating')
        self.model, rng = self.robot.model, np.random.default_rng(seed)
        self.contacts = [Constraint(name, 'point_contact', name, friction=0.7)
                         for name in FEET[:feet]]
        self.q = self.robot.random_configuration(rng)
        self.q[7:] = rng.uniform(-1.2, 1.2, 12)
        self.wrenches = body_wrenches(self.model, {'base_link': rng.normal(size=6)})
        N = support_of(self.model, self.q, self.contacts).null_space
        self.v = N @ rng.normal(size=18)
        tau = np.concatenate([np.zeros(6), rng.normal(size=12)])
        self.a = contact_forces(self.model, self.q, self.v, tau, self.contacts, self.wrenches).a
        self.A = rows(self.model, self.q, self.v, self.contacts).A
        self.need = inverse_dynamics(self.model, self.q, self.v, self.a, self.wrenches)
        self.N = N

    def torques(self, **options):
        return floating_base_torques(self.model, self.q, self.v, self.a, self.contacts,
                                     wrenches=self.wrenches, **options)


@pytest.fixture(params=[3, 4], ids=lambda feet: f'{feet} feet')
def stance(request):
    return Stance(request.param)


@pytest.mark.parametrize('choice', CHOICES)
def test_distributed_torques_give_the_wanted_motion(stance, choice):
    """S' tau + A' force = M a + h; forward again, the contacts give a back. The base is free."""
    found = stance.torques(choice=choice)
    assert found.supported
    assert np.all(found.tau[:6] == 0.0)
    assert relative(found.tau + stance.A.T @ found.force, stance.need) < SOLVED
    assert relative(found.slip, 0.0) < SOLVED
    again = contact_forces(stance.model, stance.q, stance.v, found.tau, stance.contacts,
                           stance.wrenches)
    assert relative(again.a, stance.a) < SOLVED
    assert relative(again.force, found.force) < SOLVED  # of legs with three joints: unique
    assert (found.rank, found.choices) == (6, len(stance.A) - 6)


def test_least_torque_is_equation_3_99(stance):
    """It is (N' S')^+ N' (M a + h), by NumPy's pseudo-inverse."""
    S = np.eye(18)[6:]
    expected = np.linalg.pinv(stance.N.T @ S.T, rcond=1e-9) @ (stance.N.T @ stance.need)
    assert relative(stance.torques().tau[6:], expected) < SOLVED


def test_preferred_torque_is_equation_3_100(stance):
    """It adds (1 - (N'S')^+ N'S') tau_0."""
    preferred = np.random.default_rng(5).normal(size=18)
    P = stance.N.T @ np.eye(18)[6:].T
    back = np.linalg.pinv(P, rcond=1e-9)
    expected = (back @ stance.N.T @ stance.need + preferred[6:] - back @ P @ preferred[6:])
    assert relative(stance.torques(preferred=preferred).tau[6:], expected) < SOLVED


@pytest.mark.parametrize('choice', CHOICES)
def test_internal_forces_do_not_lower_the_cost(stance, choice):
    """KKT: the gradient of the cost is normal to forces that do not act on the base."""
    rng = np.random.default_rng(1)
    torque_weights, force_weights = rng.uniform(0.5, 2, 12), rng.uniform(0.5, 2, len(stance.A))
    found = stance.torques(choice=choice, torque_weights=torque_weights,
                           force_weights=force_weights)
    Z = np.linalg.svd(stance.A[:, :6].T)[2][6:].T
    by_torque = -(stance.A[:, 6:] @ (torque_weights * found.tau[6:])) * (choice != 'least_force')
    by_force = force_weights * found.force * (choice != 'least_torque')
    assert relative(Z.T @ (by_torque + by_force), 0.0) < SOLVED


def test_each_resolution_minimises_its_own_cost(stance):
    """No two of them are the same."""
    torque, force, both = (stance.torques(choice=choice) for choice in CHOICES)
    norm = np.linalg.norm
    assert norm(torque.tau) < norm(both.tau) < norm(force.tau)
    assert norm(force.force) < norm(both.force) < norm(torque.force)


def test_two_feet_cannot_turn_the_base_about_their_line():
    """Section 2.10.5. The missing wrench is a pure moment about the line."""
    stance = Stance(2)
    allowed = stance.torques()
    assert allowed.supported  # falling about the line as gravity has it
    assert allowed.rank == 5
    Z = np.linalg.svd(stance.A[:, :6])[2][5]  # the motion of the base that both feet allow
    stance.a = stance.a + stance.N @ np.concatenate([Z, np.zeros(12)]) * 3.0
    found = stance.torques()
    assert not found.supported
    assert relative(found.slip, 0.0) < SOLVED  # a is allowed by the contacts, but by no motor
    assert np.all(found.unsupported[6:] == 0.0)
    missing = found.unsupported[:6]
    assert relative(missing, Z * (Z @ missing)) < SOLVED
    assert abs(Z @ missing) > 1e-3


def test_an_acceleration_that_breaks_the_contacts_is_reported(stance):
    """`slip` is the acceleration the feet would need."""
    stance.a = stance.a + np.eye(18)[2]
    found = stance.torques()
    assert relative(found.slip, stance.A[:, 2]) < SOLVED


def test_without_contacts_the_whole_base_wrench_is_missing():
    """All six components."""
    stance = Stance(0)
    stance.a = np.zeros(18)
    stance.v = np.zeros(18)
    found = stance.torques()
    assert not found.supported
    need = inverse_dynamics(stance.model, stance.q, stance.v, stance.a, stance.wrenches)
    assert relative(found.unsupported[:6], need[:6]) < EXACT_MATHS


def test_internal_forces_of_one_sole_need_no_torque():
    """Within a rigid foot: least torque is unique, and the forces stay small."""
    path = next(robot.path for robot in ROBOTS if robot.name == 'talos')
    robot = Robot.from_urdf(path, base='floating')
    q = robot.random_configuration(np.random.default_rng(0))
    rest = np.zeros(robot.nv)
    sole = 'left_sole_link'
    points = [Constraint(f'{x}{y}', 'point_contact', sole, pose=(x, y, 0.0))
              for x in (-0.1, 0.1) for y in (-0.06, 0.06)]
    flat = [Constraint('flat', 'flat_contact', sole)]
    by_points, by_flat = (floating_base_torques(robot.model, q, rest, rest, contacts)
                          for contacts in (points, flat))
    assert by_points.supported and by_flat.supported
    assert relative(by_points.tau, by_flat.tau) < SOLVED
    total = by_points.force.reshape(4, 3).sum(axis=0)
    assert relative(total, by_flat.force[:3]) < SOLVED
    lever_arm = np.abs(by_flat.force[3:]).max() / 0.06
    assert np.abs(by_points.force).max() < np.abs(total).max() + lever_arm


def test_a_lever_shares_its_load_with_the_contact():
    """The ground can carry all, or the motor, or half of the weighted cost."""
    robot, contact = lever(mass=2.0, center=0.3), [point('tip', (0.5, 0.0, 0.0), 'lever')]
    rest, load = np.zeros(1), 2.0 * G * 0.3
    results = {choice: floating_base_torques(robot.model, rest, rest, rest, contact, choice=choice)
               for choice in CHOICES}
    assert results['least_torque'].force == pytest.approx([0, 0, load / 0.5])
    assert results['least_force'].tau == pytest.approx([-load])
    # least tau^2 + f^2 with tau = -(load - f L): f = load L / (1 + L^2)
    assert results['weighted'].force == pytest.approx([0, 0, load * 0.5 / 1.25])


def test_joints_may_be_passive():
    """A passive lever rests on the ground for any redundancy resolution."""
    robot, contact = lever(), [point('tip', (0.5, 0.0, 0.0), 'lever')]
    rest = np.zeros(1)
    found = floating_base_torques(robot.model, rest, rest, rest, contact, actuated=[False],
                                  choice='least_force')
    assert found.tau == 0.0
    assert found.supported


def test_a_floating_joint_inside_the_tree_is_not_actuated():
    """As everywhere: it has no motor. Only a contact can support its body, the rail its cart."""
    robot = cart_with_loose_body()
    assert actuated_dofs(robot.model).tolist() == [True] + [False] * 6
    q, rest = robot.neutral(), np.zeros(7)
    loose = robot.floating_base_torques(q, rest, rest, [])
    assert not loose.supported
    assert np.abs(loose.tau[1:]).max() == 0.0
    assert loose.unsupported[3] == pytest.approx(3.0 * G)
    ground = [Constraint('ground', 'flat_contact', 'loose')]
    found = floating_base_torques(robot.model, q, rest, rest, ground)
    assert found.supported
    assert found.force == pytest.approx([0.0, 0.0, 3.0 * G, 0.0, 0.0, 0.0], abs=1e-9)


def test_unique_refuses_redundant_torques(stance):
    """The message has the degree of redundancy."""
    with pytest.raises(DynamicsError, match=f'{len(stance.A) - 6} internal forces are free'):
        stance.torques(choice='unique')
