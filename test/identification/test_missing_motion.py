"""Test which motion is asked for, by the parameters that are not determined."""

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.missing_motion import missing_motion
from dynamics_node.identification.parameters import parameter_layout


def test_each_joint_is_named_once_with_what_its_motion_lacks():
    """A link by its joint; parameters of one kind once."""
    robot = Robot.from_urdf(ARM7)
    text = missing_motion(robot.model, ['link_4.mcx', 'link_4.mcz', 'joint_2.viscous',
                                        'joint_4.armature'])
    assert text == ('joint_4: a wider range of positions, greater accelerations; '
                    'joint_2: a wider range of velocities')
    assert missing_motion(robot.model, []) == ''


def test_every_kind_of_parameter_has_a_motion():
    robot = Robot.from_urdf(ARM7)
    names = parameter_layout(robot, stribeck_speed=0.1).names
    assert all(missing_motion(robot.model, [name]) for name in names)
