"""Write identified armature and friction as a ROS parameter file of the node.

Armature, damping and dry friction of every joint, each as a map `joint: value`, and the speed over
which the fitted friction changes its sign. Torque offsets are written as a comment: they may be
sensor errors, and the node must not command them.
"""

import json

import numpy as np

from dynamics_node.identification.parameters import ParameterLayout, applied_values

HEAD = '# Identified by dynamics_node; load it with --params-file.\n'
KEYS = {  # parameter of the node -> kind in the parameter vector, meaning
    'armature': ('armature', 'rotor inertia x gear ratio^2 [kg m^2 or kg]'),
    'damping': ('viscous', 'viscous friction [N m s/rad or N s/m]'),
    'dry_friction': ('coulomb', 'Coulomb friction [N m or N]')}
DIGITS = 9


def friction_yaml(layout: ParameterLayout, values: np.ndarray) -> str:
    """Return the text of a ROS parameter file with armature and friction.

    Joints have the parts of coupled motors that `applied_values` gives them.

    :param layout, values: of an Identification.
    """
    motors, values = values[layout.of_motors], applied_values(layout, values)
    lines = ['/**/dynamics_node:', '  ros__parameters:', '    friction: true',
             f'    friction_speed: {float(layout.friction_speed)!r}']
    for key, (kind, meaning) in KEYS.items():
        lines += [f'    # {meaning}', f'    {key}:', *_map('      ', layout, values, kind)]
    lines += ['    # Constant torque of each joint [N m or N], which the node does not use:',
              *_map('    # ', layout, values, 'offset')]
    if layout.motors:
        lines += ['    # Coupled motors, in units of their joints. The node has friction of joints',
                  '    # alone: the values above have their part at each joint.',
                  *(f'    # {json.dumps(name)}: {_number(value)}' for name, value in zip(
                      layout.names[layout.of_motors], motors))]
    return HEAD + '\n'.join(lines) + '\n'


def _map(indent, layout, values, kind):
    """Return the lines of a map from joint to number."""
    return [f'{indent}{json.dumps(joint)}: {_number(value)}'
            for joint, value in zip(layout.joints, values[layout.each(kind)])]


def _number(value):
    text = repr(float(f'{value:.{DIGITS}g}'))
    return text if '.' in text else text.replace('e', '.0e')   # YAML 1.1: 1e-05 is a text
