"""Write identified parameters into the text of a URDF and keep every other byte.

It writes mass, origin xyz and the six inertias of a link, in the existing axes of its <inertial>;
damping and friction of joints on request. Links whose values have not changed are not edited.

A body may have several links, fixed to each other or locked. The change of the body is added to
the link of its moving joint. If that link would not be physically consistent, all links of the body
are transformed instead: with the pseudo-inertia P of the body, P_new = A P_old A' for
A = U_new U_old^-1, and A P_link A' is consistent whenever P_link is (their sum is exactly P_new).
If the old body itself is not consistent, the link of the moving joint gets the whole body, and the
others get zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from dynamics_node.algorithms.inertial_parameters import inertia_of, ten_numbers
from dynamics_node.checks import flag
from dynamics_node.errors import DynamicsError, UnknownName, shown
from dynamics_node.identification.pseudo_inertia import (
    is_consistent,
    pseudo_inertia,
    ten_of,
    upper_cholesky,
)
from dynamics_node.identification.urdf_edit import Edits, Element, parsed
from dynamics_node.model.model import Body, Model
from dynamics_node.model.read_urdf import read_urdf
from dynamics_node.model.records import RobotRecord
from dynamics_node.model.urdf_text import urdf_text
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.so3 import from_rpy

UNCHANGED = 1e-12   # relative: smaller changes are rounding
SIX = {'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2), 'izz': (2, 2)}

Text = TypeVar('Text', str, bytes, str | bytes)


def write_back(urdf: Text, robot: Robot, friction: bool = False) -> Text:
    """Return the URDF with the inertias of a robot: str for str, bytes for bytes.

    :param urdf: the text that the robot was read from.
    :param robot: as identified; payloads are not written.
    :param friction: whether damping and friction of joints are written too.
    :raise DynamicsError: the robot was read from another text.
    """
    check_robot(robot)
    friction = flag('friction', friction)
    if not isinstance(urdf, (str, bytes, bytearray)):
        raise DynamicsError(f'urdf is {shown(urdf)}; expected the text of a URDF')
    raw = urdf.encode('utf-8', 'surrogatepass') if isinstance(urdf, str) else bytes(urdf)
    record = read_urdf(urdf_text(raw))
    root, edits = parsed(raw), Edits(raw)
    links = {e.attributes['name']: e for e in root.children if e.tag == 'link'}
    for name, inertia in changed_links(record, robot.model).items():
        _write_link(edits, links[name], inertia)
    if friction:
        joints = {e.attributes['name']: e for e in root.children if e.tag == 'joint'}
        for name, values in _changed_friction(record, robot.model).items():
            _write(edits, joints[name], 'dynamics', values)
    edited = edits.apply()
    return edited.decode('utf-8', 'surrogatepass') if isinstance(urdf, str) else edited


# Bodies to links --------------------------------------------------------------------------------

def changed_links(record: RobotRecord, model: Model) -> dict[str, Inertia]:
    """Return {link: new Inertia in its own frame} of the links that change."""
    own = {link.name: link.inertia for link in record.links}
    for name in own:
        model.frame(name)
    changed: dict[str, Inertia] = {}
    for i, body in enumerate(model.bodies):
        members = [name for name, frame in model.frames.items() if frame.body == i]
        for name in members:
            if name not in own:
                raise UnknownName('link in the URDF', name, own)
        parts = {name: own[name].seen_from(model.frames[name].pose) for name in members}
        for name, inertia in _shared(body, parts).items():
            changed[name] = inertia.seen_from(model.frames[name].pose.inverse())
    return changed


def _shared(body: Body, parts: Mapping[str, Inertia]) -> dict[str, Inertia]:
    """Return {link: new Inertia in the body frame} of the links of a body that change."""
    total = sum(parts.values(), inertias.ZERO)
    old, new = ten_numbers(total), ten_numbers(body.inertia)
    if (np.abs(new - old) <= UNCHANGED * np.maximum(np.abs(old), np.abs(new))).all():
        return {}
    main = ten_numbers(parts[body.name]) + (new - old)
    if is_consistent(main) or len(parts) == 1:
        return {body.name: inertia_of(main)}
    if is_consistent(old):
        A = (upper_cholesky(pseudo_inertia(new))
             @ np.linalg.inv(upper_cholesky(pseudo_inertia(old))))
        return {name: inertia_of(ten_of(A @ pseudo_inertia(ten_numbers(inertia)) @ A.T))
                for name, inertia in parts.items() if ten_numbers(inertia).any()}
    massless = {name: inertias.ZERO for name, inertia in parts.items()
                if ten_numbers(inertia).any()}
    return {**massless, body.name: body.inertia}


# Links to text ----------------------------------------------------------------------------------

def _write_link(edits: Edits, link: Element, inertia: Inertia) -> None:
    inertial = link.child('inertial')
    if inertial is None:
        numbers = ' '.join(f'{key}="{_number(value)}"'
                           for key, value in _six(inertia, np.eye(3)).items())
        edits.insert(link, f'<inertial><origin xyz="{_three(inertia.com)}"/><mass value="'
                     f'{_number(inertia.mass)}"/><inertia {numbers}/></inertial>')
        return
    origin = inertial.child('origin')
    R = from_rpy(_numbers(origin, 'rpy'))
    _write(edits, inertial, 'inertia', {key: (value,) for key, value in _six(inertia, R).items()})
    _write(edits, inertial, 'mass', {'value': (inertia.mass,)})
    _write(edits, inertial, 'origin', {'xyz': inertia.com})


def _six(inertia: Inertia, R: np.ndarray) -> dict[str, float]:
    """Return the six inertias about the centre of mass, in axes rotated by R."""
    tensor = R.T @ inertia.tensor_about_com() @ R
    return {key: tensor[place] for key, place in SIX.items()}


def _write(edits: Edits, parent: Element, tag: str,
           attributes: Mapping[str, Sequence[float] | np.ndarray]) -> None:
    """Set attributes of a child element; a missing attribute means zero."""
    element = parent.child(tag)
    changed = {name: values for name, values in attributes.items()
               if not np.array_equal(_numbers(element, name, len(values)), values)}
    if element is not None:
        for name, values in changed.items():
            edits.set(element, name, _three(values))
    elif changed:
        text = ' '.join(f'{name}="{_three(values)}"' for name, values in attributes.items())
        edits.insert(parent, f'<{tag} {text}/>')


def _numbers(element: Element | None, name: str, count: int = 3) -> np.ndarray:
    text = element.attributes.get(name) if element is not None else None
    return np.zeros(count) if text is None else np.array([float(word) for word in text.split()])


def _three(values: Iterable[float]) -> str:
    return ' '.join(map(_number, values))


def _number(x: float) -> str:
    """Return the shortest text that is read back exactly."""
    return repr(float(x))


# Joints -----------------------------------------------------------------------------------------

def _changed_friction(record: RobotRecord, model: Model) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return {joint: {'damping': , 'friction': }} of the joints that change.

    Joints that mimic it keep their own damping and friction; the joint gets the difference.
    """
    own = {joint.name: joint for joint in record.joints}
    ratio = {body.joint_name: body.ratio for body in model.bodies}
    changed: dict[str, dict[str, tuple[float, ...]]] = {}
    for joint in model.joints:
        if joint.name not in own or joint.v.stop - joint.v.start != 1:
            continue  # the floating base is not a joint of the URDF
        k, written = joint.v.start, own[joint.name]
        follow = [(own[name], abs(ratio[name])) for name in joint.mimics]
        values = {'damping': model.damping[k] - sum(r * r * j.damping for j, r in follow),
                  'friction': model.friction[k] - sum(r * j.friction for j, r in follow)}
        for key, value in values.items():
            if value < 0.0:
                raise DynamicsError(f"joint '{joint.name}' cannot have less {key} than the joints "
                                    f'that mimic it have; remove the {key} from them first')
            if abs(value - getattr(written, key)) > UNCHANGED * value:
                changed.setdefault(joint.name, {})[key] = (value,)
    return changed

