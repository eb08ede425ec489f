"""Test the terms of the equation of motion and kinematics: Robot, identities, differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.differences import STEP, along, relative
from support.node_states import NOW, ask, node_state_of, refused, scene, tree_scene
from support.random_trees import one_of_each_sort
from support.reply_stamps import stamp_of
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES


def shaped(reply, field):
    """Return a matrix of a reply in its shape."""
    return np.array(getattr(reply, field)).reshape(-1, len(reply.gravity))


def terms(s, q, v):
    """Return the terms with all joints named, in some order, and that order."""
    names = [str(name) for name in s.rng.permutation(s.robot.joint_names)]
    reply = ask(s.node_state, 'dynamics_terms', joint_names=names, position=s.of(names, q, 'q'),
                velocity=s.of(names, v))
    return reply, names


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_the_terms_are_those_of_the_robot_in_the_order_of_the_reply(tree):
    """Rows and columns of the matrices too, for some joints named and the others measured."""
    s = tree_scene(tree)
    names = s.some_joints()
    reply = ask(s.node_state, 'dynamics_terms', joint_names=names)
    order = s.of(s.reply_order(names), np.arange(s.robot.nv))
    assert reply.joint_names == s.reply_order(names)
    assert (shaped(reply, 'mass_matrix') == s.robot.mass_matrix(s.q)[np.ix_(order, order)]).all()
    C = s.robot.coriolis_matrix(s.q, s.v)
    assert (shaped(reply, 'coriolis_matrix') == C[np.ix_(order, order)]).all()
    assert np.array(reply.gravity).tolist() == s.robot.gravity_torque(s.q)[order].tolist()
    assert np.array(reply.friction).tolist() == s.robot.friction_torque(s.v)[order].tolist()
    assert reply.momentum.tolist() == s.robot.momentum(s.q, s.v).tolist()
    com = reply.center_of_mass
    assert [com.x, com.y, com.z] == s.robot.center_of_mass(s.q).tolist()
    assert reply.total_mass == s.robot.total_mass


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_the_terms_obey_the_equation_of_motion(tree):
    """M a + C v + g + friction is inverse dynamics, M is symmetric and positive."""
    s = tree_scene(tree)
    reply, names = terms(s, s.q, s.v)
    M, C = shaped(reply, 'mass_matrix'), shaped(reply, 'coriolis_matrix')
    a, v = s.rng.normal(size=s.robot.nv), s.of(names, s.v)
    tau = ask(s.node_state, 'inverse_dynamics', joint_names=names, acceleration=a).effort
    assert relative(M, M.T) < EXACT_MATHS
    assert np.linalg.eigvalsh(M).min() > 0.0
    assert relative(reply.coriolis, C @ v) < EXACT_MATHS
    losses = np.array(reply.friction)
    assert relative(M @ a + C @ v + reply.gravity + losses, tau) < EXACT_MATHS
    assert losses @ v >= 0.0
    assert reply.kinetic_energy == pytest.approx(v @ M @ v / 2, rel=EXACT_MATHS)


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_energy_and_momentum_obey_their_laws(tree):
    """Gravity is the rate of the potential energy, momentum the mass times the centre's speed."""
    s = tree_scene(tree)
    reply, names = terms(s, s.q, s.v)
    before, after = (terms(s, s.robot.integrate(s.q, s.v, t), s.v)[0] for t in (-STEP, STEP))
    power = np.array(reply.gravity) @ s.of(names, s.v)
    rate = (after.potential_energy - before.potential_energy) / (2 * STEP)
    assert rate == pytest.approx(power, rel=RATE_BY_DIFFERENCES, abs=RATE_BY_DIFFERENCES)
    moved = [getattr(after.center_of_mass, x) - getattr(before.center_of_mass, x) for x in 'xyz']
    assert relative(reply.momentum[:3],
                    reply.total_mass * np.array(moved) / (2 * STEP)) < RATE_BY_DIFFERENCES


def test_a_robot_without_mass_has_terms():
    """Its centre of mass is zero, not an error."""
    massless = TWO_JOINTS.replace('mass value="2"', 'mass value="0"')
    for entry in ('ixx="0.03"', 'ixy="0.002"', 'ixz="0.001"', 'iyy="0.04"', 'iyz="0.003"',
                  'izz="0.05"'):
        massless = massless.replace(entry, f'{entry[:3]}="0"')
    reply = ask(node_state_of(massless), 'dynamics_terms', position=[0.1, 0.2], velocity=[0.3, 0.4])
    assert not np.any(reply.mass_matrix)
    assert reply.friction[0] > 0.0
    assert not reply.momentum.any()


# Kinematics ----------------------------------------------------------------------------------

def homogeneous(pose):
    p, o = pose.position, pose.orientation
    T = np.eye(4)
    T[:3, 3] = p.x, p.y, p.z
    T[:3, :3] = Rotation.from_quat([o.x, o.y, o.z, o.w]).as_matrix()
    return T


def six(twist):
    return np.array([getattr(part, x) for part in (twist.linear, twist.angular) for x in 'xyz'])


def matrices(flat, frames, nv):
    return np.array(flat).reshape(frames, 6, nv)


@pytest.mark.parametrize('local', [False, True])
@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_kinematics_are_those_of_the_robot_in_the_requested_order(tree, local):
    """Columns of a Jacobian as the joints of the reply, frames as the request."""
    s = tree_scene(tree)
    names = s.some_joints()
    frames = [str(frame) for frame in s.rng.permutation(s.robot.frame_names)[:4]]
    reply = ask(s.node_state, 'kinematics', joint_names=names, frames=frames, local=local,
                jacobians=True, jacobian_rates=True)
    assert reply.frames == frames
    order = s.of(reply.joint_names, np.arange(s.robot.nv))
    jacobians = matrices(reply.jacobians, 4, s.robot.nv)
    rates = matrices(reply.jacobian_rates, 4, s.robot.nv)
    for k, frame in enumerate(frames):
        assert relative(homogeneous(reply.poses[k]), s.robot.frame_pose(s.q, frame)) < EXACT_MATHS
        assert six(reply.twists[k]).tolist() == s.robot.frame_twist(s.q, s.v, frame).tolist()
        assert (jacobians[k] == s.robot.jacobian(s.q, frame, local)[:, order]).all()
        assert (rates[k] == s.robot.jacobian_rate(s.q, s.v, frame, local)[:, order]).all()


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_jacobian_twist_and_pose_are_consistent(tree):
    """J v is the twist, dJ/dt the rate of J, and the twist the rate of the pose."""
    s = tree_scene(tree)

    def at(q):
        return ask(s.node_state, 'kinematics', frames=['l9'], position=q, velocity=s.v,
                   jacobians=True,
                   jacobian_rates=True)
    reply = at(s.q)
    J, rate = (matrices(x, 1, s.robot.nv)[0] for x in (reply.jacobians, reply.jacobian_rates))
    assert relative(J @ s.v, six(reply.twists[0])) < EXACT_MATHS
    moved = along(s.robot, lambda q: matrices(at(q).jacobians, 1, s.robot.nv)[0], s.q, s.v)
    assert relative(rate, moved) < RATE_BY_DIFFERENCES
    T = homogeneous(reply.poses[0])
    dT = along(s.robot, lambda q: homogeneous(at(q).poses[0]), s.q, s.v)
    spin = dT[:3, :3] @ T[:3, :3].T
    assert relative([*dT[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]],
                    six(reply.twists[0])) < RATE_BY_DIFFERENCES


def test_an_empty_frame_list_means_all_frames():
    """Poses and twists always; matrices on request."""
    s = scene(TWO_JOINTS)
    reply = ask(s.node_state, 'kinematics')
    assert reply.frames == ['base', 'shoulder_link', 'elbow_link']
    assert len(reply.poses) == len(reply.twists) == 3
    assert len(reply.jacobians) == len(reply.jacobian_rates) == 0
    assert len(ask(s.node_state, 'kinematics', jacobians=True).jacobian_rates) == 0
    assert len(ask(s.node_state, 'kinematics', jacobian_rates=True).jacobians) == 0


def test_positions_alone_are_enough_for_poses_and_jacobians():
    """Of all joints, without any joint state; twists and rates need velocities."""
    node_state, q = node_state_of(TWO_JOINTS), [0.3, -0.4]
    reply = ask(node_state, 'kinematics', position=q, jacobians=True)
    robot = node_state.robot
    for pose, J, frame in zip(reply.poses, matrices(reply.jacobians, 3, 2), reply.frames):
        assert relative(homogeneous(pose), robot.frame_pose(q, frame)) < EXACT_MATHS
        assert J.tolist() == robot.jacobian(q, frame).tolist()
    assert (len(reply.poses), reply.twists, stamp_of(reply)) == (3, [], 0)
    assert refused(node_state, 'kinematics', position=q, jacobian_rates=True).startswith(
        'no velocity of shoulder, elbow:')
    assert refused(node_state, 'kinematics', joint_names=['elbow'], position=[0.1]).startswith(
        'no position of shoulder:')


def test_positions_of_some_joints_are_completed_by_measured_positions():
    """Velocities that were never measured do not matter."""
    node_state = node_state_of(TWO_JOINTS, missing_velocity='fault')
    node_state.measured_state.take(NOW, ['shoulder'], [0.3], [])
    reply = ask(node_state, 'kinematics', joint_names=['elbow'], position=[-0.4])
    want = node_state.robot.frame_pose([0.3, -0.4], 'elbow_link')
    assert relative(homogeneous(reply.poses[2]), want) < EXACT_MATHS
    assert (reply.twists, stamp_of(reply)) == ([], NOW)


def test_an_unknown_frame_is_refused_with_the_known_ones():
    """One among several is enough."""
    message = refused(scene(TWO_JOINTS).node_state, 'kinematics', frames=['base', 'tool0'])
    assert message == "no frame 'tool0'; the robot has: base, shoulder_link, elbow_link"
