"""Make planar arms with links of one metre and closed-form inverse kinematics."""

import math

import numpy as np

from dynamics_node import Robot

LINK = ('<link name="{0}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>')
JOINT = ('<joint name="j{0}" type="revolute"><parent link="{1}"/><child link="l{0}"/>'
         '<origin xyz="{2} 0 0"/><axis xyz="0 0 1"/>'
         '<limit lower="{3}" upper="{4}" effort="1" velocity="1"/></joint>')


def planar_arm(links=2, lower=-3.0, upper=3.0):
    """Return a Robot of some links of one metre each, all axes along z; its tip is 'tip'."""
    parts = ['<robot name="planar">', LINK.format('base')]
    for k in range(links):
        parts += [LINK.format(f'l{k}'),
                  JOINT.format(k, f'l{k - 1}' if k else 'base', float(k > 0), lower, upper)]
    parts += ['<link name="tip"/><joint name="end" type="fixed"><parent link="l'
              f'{links - 1}"/><child link="tip"/><origin xyz="1 0 0"/></joint></robot>']
    return Robot.from_urdf('\n'.join(parts))


def elbow_angles(x, y):
    """Return the two solutions (q1, q2) of the arm of two links, by the cosine rule."""
    bend = math.acos((x * x + y * y - 2.0) / 2.0)
    return [np.array([math.atan2(y, x) - math.atan2(math.sin(b), 1.0 + math.cos(b)), b])
            for b in (bend, -bend)]
