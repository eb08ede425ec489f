"""Describe robots of URDFs as RobotLinks."""

from dynamics_node import RobotLink
from dynamics_node.model.read_urdf import read_urdf

FIELDS = ('axis', 'lower', 'upper', 'max_velocity', 'max_effort', 'damping', 'friction', 'mimic')


def rebuilt(text):
    """Return the RobotLinks of a URDF text, the root first."""
    record = read_urdf(text)
    joint_of = {joint.child: joint for joint in record.joints}
    # children keep the order of their joints in the text
    ordered = [link for link in record.links if link.name not in joint_of]
    by_name = {link.name: link for link in record.links}
    ordered += [by_name[joint.child] for joint in record.joints]
    return [RobotLink(link.name, **_joint(joint_of.get(link.name)), **_inertia(link.inertia))
            for link in ordered]


def _inertia(inertia):
    return {'mass': inertia.mass, 'com': inertia.com, 'inertia': inertia.tensor_about_com()}


def _joint(joint):
    if joint is None:
        return {}
    axis = {'axis': joint.axis} if joint.kind not in ('floating', 'fixed') else {}
    return {'parent': joint.parent, 'joint': joint.kind, 'joint_name': joint.name,
            'placement': joint.placement.matrix(),
            **{key: getattr(joint, key) for key in FIELDS[1:]}, **axis}
