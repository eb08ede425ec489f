"""Test URDF texts of models: reading one again gives the same model."""

import numpy as np
import pytest
from lxml import etree
from support import random_trees
from support.differences import relative
from support.random_trees import TREES
from support.same_model import assert_same_model
from support.tiny_robots import EVERY_KIND, TWO_JOINTS
from support.tolerances import EXACT_MATHS

from dynamics_node import Constraint, ModelError, Robot
from dynamics_node.identification.parameters import (
    parameter_layout,
    parameter_values,
    robot_with_parameters,
)


def read(text, **options):
    return Robot.from_urdf(text, compile=False, **options)


def rotors(robot):
    return {joint.name: robot.model.armature[joint.v.start] for joint in robot.model.joints}


@pytest.mark.parametrize('tree', TREES, ids=str)
def test_random_trees_are_the_same_when_read_again(tree):
    """Every joint type, mimic joints, right angles and angles a hair off."""
    robot = random_trees.make(tree, compile=False).robot
    again = read(robot.to_urdf(), base=tree.base, gravity=robot.gravity, armature=rotors(robot))
    assert_same_model(again.model, robot.model, EXACT_MATHS)


def test_locked_joints_become_fixed():
    robot = read(EVERY_KIND, locked={'drift': (0.1, -0.2, 0.3), 'elbow': 0.4})
    again = read(robot.to_urdf())
    assert_same_model(again.model, robot.model, EXACT_MATHS)
    assert again.joint_names == ('lift', 'turn')


def test_payloads_become_links():
    """The dynamics and the other frames stay the same."""
    robot = read(TWO_JOINTS).with_payload('cup', 'elbow_link', 0.3, (0.1, 0.0, 0.2),
                                          np.diag([1e-3, 2e-3, 2e-3]))
    again = read(robot.to_urdf())
    assert set(again.frame_names) - set(robot.frame_names) == {'cup'}
    assert_same_model(again.model, robot.model, EXACT_MATHS, frames=robot.frame_names)


def test_identified_inertias_and_friction_are_written():
    """They are of bodies; the fixed links on a body keep their own."""
    robot = read(EVERY_KIND)
    layout = parameter_layout(robot)
    changed = robot_with_parameters(robot, layout, 1.1 * parameter_values(robot, layout))
    assert relative(changed.inertial_parameters, robot.inertial_parameters) > 0.05
    again = read(changed.to_urdf())
    assert_same_model(again.model, changed.model, EXACT_MATHS)
    mass = {link.name: link.inertia.mass for link in again.model.links}
    assert mass['flange_link'] == 2.0 and mass['elbow_link'] > 2.0


def test_a_comment_names_the_arguments_that_give_the_same_robot():
    robot = read(TWO_JOINTS, base='floating', gravity=(0.0, 0.0, -1.6), armature={'elbow': 0.25},
                 friction_speed=0.1, loops=[Constraint('grip', 'point_contact', 'elbow_link')])
    comments = [each.text for each in etree.fromstring(robot.to_urdf()).iter(etree.Comment)]
    assert 'Without visuals' in comments[0]
    assert ("Robot.from_urdf(this file, base='floating', gravity=(0.0, 0.0, -1.6), "
            "armature={'elbow': 0.25}, friction_speed=0.1, loops=robot.loops)") in comments[1]
    assert 'from_urdf(this file)' in read(TWO_JOINTS).to_urdf()


def test_names_are_escaped():
    robot = read(TWO_JOINTS.replace('"elbow"', '"elbow &lt;&quot;&amp;-->"'))
    assert robot.joint_names == ('shoulder', 'elbow <"&-->')
    armed = Robot(robot.model.with_(armature=np.ones(2)), compile=False)
    assert read(armed.to_urdf()).joint_names == robot.joint_names


def test_unknown_limits_stay_unknown():
    robot = read(TWO_JOINTS.replace('effort="50" velocity="3"', 'effort="0"'))
    joint, _ = read(robot.to_urdf()).model.joints
    assert np.isnan([joint.max_effort, joint.max_velocity]).all()
    assert (joint.lower, joint.upper) == (-2.0, 2.0)


@pytest.mark.parametrize('robot, message', [
    (lambda: read(TWO_JOINTS).with_payload('base', 'elbow_link', 1.0),
     "the payload 'base' has the name of a link"),
    (lambda: read(TWO_JOINTS).with_payload('a\0b', 'elbow_link', 1.0), 'cannot be written as XML'),
    (lambda: read(TWO_JOINTS, base='floating',
                  locked={'floating_base': (0.1, 0, 0, 0, 0, 0, 1)}), 'floating base is locked'),
    (lambda: read(TWO_JOINTS, base='floating').with_friction({'floating_base': 1.0}),
     "joint 'floating_base' has the damping"),
])
def test_what_a_urdf_cannot_contain_is_refused(robot, message):
    with pytest.raises(ModelError, match=message):
        robot().to_urdf()
