"""Test the state of a floating base against matrices of another library and differences."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.differences import STEP
from support.matrix_exponential import matrix_exponential
from support.tiny_robots import EVERY_KIND, TWO_JOINTS, chain
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node import DynamicsError, Robot
from dynamics_node.model.model import base_joint
from dynamics_node.ros.state.base_state import base_configuration, base_velocity

# A flange and a sensor fixed to the base link, then an arm.
ON_BASE = chain(('mount', 'fixed'), ('sensor', 'fixed'), ('arm', 'revolute'))
# The base moves in a frame that is itself displaced from the root.
PLACED = chain(('free', 'floating'), ('sensor', 'fixed'), ('arm', 'revolute'))
ROBOTS = [(ON_BASE, 'floating', frame) for frame in ('', 'base', 'mount_link', 'sensor_link')] + [
    (PLACED, 'fixed', frame) for frame in ('', 'free_link', 'sensor_link')]


def matrix(xyz, rotation):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation.as_matrix(), xyz
    return T


ORIGIN = matrix([0.1, -0.2, 0.4], Rotation.from_euler('xyz', [0.3, -0.4, 0.5]))  # of every joint


def expected(text, frame, T):
    """Return the homogeneous matrix of the base joint when the frame is at T."""
    if text is ON_BASE:
        steps = {'': 0, 'base': 0, 'mount_link': 1, 'sensor_link': 2}[frame]
        return T @ np.linalg.inv(np.linalg.matrix_power(ORIGIN, steps))
    steps = {'': 0, 'free_link': 0, 'sensor_link': 1}[frame]
    return np.linalg.inv(ORIGIN) @ T @ np.linalg.inv(np.linalg.matrix_power(ORIGIN, steps))


def random_pose(seed=0):
    rng = np.random.default_rng(seed)
    return matrix(rng.normal(size=3), Rotation.random(random_state=seed))


def configuration(model, T, frame):
    return base_configuration(model, T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_quat(), frame)


def as_matrix(q):
    return matrix(q[:3], Rotation.from_quat(q[3:]))


@pytest.mark.parametrize(('text', 'base', 'frame'), ROBOTS)
def test_the_base_pose_follows_from_a_frame_that_is_fixed_to_it(text, base, frame):
    """For every link that the odometry may name."""
    model = Robot.from_urdf(text, base=base).model
    for seed in range(5):
        T = random_pose(seed)
        q = configuration(model, T, frame)
        assert as_matrix(q) == pytest.approx(expected(text, frame, T), abs=EXACT_MATHS)
        assert np.linalg.norm(q[3:]) == pytest.approx(1.0)


@pytest.mark.parametrize(('text', 'base', 'frame'), ROBOTS)
def test_the_velocity_is_the_rate_of_the_base_pose_in_its_own_axes(text, base, frame):
    """T^-1 dT/dt by differences, while the frame moves with the given body twist."""
    model = Robot.from_urdf(text, base=base).model
    rng = np.random.default_rng(7)
    T, linear, angular = random_pose(7), rng.normal(size=3), rng.normal(size=3)
    (wx, wy, wz), twist = angular, np.zeros((4, 4))
    twist[:3, :3] = [[0, -wz, wy], [wz, 0, -wx], [-wy, wx, 0]]
    twist[:3, 3] = linear
    before, now, after = (as_matrix(configuration(model, T @ matrix_exponential(t * twist), frame))
                          for t in (-STEP, 0.0, STEP))
    rate = np.linalg.inv(now) @ (after - before) / (2 * STEP)
    want = [*rate[:3, 3], rate[2, 1], rate[0, 2], rate[1, 0]]
    assert base_velocity(model, linear, angular, frame) == pytest.approx(
        want, abs=RATE_BY_DIFFERENCES)


def test_the_configuration_gives_the_measured_pose_of_the_frame():
    """By forward kinematics, and so does the velocity."""
    robot = Robot.from_urdf(ON_BASE, base='floating')
    T, linear, angular = random_pose(3), np.array([0.3, -0.2, 0.1]), np.array([0.5, 0.6, -0.7])
    q = np.append(configuration(robot.model, T, 'sensor_link'), 0.4)
    v = np.append(base_velocity(robot.model, linear, angular, 'sensor_link'), 0.9)
    assert robot.frame_pose(q, 'sensor_link') == pytest.approx(T, abs=EXACT_MATHS)
    seen = [*(T[:3, :3] @ linear), *(T[:3, :3] @ angular)]
    assert robot.frame_twist(q, v, 'sensor_link') == pytest.approx(seen, abs=EXACT_MATHS)


def test_a_nearly_unit_quaternion_is_normalised():
    """Drivers send single precision."""
    model = Robot.from_urdf(TWO_JOINTS, base='floating').model
    q = base_configuration(model, np.zeros(3), 1.005 * np.array([0.0, 0.6, 0.0, 0.8]))
    assert q == pytest.approx([0, 0, 0, 0, 0.6, 0, 0.8])


@pytest.mark.parametrize(('position', 'quaternion'), [
    ([0, 0, 0], [0, 0, 0, 0.0]), ([0, 0, 0], [0, 0, 0, 0.9]), ([0, 0, 0], [0, 0, 0, math.nan]),
    ([math.nan, 0, 0], [0, 0, 0, 1]), ([0, math.inf, 0], [0, 0, 0, 1])])
def test_an_invalid_pose_is_refused(position, quaternion):
    """The message has no numbers: refusals are counted by their text."""
    model = Robot.from_urdf(TWO_JOINTS, base='floating').model
    with pytest.raises(DynamicsError, match='pose of the base is .* expected finite numbers'):
        base_configuration(model, np.array(position), np.array(quaternion))


@pytest.mark.parametrize('bad', [math.nan, math.inf])
def test_an_invalid_twist_is_refused(bad):
    """Linear or angular."""
    model = Robot.from_urdf(TWO_JOINTS, base='floating').model
    for twist in (([bad, 0, 0], [0, 0, 0]), ([0, 0, 0], [0, 0, bad])):
        with pytest.raises(DynamicsError, match='twist of the base is .* expected finite numbers'):
            base_velocity(model, *twist)


@pytest.mark.parametrize('frame', ['arm_link', 'odom'])
def test_a_frame_that_is_not_fixed_to_the_base_is_refused(frame):
    """A link of the arm, or an unknown one: the valid frames are listed."""
    model = Robot.from_urdf(ON_BASE, base='floating').model
    for ask in (lambda: configuration(model, np.eye(4), frame),
                lambda: base_velocity(model, np.zeros(3), np.zeros(3), frame)):
        with pytest.raises(DynamicsError, match=f"'{frame}'.*base, mount_link, sensor_link$"):
            ask()


@pytest.mark.parametrize(('text', 'base', 'name'), [
    (TWO_JOINTS, 'fixed', None), (TWO_JOINTS, 'floating', 'floating_base'),
    (PLACED, 'fixed', 'free'), (EVERY_KIND, 'fixed', None),
    (chain(('arm', 'revolute'), ('ball', 'floating')), 'fixed', None)])
def test_the_base_joint_is_the_floating_one_that_carries_the_robot(text, base, name):
    """Not one further out."""
    joint = base_joint(Robot.from_urdf(text, base=base).model)
    assert (joint and joint.name) == name
