"""Test the page about a robot: the numbers of the library, every body in the pictures."""

import json
import re

import numpy as np
import pytest
from support.differences import relative
from support.html_checks import checked
from support.nasty_robot import NASTY, NASTY_URDF
from support.real_robots import ROBOTS
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot, Spring
from dynamics_node.example_robots import ARM7, MECHANISMS
from dynamics_node.reports.body_views import silhouette
from dynamics_node.reports.model_page import model_report_page
from dynamics_node.reports.tree_picture import tree_picture
from dynamics_node.spatial.ellipsoid import Ellipsoid, equivalent_ellipsoid
from dynamics_node.spatial.inertia import from_com
from dynamics_node.spatial.so3 import about_axis

EXAMPLES = {example.name: example for example in ROBOTS}
NO_MASS = '<robot name="a"><link name="base"/></robot>'


def glyphs(svg):
    """Return the numbers in the glyphs of joints, in their order."""
    return [int(n) for n in re.findall(r'class="joint"></rect><text[^>]*>(\d+)</text>', svg)]


def test_holding_torques_include_springs():
    """They are those of inverse dynamics at rest."""
    robot = Robot.from_urdf(ARM7, compile=False).with_springs(
        [Spring('coil', 40.0, 3.0, 0.3, joint='joint_2')])
    html, answers = model_report_page(robot)
    held = robot.inverse_dynamics(robot.neutral(), np.zeros(7), np.zeros(7))
    assert relative(answers['gravity_torque'], held) < EXACT_MATHS
    assert 'The torques of the springs are included.' in html


@pytest.mark.parametrize('name', ['panda', 'talos', 'talos_grippers', 'pr2', 'allegro_hand'])
def test_pages_of_real_robots_are_complete(name):
    """Every body is in the tree, every link in the table, every finding is counted."""
    example = EXAMPLES[name]
    robot = Robot.from_urdf(example.urdf, base=example.base)
    html, answers = model_report_page(robot)
    page = checked(html)
    assert glyphs(html) == list(range(1, len(robot.model.bodies) + 1))
    for word in (*robot.frame_names, *robot.joint_names):
        assert word in page.text
    assert json.loads(json.dumps(answers, allow_nan=False)) == answers
    assert answers['report'] == robot.report().as_dict()
    held = robot.gravity_torque(robot.neutral()).tolist()
    assert answers['gravity_torque'] == (held if robot.nq == robot.nv else [None] * robot.nv)
    assert answers['center_of_mass'] == robot.center_of_mass(robot.neutral()).tolist()
    heavy = sum(inertia.mass > 0.0 for inertia in robot.model.inertias)
    assert html.count('<ellipse ') == 3 * heavy


@pytest.mark.parametrize('name', MECHANISMS)
def test_pages_of_mechanisms_show_their_loops(name):
    """Gravity is carried by the motors alone; each loop between two links has an arc."""
    urdf, loops = MECHANISMS[name]
    robot = Robot.from_urdf(urdf, loops=loops)
    html, answers = model_report_page(robot)
    checked(html)
    between = sum(bool(each.frame) for each in robot.loops.constraints if each.to != 'world')
    assert html.count('class="loop"') == between
    q, still = np.array(answers['configuration']), np.zeros(robot.nv)
    torque = answers['gravity_torque']
    free = Robot.from_urdf(urdf, loops=loops, friction=False)
    motion = free.constrained_forward_dynamics(q, still, torque)
    weight = np.abs(free.gravity_torque(q)).max()
    assert np.abs(free.mass_matrix(q) @ motion.a).max() < SOLVED * max(1.0, weight)
    for joint in robot.loops.passive:
        assert np.all(np.array(torque)[robot.model.joint(joint).v] == 0.0)


def test_loops_that_no_motor_holds_are_reported():
    """Gravity torques are then unknown, not zero."""
    urdf, loops = MECHANISMS['four_bar']
    robot = Robot.from_urdf(urdf, loops=loops)
    robot = robot.with_loops(robot.loops._replace(passive=robot.joint_names))
    html, answers = model_report_page(robot)
    assert 'singular configuration' in checked(html).text
    assert answers['gravity_torque'] == [None] * robot.nv


def test_a_floating_base_is_held_by_its_contacts():
    """Without any no motor holds the robot, which the page reports."""
    example = next(each for each in ROBOTS if str(each) == 'solo12')
    html, answers = model_report_page(Robot.from_urdf(example.urdf, base='floating'))
    assert "'floating_base' is floating and nothing holds it" in checked(html).text
    assert answers['gravity_torque'] == [None] * 18
    feet = [{'name': leg, 'kind': 'point_contact', 'frame': f'{leg}_FOOT'}
            for leg in ('FL', 'FR', 'HL', 'HR')]
    robot = Robot.from_urdf(example.urdf, base='floating', loops=feet)
    q = robot.neutral()
    q[7:] += np.tile([0.0, 0.8, -1.6], 4)
    html, answers = model_report_page(robot, q)
    assert 'Holding effort against its limits' in html
    torque = np.array(answers['gravity_torque'])
    assert not torque[:6].any()
    a = robot.constrained_forward_dynamics(q, np.zeros(18), torque).a
    assert np.abs(a).max() < 1e-9


def test_names_cannot_break_the_page():
    """Texts are shown as they are; they add no element."""
    robot = Robot.from_urdf(NASTY_URDF).with_payload('<b>', f'{NASTY}3', 0.5)
    html, answers = model_report_page(robot, about={'of': '</p><script>'})
    page = checked(html)
    assert 'script' not in {tag for tag, _ in page.elements}
    assert page.text.count(NASTY) >= 6 and '</p><script>' in page.text
    assert answers['report']['name'] == f'{NASTY}0'


def test_a_given_configuration_and_payload_are_used(arm):
    """Of the views, the centre of mass and gravity."""
    q = arm.random_configuration(4)
    loaded = arm.with_payload('box', 'tool0', 3.0, (0.0, 0.0, 0.1))
    html, answers = model_report_page(loaded, q)
    page = checked(html)
    assert relative(answers['gravity_torque'], loaded.gravity_torque(q)) < EXACT_MATHS
    assert relative(answers['configuration'], q) < EXACT_MATHS
    assert 'box' in page.text and 'joint_1 = ' in page.text
    limits = [joint.max_effort for joint in arm.model.joints]
    assert answers['effort_limit'] == limits


def test_robots_without_joints_or_mass_have_a_page():
    """No error."""
    html, answers = model_report_page(Robot.from_urdf(NO_MASS))
    assert 'Nothing moves.' in checked(html).text
    assert answers['center_of_mass'] == [None] * 3 and answers['gravity_torque'] == []


def test_the_manipulability_of_a_link_is_drawn_on_request(arm):
    """Three ellipses in three views, and the numbers of the library; inf at a singularity."""
    plain, answers = model_report_page(arm)
    assert 'manipulability' not in answers and 'Manipulability' not in plain
    for q in (arm.random_configuration(4), arm.neutral()):   # the neutral arm is stretched
        html, answers = model_report_page(arm, q, frame='tool0')
        page, found = checked(html), arm.manipulability(q, 'tool0')
        assert html.count('<ellipse ') == plain.count('<ellipse ') + 9
        numbers = answers['manipulability']
        assert numbers['velocity_radii'] == found.velocity_radii.tolist()
        assert numbers['frame'] == 'tool0' and 'What tool0 reaches' in page.text
    assert numbers['condition_number'] is None and np.isinf(found.condition_number)
    with pytest.raises(DynamicsError, match="no frame 'hand'"):
        model_report_page(arm, frame='hand')


def test_a_wrong_configuration_is_refused(arm):
    for q in (np.zeros(3), np.zeros((2, 7)), np.full(7, np.nan)):
        with pytest.raises(DynamicsError, match='q'):
            model_report_page(arm, q)


def test_errors_come_first():
    """They are marked."""
    text = ARM7.read_text().replace('ixx="', 'ixx="-', 1)
    html, _ = model_report_page(Robot.from_urdf(text))
    assert re.search(r'<tbody><tr><td><span class="bad">error</span>', html)


# Pictures ------------------------------------------------------------------------------------

def test_a_chain_is_straight_and_branches_have_lanes():
    """An arm has one lane; no two joints of a humanoid share a place."""
    arm = tree_picture(Robot.from_urdf(ARM7).model)
    places = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*class="joint"', arm)
    assert len({x for x, _ in places}) == 1
    example = EXAMPLES['talos']
    svg = tree_picture(Robot.from_urdf(example.urdf, base='floating').model)
    places = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*class="joint"', svg)
    assert 1 < len({x for x, _ in places}) < 6
    assert len({y for _, y in places}) == len(places)


def test_the_ellipsoid_has_the_inertia():
    """By the formula of a solid ellipsoid, the other way round."""
    half = np.array([0.1, 0.2, 0.4])
    R = about_axis(np.array([0.6, 0.0, 0.8]), 0.7)
    tensor = R @ np.diag([half[1]**2 + half[2]**2, half[0]**2 + half[2]**2,
                          half[0]**2 + half[1]**2]) @ R.T * 3.0 / 5.0
    found = equivalent_ellipsoid(from_com(3.0, [1.0, 2.0, 3.0], tensor))
    shape = found.axes @ np.diag(found.half_axes ** 2) @ found.axes.T
    assert relative(shape, R @ np.diag(half ** 2) @ R.T) < EXACT_MATHS
    assert np.linalg.det(found.axes) > 0.0
    assert relative(found.centre, [1.0, 2.0, 3.0]) < EXACT_MATHS


@pytest.mark.parametrize('axes', [(0, 2), (1, 2), (0, 1)])
def test_the_silhouette_is_the_hull_of_the_solid(axes):
    """Points of the surface, seen along an axis, fill the ellipse to its edge and no further."""
    rng = np.random.default_rng(0)
    R = about_axis(np.array([0.0, 0.6, 0.8]), 0.9)
    solid = Ellipsoid(np.zeros(3), R, np.array([0.5, 0.2, 0.1]))
    half, angle = silhouette(solid, axes)
    points = rng.normal(size=(20_000, 3))
    points = (points / np.linalg.norm(points, axis=1, keepdims=True) * solid.half_axes) @ R.T
    x, y = points[:, axes].T
    turned = np.array([x * np.cos(angle) + y * np.sin(angle),
                       -x * np.sin(angle) + y * np.cos(angle)]) / half[:, None]
    radius = np.linalg.norm(turned, axis=0).max()
    assert 0.999 < radius <= 1.0 + EXACT_MATHS
