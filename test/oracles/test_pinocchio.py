"""Test against Pinocchio, robot by robot, on the same URDF."""

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from support.oracle_agreement import Case, States, agree, at_frames
from support.pinocchio_oracle import PinocchioOracle
from support.real_robots import ROBOTS
from support.tolerances import PINOCCHIO

pytestmark = pytest.mark.long

TILTED = np.array([3.0, -4.0, -8.0])  # gravity of a robot on a wall, in a vehicle, on a slope
NOT_READ = 1e3                        # where hybrid dynamics finds the value itself
# Pinocchio has mimic joints of its own where the leader comes first in its order, and a subset of
# algorithms for them: others raise, or (Coriolis matrix, Jacobian rate) give something else.
MIMIC = [robot for robot in ROBOTS if robot.name in ('panda', 'baxter', 'tiago_pro', 'pr2')]


@cache
def make_case(example):
    return Case(example, PinocchioOracle, seed=1)


def another_oracle(case):
    """Return one whose model a test may change."""
    return PinocchioOracle(case.example, case.robot.joint_names)


@pytest.fixture(params=ROBOTS, ids=str)
def case(request):
    return make_case(request.param)


def test_names_and_sizes_are_those_of_the_urdf(case):
    free = 6 if case.example.base == 'floating' else 0
    assert case.robot.nv == case.oracle.G.shape[1] == free + len(case.oracle.names)
    assert set(case.robot.frame_names) == set(case.links)
    assert len(case.oracle.names) == len({master for master, _, _ in case.oracle.mimics.values()})


def test_inverse_dynamics_agrees(case, q, v):
    a = case.states.a
    agree(case.robot.inverse_dynamics(q, v, a), case.oracle.inverse_dynamics(q, v, a), PINOCCHIO)


def test_forward_dynamics_agrees(case, q, v):
    tau = case.states.tau
    agree(case.robot.forward_dynamics(q, v, tau), case.oracle.forward_dynamics(q, v, tau),
          PINOCCHIO)


def test_hybrid_dynamics_completes_pinocchios_equation_of_motion(case, q, v):
    given = np.arange(case.robot.nv) % 3 == 0
    a = case.states.a
    tau = case.oracle.inverse_dynamics(q, v, a)
    a_all, tau_all = case.robot.hybrid_dynamics(
        q, v, np.where(given, a, NOT_READ), np.where(given, NOT_READ, tau), given)
    agree(a_all, a, PINOCCHIO)
    agree(tau_all, tau, PINOCCHIO)


def test_mass_matrix_agrees(case, q):
    agree(case.robot.mass_matrix(q), case.oracle.mass_matrix(q), PINOCCHIO)


def test_mass_matrix_inverse_agrees(case, q):
    agree(case.robot.mass_matrix_inverse(q), case.oracle.mass_matrix_inverse(q), PINOCCHIO)


def test_coriolis_matrix_agrees(case, q, v):
    agree(case.robot.coriolis_matrix(q, v), case.oracle.coriolis_matrix(q, v), PINOCCHIO)


def test_gravity_torque_agrees(case, q):
    agree(case.robot.gravity_torque(q), case.oracle.gravity_torque(q), PINOCCHIO)


def test_bias_torque_agrees(case, q, v):
    agree(case.robot.bias_torque(q, v), case.oracle.bias_torque(q, v), PINOCCHIO)


def test_denoc_agrees(case, q, v):
    inertia, coriolis, force = case.robot.denoc(q, v)
    agree(inertia, case.oracle.mass_matrix(q), PINOCCHIO)
    agree(np.einsum('nij,nj->ni', coriolis, v) - force, case.oracle.bias_torque(q, v), PINOCCHIO)
    found = case.robot.denoc_matrices(q, v)
    links = found.N.swapaxes(1, 2) @ found.M @ found.N
    agree(links + np.diag(case.robot.model.armature), case.oracle.mass_matrix(q), PINOCCHIO)


def test_energies_agree(case, q, v):
    agree(case.robot.kinetic_energy(q, v), case.oracle.kinetic_energy(q, v), PINOCCHIO)
    agree(case.robot.potential_energy(q), case.oracle.potential_energy(q), PINOCCHIO)


def test_center_of_mass_agrees(case, q):
    agree(case.robot.center_of_mass(q), case.oracle.center_of_mass(q), PINOCCHIO)


def test_momentum_agrees(case, q, v):
    agree(case.robot.momentum(q, v), case.oracle.momentum(q, v), PINOCCHIO)


def test_pose_of_every_link_agrees(case, q):
    poses = at_frames([case.robot.frame_pose(q, link) for link in case.links])
    agree(poses, case.oracle.frame_poses(q, frames=case.links), PINOCCHIO)


def test_twists_of_links_agree(case, q, v):
    twists = at_frames([case.robot.frame_twist(q, v, link) for link in case.forced])
    agree(twists, case.oracle.frame_twists(q, v, frames=case.forced), PINOCCHIO)


@pytest.mark.parametrize('local', [False, True], ids=['world_axes', 'local'])
def test_jacobian_of_every_link_agrees(case, q, local):
    ours = at_frames([case.robot.jacobian(q, link, local=local) for link in case.links])
    agree(ours, case.oracle.jacobians(q, frames=case.links, local=local), PINOCCHIO)


@pytest.mark.parametrize('local', [False, True], ids=['world_axes', 'local'])
def test_jacobian_rate_agrees(case, q, v, local):
    ours = at_frames([case.robot.jacobian_rate(q, v, link, local=local) for link in case.forced])
    agree(ours, case.oracle.jacobian_rates(q, v, frames=case.forced, local=local), PINOCCHIO)


def test_dynamics_under_wrenches_agree(case, q, v):
    a, tau, frames = case.states.a, case.states.tau, case.forced
    wrenches = case.states.wrenches[:, :len(frames)]
    ours = {frame: wrenches[:, k] for k, frame in enumerate(frames)}
    agree(case.robot.inverse_dynamics(q, v, a, ours),
          case.oracle.inverse_dynamics_under(q, v, a, wrenches, frames=frames), PINOCCHIO)
    agree(case.robot.forward_dynamics(q, v, tau, ours),
          case.oracle.forward_dynamics_under(q, v, tau, wrenches, frames=frames), PINOCCHIO)


def test_integration_agrees(case, q, v):
    v = 0.5 * v  # a base turns by less than half a turn: difference finds the way it came
    ours = case.robot.integrate(q, v)
    agree([case.oracle.configuration(row) for row in ours], case.oracle.integrate(q, v), PINOCCHIO)
    agree(case.robot.difference(q, ours), v, PINOCCHIO)


# The model changed ---------------------------------------------------------------------------


def test_dynamics_in_tilted_gravity_agree(case, q, v):
    oracle = another_oracle(case)
    oracle.model.gravity.linear = TILTED
    robot, a = case.robot.with_gravity(TILTED), case.states.a
    agree(robot.inverse_dynamics(q, v, a), oracle.inverse_dynamics(q, v, a), PINOCCHIO)
    agree(robot.potential_energy(q), oracle.potential_energy(q), PINOCCHIO)


def test_dynamics_with_armature_agree(case, q, v):
    oracle, a, tau = another_oracle(case), case.states.a, case.states.tau
    rng = np.random.default_rng(3)
    rotors = {name: rng.uniform(0.01, 1.0) for name in case.example.mimics()}
    armature = np.zeros(oracle.model.nv)
    for name, inertia in rotors.items():
        armature[oracle.model.joints[oracle.model.getJointId(name)].idx_v] = inertia
    oracle.model.armature = armature
    robot = case.loaded(friction=False, armature=rotors)
    agree(robot.inverse_dynamics(q, v, a), oracle.inverse_dynamics(q, v, a), PINOCCHIO)
    agree(robot.forward_dynamics(q, v, tau), oracle.forward_dynamics(q, v, tau), PINOCCHIO)
    M = oracle.mass_matrix(q)
    agree(robot.mass_matrix(q), M, PINOCCHIO)
    # Pinocchio 4.1's kinetic energy forgets the rotors of RevoluteUnaligned joints; its M has them.
    agree(robot.kinetic_energy(q, v), np.einsum('ni,nij,nj->n', v, M, v) / 2, PINOCCHIO)


def test_dynamics_with_payload_agree(case, q, v):
    com, tensor, a = np.array([0.1, -0.2, 0.3]), np.diag([0.03, 0.04, 0.05]), case.states.a
    oracle, link = another_oracle(case), case.links[-1]
    frame = oracle.model.frames[oracle.frame(link)]
    oracle.model.inertias[frame.parentJoint] += frame.placement.act(pin.Inertia(2.0, com, tensor))
    oracle.ready()
    robot = case.robot.with_payload('load', link, 2.0, com, tensor)
    agree(robot.inverse_dynamics(q, v, a), oracle.inverse_dynamics(q, v, a), PINOCCHIO)
    agree(robot.mass_matrix(q), oracle.mass_matrix(q), PINOCCHIO)
    agree(robot.center_of_mass(q), oracle.center_of_mass(q), PINOCCHIO)


def test_friction_is_damping_times_speed_and_coulombs_constant(case, q, v):
    robot = case.loaded(friction_speed=1e-12)
    a = case.states.a
    expected = case.oracle.friction_torque(v)
    agree(robot.friction_torque(v), expected, PINOCCHIO)
    agree(robot.inverse_dynamics(q, v, a), case.oracle.inverse_dynamics(q, v, a) + expected,
          PINOCCHIO)


def test_dynamics_with_locked_joints_agree(case):
    oracle, link = another_oracle(case), case.links[-1]
    locked = {name: 0.3 + 0.1 * k for k, name in enumerate(oracle.names[::3])}
    robot = case.loaded(friction=False, locked=locked)
    oracle.lock(locked)
    states = States(robot, case.example.base == 'floating', seed=2)
    q, v, a = states.q, states.v, states.a
    agree(robot.inverse_dynamics(q, v, a), oracle.inverse_dynamics(q, v, a), PINOCCHIO)
    agree(robot.mass_matrix(q), oracle.mass_matrix(q), PINOCCHIO)
    agree(robot.jacobian(q, link), oracle.jacobians(q, frames=[link])[:, 0], PINOCCHIO)


@pytest.mark.parametrize('example', MIMIC, ids=str)
def test_mimic_joints_are_pinocchios_own(example):
    case = make_case(example)
    oracle = PinocchioOracle(example, case.robot.joint_names, mimic=True)
    robot, q, v = case.robot, case.states.q, case.states.v
    a, tau, links = case.states.a, case.states.tau, case.links
    assert oracle.model.nv == robot.nv < case.oracle.model.nv
    agree(robot.inverse_dynamics(q, v, a), oracle.inverse_dynamics(q, v, a), PINOCCHIO)
    agree(robot.forward_dynamics(q, v, tau), oracle.forward_dynamics(q, v, tau), PINOCCHIO)
    agree(robot.mass_matrix(q), oracle.mass_matrix(q), PINOCCHIO)
    agree(robot.gravity_torque(q), oracle.gravity_torque(q), PINOCCHIO)
    agree(robot.bias_torque(q, v), oracle.bias_torque(q, v), PINOCCHIO)
    agree(robot.momentum(q, v), oracle.momentum(q, v), PINOCCHIO)
    agree(at_frames([robot.jacobian(q, link) for link in links]),
          oracle.jacobians(q, frames=links), PINOCCHIO)
