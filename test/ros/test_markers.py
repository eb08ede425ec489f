"""Test markers of a robot: masses, inertias, torques against limits, wrenches."""

from typing import NamedTuple

import numpy as np
import pytest
from support.node_states import measure, node_state_of
from support.tiny_robots import EVERY_KIND, NOTHING_MOVES, TWO_JOINTS
from support.tolerances import EXACT_MATHS
from visualization_msgs.msg import Marker

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros import convert
from dynamics_node.ros.markers import (
    DENSITY,
    FORCE,
    INERTIA,
    METRES_PER_NEWTON,
    SHOWN,
    TORQUE,
    UNKNOWN,
    Markers,
    markers_of,
    shade,
)
from dynamics_node.spatial import so3

STAMP = 12_000_000_345  # [ns]
SOLID = """<robot name="solid"><link name="base"/><link name="body"><inertial>
  <origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="{mass}"/>
  <inertia ixx="{0}" iyy="{1}" izz="{2}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="body"/>
  <origin xyz="0.5 0 0.1" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="{effort}" velocity="1"/></joint></robot>"""


class Drawn(NamedTuple):
    """The markers of one kind."""

    markers: list

    @property
    def places(self):
        return np.array([convert.xyz(marker.pose.position) for marker in self.markers])

    @property
    def scales(self):
        return np.array([convert.xyz(marker.scale) for marker in self.markers])

    @property
    def colours(self):
        return [(m.color.r, m.color.g, m.color.b, m.color.a) for m in self.markers]


def drawn(robot, q, efforts=None, wrenches=None):
    """Return {kind: Drawn}."""
    array = markers_of(robot, q, efforts or {}, wrenches or {}, STAMP)
    first, *markers = array.markers
    assert first.action == Marker.DELETEALL
    assert [marker.id for marker in array.markers] == list(range(len(array.markers)))
    assert {marker.header.frame_id for marker in array.markers} == {robot.model.root}
    assert {convert.nanoseconds(marker.header.stamp) for marker in array.markers} == {STAMP}
    assert all(marker.action == Marker.ADD for marker in markers)
    return {kind: Drawn([marker for marker in markers if marker.ns == kind])
            for kind in ('centre of mass', 'inertia', 'torque against limit', 'force')}


def solid(moments, mass=5.0, effort=10.0):
    return Robot.from_urdf(SOLID.format(*moments, mass=mass, effort=effort), compile=False)


def turned(marker):
    """Return the rotation matrix of a marker."""
    x, y, z, w = convert.xyzw(marker.pose.orientation)
    assert x * x + y * y + z * z + w * w == pytest.approx(1.0)
    return so3.from_quaternion(np.array([x, y, z, w]))


def test_a_solid_ellipsoid_is_drawn_with_its_own_shape():
    """Its three diameters, its position and its axes."""
    a, b, c, mass = 0.3, 0.2, 0.1, 5.0
    moments = [mass * (y * y + z * z) / 5.0 for y, z in ((b, c), (a, c), (a, b))]
    robot, q = solid(moments, mass), np.array([0.7])
    found = drawn(robot, q)['inertia']
    assert sorted(found.scales[0]) == pytest.approx([2 * c, 2 * b, 2 * a])
    assert found.places[0] == pytest.approx(robot.center_of_mass(q), abs=EXACT_MATHS)
    # R S^2 R' with half axes S says all of an ellipsoid, whichever order the axes are in
    R = turned(found.markers[0])
    shape = R @ np.diag((found.scales[0] / 2.0) ** 2) @ R.T
    pose = robot.frame_pose(q, 'body')
    inertial = pose[:3, :3] @ so3.from_rpy((0.4, -0.5, 0.6))
    assert shape == pytest.approx(inertial @ np.diag([a * a, b * b, c * c]) @ inertial.T)


def test_a_box_is_drawn_as_the_ellipsoid_of_the_same_inertia():
    """Whose diameters are the edges times sqrt(5/3)."""
    edges, mass = np.array([0.4, 0.3, 0.2]), 3.0
    x, y, z = edges ** 2
    found = drawn(solid([mass * s / 12.0 for s in (y + z, x + z, x + y)], mass), np.zeros(1))
    expected = np.sort(edges) * np.sqrt(5.0 / 3.0)
    assert np.sort(found['inertia'].scales[0]) == pytest.approx(expected)
    assert found['inertia'].colours[0] == pytest.approx(INERTIA)


def test_a_point_mass_has_a_visible_ellipsoid():
    """Without a root of a negative number."""
    found = drawn(solid([1e-12, 1e-12, 1e-12]), np.zeros(1))
    assert (found['inertia'].scales > 0.0).all()


@pytest.mark.parametrize('source', [ARM7, TWO_JOINTS, EVERY_KIND],
                         ids=['arm7', 'two', 'every kind'])
def test_balls_at_centres_of_mass_have_the_mass_of_the_robot(source):
    """Balls of water: their masses and first moments add up."""
    robot = Robot.from_urdf(source, compile=False)
    q = robot.random_configuration(np.random.default_rng(0))
    found = drawn(robot, q)
    balls = found['centre of mass']
    masses = DENSITY * np.pi / 6.0 * balls.scales[:, 0] ** 3
    assert masses.sum() == pytest.approx(robot.total_mass)
    assert masses @ balls.places / masses.sum() == pytest.approx(robot.center_of_mass(q))
    assert found['inertia'].places == pytest.approx(balls.places)
    assert len(found['torque against limit'].markers) == len(
        [joint for joint in robot.model.joints if joint.kind not in ('planar', 'floating')])


def test_a_floating_robot_is_drawn_in_its_own_frame():
    """Tf has its pose: the markers are those of the fixed robot."""
    fixed = Robot.from_urdf(TWO_JOINTS, compile=False)
    floating = Robot.from_urdf(TWO_JOINTS, base='floating', compile=False)
    q = floating.random_configuration(np.random.default_rng(3))
    kinds = ['centre of mass', 'inertia', 'torque against limit']
    here, there = drawn(fixed, q[-2:]), drawn(floating, q)
    for kind in kinds:
        places = [sorted(map(tuple, each[kind].places.round(9))) for each in (here, there)]
        assert np.array(places[0]) == pytest.approx(np.array(places[1]))


def test_torques_are_coloured_by_their_share_of_the_limit():
    robot = Robot.from_urdf(ARM7, compile=False)
    efforts = {'joint_1': 0.0, 'joint_2': 60.0, 'joint_3': -80.0, 'joint_4': 800.0,
               'joint_5': np.nan, 'joint_6': -5.0}
    found = drawn(robot, robot.neutral(), efforts)['torque against limit']
    expected = [(0, 1, 0, 0.9), (1, 1, 0, 0.9), (1, 0, 0, 0.9), (1, 0, 0, 0.9), UNKNOWN,
                (0.5, 1, 0, 0.9), UNKNOWN]
    assert np.array(found.colours) == pytest.approx(np.array(expected))
    assert found.places[6] == pytest.approx(robot.frame_pose(robot.neutral(), 'link_7')[:3, 3])


def test_a_joint_without_a_limit_is_grey():
    found = drawn(solid([0.1] * 3, effort=0.0), np.zeros(1), {'hinge': 3.0})
    assert found['torque against limit'].colours[0] == pytest.approx(UNKNOWN)


def test_shades_go_from_green_to_red():
    shares = np.linspace(0.0, 1.2, 50)
    reds, greens = zip(*(shade(share)[:2] for share in shares))
    assert list(reds) == sorted(reds) and list(greens) == sorted(greens, reverse=True)


def test_wrenches_are_arrows_at_their_frame():
    robot = Robot.from_urdf(ARM7, compile=False)
    q = robot.random_configuration(np.random.default_rng(1))
    force, torque = np.array([10.0, -20.0, 30.0]), np.array([0.0, 0.0, 4.0])
    found = drawn(robot, q, wrenches={'tool0': (force, torque), 'link_2': (force, 0.0 * torque),
                                      'nowhere': (force, torque)})['force']
    pose = robot.frame_pose(q, 'tool0')
    assert len(found.markers) == 3
    assert np.array(found.colours) == pytest.approx(np.array([FORCE, TORQUE, FORCE]))
    for marker, vector in zip(found.markers, (force, torque)):
        assert marker.type == Marker.ARROW
        begin, end = (convert.xyz(point) for point in marker.points)
        assert begin == pytest.approx(pose[:3, 3])
        assert end - begin == pytest.approx(METRES_PER_NEWTON * pose[:3, :3] @ vector)


def test_values_that_are_not_finite_are_not_drawn():
    robot = Robot.from_urdf(TWO_JOINTS, compile=False)
    nan = np.array([np.nan, 0.0, 0.0])
    assert drawn(robot, np.zeros(2), wrenches={'elbow_link': (nan, nan)})['force'].markers == []


def test_a_robot_that_does_not_move_is_drawn():
    found = drawn(Robot.from_urdf(NOTHING_MOVES, compile=False), np.zeros(0))
    assert found['torque against limit'].markers == []


# When it is drawn --------------------------------------------------------------------------------

class Easel:
    """The parts of a node that Markers uses."""

    def __init__(self):
        self.watchers, self.arrays, self.runs = 1, [], None

    def create_publisher(self, *_, **options):
        return self

    def create_subscription(self, *_, **options):
        return self

    def create_timer(self, period, draw, autostart, clock):
        self.draw, self.runs = draw, autostart
        return self

    def cancel(self):
        self.runs = False

    def reset(self):
        self.runs = True

    def is_canceled(self):
        return not self.runs

    def destroy_subscription(self, *_):
        pass

    def destroy_publisher(self, _):
        pass

    destroy_timer = destroy_publisher

    def get_subscription_count(self):
        return self.watchers

    def publish(self, array):
        self.arrays.append(array)


@pytest.fixture
def easel():
    easel = Easel()
    easel.node_state = node_state_of(TWO_JOINTS)
    easel.efforts = {}
    easel.markers = Markers(easel, easel.node_state, lambda: easel.efforts)
    return easel


def kinds(array, kind):
    return [marker for marker in array.markers if marker.ns == kind]


def test_nothing_is_drawn_before_the_robot_is_measured(easel):
    easel.draw()
    assert easel.arrays == []
    measure(easel.node_state, np.zeros(2), np.zeros(2))
    easel.draw()
    assert len(easel.arrays) == 1


def test_markers_are_published_while_there_are_subscribers(easel):
    seen = []
    for easel.watchers in (0, 1, 2, 0, 0, 1):
        easel.markers.check_subscribers()
        seen.append(easel.runs)
    assert seen == [False, True, True, False, False, True]


def test_published_torques_replace_measured_ones(easel):
    measure(easel.node_state, np.zeros(2), np.zeros(2), np.array([50.0, 0.0]))
    easel.draw()
    easel.efforts = {'elbow': 50.0, 'shoulder': 0.0}
    easel.draw()
    reds = [[marker.color.r for marker in kinds(array, 'torque against limit')]
            for array in easel.arrays]
    assert reds == [[1.0, 0.0], [0.0, 1.0]]


def test_a_wrench_is_shown_for_a_while(easel):
    from support.remote_node import stamped_wrench
    measure(easel.node_state, np.zeros(2), np.zeros(2))
    easel.markers.on_wrench(stamped_wrench('elbow_link', np.array([1.0, 0, 0, 0, 0, 0])))
    counts = []
    for _ in range(3):
        easel.draw()
        counts.append(len(kinds(easel.arrays[-1], 'force')))
        easel.node_state.clocks.now += SHOWN // 2
    assert counts == [1, 1, 0]
