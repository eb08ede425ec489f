"""Test writing identified parameters into a URDF: every other byte stays."""

import difflib
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.other_bodies import other_body
from support.real_robots import ROBOTS  # noqa: E402
from support.tolerances import SOLVED

from dynamics_node import Robot
from dynamics_node.algorithms.inertial_parameters import ten_numbers
from dynamics_node.errors import DynamicsError
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.friction_file import friction_yaml
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.pseudo_inertia import is_consistent, nearest_consistent
from dynamics_node.identification.urdf_write_back import write_back

REAL = [robot for robot in ROBOTS if robot.base == 'fixed' and '_coupled' not in str(robot)]
TINY = b"""\xef\xbb\xbf<?xml version='1.0'?>\r
<!-- <mass value="9"/> \xc3\xa4 --><robot name = "tiny">\r
  <link name='base'/>\r
  <link  name="arm" ><inertial>
    <mass
      value = '2.0'/><inertia iyy="0.3" ixx='0.2' ixy="0" ixz="0" iyz="0" izz="0.25"
      note="ixx=&quot;"/>
    <origin rpy="0.1 0.2 0.3"/></inertial><visual><origin xyz="1 2 3"/></visual></link>\r
  <link name="tip"/><link name="plate"><inertial><mass value="0.5"/></inertial></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="f" type="fixed"><parent link="arm"/><child link="plate"/>
    <origin xyz="0.5 0 0"/></joint>
  <joint name="k" type="continuous"><parent link="plate"/><child link="tip"/>
    <dynamics friction="0.1"/></joint>
</robot>
<!-- the end -->"""


def moved(robot, seed=0, size=0.1):
    """Return a robot with other bodies, each one that can exist, and other friction."""
    rng, layout = np.random.default_rng(seed), parameter_layout(robot)
    values = parameter_values(robot, layout)
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        values[at] = other_body(nearest_consistent(values[at]), rng, size, size)
    values[layout.each('viscous')] += 0.1
    values[layout.each('coulomb')] += rng.uniform(0.1, 1.0, robot.nv)
    return robot_with_parameters(robot, layout, values)


def numbers_of(robot):
    layout = parameter_layout(robot)
    values = parameter_values(robot, layout)
    values[layout.each('armature')] = 0.0   # has no place in a URDF
    return values


@pytest.mark.parametrize('real', REAL, ids=str)
def test_unchanged_parameters_change_no_byte_and_others_are_read_again(real):
    raw = Path(real.path).read_bytes()
    robot = Robot.from_urdf(raw)
    layout = parameter_layout(robot)
    same = robot_with_parameters(robot, layout, parameter_values(robot, layout))
    assert write_back(raw, same, friction=True) == raw
    other = moved(robot)
    again = Robot.from_urdf(write_back(raw, other, friction=True))
    np.testing.assert_allclose(numbers_of(again), numbers_of(other), rtol=SOLVED, atol=SOLVED)


@pytest.mark.parametrize('real', REAL, ids=str)
def test_physical_links_stay_physical(real):
    """Also where a body of several links becomes a fifth of what it was."""
    raw = Path(real.path).read_bytes()
    robot = Robot.from_urdf(raw)
    layout = parameter_layout(robot)
    lighter = parameter_values(robot, layout)
    lighter[:layout.inertial] *= 0.2
    for i in range(len(layout.bodies)):
        at = layout.of_body(i)
        lighter[at] = nearest_consistent(lighter[at])
    after = Robot.from_urdf(write_back(raw, robot_with_parameters(robot, layout, lighter)))
    np.testing.assert_allclose(parameter_values(after, layout), lighter, rtol=SOLVED, atol=SOLVED)
    for old, new in zip(robot.model.links, after.model.links):
        if is_consistent(ten_numbers(old.inertia)):
            assert is_consistent(ten_numbers(new.inertia)) or not ten_numbers(new.inertia).any()


def test_only_numbers_of_inertials_change():
    """Without them the two texts are the same, byte for byte."""
    raw = ARM7.read_bytes()
    new = write_back(raw, moved(Robot.from_urdf(raw)))
    assert new != raw
    numbers = rb'(?<=<mass value=")[^"]*|(?<=<inertia )[^/]*|(?<=<origin xyz=")[^"]*'

    def blanked(text):
        return re.sub(numbers, b'', text)
    assert blanked(new) == blanked(raw)
    changed = [line for line in difflib.ndiff(raw.decode().splitlines(), new.decode().splitlines())
               if line.startswith('+ ')]
    assert len(changed) == 7 * 3 and not any('limit' in line for line in changed)


def test_unusual_but_valid_texts_keep_their_format():
    """BOM, CRLF, comments, quotes of either kind, order, lumped and missing inertials."""
    robot = Robot.from_urdf(TINY)
    assert write_back(TINY, robot, friction=True) == TINY
    other = moved(robot, size=0.05)
    new = write_back(TINY, other, friction=True)
    again = Robot.from_urdf(new)
    np.testing.assert_allclose(numbers_of(again), numbers_of(other), rtol=SOLVED, atol=SOLVED)
    for kept in (b'\xef\xbb\xbf<?xml', b'<!-- <mass value="9"/> \xc3\xa4 -->', b'rpy="0.1 0.2 0.3"',
                 b'note="ixx=&quot;"', b"<link name='base'/>\r\n", b'<origin xyz="1 2 3"/>',
                 b'<mass value="0.5"/>', b'<!-- the end -->'):
        assert kept in new
    assert b'<link name="tip"><inertial>' in new


def test_text_stays_text_and_bytes_stay_bytes():
    text = ARM7.read_text()
    robot = moved(Robot.from_urdf(text))
    assert write_back(text, robot).encode() == write_back(text.encode(), robot)


def test_another_urdf_is_refused():
    with pytest.raises(DynamicsError, match='no '):
        write_back(TINY, Robot.from_urdf(ARM7))


def test_the_node_can_read_the_parameter_file():
    """Each number of it, by the node's own reader."""
    robot = Robot.from_urdf(ARM7)
    layout = parameter_layout(robot)
    values = np.random.default_rng(1).normal(size=layout.size)
    values[layout.each('armature')] = [0.0, 1e-5, *range(1, 6)]   # whole and small numbers too
    text = friction_yaml(layout, values)
    chosen = yaml.safe_load(text)['/**/dynamics_node']['ros__parameters']
    said = yaml.safe_load('\n'.join(line.removeprefix('    # ')   # offsets, to be read by people
                                    for line in text.splitlines()[-robot.nv:]))
    for key, kind, written in (('armature', 'armature', chosen['armature']),
                               ('damping', 'viscous', chosen['damping']),
                               ('dry_friction', 'coulomb', chosen['dry_friction']),
                               ('offset', 'offset', said)):
        assert tuple(written) == robot.joint_names, key
        assert {type(value) for value in written.values()} == {float}
        np.testing.assert_allclose(list(written.values()), values[layout.each(kind)], rtol=1e-8)
    assert chosen['friction'] is True and chosen['friction_speed'] == layout.friction_speed
