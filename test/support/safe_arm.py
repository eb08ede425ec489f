"""Make a small robot with every kind of driven joint, and its limits as plain numbers."""

import numpy as np

from dynamics_node import Robot
from dynamics_node.safety import SafetySettings, gate_limits_of, limits_of

NAMES = ('shoulder', 'elbow', 'slide')
KINDS = ('revolute', 'continuous', 'prismatic')
EFFORT = np.array([40.0, 20.0, 100.0])
VELOCITY = np.array([2.0, 3.0, 1.0])
LOWER = np.array([-2.0, -np.inf, 0.0])
UPPER = np.array([1.5, np.inf, 0.5])
HOME = np.array([0.2, 0.3, 0.25])       # far from every limit

JOINT = """
  <link name="{name}_link"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{name}" type="{kind}">
    <parent link="{parent}"/><child link="{name}_link"/><axis xyz="0 0 1"/>
    <limit {limits}/></joint>"""


def urdf(efforts=EFFORT, velocities=VELOCITY):
    """Return the robot's text; a limit that is nan is left out."""
    text, parent = '<robot name="safe_arm"><link name="base"/>', 'base'
    for k, (name, kind) in enumerate(zip(NAMES, KINDS)):
        limits = {'effort': efforts[k], 'velocity': velocities[k]}
        if kind != 'continuous':
            limits.update(lower=LOWER[k], upper=UPPER[k])
        given = ' '.join(f'{key}="{0 if np.isnan(value) else value}"'
                         for key, value in limits.items())
        text += JOINT.format(name=name, kind=kind, parent=parent, limits=given)
        parent = f'{name}_link'
    return text + '</robot>'


def robot(**kwargs):
    return Robot.from_urdf(urdf(**kwargs), compile=False)


ROBOT = robot()
LIMITS = limits_of(ROBOT)


def gate_limits(**settings):
    """Return the robot's rules with these settings."""
    return gate_limits_of(LIMITS, SafetySettings(**settings))
