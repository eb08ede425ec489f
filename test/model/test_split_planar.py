"""Test the split of a planar joint into three one-axis joints: all results stay the same."""

import numpy as np
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.algorithms.inverse_dynamics import inverse_dynamics
from dynamics_node.algorithms.jacobian import jacobian
from dynamics_node.algorithms.kinematics import frame_pose
from dynamics_node.algorithms.mass_matrix import mass_matrix
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.example_robots import ARM7
from dynamics_node.model.joints import Planar
from dynamics_node.model.split_planar import split_planar_joints, split_planar_wrenches


def test_dynamics_stay_the_same(tree):
    """Torques under wrenches, and the mass matrix."""
    robot, _, q, v, a, _, wrenches = tree
    model, w = robot.model, body_wrenches(robot.model, wrenches)
    chain = split_planar_joints(model)
    got = inverse_dynamics(chain, q, v, a, split_planar_wrenches(model, w))
    assert relative(got, inverse_dynamics(model, q, v, a, w)) < EXACT_MATHS
    assert relative(mass_matrix(chain, q), mass_matrix(model, q)) < EXACT_MATHS


def test_frames_stay_where_they_are_and_move_alike(tree):
    """Every link of the URDF."""
    model, q = tree.robot.model, tree.q
    chain = split_planar_joints(model)
    assert chain.frames.keys() == model.frames.keys()
    for frame in model.frames:
        assert relative(frame_pose(chain, q, frame), frame_pose(model, q, frame)) < EXACT_MATHS
        assert relative(jacobian(chain, q, frame), jacobian(model, q, frame)) < EXACT_MATHS


def test_the_subspaces_are_constant_and_parents_come_first(tree):
    """No planar joint is left, and a payload stays on the body that carries it."""
    model = tree.robot.with_payload('load', 'l2', 2.0).model
    chain = split_planar_joints(model)
    planar = sum(isinstance(body.joint, Planar) for body in model.bodies)
    assert planar > 0
    assert len(chain.bodies) == len(model.bodies) + 2 * planar
    assert len(chain.inertias) == len(chain.bodies) + 1
    assert all(body.parent < i for i, body in enumerate(chain.bodies))
    rng = np.random.default_rng(0)
    q_i, v_i = rng.normal(size=(2, 7))
    for body in chain.bodies:
        assert not body.joint.subspace_rate(q_i, v_i).any()
    carried = chain.inertias[chain.frame('l2').body].mass
    assert carried == model.inertias[model.frame('l2').body].mass


def test_a_robot_without_planar_joints_is_unchanged():
    """It is the same object, and so are its wrenches."""
    model = Robot.from_urdf(ARM7, compile=False).model
    wrenches = np.ones((len(model.bodies), 6))
    assert split_planar_joints(model) is model
    assert split_planar_wrenches(model, wrenches) is wrenches


def test_no_wrenches_stay_none(tree):
    """As the algorithms expect them."""
    assert split_planar_wrenches(tree.robot.model, None) is None
