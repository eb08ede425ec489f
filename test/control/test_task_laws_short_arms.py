"""Test mode task_space on arms of two, three, five and six axes: free axes and lost rows."""

import numpy as np
import pytest
from support.differences import relative
from support.task_references import gains
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.control.blended_pose_spline import TaskMotionSample
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import TaskGains
from dynamics_node.control.pose_coordinates import PoseMotion, pose_error, stepped
from dynamics_node.control.task_reference import task_reference
from dynamics_node.example_robots import ARM7
from dynamics_node.spatial import so3

POSE = {'joint_1': 0.3, 'joint_2': 0.6, 'joint_3': -0.2, 'joint_4': -1.2, 'joint_5': 0.4,
        'joint_6': 0.9, 'joint_7': 0.1}
# axes of the arm -> (joints that are locked, which of x y z rx ry rz are free)
ARMS = {2: (['joint_1', 'joint_3', 'joint_5', 'joint_6', 'joint_7'], [1, 3, 4, 5]),
        3: (['joint_3', 'joint_5', 'joint_6', 'joint_7'], [3, 4, 5]),
        5: (['joint_3', 'joint_7'], [5]),
        6: (['joint_3'], [])}
TOOL = 'tool0'

pytestmark = pytest.mark.usefixtures('kernels')   # simulated seconds: several times faster


class ShortArm:
    """The bundled arm with some joints locked, without friction and speed limits."""

    def __init__(self, axes):
        locked, free = ARMS[axes]
        self.robot = Robot.from_urdf(ARM7, locked={name: POSE[name] for name in locked},
                                     friction=False)
        self.q = np.array([POSE[name] for name in self.robot.joint_names])
        self.free = np.isin(np.arange(6), free)

    def motion(self, away, free=None, **given):
        """Return the TaskMotionSample that rests `away` from where the tool is, (6,)."""
        pose = stepped(self.robot.frame_pose(self.q, TOOL), np.asarray(away, dtype=float))
        reference = task_reference(self.robot, self.q, TOOL, pose[:3, 3],
                                   so3.to_quaternion(pose[:3, :3]),
                                   free_axes=self.free if free is None else free, **given)
        return TaskMotionSample(reference, PoseMotion.still(pose), self.q)

    def acceleration(self, tau, v):
        a = self.robot.forward_dynamics(self.q, v, tau)
        return (self.robot.jacobian(self.q, TOOL) @ a
                + self.robot.jacobian_rate(self.q, v, TOOL) @ v)

    def run(self, controller, motion, duration, external=None, h=1.5e-3):
        """Return the state after a time; external is a wrench on the tool.

        The torque is held over each step, as a driver holds it between two messages.
        """
        controller.compile(wait=True, frames=[TOOL])   # else the steps compete with the compiler
        q, v = self.q, np.zeros(self.robot.nv)
        for _ in range(round(duration / h)):
            tau = controller.torque(q, v, motion)
            if external is not None:
                tau = tau + self.robot.jacobian(q, TOOL).T @ external
            v = v + h * self.robot.forward_dynamics(q, v, tau)
            q = q + h * v
        return q, v

    def error(self, q, motion):
        return pose_error(self.robot.frame_pose(q, TOOL), motion.pose_motion.pose)


@pytest.fixture(params=ARMS, ids=lambda n: f'{n} axes', scope='module')
def short(request, kernels):
    return ShortArm(request.param)


def test_controlled_axes_are_unit_masses_on_springs(short):
    """By  e'' + D e' + K e = 0  along each axis that is not free."""
    rng = np.random.default_rng(0)
    g = gains(short.robot, rng, 'motion')
    motion, v = short.motion(0.05 * rng.normal(size=6)), 0.1 * rng.normal(size=short.robot.nv)
    tau = Controller(short.robot, 'task_space', g).torque(short.q, v, motion)
    e, w = short.error(short.q, motion), short.robot.jacobian(short.q, TOOL) @ v
    wanted = g.stiffness * e - 2 * g.damping_ratio * np.sqrt(g.stiffness) * w
    assert relative(short.acceleration(tau, v)[~short.free], wanted[~short.free]) < 1000 * SOLVED


@pytest.mark.parametrize('law, stiffness', [('motion', [100.0]), ('impedance', (1600.0, 60.0))])
def test_the_tool_reaches_its_target_along_controlled_axes(short, law, stiffness):
    """To the millimetre after 1.2 s, along all axes that are not free."""
    motion = short.motion([0.03, -0.02, 0.04, 0.05, -0.04, 0.03])
    controller = Controller(short.robot, 'task_space',
                            TaskGains.of(short.robot.nv, law, stiffness, kp=0.0, kd=2.0))
    q, v = short.run(controller, motion, 1.2)
    assert np.abs(short.error(q, motion)[~short.free]).max() < 1e-3
    assert np.abs(v).max() < 2e-2


def test_six_controlled_axes_are_followed_as_far_as_possible(short):
    """At the pose only gravity is needed; under a wrench it yields by its springs."""
    motion = short.motion(np.zeros(6), free=np.zeros(6, dtype=bool))
    still, gravity = np.zeros(short.robot.nv), short.robot.gravity_torque(short.q)
    for law in ('motion', 'impedance'):
        controller = Controller(short.robot, 'task_space', TaskGains.of(
            short.robot.nv, law, (1600.0, 60.0), kp=0.0, kd=2.0))
        np.testing.assert_allclose(controller.torque(short.q, still, motion), gravity, atol=1e-9)
    external = np.array([9.0, 6.0, -12.0, 0.1, 0.2, -0.1])
    q, v = short.run(controller, motion, 1.2, external)
    assert np.abs(v).max() < 2e-2
    assert 1e-3 < np.abs(short.error(q, motion)).max() < 0.1
    # at rest  J' (K e + F) = 0
    J, K = short.robot.jacobian(q, TOOL), np.repeat([1600.0, 60.0], 3)
    assert np.abs(J.T @ (K * short.error(q, motion) + external)).max() < 0.1


def test_force_and_free_axes_can_be_combined(short):
    """Against a rigid wall along z the tool exerts the given wrench."""
    pushing = np.arange(6) == 2
    motion = short.motion(np.zeros(6), force_axes=pushing, wrench=(0, 0, -8.0, 0, 0, 0))
    for law in ('impedance', 'motion'):
        g = TaskGains.of(short.robot.nv, law)
        tau = Controller(short.robot, 'task_space', g).torque(
            short.q, np.zeros(short.robot.nv), motion)
        J, M = short.robot.jacobian(short.q, TOOL)[2:3], short.robot.mass_matrix(short.q)
        whole = np.block([[M, J.T], [J, np.zeros((1, 1))]])
        right = np.concatenate([tau - short.robot.gravity_torque(short.q), [0.0]])
        a, exerted = np.split(np.linalg.solve(whole, right), [short.robot.nv])
        assert exerted == pytest.approx([-8.0])
        assert np.abs(short.robot.jacobian(short.q, TOOL) @ a)[~short.free & ~pushing].max(
            initial=0.0) < 1e-8


@pytest.mark.parametrize('axes', [5, 6])
def test_the_posture_moves_the_redundant_joints(axes):
    """A position of three axes leaves the rest of the joints to it."""
    short, rng = ShortArm(axes), np.random.default_rng(1)
    motion = short.motion(np.zeros(6), free=np.arange(6) >= 3)
    other = motion._replace(posture=short.q + 0.3 * rng.normal(size=short.robot.nv))
    controller = Controller(short.robot, 'task_space', TaskGains.of(short.robot.nv))
    taus = [controller.torque(short.q, np.zeros(short.robot.nv), each) for each in (motion, other)]
    accelerations = [short.acceleration(tau, np.zeros(short.robot.nv)) for tau in taus]
    difference = np.abs(accelerations[0] - accelerations[1])
    assert difference[:3].max() < 1e-9 < 0.1 < difference[3:].max()
