"""Read the shapes of the links from a URDF, or make some from the inertias."""

from typing import NamedTuple

import numpy as np
from lxml import etree

from dynamics_node.model.model import Model
from dynamics_node.model.urdf_xml import parse_xml
from dynamics_node.spatial import so3
from dynamics_node.spatial.ellipsoid import equivalent_ellipsoid
from dynamics_node.spatial.se3 import Pose

# Edges of a solid box with the inertia of a solid ellipsoid: m (b^2 + c^2) / 12 is
# m (b'^2 + c'^2) / 5 for edges b = 2 sqrt(3 / 5) b' along half axes b'.
EDGE_OF_HALF_AXIS = 2.0 * np.sqrt(0.6)
BONE = 0.03        # [m] diameter of the capsules between joints
SHORTEST = 1e-4    # [m] a shorter capsule is not drawn


class Shape(NamedTuple):
    """A solid fixed to a body."""

    body: int                    # index of the body; WORLD for a fixed one
    kind: str                    # 'box', 'cylinder', 'capsule', 'sphere' or 'mesh'
    size: tuple[float, ...]      # edges; radius and length along z; radius; scale of the mesh [m]
    pose: Pose                   # in the body frame
    file: str = ''               # of a mesh, as the URDF names it
    substitute: bool = False     # made from inertias, since the URDF has no usable shape
    link: str = ''               # that has the shape; bodies may consist of several


def shapes_of_urdf(model: Model, text: str, element: str = 'visual') -> list[Shape]:
    """Return the shapes of the links in a URDF; a shape with wrong numbers is left out.

    :param element: 'visual' or 'collision'.
    """
    root, _ = parse_xml(text)
    found = []
    for link in root.iterfind('link'):
        where = model.frames.get(link.get('name', ''))
        if where is None:
            continue
        for part in link.iterfind(element):
            try:
                kind, size, file = _geometry(part.find('geometry'))
                pose = where.pose @ _origin(part.find('origin'))
            except ValueError:
                continue
            found.append(Shape(where.body, kind, size, pose, file, link=link.get('name', '')))
    return found


def inertia_boxes(model: Model) -> list[Shape]:
    """Return for each body with mass the solid box with the same mass and inertia."""
    found = []
    for i, inertia in enumerate(model.inertias):
        if inertia.mass > 0.0:
            solid = equivalent_ellipsoid(inertia)
            body = i if i < len(model.bodies) else -1
            size = tuple((EDGE_OF_HALF_AXIS * solid.half_axes).tolist())
            found.append(Shape(body, 'box', size, Pose(solid.axes, solid.centre),
                               substitute=True))
    return found


def bones(model: Model) -> list[Shape]:
    """Return a capsule from each joint to each joint of its child bodies."""
    found = []
    for body in model.bodies:
        length = float(np.linalg.norm(body.placement.p))
        if length > SHORTEST:
            pose = Pose(z_along(body.placement.p / length), 0.5 * body.placement.p)
            found.append(Shape(body.parent, 'capsule', (0.5 * BONE, length), pose,
                               substitute=True))
    return found


def _geometry(element: etree._Element | None) -> tuple[str, tuple[float, ...], str]:
    """Return (kind, size, file) of a <geometry>; ValueError if it is wrong."""
    solid = next(element.iterchildren('*'), None) if element is not None else None
    if solid is None:
        raise ValueError('no geometry')
    if solid.tag == 'box':
        return 'box', _floats(solid.get('size'), 3), ''
    if solid.tag in ('cylinder', 'capsule'):
        return solid.tag, (*_floats(solid.get('radius'), 1), *_floats(solid.get('length'), 1)), ''
    if solid.tag == 'sphere':
        return 'sphere', _floats(solid.get('radius'), 1), ''
    if solid.tag == 'mesh' and solid.get('filename'):
        return 'mesh', _floats(solid.get('scale', '1 1 1'), 3), solid.get('filename', '')
    raise ValueError(f'no solid <{solid.tag}>')


def _origin(element: etree._Element | None) -> Pose:
    if element is None:
        return Pose(np.eye(3), np.zeros(3))
    return Pose(so3.from_rpy(np.array(_floats(element.get('rpy', '0 0 0'), 3))),
                np.array(_floats(element.get('xyz', '0 0 0'), 3)))


def _floats(text: str | None, count: int) -> tuple[float, ...]:
    numbers = tuple(map(float, (text or '').split()))
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError(text)
    return numbers


def z_along(direction: np.ndarray) -> np.ndarray:
    """Return a rotation whose z axis has this direction."""
    across = so3.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    across = across / np.linalg.norm(across)
    return np.column_stack([so3.cross(across, direction), across, direction])
