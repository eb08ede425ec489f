"""Make small robots whose contacts and impacts are written out in textbooks."""

import numpy as np

from dynamics_node import Robot
from dynamics_node.constrained.constraint import Constraint

G = 9.81


def body(mass=3.0, inertia=(0.2, 0.3, 0.4), com=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -G)):
    """Return one floating rigid body: a block, a ball or a rod."""
    ixx, iyy, izz = inertia
    return Robot.from_urdf(
        '<robot name="body"><link name="body"><inertial>'
        f'<origin xyz="{com[0]} {com[1]} {com[2]}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '</robot>', base='floating', gravity=gravity)


def lever(mass=2.0, center=0.3):
    """Return a link along x that turns about y at the origin: it falls with positive q."""
    return Robot.from_urdf(
        '<robot name="lever"><link name="base"/><link name="lever"><inertial>'
        f'<origin xyz="{center} 0 0"/><mass value="{mass}"/>'
        '<inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="hinge" type="continuous"><parent link="base"/><child link="lever"/>'
        '<axis xyz="0 1 0"/></joint></robot>')


def leg_with_massless_foot():
    """Return a link along x that turns about y, and a foot without mass at its end."""
    return Robot.from_urdf(
        '<robot name="leg"><link name="base"/><link name="leg"><inertial><origin xyz="0.2 0 0"/>'
        '<mass value="2"/><inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><link name="foot"/>'
        '<joint name="hip" type="continuous"><parent link="base"/><child link="leg"/>'
        '<axis xyz="0 1 0"/></joint>'
        '<joint name="ankle" type="continuous"><parent link="leg"/><child link="foot"/>'
        '<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint></robot>')


def cart_with_loose_body():
    """Return a cart on a rail along x, and a body of 3 kg by a floating joint, not at the root."""
    link = ('<link name="{}"><inertial><mass value="3"/>'
            '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>')
    return Robot.from_urdf(
        f'<robot name="pair"><link name="base"/>{link.format("cart")}{link.format("loose")}'
        '<joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/>'
        '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
        '<joint name="free" type="floating"><parent link="cart"/><child link="loose"/></joint>'
        '</robot>')


def still(height=0.0):
    """Return the configuration of a level body."""
    return np.array([0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0])


def point(name, at, frame='body', friction=np.nan):
    """Return a point contact at a place of a link."""
    return Constraint(name, 'point_contact', frame, pose=tuple(at), friction=friction)


def tilted(angle):
    """Return gravity as seen from a plane that is tilted by the angle: it pulls towards +x."""
    return G * np.sin(angle), 0.0, -G * np.cos(angle)


def on_random_links(specimen, kinds=('point_contact', 'point_contact', 'flat_contact')):
    """Return contacts on links of a random tree, one after another from its tips."""
    links = [name for name in specimen.robot.frame_names if name.startswith('l')][::-2]
    return [Constraint(f'c{k}', kind, link,
                       pose=(*specimen.rng.normal(size=3), *specimen.rng.uniform(-3, 3, 3)))
            for k, (kind, link) in enumerate(zip(kinds, links))]
