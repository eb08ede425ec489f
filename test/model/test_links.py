"""Test robots described link by link: the same model as of a URDF, and frames set elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from support import random_trees
from support.differences import relative
from support.random_trees import TREES
from support.rebuilt_links import rebuilt
from support.same_model import assert_same_model
from support.tiny_robots import EVERY_KIND
from support.tolerances import EXACT_MATHS

from dynamics_node import DynamicsError, Robot, RobotLink
from dynamics_node.model.links import pose_of
from dynamics_node.spatial import se3, so3

ARM = RobotLink('arm', 'base', 'revolute', axis=(0, 1, 0), mass=2.0, com=(0, 0, 0.5))


def robot_of(links, **options):
    return Robot.from_links(links, compile=False, **options)


@pytest.mark.parametrize('tree', TREES, ids=str)
def test_a_description_in_python_gives_the_model_of_the_urdf(tree):
    """All joint types, mimic joints and limits."""
    text = random_trees.urdf(np.random.default_rng(tree.seed), tree.mimic)
    model = Robot.from_urdf(text, base=tree.base, compile=False).model
    described = robot_of(rebuilt(text), name='tree', base=tree.base).model
    assert_same_model(described, model, EXACT_MATHS)


@pytest.mark.parametrize('tree', TREES, ids=str)
def test_dynamics_do_not_depend_on_where_the_link_frames_are(tree):
    """Each link frame is moved and rotated; axes, anchors and inertias are given in the new one."""
    rng = np.random.default_rng(tree.seed)
    links = rebuilt(random_trees.urdf(rng, tree.mimic, kinds=('revolute', 'prismatic', 'fixed')))
    moves = {link.name: se3.exp(rng.normal(size=6)) for link in links}
    moves['base'] = se3.IDENTITY
    moved = [_moved(link, moves.get(link.parent), moves[link.name]) for link in links]
    one, other = robot_of(links), robot_of(moved)
    q, v, a = one.random_configuration(rng), *rng.normal(size=(2, one.nv))
    assert relative(other.inverse_dynamics(q, v, a), one.inverse_dynamics(q, v, a)) < EXACT_MATHS
    for name, T in moves.items():
        expected = one.frame_pose(q, name) @ T.matrix()
        assert relative(other.frame_pose(q, name), expected) < EXACT_MATHS


def _moved(link, parent, T):
    """Return the link with its frame at T in its old frame, its parent's at `parent` in its own."""
    R, p = T.R.T, T.inverse().p
    changes = {'com': R @ link.com + p, 'inertia': R @ link.inertia @ R.T}
    if link.parent is not None:
        changes |= {'placement': parent.inverse().matrix() @ link.placement @ T.matrix(),
                    'axis': R @ link.axis, 'anchor': R @ link.anchor + p}
    return replace(link, **changes)


def test_a_planar_joint_turns_about_its_anchor():
    """By the definition: placement, to the anchor, the motion, back."""
    placement, anchor, q = se3.exp(np.arange(1.0, 7.0)).matrix(), (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)
    robot = robot_of([RobotLink('base'), RobotLink('sled', 'base', 'planar', placement,
                                                   anchor=anchor, mass=1.0)])
    motion = se3.Pose(so3.from_rpy((0.0, 0.0, 0.6)), np.array([0.4, 0.5, 0.0])).matrix()
    to, back = np.eye(4), np.eye(4)
    to[:3, 3], back[:3, 3] = anchor, np.negative(anchor)
    assert relative(robot.frame_pose(q, 'sled'), placement @ to @ motion @ back) < EXACT_MATHS


def test_only_an_axis_beside_the_origin_has_a_frame_of_its_own():
    base, along = RobotLink('base'), replace(ARM, anchor=(0, 0.7, 0))
    assert robot_of([base, along]).frame_names == ('base', 'arm')
    beside = robot_of([base, replace(ARM, anchor=(0.1, 0.7, 0))])
    assert beside.frame_names == ('base', 'arm_joint_frame', 'arm')
    assert beside.joint_names == ('arm_joint',)


def test_armature_is_that_of_the_link_or_of_the_argument():
    links = [RobotLink('base'), replace(ARM, armature=0.5)]
    assert robot_of(links).model.armature == 0.5
    assert robot_of(links, armature={'arm_joint': 0.2}).model.armature == 0.2


def test_options_and_notes_are_those_of_from_urdf():
    robot = robot_of([RobotLink('base'), ARM], name='one', notes=['from a data sheet'],
                     base='floating', gravity=(0, 0, -1.6))
    assert (robot.name, robot.nv, robot.gravity[2]) == ('one', 7, -1.6)
    assert 'from a data sheet' in [finding.text for finding in robot.report().findings]
    with pytest.raises(TypeError, match='bass'):
        robot_of([ARM], bass='fixed')


def test_a_matrix_with_six_digits_is_made_orthonormal():
    T = np.eye(4)
    T[:3, :3] = np.round(so3.exp(np.array([0.3, -0.5, 0.7])), 7)
    R = pose_of('T', T).R
    assert relative(R @ R.T, np.eye(3)) < EXACT_MATHS and relative(R, T[:3, :3]) < 1e-6


SKEW = np.eye(4)
SKEW[0, 1] = 1e-3
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])


@pytest.mark.parametrize('changes, message', [
    ({'name': ''}, 'name is'), ({'parent': 3}, "link 'arm': parent is 3"),
    ({'joint': 'hinge'}, "link 'arm': joint is 'hinge'; expected one of revolute, continuous"),
    ({'placement': np.eye(3)}, "(?s)link 'arm': placement is .* expected 4 x 4"),
    ({'placement': SKEW}, "link 'arm': placement is not a rotation"),
    ({'placement': MIRROR}, 'determinant'), ({'placement': 2.0 * np.eye(4)}, 'last row'),
    ({'axis': (0, 0, 0)}, "link 'arm': joint has a zero axis"),
    ({'anchor': (0, np.nan, 0)}, "link 'arm': anchor"), ({'mass': -1.0}, "link 'arm': mass"),
    ({'com': 1.0}, "link 'arm': com"), ({'inertia': np.diag([1.0, 1.0, 3.0])}, 'triangle'),
    ({'lower': 1.0, 'upper': -1.0}, "link 'arm': lower, upper is 1.0, -1.0"),
    ({'joint': 'continuous', 'lower': -1.0}, 'limits are for: revolute, prismatic'),
    ({'max_effort': 0.0}, "link 'arm': max_effort is 0.0"),
    ({'damping': -1.0}, "link 'arm': damping"), ({'armature': 'x'}, "link 'arm': armature"),
    ({'mimic': ('x', 1.0)}, r'expected \(joint, multiplier, offset\)'),
    ({'mimic': ('x', 1.0, 'y')}, 'multiplier, offset of mimic'),
    ({'joint': 'planar', 'mimic': ('x', 1.0, 0.0)}, 'cannot mimic'),
    ({'joint_name': ''}, "link 'arm': joint_name"), ({'parent': None}, 'no parent'),
])
def test_an_invalid_link_is_refused(changes, message):
    with pytest.raises(DynamicsError, match=message):
        replace(ARM, **changes)


@pytest.mark.parametrize('links, message', [
    ([], 'links is empty'), ([RobotLink('base'), 'arm'], r"links\[1\] is 'arm'"),
    ([RobotLink('base'), ARM, ARM], "two links are named 'arm'"),
    ([RobotLink('bass'), ARM], "'arm_joint' has the parent link 'base'"),
    ([RobotLink('base'), RobotLink('other')], '2 root links: base, other'),
    ([RobotLink('base'), ARM, replace(ARM, name='leg', joint_name='arm_joint')],
     "two joints are named 'arm_joint'"),
    ([RobotLink('base'), replace(ARM, mimic=('leg', 1.0, 0.0))], 'which is not a joint'),
])
def test_links_that_form_no_robot_are_refused(links, message):
    with pytest.raises(DynamicsError, match=message):
        robot_of(links)


def test_a_urdf_of_every_kind_goes_there_and_back():
    links = rebuilt(EVERY_KIND)
    again = Robot.from_urdf(robot_of(links, name='chain').to_urdf(), compile=False)
    assert_same_model(again.model, Robot.from_urdf(EVERY_KIND, compile=False).model, EXACT_MATHS)
