"""Test against MuJoCo, robot by robot: its own loader and coordinates."""

import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from support.mujoco_oracle import MujocoOracle
from support.oracle_agreement import Case, agree, at_frames
from support.real_robots import ROBOTS
from support.tolerances import MUJOCO

from dynamics_node import Robot

ACCEPTED = [robot for robot in ROBOTS if not robot.refused]
REFUSED = [robot for robot in ROBOTS if robot.refused]


@cache
def make_case(example):
    return Case(example, MujocoOracle, seed=4)


@pytest.fixture(params=ACCEPTED, ids=str)
def case(request):
    return make_case(request.param)


@pytest.mark.parametrize('example', REFUSED, ids=str)
def test_robots_that_mujoco_refuses_are_refused_for_the_listed_reason(example):
    with pytest.raises(ValueError, match=re.escape(example.refused)):
        MujocoOracle(example, ())


def test_inverse_dynamics_agrees(case, q, v):
    a = case.states.a
    agree(case.robot.inverse_dynamics(q, v, a), case.oracle.inverse_dynamics(q, v, a), MUJOCO)


def test_forward_dynamics_agrees(case, q, v):
    tau = case.states.tau
    agree(case.robot.forward_dynamics(q, v, tau), case.oracle.forward_dynamics(q, v, tau), MUJOCO)


def test_forward_dynamics_under_wrenches_agrees(case, q, v):
    tau, frames = case.states.tau, case.forced
    wrenches = case.states.wrenches[:, :len(frames)]
    ours = {frame: wrenches[:, k] for k, frame in enumerate(frames)}
    agree(case.robot.forward_dynamics(q, v, tau, ours),
          case.oracle.forward_dynamics(q, v, tau, wrenches, frames=frames), MUJOCO)


def test_mass_matrix_agrees(case, q):
    agree(case.robot.mass_matrix(q), case.oracle.mass_matrix(q), MUJOCO)


def test_gravity_torque_agrees(case, q):
    agree(case.robot.gravity_torque(q), case.oracle.gravity_torque(q), MUJOCO)


def test_bias_torque_agrees(case, q, v):
    agree(case.robot.bias_torque(q, v), case.oracle.bias_torque(q, v), MUJOCO)


def test_energies_agree(case, q, v):
    ours = [case.robot.potential_energy(q), case.robot.kinetic_energy(q, v)]
    agree(np.stack(ours, axis=1), case.oracle.energies(q, v), MUJOCO)


def test_center_of_mass_agrees(case, q):
    agree(case.robot.center_of_mass(q), case.oracle.center_of_mass(q), MUJOCO)


def test_momentum_agrees(case, q, v):
    agree(case.robot.momentum(q, v), case.oracle.momentum(q, v), MUJOCO)


def test_pose_of_every_link_agrees(case, q):
    poses = at_frames([case.robot.frame_pose(q, link) for link in case.links])
    agree(poses, case.oracle.frame_poses(q, frames=case.links), MUJOCO)


def test_jacobian_of_every_link_agrees(case, q):
    ours = at_frames([case.robot.jacobian(q, link) for link in case.links])
    agree(ours, case.oracle.jacobians(q, frames=case.links), MUJOCO)


def test_jacobian_rate_agrees(case, q, v):
    ours = at_frames([case.robot.jacobian_rate(q, v, link) for link in case.forced])
    agree(ours, case.oracle.jacobian_rates(q, v, frames=case.forced), MUJOCO)


def test_damping_agrees(case, q, v):
    """Without dry friction, which MuJoCo leaves to its constraint solver."""
    root = case.example.xml()
    for dynamics in root.iter('dynamics'):
        dynamics.set('friction', '0')
    robot = Robot.from_urdf(ElementTree.tostring(root), base=case.example.base)
    oracle = MujocoOracle(case.example, robot.joint_names, damping=True)
    agree(robot.friction_torque(v), oracle.damping_torque(q, v), MUJOCO)


def test_armature_agrees(case, q):
    names = case.example.mimics()
    rotors = dict(zip(names, np.linspace(0.01, 1.0, len(names))))
    robot = case.loaded(friction=False, armature=rotors)
    oracle = MujocoOracle(case.example, robot.joint_names)
    for name, inertia in rotors.items():
        oracle.model.joint(name).armature = inertia
    agree(robot.mass_matrix(q), oracle.mass_matrix(q), MUJOCO)
