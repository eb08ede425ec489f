"""Test when a text and parameters describe the same robot, and when another one."""

import pytest
from support.tiny_robots import TWO_JOINTS

from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.caps import DEFAULT_CAPS
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.robot_description import describe


def described(old, text=TWO_JOINTS, **parameters):
    given = ModelParameters(**parameters)
    return describe(old, text, given, DEFAULT_CAPS, given.constraints, given.springs)


@pytest.fixture
def old(monkeypatch):
    """The Description of a robot that may be compiled."""
    monkeypatch.delenv('DYNAMICS_NODE_COMPILE', raising=False)
    return described(None)


@pytest.mark.parametrize('change', [
    {'compile': False}, {'armature': PerJoint(named={'elbow': 0.1})},
    {'locked': PerJoint(named={'elbow': 0.1})}, {'base': 'floating'}, {'friction_speed': 0.5},
    {'springs': 'springs: [{name: coil, stiffness: 3, joint: elbow}]'},
    {'text': TWO_JOINTS.replace('mass value="2"', 'mass value="3"')}])
def test_another_robot(old, change):
    assert described(old, **change).robot is not old.robot


@pytest.mark.parametrize('change', [
    {}, {'springs': 'springs: []'}, {'text': TWO_JOINTS.replace('<link', '<!-- a link --><link')},
    {'armature': PerJoint(named={'elbow': 0.0})},
    {'gravity': (0.0, 0.0, -1.0)}, {'friction': False}, {'damping': PerJoint(named={'elbow': 1.0})},
    {'dry_friction': PerJoint(named={'elbow': 2.0})}])
def test_the_same_robot(old, change):
    """Its text is the new one."""
    new = described(old, **change)
    assert new.robot is old.robot and new.digest == old.digest
    assert new.text == change.get('text', TWO_JOINTS)
