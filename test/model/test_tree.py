"""Test the order of joints: depth-first, children in the order of the text."""

import pytest
from support.urdf_pieces import EVERYTHING, joint, link, robot

from dynamics_node import Robot
from dynamics_node.model.read_urdf import read_urdf
from dynamics_node.model.tree import depth_first

#      a --1-- b --2-- c
#      |       +--3-- d
#      +--4-- e --5-- f
EDGES = {'1': 'ab', '2': 'bc', '3': 'bd', '4': 'ae', '5': 'ef'}


def tree(link_order, joint_order):
    return robot(*map(link, link_order), *(joint(name, *EDGES[name]) for name in joint_order))


@pytest.mark.parametrize(('links', 'joints', 'expected'), [
    ('abcdef', '12345', '12345'),
    ('fedcba', '54321', '45132'),
    ('abcdef', '13254', '13245'),
    ('cdefab', '24135', '45123'),
])
def test_depth_first_in_the_order_of_the_text(links, joints, expected):
    """Links may come in any order; siblings as their joints are written."""
    record = read_urdf(tree(links, joints))
    root, order = depth_first(record.links, record.joints)
    assert root == 'a'
    assert ''.join(part.name for part in order) == expected
    assert ''.join(Robot.from_urdf(tree(links, joints)).joint_names) == expected


def test_a_parent_comes_before_its_children_in_the_model():
    """So every recursion is one loop."""
    model = Robot.from_urdf(EVERYTHING).model
    assert all(body.parent < i for i, body in enumerate(model.bodies))


def test_coordinates_follow_the_order_of_the_joints():
    """The entries of q and v are numbered without holes; followers have none of their own."""
    robot = Robot.from_urdf(EVERYTHING, base='floating')
    assert robot.joint_names == ('floating_base', 'turn', 'spin', 'slide', 'plane', 'free')
    assert [part.q.start for part in robot.model.joints] == [0, 7, 8, 9, 10, 13]
    assert [part.v.start for part in robot.model.joints] == [0, 6, 7, 8, 9, 12]
    assert (robot.nq, robot.nv) == (20, 18)


def test_the_floating_base_gets_an_unused_name():
    """Some robots have a joint of the default name."""
    text = robot(link('a'), link('b'), joint('floating_base', 'a', 'b', 'fixed'))
    assert Robot.from_urdf(text, base='floating').joint_names == ('root_floating_base',)


def test_every_link_is_a_frame():
    """Also the root, and those on fixed joints."""
    assert set(Robot.from_urdf(EVERYTHING).frame_names) == {*'abcdefgh', 'base', 'tool'}


def test_a_single_link_is_a_robot():
    """It does not move."""
    robot = Robot.from_urdf('<robot><link name="a"/></robot>')
    assert (robot.nq, robot.nv, robot.joint_names, robot.frame_names) == (0, 0, (), ('a',))


def test_long_chains_are_no_problem():
    """A thousand joints, far more than Python would recurse."""
    n = 1000
    text = robot(*(f'<link name="{i}"/>' for i in range(n + 1)),
                 *(joint(f'j{i}', i, i + 1) for i in range(n)))
    assert Robot.from_urdf(text).nv == n
