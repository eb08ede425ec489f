"""Test mechanisms against Pinocchio, and against MuJoCo, whose constraints are soft."""

from dataclasses import replace
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.bundled_mechanisms import load, standing
from support.differences import STEP
from support.legged_robots import CONTACTS, example, load_legged
from support.pinocchio_loops import PinocchioLoops
from support.tolerances import PINOCCHIO, RATE_BY_DIFFERENCES

from dynamics_node import Robot
from dynamics_node.constrained.forward import constrained_forward_dynamics
from dynamics_node.example_robots import MECHANISMS

# MuJoCo's constraints are springs: a row keeps 1 - impedance of what it would do unheld. The
# stiffest that it takes is 0.9999.
MUJOCO_IMPEDANCE = 0.9999
MUJOCO_SOFT = 1.0 - MUJOCO_IMPEDANCE
SEEDS = range(3)


def agree(ours, theirs, tolerance):
    """Compare arrays, relative to their largest entry."""
    assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * np.abs(theirs).max())


def spherical(constraints):
    """Return the pins of planar loops as Pinocchio's: points constrained in x, y and z."""
    return [replace(constraint, kind='spherical', axis=(0.0, 0.0, 1.0))
            for constraint in constraints if constraint.name.endswith('_x')]


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('name', ['four_bar', 'slider_crank', 'five_bar'])
def test_planar_loops_move_as_in_pinocchio(name, seed):
    """The accelerations, and the force in the pin in its two directions."""
    mechanism = load(name, friction=False)
    state = standing(mechanism.model, mechanism.constraints, seed)
    peer = PinocchioLoops(MECHANISMS[name].urdf, mechanism.model)
    a, force = peer.forward(*state, spherical(mechanism.constraints))
    ours = constrained_forward_dynamics(mechanism.model, *state, mechanism.constraints)
    agree(ours.a, a, PINOCCHIO)
    agree(ours.multipliers, force[[0, 2]], PINOCCHIO)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_stewart_platform_moves_as_in_pinocchio(seed):
    """All 24 accelerations and the forces in the six ball joints."""
    mechanism = load('stewart', friction=False)
    state = standing(mechanism.model, mechanism.constraints, seed)
    peer = PinocchioLoops(MECHANISMS['stewart'].urdf, mechanism.model)
    a, forces = peer.forward(*state, mechanism.constraints)
    ours = constrained_forward_dynamics(mechanism.model, *state, mechanism.constraints)
    agree(ours.a, a, PINOCCHIO)
    agree(ours.multipliers, forces, PINOCCHIO)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_delta_robot_moves_as_by_pinocchios_terms(seed):
    """Pinocchio has no rods: its mass matrix, bias and Jacobians in a KKT system of ours."""
    mechanism = load('delta', friction=False)
    state = standing(mechanism.model, mechanism.constraints, seed)
    peer = PinocchioLoops(MECHANISMS['delta'].urdf, mechanism.model)
    a, tension = peer.forward_on_rods(*state, mechanism.constraints)
    ours = constrained_forward_dynamics(mechanism.model, *state, mechanism.constraints)
    agree(ours.a, a, PINOCCHIO)
    agree(ours.multipliers, tension, PINOCCHIO)


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('name', CONTACTS)
def test_legged_robots_stand_as_in_pinocchio(name, seed):
    """A quadruped on four points, bipeds on two points and on two flat feet."""
    model, contacts = load_legged(name)
    state = standing(model, contacts, seed)
    peer = PinocchioLoops(example(name).path, model, base='floating')
    a, forces = peer.forward(*state, contacts)
    ours = constrained_forward_dynamics(model, *state, contacts)
    agree(ours.a, a, PINOCCHIO)
    agree(ours.multipliers, forces, PINOCCHIO)


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('coordinates', [None, ['platform_joint']])
def test_the_closed_form_of_the_stewart_platform_moves_as_in_pinocchio(coordinates, seed):
    """M du/dt + h = G' tau of six legs or of the platform: all 24 accelerations."""
    urdf, loops = MECHANISMS['stewart']
    robot = Robot.from_urdf(urdf, loops=loops, friction=False, compile=False)
    q, v, tau = standing(robot.model, robot.loops.constraints, seed)
    a, _ = PinocchioLoops(urdf, robot.model).forward(q, v, tau, robot.loops.constraints)
    found = robot.closed_dynamics(q, v, coordinates=coordinates)
    G = found.transmission
    force = G.T @ tau - found.coriolis - found.gravity
    u = np.linalg.lstsq(G, v, rcond=None)[0]
    agree(G @ np.linalg.solve(found.mass_matrix, force) + found.transmission_rate @ u, a, PINOCCHIO)


def test_derivatives_of_the_closed_platform_are_differences_of_pinocchio():
    """The accelerations of the platform by its deviations, by its twist and by all torques."""
    urdf, loops = MECHANISMS['stewart']
    robot = Robot.from_urdf(urdf, loops=loops, friction=False, compile=False)
    q, v, tau = standing(robot.model, robot.loops.constraints, 2)
    peer, names, at = PinocchioLoops(urdf, robot.model), ['platform_joint'], range(6)
    assert robot.model.joint('platform_joint').v == slice(0, 6)

    def acceleration(x, u, torque):
        """Return that of the platform after a deviation x, with its twist changed by u."""
        G = robot.closed_dynamics(q, v, coordinates=names).transmission
        there = robot.project_configuration(robot.integrate(q, G @ x), fixed=names)
        G = robot.closed_dynamics(there, v, coordinates=names).transmission
        return peer.forward(there, G @ (v[at] + u), torque, robot.loops.constraints)[0][at]

    found, rest = robot.closed_forward_derivatives(q, v, tau, coordinates=names), np.zeros(6)
    agree(found.a, acceleration(rest, rest, tau), PINOCCHIO)
    steps = STEP * np.eye(6)
    by_q = [acceleration(x, rest, tau) - acceleration(-x, rest, tau) for x in steps]
    by_v = [acceleration(rest, x, tau) - acceleration(rest, -x, tau) for x in steps]
    agree(found.dq, np.transpose(by_q) / (2 * STEP), RATE_BY_DIFFERENCES)
    agree(found.dv, np.transpose(by_v) / (2 * STEP), RATE_BY_DIFFERENCES)
    push = np.arange(1.0, 1.0 + robot.nv)
    agree(found.dtau @ push, acceleration(rest, rest, tau + push) - found.a, PINOCCHIO)


@pytest.mark.parametrize(('name', 'frame', 'axes'), [('stewart', 'platform', None),
                                                     ('five_bar', 'tool', ('x', 'z'))])
def test_forces_of_operational_space_move_frames_as_in_pinocchio(name, frame, axes):
    """Inertia w' + bias + gravity = F, with J' F at the motors."""
    urdf, loops = MECHANISMS[name]
    robot = Robot.from_urdf(urdf, loops=loops, friction=False, compile=False)
    q, v, _ = standing(robot.model, robot.loops.constraints, 1)
    found = robot.operational_space(q, v, frame, axes, closed=True)
    F, tau = np.arange(1.0, 1.0 + len(found.bias)), np.zeros(robot.nv)
    motors = [robot.model.joint(joint).v.start for joint in robot.joint_names
              if joint not in robot.loops.passive]
    tau[motors] = found.jacobian.T @ F
    held = robot.loops.constraints if name == 'stewart' else spherical(robot.loops.constraints)
    a, _ = PinocchioLoops(urdf, robot.model).forward(q, v, tau, held)
    w = robot.frame_acceleration(q, v, a, frame)[slice(None) if axes is None else [0, 2]]
    agree(found.inertia @ w + found.bias + found.gravity, F, PINOCCHIO)


# MuJoCo ------------------------------------------------------------------------------------------

def in_mujoco(name, frame, to, anchor):
    """Return the MjModel of a mechanism whose one loop is a `connect`, closed at q = 0."""
    root = ElementTree.fromstring(MECHANISMS[name].urdf.read_text())
    for joint in root.findall('joint'):
        for part in joint.findall('limit') + joint.findall('dynamics'):
            joint.remove(part)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding='unicode'))
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY,
                                name1=frame, name2=to)
    connect.data[:3] = anchor
    connect.solimp[:3] = MUJOCO_IMPEDANCE, MUJOCO_IMPEDANCE, 1.0
    return spec.compile()


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('name, frame, to', [('four_bar', 'coupler', 'rocker'),
                                             ('slider_crank', 'rod', 'slider')])
def test_planar_loops_move_nearly_as_in_mujoco(name, frame, to, seed):
    """Its soft constraints leave a share of the acceleration of the open loop."""
    mechanism = load(name, friction=False)
    q, v, tau = standing(mechanism.model, mechanism.constraints, seed)
    theirs = in_mujoco(name, frame, to, mechanism.constraints[0].pose[:3])
    theirs.opt.tolerance, theirs.opt.iterations = 1e-14, 200
    data = mujoco.MjData(theirs)
    order = [theirs.joint(joint.name).dofadr[0] for joint in mechanism.model.joints]
    data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q, v, tau
    mujoco.mj_forward(theirs, data)
    ours = constrained_forward_dynamics(mechanism.model, q, v, tau, mechanism.constraints)
    opened = data.qacc_smooth[order]
    scale = np.abs(opened).max()
    assert_allclose(ours.a, data.qacc[order], rtol=0.0, atol=MUJOCO_SOFT * scale)
    assert np.abs(ours.a - opened).max() > 0.1 * scale  # the loop does matter
