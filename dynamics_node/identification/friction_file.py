"""Write identified armature and friction as a ROS parameter file of the node.

Armature, damping and dry friction of every joint, and further terms of friction where a joint has
them, each as a map `joint: value`; and the speed over which the fitted friction changes its sign.
Torque offsets are written as a comment: they may be sensor errors, and the node must not command
them.
"""

import json
from collections.abc import Iterator

import numpy as np

from dynamics_node.identification.parameters import (
    ParameterLayout,
    applied_values,
    parameter_layout,
    parameter_values,
)
from dynamics_node.robot.robot import Robot

HEAD = '# Identified by dynamics_node; load it with --params-file.\n'
KEYS = {  # parameter of the node -> kind in the parameter vector, meaning
    'armature': ('armature', 'rotor inertia x gear ratio^2 [kg m^2 or kg]'),
    'damping': ('viscous', 'viscous friction [N m s/rad or N s/m]'),
    'dry_friction': ('coulomb', 'Coulomb friction [N m or N]')}
FURTHER = {
    'stribeck_friction': ('stribeck', 'friction above Coulomb friction near rest [N m or N]'),
    'friction_asymmetry': ('coulomb_asymmetry', 'half of Coulomb friction in positive '
                           'direction minus that in negative direction [N m or N]'),
    'damping_asymmetry': ('viscous_asymmetry', 'half of viscous friction in positive direction '
                          'minus that in negative direction [N m s/rad or N s/m]')}
SPEEDS = {
    'friction_speeds': ('friction_speed', 'speed at which 71 % of Coulomb friction acts'),
    'stribeck_speed': ('stribeck_speed', 'speed at which half of stribeck_friction is left')}
DIGITS = 9


def friction_yaml(layout: ParameterLayout, values: np.ndarray) -> str:
    """Return the text of a ROS parameter file with armature and friction.

    Armature and friction of a joint include its part of coupled motors, Coulomb friction also that
    in proportion to the load, at the mean load: see `applied_values`.

    :param layout, values: those of an Identification.
    """
    motors, values = values[layout.of_motors], applied_values(layout, values)
    lines = ['/**/dynamics_node:', '  ros__parameters:', '    friction: true',
             f'    friction_speed: {float(layout.friction_speed)!r}']
    for key, (kind, meaning) in KEYS.items():
        lines += [f'    # {meaning}', f'    {key}:', *_map('      ', layout, values, kind)]
    for key, (kind, meaning) in FURTHER.items():
        if kind in layout.per_joint:
            lines += [f'    # {meaning}', f'    {key}:',
                      *_map('      ', layout, _bounded(layout, values), kind)]
    lines += _speed_lines(layout)
    lines += ['    # Constant torque of each joint [N m or N], which the node does not use:',
              *_map('    # ', layout, values, 'offset')]
    if layout.motors:
        lines += ['    # Coupled motors, in units of their joints. The node has friction of joints',
                  '    # only: the values above include the part of the motors at each joint.',
                  *(f'    # {json.dumps(name)}: {_number(value)}' for name, value in zip(
                      layout.names[layout.of_motors], motors))]
    return HEAD + '\n'.join(lines) + '\n'


def friction_of(robot: Robot, layout: ParameterLayout,
                values: np.ndarray) -> tuple[ParameterLayout, np.ndarray]:
    """Return (layout, values) for `friction_yaml`.

    If the robot has other laws of friction than the fitted ones, as where efforts are measured
    behind the gears, all values but the offsets are those of the robot.

    :param robot, layout, values: those of an Identification.
    """
    own = parameter_layout(robot)
    if own.laws == layout.laws:
        return layout, values
    known = parameter_values(robot, own)
    known[own.each('offset')] = values[layout.each('offset')]
    return own, known


def _bounded(layout: ParameterLayout, values: np.ndarray) -> np.ndarray:
    """Return the values, each |asymmetry| below its mean friction also after rounding to DIGITS."""
    values, (mean, half) = values.copy(), layout.asymmetries.T
    values[half] = np.sign(values[half]) * np.minimum(
        np.abs(values[half]), (1.0 - 10.0 ** (1 - DIGITS)) * values[mean])
    return values


def _speed_lines(layout: ParameterLayout) -> Iterator[str]:
    """Yield the lines of each kind of speed that differs from friction_speed at some joint."""
    for key, (field, meaning) in SPEEDS.items():
        speeds = {joint: getattr(law, field) for joint, law in zip(layout.joints, layout.laws)}
        if any(speed not in (None, layout.friction_speed) for speed in speeds.values()):
            yield from (f'    # {meaning} [rad/s or m/s]', f'    {key}:')
            yield from (f'      {json.dumps(joint)}: {_number(speed)}'
                        for joint, speed in speeds.items() if speed is not None)


def _map(indent: str, layout: ParameterLayout, values: np.ndarray, kind: str) -> list[str]:
    """Return the lines of a map from joint to number."""
    return [f'{indent}{json.dumps(joint)}: {_number(value)}'
            for joint, value in zip(layout.joints, values[layout.each(kind)])]


def _number(value: float) -> str:
    text = repr(float(f'{value:.{DIGITS}g}'))
    return text if '.' in text else text.replace('e', '.0e')   # YAML 1.1: 1e-05 is a text
