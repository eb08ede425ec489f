"""Read a URDF text into records, and refuse invalid values.

Each link and joint is parsed alone by urdf_parser_py, so that every error names its place. Visuals,
collisions, meshes, transmissions and simulator tags are removed first, so that errors in them have
no effect.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from lxml import etree
from urdf_parser_py import urdf, xml_reflection

from dynamics_node.checks import LARGEST
from dynamics_node.errors import ModelError
from dynamics_node.model.joints import JOINT_TYPES, unit_axis
from dynamics_node.model.records import JointRecord, LinkRecord, Mimic, RobotRecord
from dynamics_node.model.tree import refuse_duplicates
from dynamics_node.model.urdf_xml import IRRELEVANT, irrelevant, parse_xml
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import se3
from dynamics_node.spatial.se3 import Pose

# Numeric attributes: element -> attribute -> count of numbers.
NUMBERS = {
    'origin': {'xyz': 3, 'rpy': 3},
    'axis': {'xyz': 3},
    'mass': {'value': 1},
    'inertia': dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 1),
    'dynamics': {'damping': 1, 'friction': 1},
    'mimic': {'multiplier': 1, 'offset': 1},
    'limit': dict.fromkeys(('lower', 'upper', 'velocity', 'effort'), 1),
}
COMPLETE = ('axis', 'mass', 'inertia')  # elements that need all their attributes
_parser_lock = threading.Lock()


@lru_cache(maxsize=8)   # a program often loads one description several times, with other settings
def read_urdf(text: str) -> RobotRecord:
    """Return the RobotRecord of a URDF text, from `urdf_text`.

    :raise ModelError: not XML, not a robot, or values that no robot can have.
    """
    root, notes = parse_xml(text)
    parts, warnings = _parse_parts(root)
    warnings[:0] = notes
    links = tuple(_link(part) for part in parts if isinstance(part, urdf.Link))
    joints = tuple(_joint(part, warnings) for part in parts if isinstance(part, urdf.Joint))
    if not links:
        raise ModelError('the URDF has no <link>; a robot needs at least one')
    refuse_duplicates('link', links)
    refuse_duplicates('joint', joints)
    _freeze(links, joints)
    return RobotRecord(root.get('name') or 'robot', links, joints, tuple(warnings))


def _freeze(links: Sequence[LinkRecord], joints: Sequence[JointRecord]) -> None:
    """Make the arrays read-only: they are shared by all robots of the text."""
    for link in links:
        link.inertia.moment.flags.writeable = link.inertia.tensor.flags.writeable = False
    for joint in joints:
        for array in (joint.axis, *joint.placement):
            array.flags.writeable = False


# Its parts, as urdf_parser_py sees them -------------------------------------------------------

def _parse_parts(root: etree._Element) -> tuple[list[urdf.Link | urdf.Joint], list[str]]:
    """Return the links and joints in the order of the text, and warnings."""
    parts: list[urdf.Link | urdf.Joint] = []
    warnings: list[str] = []
    with _complaints_into(warnings):
        for element in root:
            if element.tag in ('link', 'joint'):
                parts.append(_parse_part(element, warnings))
            elif element.tag not in IRRELEVANT['robot']:
                warnings.append(f'Unknown tag "{element.tag}" in /robot')
    return parts, warnings


@contextlib.contextmanager
def _complaints_into(messages: list[str]) -> Iterator[None]:
    """Collect what urdf_parser_py would print to stderr."""
    core = xml_reflection.core
    with _parser_lock:
        before, core.on_error = core.on_error, messages.append
        try:
            yield
        finally:
            core.on_error = before


def _parse_part(element: etree._Element, warnings: list[str]) -> urdf.Link | urdf.Joint:
    if not element.get('name'):
        raise ModelError(f'a <{element.tag}> has no name (line {element.sourceline}); '
                         f'expected <{element.tag} name="...">')
    where = f"{element.tag} '{element.get('name')}'"
    _cut_irrelevant(element)
    _cut_repeated(where, element, warnings)
    if element.tag == 'joint':
        _check_joint(where, element)
    for child in (*element, *element.iterfind('inertial/*')):
        _check_numbers(where, child)
    reader = urdf.Link if element.tag == 'link' else urdf.Joint
    try:
        return reader.from_xml(element, xml_reflection.core.Path(element.tag))
    except Exception as error:  # its exceptions have no common base
        raise ModelError(f'{where} cannot be read: {" ".join(str(error).split())}') from error


def _cut_irrelevant(element: etree._Element) -> None:
    skipped = irrelevant(element)
    for child in list(element):
        if child.tag in skipped:
            element.remove(child)


def _cut_repeated(where: str, element: etree._Element, warnings: list[str]) -> None:
    for parent in (element, *element.findall('inertial')):
        seen = set()
        for child in list(parent):
            if child.tag in seen:
                parent.remove(child)
                warnings.append(f'{where} has a second <{child.tag}>: only the first counts')
            seen.add(child.tag)


def _check_joint(where: str, joint: etree._Element) -> None:
    if joint.get('type') not in JOINT_TYPES:
        raise ModelError(f'{where} has the unknown type {joint.get("type")!r}; '
                         f'valid types are: {", ".join(JOINT_TYPES)}')
    for end in ('parent', 'child'):
        if joint.find(end) is None or not joint.find(end).get('link'):
            raise ModelError(f'{where} names no {end} link; expected <{end} link="..."/>')
    for limit in joint.iterfind('limit'):
        for key in ('effort', 'velocity'):  # urdf_parser_py requires them; absent is unknown
            limit.set(key, limit.get(key, 'nan'))


def _check_numbers(where: str, element: etree._Element) -> None:
    """Refuse invalid numbers with an error that names the place, which urdf_parser_py does not."""
    for key, count in NUMBERS.get(element.tag, {}).items():
        text = element.get(key)
        if text is None and element.tag not in COMPLETE:
            continue
        if not _holds(count, text or '', any_number=element.tag == 'limit'):
            wanted = 'a finite number' if count == 1 else f'{count} finite numbers'
            raise ModelError(f'{where} has <{element.tag}> with {key}={text and text[:80]!r}; '
                             f'expected {wanted}, none beyond {LARGEST:g}')


def _holds(count: int, text: str, any_number: bool) -> bool:
    """Return whether the text is `count` numbers, of at most LARGEST unless any_number."""
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return False
    return len(values) == count and (any_number or all(abs(x) <= LARGEST for x in values))


# Records --------------------------------------------------------------------------------------

def _link(link: urdf.Link) -> LinkRecord:
    if link.inertial is None:
        return LinkRecord(link.name, inertias.ZERO)
    mass, tensor = link.inertial.mass, link.inertial.inertia
    if mass < 0.0:
        raise ModelError(f"link '{link.name}' has the mass {mass} kg; a mass is zero or positive")
    tensor = np.zeros((3, 3)) if tensor is None else tensor.to_matrix()
    inertia = inertias.from_com(mass, np.zeros(3), tensor)
    return LinkRecord(link.name, inertia.seen_from(_pose(link.inertial.origin)))


def _joint(joint: urdf.Joint, warnings: list[str]) -> JointRecord:
    where = f"joint '{joint.name}'"
    return JointRecord(joint.name, joint.type, joint.parent, joint.child, _pose(joint.origin),
                       _axis(where, joint), _mimic(where, joint),
                       **_limits(where, joint, warnings), **_friction(where, joint))


def _pose(origin: urdf.Pose | None) -> Pose:
    return se3.IDENTITY if origin is None else se3.from_xyz_rpy(origin.xyz, origin.rpy)


def _axis(where: str, joint: urdf.Joint) -> np.ndarray:
    if joint.axis is None:
        return np.array([1.0, 0.0, 0.0])
    return unit_axis(where, np.array(joint.axis))


def _mimic(where: str, joint: urdf.Joint) -> Mimic | None:
    if joint.mimic is None:
        return None
    if joint.type in ('planar', 'floating'):
        raise ModelError(f'{where} is {joint.type} and cannot mimic; only revolute, continuous '
                         'and prismatic joints can')
    multiplier = 1.0 if joint.mimic.multiplier is None else joint.mimic.multiplier
    return Mimic(joint.mimic.joint, multiplier, joint.mimic.offset or 0.0)


def _limits(where: str, joint: urdf.Joint, warnings: list[str]) -> dict[str, float]:
    bounded = joint.type in ('revolute', 'prismatic')
    if joint.limit is None:
        if bounded and joint.mimic is None:
            warnings.append(f'{where} is {joint.type} but has no <limit>: taken as unlimited')
        return {}
    limits = {f'max_{key}': _positive_or_unknown(where, key, getattr(joint.limit, key))
              for key in ('velocity', 'effort')}
    return {**limits, **_range(where, joint.limit, warnings)} if bounded else limits


def _range(where: str, limit: urdf.JointLimit, warnings: list[str]) -> dict[str, float]:
    lower, upper = float(limit.lower), float(limit.upper)
    if not lower <= upper or lower == np.inf or upper == -np.inf:
        raise ModelError(f'{where} has the limits [{lower}, {upper}]; '
                         'expected two numbers, lower <= upper')
    if lower == upper == 0.0:
        warnings.append(f'{where} has the limits [0, 0]: it may not move at all')
    return {'lower': lower, 'upper': upper}


def _positive_or_unknown(where: str, key: str, value: float) -> float:
    if value < 0.0:
        raise ModelError(f'{where} has the {key} limit {value}; it is positive, or absent')
    return value or np.nan


def _friction(where: str, joint: urdf.Joint) -> dict[str, float]:
    values = {key: getattr(joint.dynamics, key, None) or 0.0 for key in ('damping', 'friction')}
    for key, value in values.items():
        if value < 0.0:
            raise ModelError(f'{where} has the {key} {value}; it is zero or positive')
    return values
