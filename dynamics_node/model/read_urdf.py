"""Read a URDF text into records, refusing what cannot be right.

The parsing is urdf_parser_py's. Only what dynamics needs is handed to it: visuals, collisions,
meshes, transmissions and simulator tags are cut out first, so no fault in them can stop a robot.
"""

import contextlib
import threading

import numpy as np
from lxml import etree
from urdf_parser_py import urdf, xml_reflection

from dynamics_node.errors import ModelError
from dynamics_node.model.joints import KINDS
from dynamics_node.model.records import JointRecord, LinkRecord, Mimic, RobotRecord
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import se3

JOINT_TYPES = (*KINDS, 'fixed')
# Parts of the URDF standard that say nothing about dynamics.
IRRELEVANT = {
    'robot': {'material', 'transmission', 'gazebo', 'sensor', 'ros2_control'},
    'link': {'visual', 'collision', 'self_collision_checking', 'contact'},
    'joint': {'safety_controller', 'calibration'},
}
_parser_lock = threading.Lock()


def read_urdf(text):
    """Return the RobotRecord of a URDF text, from `urdf_text`.

    :raise ModelError: not XML, not a robot, or values that no robot can have.
    """
    root = _dynamics_only(_parse_xml(text))
    robot, warnings = _parse_robot(root)
    links = tuple(_link(link) for link in robot.links)
    joints = tuple(_joint(joint, warnings) for joint in robot.joints)
    if not links:
        raise ModelError('the URDF has no <link>; a robot needs at least one')
    _refuse_duplicates('link', [link.name for link in links])
    _refuse_duplicates('joint', [joint.name for joint in joints])
    return RobotRecord(robot.name or 'robot', links, joints, tuple(warnings))


def _parse_xml(text):
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False,
                             remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode('utf-8', 'surrogatepass'), parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        _refuse_xacro('<xacro:' in text)
        raise ModelError(f'the URDF is not well-formed XML: {error}') from error
    for element in root.iter():
        _refuse_xacro('xacro' in element.tag
                      or any('${' in value or '$(' in value for value in element.attrib.values()))
    return root


def _refuse_xacro(found):
    if found:
        raise ModelError('this is xacro, not URDF; run it through xacro first: '
                         'xacro robot.urdf.xacro > robot.urdf')


def _dynamics_only(root):
    """Cut out what dynamics does not need; say in our words what urdf_parser_py would say worse."""
    if root.tag != 'robot':
        raise ModelError(f'the root element is <{root.tag}>, expected <robot>')
    for parent in [root, *root.findall('link'), *root.findall('joint')]:
        for child in list(parent):
            if child.tag in IRRELEVANT[parent.tag]:
                parent.remove(child)
    for link in root.findall('link'):
        if not link.get('name'):
            raise ModelError('a <link> has no name')
    for joint in root.findall('joint'):
        _check_joint_element(joint)
    if not root.get('name'):
        root.set('name', 'robot')
    root.attrib.pop('version', None)  # newer versions change only visuals and mimic limits
    return root


def _check_joint_element(joint):
    name, kind = joint.get('name'), joint.get('type')
    if not name:
        raise ModelError('a <joint> has no name')
    if kind not in JOINT_TYPES:
        raise ModelError(f"joint '{name}' has the unknown type {kind!r}; "
                         f'valid types are: {", ".join(JOINT_TYPES)}')
    for end in ('parent', 'child'):
        if joint.find(end) is None or not joint.find(end).get('link'):
            raise ModelError(f"joint '{name}' names no {end} link")
    for limit in joint.findall('limit'):
        for key in ('effort', 'velocity'):  # urdf_parser_py insists on them; absent is unknown
            limit.set(key, limit.get(key, 'nan'))


def _parse_robot(root):
    """Run urdf_parser_py; collect what it would print to stderr."""
    warnings = []
    with _parser_lock, _errors_into(warnings):
        try:
            return urdf.URDF.from_xml_string(etree.tostring(root)), warnings
        except Exception as error:  # its exceptions have no common base
            raise ModelError(f'the URDF cannot be read: {error}') from error


@contextlib.contextmanager
def _errors_into(messages):
    core = xml_reflection.core
    before, core.on_error = core.on_error, messages.append
    try:
        yield
    finally:
        core.on_error = before


def _refuse_duplicates(kind, names):
    seen = set()
    for name in names:
        if name in seen:
            raise ModelError(f"two {kind}s are named '{name}'; names must be unique")
        seen.add(name)


def _link(link):
    where = f"link '{link.name}'"
    if link.inertial is None:
        return LinkRecord(link.name, inertias.ZERO, False)
    mass = _number(where, 'mass', link.inertial.mass)
    if mass < 0.0:
        raise ModelError(f'{where} has the mass {mass} kg; a mass is zero or positive')
    tensor = np.zeros((3, 3))
    if link.inertial.inertia is not None:
        tensor = np.array(link.inertial.inertia.to_matrix(), dtype=float)
    if not np.isfinite(tensor).all():
        raise ModelError(f'{where} has an inertia that is not finite')
    com = _origin(where + ' <inertial>', link.inertial.origin)
    return LinkRecord(link.name, inertias.from_com(mass, np.zeros(3), tensor).seen_from(com), True)


def _joint(joint, warnings):
    where = f"joint '{joint.name}'"
    record = JointRecord(joint.name, joint.type, joint.parent, joint.child,
                         _origin(where, joint.origin), _axis(where, joint),
                         _mimic(where, joint))
    if joint.limit is not None:
        record = record._replace(**_limits(where, joint, warnings))
    elif joint.type in ('revolute', 'prismatic') and joint.mimic is None:
        warnings.append(f'{where} is {joint.type} but has no <limit>: taken as unlimited')
    if joint.dynamics is not None:
        for key in ('damping', 'friction'):
            value = _number(where, key, getattr(joint.dynamics, key) or 0.0)
            if value < 0.0:
                raise ModelError(f'{where} has the {key} {value}; it is zero or positive')
            record = record._replace(**{key: value})
    return record


def _axis(where, joint):
    axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, dtype=float)
    if axis.shape != (3,) or not np.isfinite(axis).all():
        raise ModelError(f'{where} has the axis {axis}; expected three finite numbers')
    if joint.type in ('fixed', 'floating'):
        return np.array([1.0, 0.0, 0.0])
    length = np.linalg.norm(axis / (np.abs(axis).max() or 1.0))
    if length == 0.0:
        raise ModelError(f'{where} has a zero axis; expected a direction such as 0 0 1')
    return axis / (np.abs(axis).max() * length)


def _mimic(where, joint):
    if joint.mimic is None or joint.type == 'fixed':
        return None
    if joint.type in ('planar', 'floating'):
        raise ModelError(f'{where} is {joint.type} and cannot mimic; only revolute, continuous '
                         'and prismatic joints can')
    given = joint.mimic
    multiplier = 1.0 if given.multiplier is None else given.multiplier
    return Mimic(given.joint, _number(where, 'mimic multiplier', multiplier),
                 _number(where, 'mimic offset', given.offset or 0.0))


def _limits(where, joint, warnings):
    limit = joint.limit
    limits = {'max_effort': _positive_or_unknown(where, 'effort', limit.effort),
              'max_velocity': _positive_or_unknown(where, 'velocity', limit.velocity)}
    if joint.type in ('revolute', 'prismatic'):
        lower, upper = limit.lower or 0.0, limit.upper or 0.0
        if np.isnan(lower) or np.isnan(upper) or lower > upper:
            raise ModelError(f'{where} has the limits [{lower}, {upper}]; '
                             'expected two numbers, lower <= upper')
        if lower == upper == 0.0:
            warnings.append(f'{where} has the limits [0, 0]: it may not move at all')
        limits.update(lower=lower, upper=upper)
    return limits


def _positive_or_unknown(where, key, value):
    if value is None or np.isnan(value) or value == 0.0 or value == np.inf:
        return np.nan if value != np.inf else np.inf
    if value < 0.0:
        raise ModelError(f'{where} has the {key} limit {value}; it is positive, or absent')
    return float(value)


def _number(where, key, value):
    if value is None or not np.isfinite(value):
        raise ModelError(f'{where} has the {key} {value}; expected a finite number')
    return float(value)


def _origin(where, origin):
    xyz, rpy = ([0.0] * 3, [0.0] * 3) if origin is None else (origin.xyz, origin.rpy)
    xyz, rpy = ([0.0] * 3 if part is None else part for part in (xyz, rpy))
    if len(xyz) != 3 or len(rpy) != 3 or not np.isfinite([*xyz, *rpy]).all():
        raise ModelError(f'{where} has the origin xyz={xyz} rpy={rpy}; '
                         'expected three finite numbers each')
    return se3.from_xyz_rpy(xyz, rpy)
