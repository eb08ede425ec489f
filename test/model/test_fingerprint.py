"""Test that a fingerprint depends on the robot and not on how its text is written."""

import pytest
from support.tiny_robots import TWO_JOINTS

from dynamics_node import Robot
from dynamics_node.model.fingerprint import fingerprint

BOX = '<geometry><box size="1 1 1"/></geometry>'


def of(text, **options):
    return fingerprint(Robot.from_urdf(text, compile=False, **options).model)


@pytest.mark.parametrize('text', [
    TWO_JOINTS.replace('<link name="base">', '<!-- the base -->\n\n  <link  name="base" >'),
    TWO_JOINTS.replace('</link>', f'<visual>{BOX}</visual><collision>{BOX}</collision></link>'),
    TWO_JOINTS.replace('mass value="2"', 'mass value="2.00"'),
    TWO_JOINTS.replace('</robot>', '<gazebo><unknown/></gazebo></robot>')],
    ids=['comment', 'shapes', 'digits', 'unknown tag'])
def test_the_way_it_is_written_does_not_count(text):
    assert text != TWO_JOINTS
    assert of(text) == of(TWO_JOINTS)


@pytest.mark.parametrize(('old', 'new'), [
    ('mass value="2"', 'mass value="2.001"'), ('effort="50"', 'effort="51"'),
    ('xyz="0 0.6 0.8"', 'xyz="0 0.8 0.6"'), ('damping="0.5"', 'damping="0.6"'),
    ('"elbow"', '"wrist"'), ('name="chain"', 'name="other"')])
def test_everything_else_counts(old, new):
    assert old in TWO_JOINTS
    assert of(TWO_JOINTS.replace(old, new)) != of(TWO_JOINTS)


def test_gravity_and_payloads_do_not_count():
    robot = Robot.from_urdf(TWO_JOINTS, compile=False)
    other = robot.with_gravity((0.0, 0.0, -1.62)).with_payload('box', 'elbow_link', 1.0)
    assert fingerprint(other.model) == fingerprint(robot.model)
