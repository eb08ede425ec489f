"""Test DynamicsClient: arrays and names, from threads, from callbacks, without an executor."""

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from support.remote_node import PATIENCE, assert_close
from support.tolerances import EXACT_MATHS
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from dynamics_node import Constraint, DynamicsError, FrameMotion, Target, Tracking
from dynamics_node.ros import DynamicsClient, client_calls, convert


@pytest.fixture
def dynamics(arm):
    """A client of the arm's node, on a node that spins in another thread."""
    return DynamicsClient(arm.node.client, arm.node.name, timeout=PATIENCE)


def test_arguments_and_results_are_arrays(arm, dynamics):
    """As the library has them."""
    a = np.linspace(-1.0, 1.0, arm.robot.nv)
    tau = dynamics.inverse_dynamics(q=arm.q, v=arm.v, a=a).effort
    assert isinstance(tau, np.ndarray)
    assert_close(tau, arm.robot.inverse_dynamics(arm.q, arm.v, a), EXACT_MATHS)
    back = dynamics.forward_dynamics(arm.q, arm.v, tau).acceleration
    assert_close(back, a, EXACT_MATHS)
    given = np.arange(arm.robot.nv) < 3
    hybrid = dynamics.hybrid_dynamics(arm.q, arm.v, a, tau, given)
    assert_close(hybrid.acceleration, a, EXACT_MATHS)
    assert_close(hybrid.effort, tau, EXACT_MATHS)


def test_joints_may_be_named_in_a_dict(arm, dynamics):
    """The reply has them first; the others are measured."""
    names = [arm.robot.joint_names[k] for k in (4, 1)]
    reply = dynamics.inverse_dynamics(q=dict.fromkeys(names, 0.1), v=dict.fromkeys(names, 0.0))
    q, v = arm.q.copy(), arm.v.copy()
    q[[4, 1]], v[[4, 1]] = 0.1, 0.0
    expected = arm.robot.inverse_dynamics(q, v, np.zeros(arm.robot.nv))
    assert reply.joint_names[:2] == names
    assert (reply.nq, reply.nv) == (arm.robot.nq, arm.robot.nv)
    assert convert.nanoseconds(reply.state_stamp) == arm.stamp
    assert_close(reply.effort[:2], expected[[4, 1]], EXACT_MATHS)
    with pytest.raises(DynamicsError, match='name the same joints in all'):
        dynamics.inverse_dynamics(q={names[0]: 0.1}, v={names[1]: 0.1})


def test_motions_of_links_are_those_of_the_library(arm, dynamics):
    """One task, a list, lists by priority; weights by name, a contact."""
    lift = FrameMotion('tool0', linear=(0.0, 0.0, 0.1))
    track = Tracking(Target('link_4', position=(0.1, 0.2, 0.4)), angular=(0.0, 0.0, 0.1))
    contact = Constraint('rest', 'point_contact', 'link_3')
    for tasks in (lift, [lift, track], [[lift], [track]]):
        reply = dynamics.differential_kinematics(tasks, arm.q, contacts=[contact], damping=0.05,
                                                 weights=np.arange(1.0, 8.0), preferred=arm.v)
        want = arm.robot.joint_velocities(arm.q, tasks, [contact], np.arange(1.0, 8.0), arm.v,
                                          0.05)
        assert_close(reply.velocity, want, EXACT_MATHS)
        assert len(reply.twists) == (1 if tasks is lift else 2)


def test_matrices_come_in_their_shape(arm, dynamics):
    """M is square, Jacobians one per frame, batches one row per state."""
    terms = dynamics.dynamics_terms(arm.q, arm.v)
    assert_close(terms.mass_matrix, arm.robot.mass_matrix(arm.q), EXACT_MATHS)
    assert terms.mass_matrix.shape == (7, 7)
    frames = ['tool0', 'link_3']
    motion = dynamics.kinematics(frames, arm.q, arm.v, rates=True)
    for k, frame in enumerate(frames):
        assert_close(motion.jacobians[k], arm.robot.jacobian(arm.q, frame), EXACT_MATHS)
        assert_close(motion.jacobian_rates[k], arm.robot.jacobian_rate(arm.q, arm.v, frame),
                     EXACT_MATHS)
    space = dynamics.operational_space(frames, arm.q, arm.v, axes=('x', 'y'))
    assert (space.rows, space.jacobian.shape) == (4, (4, 7))
    assert space.consistent_inverse.shape == (7, 4)
    assert dynamics.kinematics(frames, arm.q).twists == []   # without velocities
    analytic = dynamics.kinematics(frames, arm.q, rotation_parameters='quaternion')
    assert_close(analytic.analytic_jacobians, [arm.robot.analytic_jacobian(
        arm.q, frame, 'quaternion') for frame in frames], EXACT_MATHS)
    moved = dynamics.operational_space('tool0', arm.q, arm.v, axes='xyz', manipulability=True)
    assert moved.mobility.shape == moved.velocity_axes.shape == (3, 3)
    assert_close(moved.mobility, arm.robot.manipulability(arm.q, 'tool0').mobility, EXACT_MATHS)
    loads = dynamics.joint_reactions(arm.q, arm.v, arm.q, wrenches={'tool0': np.ones(6)},
                                     sensor_links=['tool0'], local=True)
    weight = arm.robot.joint_reactions(arm.q, arm.v, arm.q, {'tool0': np.ones(6)}).wrenches
    assert_close([convert.xyz(F.force) for F in loads.wrenches], weight[:, :3], EXACT_MATHS)
    assert len(loads.sensor_wrenches) == 1
    fast = dynamics.kinematics(frames, arm.q, arm.v, a=arm.q, accelerations=True).accelerations
    assert_close([convert.xyz(each.linear) for each in fast],
                 [arm.robot.frame_acceleration(arm.q, arm.v, arm.q, frame)[:3]
                  for frame in frames], EXACT_MATHS)
    q = np.linspace(arm.q, arm.q + 0.1, 5)
    batch = dynamics.batch_dynamics('terms', q=q, v=arm.v)
    assert batch.mass_matrix.shape == (5, 7, 7)
    assert batch.gravity.shape == (5, 7)
    assert batch.kinetic_energy.shape == (5,)
    assert_close(batch.mass_matrix, arm.robot.mass_matrix(q), EXACT_MATHS)


def test_wrenches_and_settings_are_supported(arm, dynamics):
    """All that changes the node, and back."""
    F = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    loaded = dynamics.inverse_dynamics(arm.q, arm.v, wrenches={'tool0': F}).effort
    zero = np.zeros(arm.robot.nv)
    assert_close(loaded, arm.robot.inverse_dynamics(arm.q, arm.v, zero, {'tool0': F}), EXACT_MATHS)

    before = dynamics.model_report().model_id
    inertia = np.diag([0.01, 0.02, 0.025])
    dynamics.set_payload('box', 'tool0', 1.5, (0.0, 0.1, 0.2), inertia)
    listed = dynamics.list_payloads()
    assert (listed.names, listed.frames, list(listed.fraction)) == (['box'], ['tool0'], [1.0])
    loaded = arm.robot.with_payload('box', 'tool0', 1.5, (0.0, 0.1, 0.2), inertia)
    assert_close(dynamics.inverse_dynamics(arm.q, arm.v).effort,
                 loaded.inverse_dynamics(arm.q, arm.v, zero), EXACT_MATHS)
    dynamics.remove_payload('box')
    dynamics.set_gravity((0.0, 0.0, 9.81))
    dynamics.set_gravity(arm.robot.gravity)
    dynamics.set_friction(friction={'joint_1': 3.0})
    dynamics.set_friction(joints=['joint_1'], reset=True)
    assert dynamics.model_report().model_id == before
    assert dynamics.self_test(samples=2).passed


def test_a_trajectory_is_returned_with_effort(arm, dynamics):
    """Goes through, its effort filled in."""
    points = [JointTrajectoryPoint(positions=(arm.q + 0.1 * k).tolist()) for k in range(3)]
    for k, point in enumerate(points):
        point.time_from_start.sec = k
    reply = dynamics.trajectory_torques(
        JointTrajectory(joint_names=list(arm.robot.joint_names), points=points),
        payload_frame='tool0')
    assert all(len(point.effort) == arm.robot.nv for point in reply.trajectory.points)
    assert reply.margin.shape == (arm.robot.nv,)


def test_a_refusal_is_raised(arm, dynamics):
    """With the message of the node."""
    with pytest.raises(DynamicsError, match='position has 3 entries; expected 7'):
        dynamics.inverse_dynamics(q=[0.0, 0.0, 0.0], v=arm.v)


def test_a_call_without_waiting_returns_a_future(arm, dynamics):
    """For callbacks; it has the result, or the refusal."""
    import threading
    for q, good in ((arm.q, True), ([0.0], False)):
        arrived = threading.Event()
        future = dynamics.inverse_dynamics(q=q, v=arm.v, wait=False)
        future.add_done_callback(lambda _, arrived=arrived: arrived.set())
        assert arrived.wait(PATIENCE)
        if good:
            assert future.result().effort.shape == (arm.robot.nv,)
        else:
            with pytest.raises(DynamicsError, match='position has 1 entries'):
                future.result()


def test_a_node_without_executor_is_spun(arm):
    """A script needs no thread."""
    node = rclpy.create_node('script', context=arm.node.client.context)
    try:
        tau = DynamicsClient(node, arm.node.name, timeout=PATIENCE).inverse_dynamics(
            arm.q, arm.v).effort
    finally:
        node.destroy_node()
    assert_close(tau, arm.robot.inverse_dynamics(arm.q, arm.v, np.zeros(7)), EXACT_MATHS)


def test_a_node_without_executor_is_spun_by_every_call(arm, monkeypatch):
    """Also while the executor of the call before is not yet collected."""
    made = []

    def kept(**options):
        made.append(SingleThreadedExecutor(**options))
        return made[-1]
    monkeypatch.setattr(client_calls, 'SingleThreadedExecutor', kept)
    node = rclpy.create_node('script', context=arm.node.client.context)
    dynamics = DynamicsClient(node, arm.node.name, timeout=PATIENCE)
    try:
        for _ in range(2):
            assert len(dynamics.inverse_dynamics(q=arm.q, v=arm.v).effort) == 7
    finally:
        node.destroy_node()
    assert len(made) == 2


def test_a_missing_node_raises_a_timeout_with_advice(arm):
    """Not a hang."""
    with pytest.raises(TimeoutError, match='no service .*is the node running'):
        DynamicsClient(arm.node.client, 'nobody', timeout=0.2).model_report()
