"""Declare the parameters on the node; read their values and changes.

The number of one joint, such as `torque.kp.joint_1`, is declared when it is given: at start or by
`ros2 param set`. `ros2 param delete` removes it. Therefore the node allows undeclared parameters,
and `changed_values` refuses names that belong to no declared parameter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from dynamics_node.errors import DynamicsError, shown
from dynamics_node.parameter import check_parameter
from dynamics_node.ros.parameters.declared import (
    DECLARED,
    DEFAULT,
    DEFAULTS,
    MAPS,
    NodeParameters,
    checked,
    declared_name,
    may_be_empty,
)
from dynamics_node.ros.parameters.declaring_node import DeclaringNode

QOS_OVERRIDES = 'qos_overrides.'
LONGEST_PARAMETER = 300   # characters of a name


def declare(node: Node, overrides: Mapping[str, Any]) -> None:
    """Declare every parameter on the node, with its description.

    :param overrides: {ROS parameter: value} given at start.
    :raise InvalidParameterValueException: a map or a list is given as something else.
    """
    for name, value in overrides.items():
        _check_form(name, value)
    for name, default in DEFAULTS.items():
        # rclpy gives no value for [] in a parameters file: its type is unknown.
        empty = may_be_empty(name) and overrides.get(name, default) is None
        node.declare_parameter(name, default, _descriptor(name, default), ignore_override=empty)
    for name in overrides:
        if declared_name(name) and name not in DEFAULTS:
            node.declare_parameter(name, None, ParameterDescriptor(
                description=DECLARED[declared_name(name)].metadata['text'], dynamic_typing=True))


def _check_form(name: str, value: Any) -> None:
    """Refuse a map or a list that is given as something else: rclpy does not check their types."""
    if name in MAPS:
        raise InvalidParameterValueException(name, value, _map_hint(name))
    if may_be_empty(name) and value is not None:
        try:
            check_parameter(name, value, DECLARED[name])
        except DynamicsError as error:
            raise InvalidParameterValueException(name, value, str(error)) from error


def _descriptor(name: str, default: Any) -> ParameterDescriptor:
    meta = DECLARED[declared_name(name)].metadata
    choices = f' Choices: {", ".join(meta["one_of"])}.' if meta['one_of'] else ''
    whole = isinstance(default, int)
    span = [(IntegerRange if whole else FloatingPointRange)(
        from_value=meta['bounds'][0], to_value=meta['bounds'][1])] if meta['bounds'] else []
    # An empty list has no type: rclpy must not check it. Values of other types are refused later.
    return ParameterDescriptor(
        description=meta['text'] + choices, read_only=meta['read_only'],
        dynamic_typing=may_be_empty(name),
        **{'integer_range' if whole else 'floating_point_range': span})


def read(node: Node) -> NodeParameters:
    """Return the parameters of the node, checked."""
    return checked(values_of(node))


def values_of(node: Node) -> dict[str, Any]:
    """Return {ROS parameter: value}; None for a parameter without a value, see checked."""
    return {name: parameter.value
            for name, parameter in node.get_parameters_by_prefix('').items()
            if declared_name(name)}


def changed_values(node: DeclaringNode, changes: Sequence[Parameter]) -> dict[str, Any]:
    """Return {ROS parameter: value} of the changes that concern declared parameters.

    Those of rclpy are left out. It declares the QoS overrides of a topic with the topic; a client
    must not create them: they are passed on to the torque process and the watchdog.

    :raise DynamicsError: there is no parameter of a name, or it cannot be deleted.
    """
    for p in changes:
        if p.name in MAPS:
            raise DynamicsError(f'{p.name} is {shown(p.value)}; {_map_hint(p.name)}')
        if p.name in DEFAULTS and p.value is None:
            raise DynamicsError(f'{p.name} cannot be deleted')
        if len(p.name) > LONGEST_PARAMETER or not (
                declared_name(p.name) or node.has_parameter(p.name)
                or (node.declaring and p.name.startswith(QOS_OVERRIDES))):
            raise DynamicsError(f'no parameter {shown(p.name)}; ros2 param list shows the names')
    return {p.name: p.value for p in changes if declared_name(p.name)}


def _map_hint(name: str) -> str:
    """Return how the numbers of joints are given."""
    default = f'{name}.{DEFAULT}'
    others = f', and {default} for all other joints' if default in DEFAULTS else ''
    return ('expected a map such as {joint_1: 0.5}, that is a parameter per joint, such as '
            f'{name}.joint_1{others}')
