"""Test the parameter vector: its order and units, and the robot that is made of it."""

import numpy as np
import pytest
from support.differences import relative
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.friction_law import FrictionLaw
from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_layout,
    parameter_regressor,
    parameter_values,
    payload_parameters,
    robot_with_parameters,
)


def one(tree):
    return tree.q[None], tree.v[None], tree.a[None]


def test_regressor_times_parameters_is_inverse_dynamics(tree):
    """Y (values + carried) = ID for every joint type, mimic, payload, friction and rotors."""
    robot = tree.robot.with_payload('load', 'l4', 3.0, (0.1, 0.2, -0.3), np.eye(3))
    layout = parameter_layout(robot)
    values = parameter_values(robot, layout) + payload_parameters(robot, layout)
    tau = parameter_regressor(robot, layout, *one(tree)) @ values
    assert relative(tau, robot.inverse_dynamics(*one(tree))) < EXACT_MATHS


def test_a_robot_of_its_own_values_is_the_same_to_the_last_bit(tree):
    """Payloads are kept."""
    robot = tree.robot.with_payload('load', 'l4', 3.0, (0.1, 0.2, -0.3), np.eye(3))
    layout = parameter_layout(robot)
    again = robot_with_parameters(robot, layout, parameter_values(robot, layout))
    np.testing.assert_array_equal(again.inverse_dynamics(tree.q, tree.v, tree.a),
                                  robot.inverse_dynamics(tree.q, tree.v, tree.a))
    assert again.payloads == robot.payloads


def test_a_robot_of_other_values_has_their_torques(tree):
    """With every term of friction, and offsets, which a prediction adds."""
    robot, rng = tree.robot, tree.rng
    laws = [FrictionLaw(0.02, 0.7, True), FrictionLaw(0.3), FrictionLaw(0.01, 0.4)]
    layout = parameter_layout(robot)
    layout = parameter_layout(robot, laws=[laws[k % 3] for k in range(len(layout.joints))])
    values = np.where(layout.known, 0.0, rng.uniform(0.1, 1.0, layout.size))
    predicted = (robot_with_parameters(robot, layout, values).inverse_dynamics(*one(tree))
                 + offset_torque(layout, values, tree.v[None]))
    torque = parameter_regressor(robot, layout, *one(tree)) @ values
    assert relative(torque, predicted) < EXACT_MATHS
    made = robot_with_parameters(robot, layout, values)
    np.testing.assert_array_equal(parameter_values(made, layout)[
        :layout.inertial], values[:layout.inertial])


def test_every_parameter_has_its_name_and_unit():
    """In the agreed order."""
    layout = parameter_layout(Robot.from_urdf(ARM7), stribeck_speed=0.1)
    assert len(layout.names) == len(set(layout.names)) == len(layout.units) == layout.size == 105
    assert layout.names[10:12] == ('link_2.m', 'link_2.mcx')
    assert layout.names[70:75] == tuple(
        f'joint_1.{kind}' for kind in ('armature', 'viscous', 'coulomb', 'offset', 'stribeck'))
    assert layout.units[70:72] == ('kg m^2', 'N m s/rad')
    assert layout.names[layout.each('coulomb')] == tuple(f'joint_{k}.coulomb' for k in range(1, 8))


def test_a_prismatic_joint_has_linear_units():
    slider = ('<robot name="s"><link name="a"/><link name="b"/><joint name="j" type="prismatic">'
              '<parent link="a"/><child link="b"/></joint></robot>')
    assert parameter_layout(Robot.from_urdf(slider)).units[10:] == ('kg', 'N s/m', 'N', 'N')


def test_stribecks_term_fades_with_speed():
    """At the Stribeck speed half of it is left."""
    robot = Robot.from_urdf(ARM7, friction_speed=1e-6)
    layout = parameter_layout(robot, stribeck_speed=0.5)
    values = np.zeros(layout.size)
    values[layout.each('stribeck')] = 2.0
    torque = robot_with_parameters(robot, layout, values).friction_torque(np.full(7, 0.5))
    assert torque == pytest.approx(1.0)
