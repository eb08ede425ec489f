"""Test that friction of joints can be overridden, and that bad values are named."""

import numpy as np
import pytest
from support.tiny_robots import EVERY_KIND, TWO_JOINTS

from dynamics_node import DynamicsError, Robot
from dynamics_node.model.friction_terms import STRIBECK_SPEED


@pytest.fixture
def robot():
    """Two joints, damping 0.5 and friction 0.25 each."""
    return Robot.from_urdf(TWO_JOINTS, compile=False)


def test_a_robot_of_a_urdf_has_no_further_terms(robot):
    """Nor one whose damping or friction was overridden."""
    assert robot.model.friction_terms is None
    assert robot.with_friction({'elbow': 1.0}, {}).model.friction_terms is None


def test_joints_that_are_not_named_keep_their_values(robot):
    """Also those of an earlier override."""
    first = robot.with_friction(stribeck={'elbow': 0.4}, friction_asymmetry={'shoulder': -0.1})
    terms = first.with_friction(stribeck_speed={'shoulder': 0.3}).model.friction_terms
    assert terms.stribeck.tolist() == [0.0, 0.4]
    assert terms.stribeck_speed.tolist() == [0.3, STRIBECK_SPEED]
    assert terms.friction_asymmetry.tolist() == [-0.1, 0.0]
    assert terms.active.tolist() == [True, True]


def test_a_value_holds_for_all_axes_of_a_joint():
    """Of a planar joint, too."""
    robot = Robot.from_urdf(EVERY_KIND, compile=False).with_friction(stribeck={'drift': 0.2})
    place = robot.model.joint('drift').v
    assert robot.model.friction_terms.stribeck[place].tolist() == [0.2] * 3
    assert np.count_nonzero(robot.model.friction_terms.active) == 3


def test_friction_of_any_kind_counts(robot):
    """A joint with Stribeck's friction alone has friction."""
    none = dict.fromkeys(robot.joint_names, 0.0)
    bare = robot.with_friction(none, none)
    assert not bare.model.has_friction.any()
    assert bare.with_friction(stribeck={'elbow': 0.1}).model.has_friction.tolist() == [False, True]


@pytest.mark.parametrize(('given', 'message'), [
    ({'stribeck': {'elbow': -1.0}}, r"stribeck\['elbow'\] is -1.0; expected zero or a positive"),
    ({'stribeck_speed': {'elbow': 0.0}}, r"stribeck_speed\['elbow'\] is 0.0; expected a positive"),
    ({'friction_asymmetry': {'elbow': 0.3}},
     r"friction_asymmetry\['elbow'\] is 0.3; expected -0.25 to 0.25, the friction of this joint"),
    ({'damping_asymmetry': {'elbow': -0.6}},
     r"damping_asymmetry\['elbow'\] is -0.6; expected -0.5 to 0.5, the damping of this joint"),
    ({'friction_asymmetry': {'elbow': np.nan}}, r"friction_asymmetry\['elbow'\] is nan"),
    ({'stribeck': {'wrist': 1.0}}, "no joint 'wrist'"),
    ({'stribeck': 1.0}, 'stribeck is 1.0; expected a dict')])
def test_bad_values_are_refused(robot, given, message):
    """The error names the argument, the joint and what is valid."""
    with pytest.raises(DynamicsError, match=message):
        robot.with_friction(**given)


def test_less_friction_than_its_asymmetry_is_refused(robot):
    """Whichever of the two is changed."""
    uneven = robot.with_friction(friction_asymmetry={'elbow': 0.2})
    with pytest.raises(DynamicsError, match='would drive it'):
        uneven.with_friction(friction={'elbow': 0.1})
