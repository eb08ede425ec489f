"""Write a RobotRecord as a URDF text: the inverse of read_urdf.py.

Numbers are written with all their digits. Visuals, collision shapes and meshes are not part of a
record, so the text has none. An unknown effort or velocity limit is written as 0, which is what
most URDFs have in its place.
"""

from collections.abc import Sequence

import numpy as np
from lxml import etree

from dynamics_node.errors import ModelError
from dynamics_node.model.model import Model
from dynamics_node.model.model_record import not_in_record, record_of_model
from dynamics_node.model.records import JointRecord, LinkRecord, RobotRecord
from dynamics_node.spatial import rotations
from dynamics_node.spatial.se3 import Pose


def urdf_of_model(model: Model) -> str:
    """Return the URDF text of a model; a comment in it says what a URDF cannot contain."""
    arguments = ''.join(f', {each}' for each in not_in_record(model))
    terms = model.friction_terms
    lacks = [name for name, found in (
        ('springs', model.springs), ('actuators', model.actuators),
        ('further terms of friction', terms is not None)) if found]
    without = f' without its {" and ".join(lacks)}' if lacks else ''
    return write_urdf(record_of_model(model), (
        'Without visuals and collision shapes.',
        f'The same robot{without}: Robot.from_urdf(this file{arguments})'))


def write_urdf(record: RobotRecord, remarks: Sequence[str] = ()) -> str:
    """Return the URDF text of a RobotRecord.

    :param remarks: comments at the beginning of the text.
    """
    try:
        robot = etree.Element('robot', name=record.name)
        for remark in remarks:
            robot.append(etree.Comment(f' {remark.replace("--", "- -")} '))
        for link in record.links:
            _link(robot, link)
        for joint in record.joints:
            _joint(robot, joint)
    except ValueError as error:   # a payload may have any name
        raise ModelError(f'the robot cannot be written as XML: {error}') from error
    etree.indent(robot)
    return etree.tostring(robot, encoding='unicode') + '\n'


def _link(robot: etree._Element, link: LinkRecord) -> None:
    element = etree.SubElement(robot, 'link', name=link.name)
    mass, _, tensor = link.inertia
    if not mass and not tensor.any():
        return
    inertial = etree.SubElement(element, 'inertial')
    etree.SubElement(inertial, 'origin', xyz=_numbers(link.inertia.com), rpy='0 0 0')
    etree.SubElement(inertial, 'mass', value=_numbers([mass]))
    about_com = link.inertia.tensor_about_com()
    etree.SubElement(inertial, 'inertia', {
        f'i{"xyz"[i]}{"xyz"[j]}': _numbers([about_com[i, j]])
        for i, j in zip(*np.triu_indices(3))})


def _joint(robot: etree._Element, joint: JointRecord) -> None:
    element = etree.SubElement(robot, 'joint', name=joint.name, type=joint.kind)
    etree.SubElement(element, 'parent', link=joint.parent)
    etree.SubElement(element, 'child', link=joint.child)
    etree.SubElement(element, 'origin', **_origin(joint.placement))
    if joint.kind == 'fixed':
        return
    if joint.kind != 'floating':
        etree.SubElement(element, 'axis', xyz=_numbers(joint.axis))
    limits = _limits(joint)
    if limits:
        etree.SubElement(element, 'limit', limits)
    if joint.damping or joint.friction:
        etree.SubElement(element, 'dynamics', damping=_numbers([joint.damping]),
                         friction=_numbers([joint.friction]))
    if joint.mimic is not None:
        etree.SubElement(element, 'mimic', joint=joint.mimic.joint,
                         multiplier=_numbers([joint.mimic.multiplier]),
                         offset=_numbers([joint.mimic.offset]))


def _origin(pose: Pose) -> dict[str, str]:
    yaw, pitch, roll = rotations.from_matrix('euler_zyx', pose.R)
    return {'xyz': _numbers(pose.p), 'rpy': _numbers([roll, pitch, yaw])}


def _limits(joint: JointRecord) -> dict[str, str]:
    """Return the attributes of <limit>, none if nothing is limited."""
    limits = {'effort': joint.max_effort, 'velocity': joint.max_velocity}
    if joint.kind in ('revolute', 'prismatic'):
        limits |= {'lower': joint.lower, 'upper': joint.upper}
    if not np.isfinite(list(limits.values())).any():
        return {}
    return {key: _numbers([0.0 if np.isnan(value) else value]) for key, value in limits.items()}


def _numbers(values: Sequence[float] | np.ndarray) -> str:
    """Return numbers with all their digits, separated by spaces."""
    return ' '.join(repr(float(value)) for value in values)
