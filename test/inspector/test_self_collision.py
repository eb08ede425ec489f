"""Test which links touch each other along a motion: closed forms, and meshes by Pinocchio."""

import numpy as np
import pinocchio
import pytest
from support.folding_chain import BOX, CAPSULE, LINK, chain, folding
from support.real_robots import ROBOTS

from dynamics_node import DynamicsError, Robot
from dynamics_node.inspector import self_collision
from dynamics_node.inspector.self_collision import SelfCollision, self_collisions


def gap_of_segments(angle):
    """Return the distance of the axes of the first and the last capsule, by sampling both."""
    first = np.column_stack([np.linspace(0.1, 0.9, 60), np.zeros(60)])
    elbow = np.array([1.0, 0.0]) + [np.cos(2.0), np.sin(2.0)]
    direction = np.array([np.cos(2.0 + angle), np.sin(2.0 + angle)])
    last = elbow + np.linspace(0.1, 0.9, 60)[:, None] * direction
    return np.linalg.norm(first[:, None] - last[None], axis=2).min()


def test_a_chain_that_folds_onto_itself_is_named_with_its_time():
    """The capsules touch when their axes are nearer than two radii."""
    urdf, (times, q) = chain(), folding()
    found = self_collisions(Robot.from_urdf(urdf), urdf, times, q)
    assert [each.links for each in found.found] == [('link_1', 'link_3')]
    expected = next(t for t in times if gap_of_segments(t) < 0.1 + self_collision.TOUCH)
    assert found.found[0].time == pytest.approx(expected, abs=2 * times[1])
    assert found.warnings == (f'self-collision: link_1 touches link_3 at {expected:.3g} s',)


@pytest.mark.parametrize('shape', [BOX, 'cylinder radius="0.05" length="0.9"'])
@pytest.mark.parametrize('element', ['visual', 'collision'])
def test_other_shapes_and_visual_ones_are_found_too(shape, element):
    urdf, motion = chain(shape, element), folding()
    assert [each.links for each in self_collisions(Robot.from_urdf(urdf), urdf, *motion).found] == [
        ('link_1', 'link_3')]


def test_a_chain_that_does_not_fold_gives_no_warning():
    urdf, (times, q) = chain(), folding()
    assert self_collisions(Robot.from_urdf(urdf), urdf, times, 0.2 * q).warnings == ()


def test_two_spheres_touch_at_the_sum_of_their_radii():
    """Link 3 moves on a circle about the elbow: the distance is in closed form."""
    urdf = chain('sphere radius="0.3"')
    robot, times = Robot.from_urdf(urdf), np.linspace(0.0, 3.0, 3001)
    q = np.column_stack([np.zeros_like(times), times, np.full_like(times, 0.5)])
    # From the elbow, (1, 0), the centres are at (-1/2, 0) and at (1, 0) + 1/2 (cos 0.5, sin 0.5),
    # turned by the time.
    arm = np.array([1.0 + 0.5 * np.cos(0.5), 0.5 * np.sin(0.5)])
    distance = np.hypot(np.cos(times) * arm[0] - np.sin(times) * arm[1] + 0.5,
                        np.sin(times) * arm[0] + np.cos(times) * arm[1])
    (found,) = self_collisions(robot, urdf, times, q).found or [None]
    touching = np.flatnonzero(distance < 0.6 + self_collision.TOUCH)
    assert (found is None) == (not len(touching))
    urdf = chain('sphere radius="0.6"')
    (found,) = self_collisions(Robot.from_urdf(urdf), urdf, times, q).found
    first = times[np.flatnonzero(distance < 1.2 + self_collision.TOUCH)[0]]
    assert found == SelfCollision(('link_1', 'link_3'), pytest.approx(first, abs=2e-3))


def on_link_3(inside):
    """Return the chain, whose third link has another one fixed to it, with such elements."""
    tool = LINK.format(name='tool', shape=CAPSULE, element='collision')
    tool = tool[:tool.index('<collision>')] + inside + '</link>'
    fixed = ('<joint name="flange" type="fixed"><parent link="link_3"/><child link="tool"/>'
             '<origin xyz="1 0 0"/></joint>')
    return chain().replace('</robot>', f'{tool}{fixed}</robot>')


@pytest.mark.parametrize('element', ['collision', 'visual'])
def test_a_tool_counts_whatever_the_link_has_that_it_is_fixed_to(element):
    """The third link folds back over the second; its tool reaches the first one."""
    reach = (f'<{element}><origin xyz="0.3 0 0"/><geometry><sphere radius="0.1"/></geometry>'
             f'</{element}>')
    times = np.linspace(0.0, 1.0, 201)
    q = np.multiply.outer(times, [0.0, 0.0, 3.05])
    found = self_collisions(Robot.from_urdf(on_link_3(reach)), on_link_3(reach), times, q)
    assert [each.links for each in found.found] == [('link_1', 'link_3')]
    assert self_collisions(Robot.from_urdf(chain()), chain(), times, q).found == ()


def test_a_missing_mesh_of_a_tool_is_said():
    urdf = on_link_3('<collision><geometry><mesh filename="package://none/tool.stl"/></geometry>'
                     '</collision>')
    times, q = folding(11)
    assert 'self-collisions of tool are not checked' in self_collisions(
        Robot.from_urdf(urdf), urdf, times, q).notes[0]


@pytest.mark.parametrize(('apart', 'touches'), [(0.296, True), (0.2995, True), (0.308, False)])
def test_cylinders_are_not_smaller_than_those_of_the_urdf(apart, touches):
    """Two of radius 0.15 m, side by side; link 3 comes to this distance of link 1."""
    links = ''.join(f'<link name="{name}"><collision><geometry>'
                    '<cylinder radius="0.15" length="0.5"/></geometry></collision>'
                    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" '
                    'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>' for name in 'ac')
    joint = ('<joint name="{0}{1}" type="prismatic"><parent link="{0}"/><child link="{1}"/>'
             '<axis xyz="{2}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>')
    urdf = (f'<robot name="two"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
            f'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>{links}<link name="base"/>'
            + joint.format('base', 'a', '1 0 0') + joint.format('a', 'b', '0 1 0')
            + joint.format('b', 'c', '0.6 0.8 0') + '</robot>')
    robot = Robot.from_urdf(urdf.replace('<joint name="bc" type="prismatic">',
                                         '<joint name="bc" type="prismatic"><origin xyz="3 4 0"/>'))
    urdf = urdf.replace('<joint name="bc" type="prismatic">',
                        '<joint name="bc" type="prismatic"><origin xyz="3 4 0"/>')
    found = self_collisions(robot, urdf, [0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, apart - 5.0]])
    assert bool(found.found) is touches


def test_missing_meshes_and_missing_shapes_are_said():
    times, q = folding(11)
    for shape, text in (('mesh filename="package://none/link.stl"', 'link_1, link_2, link_3'),
                        ('nothing', 'fewer than two links')):
        urdf = chain(shape)
        found = self_collisions(Robot.from_urdf(urdf), urdf, times, q)
        assert not found.found and text in found.notes[0]


def test_wrong_arguments_are_named():
    urdf, (times, q) = chain(), folding(11)
    robot = Robot.from_urdf(urdf)
    with pytest.raises(DynamicsError, match='times has shape'):
        self_collisions(robot, urdf, times[:5], q)
    with pytest.raises(DynamicsError, match='times'):
        self_collisions(robot, urdf, ['a'], q)
    with pytest.raises(DynamicsError, match='urdf_folder is 3'):
        self_collisions(robot, urdf, times, q, 3)
    with pytest.raises(DynamicsError, match='urdf'):
        self_collisions(robot, 3, times, q)


@pytest.mark.parametrize('name', ['ur5', 'xarm7'])
def test_meshes_of_real_arms_touch_where_pinocchio_says(name):
    """Their bent links have meshes, whose whole convex hulls would contain neighbours."""
    pytest.importorskip('trimesh')
    path = next(each.path for each in ROBOTS if each.name == name)
    robot, times = Robot.from_urdf(path), np.linspace(0.0, 10.0, 50)
    joints = np.arange(robot.nq)
    q = 0.3 * np.sin(np.multiply.outer(times, 0.6 + 0.17 * joints) + joints)
    found = self_collisions(robot, path.read_text(), times, q, path.parent)
    first = first_contacts(path, times, q)
    bodies = {body.name for body in robot.model.bodies}
    names = {frozenset(link if link in bodies else self_collision.FIXED for link in links): time
             for links, time in first.items()}
    assert {frozenset(each.links) for each in found.found} == set(names)
    for each in found.found:   # slices contain their mesh: they touch earlier, not later
        assert each.time <= names[frozenset(each.links)]
    assert (name == 'ur5') == (not names)
    assert found.notes == ()


def first_contacts(path, times, q):
    """Return {(link, link): first time of a contact of their meshes}, by Pinocchio."""
    model = pinocchio.buildModelFromUrdf(str(path))
    packages = [str(each.parent) for each in path.parents if each.name == 'example-robot-data']
    shapes = pinocchio.buildGeomFromUrdf(model, str(path), pinocchio.GeometryType.COLLISION,
                                         package_dirs=packages)
    shapes.addAllCollisionPairs()
    data, results, first = model.createData(), shapes.createData(), {}
    for time, each in zip(times, q):
        pinocchio.computeCollisions(model, data, shapes, results, each, False)
        for k, pair in enumerate(shapes.collisionPairs):
            one, other = (shapes.geometryObjects[i] for i in (pair.first, pair.second))
            adjacent = one.parentJoint in (other.parentJoint, model.parents[other.parentJoint])
            if results.collisionResults[k].isCollision() and not adjacent:
                first.setdefault((one.name[:-2], other.name[:-2]), time)   # link5_0: its link
    return first
