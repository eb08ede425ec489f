"""How does the node learn what a URDF has no place for?

A ROS parameter file: armature, damping and dry friction of every joint, each as the node's text of
named numbers, and the speed over which friction was fitted to change its sign. Torque offsets are
a comment: nobody shall command what may be the error of a sensor.
"""

HEAD = '# IdentifiedRecording by dynamics_node; load it with --params-file.\n'
KEYS = {  # parameter of the node -> kind in the vector of parameters, what it is
    'armature': ('armature', 'rotor inertia x gear ratio^2 [kg m^2 or kg]'),
    'damping': ('viscous', 'viscous friction [N m s/rad or N s/m]'),
    'dry_friction': ('coulomb', 'Coulomb friction [N m or N]')}
DIGITS = 9


def friction_yaml(layout, values):
    """Return the text of a ROS parameter file.

    :param layout, values: of an Identification.
    """
    lines = ['/**/dynamics_node:', '  ros__parameters:', '    friction: true',
             f'    friction_speed: {float(layout.friction_speed)!r}']
    for key, (kind, meaning) in KEYS.items():
        lines += [f'    # {meaning}', f'    {key}: "{_named(layout, values, kind)}"']
    lines += ['    # Constant torque of each joint [N m or N], which the node does not use:',
              f'    # {_named(layout, values, "offset")}']
    return HEAD + '\n'.join(lines) + '\n'


def _named(layout, values, kind):
    return ' '.join(f'{joint}={value:.{DIGITS}g}'
                    for joint, value in zip(layout.joints, values[layout.each(kind)]))
