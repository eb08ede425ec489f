"""Find links that touch each other along a motion, by the shapes of a URDF.

Each shape is the convex hull of some points, thickened by a radius: a sphere is one point, a
capsule two, a box its corners. A mesh is cut into SLICES across its longest side, each of which is
its convex hull: that of a whole bent link would contain its neighbours. Shapes are never smaller
than those of the URDF. Two links count as apart only where a separating direction was found. Along
a smooth motion one direction separates them at most times, so that few directions are searched.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import check_array, check_kind, check_times
from dynamics_node.errors import DynamicsError
from dynamics_node.inspector.hull_distance import separation
from dynamics_node.inspector.meshes import LoadedMesh, load_mesh, mesh_path, package_folders
from dynamics_node.inspector.shapes import Shape, shapes_of_urdf
from dynamics_node.model.model import WORLD, Model
from dynamics_node.robot.arguments import check_robot
from dynamics_node.robot.robot import Robot

TOUCH = 1e-3         # [m] links that are nearer touch
SLICES = 6           # of a mesh
SECTIONS = 16        # corners of the base of a cylinder
FIXED = 'the fixed base'
WITHOUT_MESHES = ('self-collisions of {links} are not checked: their meshes are not found, or '
                  'trimesh, which reads them, is not installed')
TOUCHING = ('pairs of links that, by these shapes, touch in the neutral configuration already are '
            'not checked: {pairs}')
NO_SHAPES = 'self-collisions are not checked: the URDF has shapes of fewer than two links'


class SelfCollision(NamedTuple):
    """Two links that touch, and the first time at which they do."""

    links: tuple[str, str]
    time: float    # [s]

    def __str__(self) -> str:
        """Return the links and the time."""
        return f'{self.links[0]} touches {self.links[1]} at {self.time:.3g} s'


class SelfCollisions(NamedTuple):
    """The self-collisions of a motion, and why some links were not checked."""

    found: tuple[SelfCollision, ...]    # at most one of each pair of links, in the order of time
    notes: tuple[str, ...]              # shapes that are missing, or loops that do not close
    touching: tuple[str, ...] = ()      # pairs that touch in the neutral configuration already

    @property
    def warnings(self) -> tuple[str, ...]:
        """Texts for a user."""
        return (*(f'self-collision: {each}' for each in self.found), *self.notes,
                *([TOUCHING.format(pairs=', '.join(self.touching))] if self.touching else []))


class _Hull(NamedTuple):
    """The convex hull of points in the frame of a body, thickened by a radius."""

    points: np.ndarray    # (n, 3) [m]
    radius: float         # [m]
    slices: tuple[np.ndarray, ...] = ()   # of a mesh: points of each, (n, 3); none: convex itself


def self_collisions(robot: Robot, urdf: str, times: ArrayLike, q: ArrayLike,
                    urdf_folder: str | os.PathLike | None = None) -> SelfCollisions:
    """Return the SelfCollisions of a robot along a motion.

    Left out are links with a joint or a loop constraint between them, and pairs that touch in the
    neutral configuration (with loops: in the first configuration). The collision shapes of a link
    are used; if it has none, its visual shapes.

    :param urdf: text of the URDF.
    :param times: (N,) [s], increasing.
    :param q: (N, nq) configurations.
    :param urdf_folder: where its meshes are looked up; None: only in the packages of ROS.
    """
    check_robot(robot)
    times = check_times(times)
    q = check_array('q', q, robot.nq)
    if np.shape(q) != (len(times), robot.nq):
        raise DynamicsError(f'times has shape {times.shape} and q {np.shape(q)}; expected (N,) and '
                            f'(N, {robot.nq})')
    if urdf_folder is not None:
        check_kind('urdf_folder', urdf_folder, (str, os.PathLike))
        urdf_folder = Path(urdf_folder)
    hulls, missing = _hulls(robot.model, check_kind('urdf', urdf, str), urdf_folder)
    notes = (WITHOUT_MESHES.format(links=', '.join(missing)),) if missing else ()
    if len(hulls) < 2:
        return SelfCollisions((), notes or (NO_SHAPES,))
    still = _poses(robot, q[:1] if robot.loops.constraints else robot.neutral()[None])
    poses = _poses(robot, q)
    found, touching = [], []
    for pair in _pairs(robot, sorted(hulls)):
        one, other = (_name(robot.model, body) for body in pair)
        if _first_contact(hulls, still, pair) is not None:
            touching.append(f'{one} and {other}')
        elif (first := _first_contact(hulls, poses, pair)) is not None:
            found.append(SelfCollision((one, other), float(times[first])))
    return SelfCollisions(tuple(sorted(found, key=lambda each: each.time)), notes, tuple(touching))


# Shapes -------------------------------------------------------------------------------------------

def _hulls(model: Model, urdf: str, folder: Path | None) -> tuple[dict[int, list[_Hull]],
                                                                  list[str]]:
    """Return ({body: its hulls}, names of the links that have a missing mesh)."""
    packages = package_folders(folder, os.environ)
    shapes: dict[str, list[Shape]] = {}
    for element in ('collision', 'visual'):
        known = set(shapes)
        for shape in shapes_of_urdf(model, urdf, element):
            if shape.link not in known:
                shapes.setdefault(shape.link, []).append(shape)
    hulls: dict[int, list[_Hull]] = {}
    missing = []
    for link, own in shapes.items():
        found = [_hull(shape, folder, packages) for shape in own]
        hulls.setdefault(own[0].body, []).extend(hull for hull in found if hull is not None)
        if None in found:
            missing.append(link)
    return {body: each for body, each in hulls.items() if each}, missing


def _hull(shape: Shape, folder: Path | None, packages: Sequence[Path]) -> _Hull | None:
    """Return the hull of a shape in the frame of its body; None for a missing mesh."""
    points: np.ndarray = np.zeros((1, 3))
    radius = 0.0
    if shape.kind == 'mesh':
        mesh = _mesh(shape, folder, packages)
        if mesh is None:
            return None
        return _Hull(mesh.vertices, 0.0, tuple(map(_corners, _slices(mesh))))
    if shape.kind == 'sphere':
        radius = shape.size[0]
    elif shape.kind == 'capsule':
        radius = shape.size[0]
        points = np.array([[0.0, 0.0, sign * shape.size[1] / 2] for sign in (-1, 1)])
    elif shape.kind == 'cylinder':
        angle = 2 * np.pi / SECTIONS * np.arange(SECTIONS)
        around = shape.size[0] / np.cos(np.pi / SECTIONS)   # the circle is inside
        ring = around * np.column_stack([np.cos(angle), np.sin(angle)])
        points = np.vstack([np.column_stack([ring, np.full(SECTIONS, sign * shape.size[1] / 2)])
                            for sign in (-1, 1)])
    else:
        points = np.array(np.meshgrid(*([-x / 2, x / 2] for x in shape.size))).reshape(3, -1).T
    return _Hull(points @ shape.pose.R.T + shape.pose.p, radius)


def _mesh(shape: Shape, folder: Path | None, packages: Sequence[Path]) -> LoadedMesh | None:
    """Return the mesh of a shape in the frame of its body; None if it is missing."""
    path = mesh_path(shape.file, folder, packages)
    try:
        mesh = None if path is None else load_mesh(path)
    except ImportError:   # trimesh is optional
        return None
    if mesh is None:
        return None
    return LoadedMesh((mesh.vertices * np.array(shape.size)) @ shape.pose.R.T + shape.pose.p,
                      mesh.faces)


def _slices(mesh: LoadedMesh) -> Iterator[np.ndarray]:
    """Yield the points of each slice of a mesh: its vertices, and its edges cut by the planes."""
    axis = np.ptp(mesh.vertices, axis=0).argmax()
    x = mesh.vertices[:, axis]
    planes = np.linspace(x.min(), x.max(), SLICES + 1)
    edges = np.vstack([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    cuts = [np.zeros((0, 3))]
    for plane in planes[1:-1]:
        across = edges[(x[edges[:, 0]] < plane) & (x[edges[:, 1]] > plane)]   # once in each face
        share = (plane - x[across[:, 0]]) / (x[across[:, 1]] - x[across[:, 0]])
        start, end = mesh.vertices[across[:, 0]], mesh.vertices[across[:, 1]]
        cuts.append(start + share[:, None] * (end - start))
    cuts.append(np.zeros((0, 3)))
    for k in range(SLICES):
        inside = (x >= planes[k]) & (x <= planes[k + 1])
        points = np.vstack([mesh.vertices[inside], cuts[k], cuts[k + 1]])
        if len(points):
            yield points


def _corners(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull of points; all points if they are in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        return points


# Pairs --------------------------------------------------------------------------------------------

def _pairs(robot: Robot, bodies: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of bodies without a joint or a loop constraint between them."""
    model = robot.model
    closed = [{model.frames[name].body if name in model.frames else WORLD
               for name in (each.frame, each.to)} for each in robot.loops.constraints]
    for one, other in combinations(bodies, 2):
        if model.bodies[other].parent != one and {one, other} not in closed:   # a parent is smaller
            yield one, other


def _name(model: Model, body: int) -> str:
    return FIXED if body == WORLD else model.bodies[body].name


def _poses(robot: Robot, q: np.ndarray) -> dict[int, np.ndarray]:
    """Return {body: homogeneous matrices of its frame in the world, (N, 4, 4)}."""
    poses = robot.body_poses(q)
    return {WORLD: np.broadcast_to(np.eye(4), (len(q), 4, 4)),
            **{i: poses[:, i] for i in range(poses.shape[1])}}


# Distance -----------------------------------------------------------------------------------------

def _first_contact(hulls: Mapping[int, Sequence[_Hull]], poses: Mapping[int, np.ndarray],
                   pair: tuple[int, int]) -> int | None:
    """Return the first index at which a hull of one body touches one of the other, or None.

    :param hulls, poses: of each body; poses (N, 4, 4).
    """
    a, b = (poses[body] for body in pair)
    R = np.swapaxes(a[:, :3, :3], 1, 2) @ b[:, :3, :3]
    p = np.einsum('nji,nj->ni', a[:, :3, :3], b[:, :3, 3] - a[:, :3, 3])
    found = [_first_touch(one, other, R, p) for one in hulls[pair[0]] for other in hulls[pair[1]]]
    return min((each for each in found if each is not None), default=None)


def _first_touch(a: _Hull, b: _Hull, R: np.ndarray, p: np.ndarray) -> int | None:
    """Return the first index at which two hulls, or slices of both, touch, or None."""
    found = (next(_touching(one, other, R, p), None) for one in _parts(a) for other in _parts(b))
    return min((each for each in found if each is not None), default=None)


def _parts(hull: _Hull) -> list[_Hull]:
    return [_Hull(points, hull.radius) for points in hull.slices] or [hull]


def _touching(a: _Hull, b: _Hull, R: np.ndarray, p: np.ndarray) -> Iterator[int]:
    """Yield the indices at which two hulls are nearer than TOUCH, in their order.

    :param R, p: rotations and translations of the frame of b in that of a, (N, 3, 3), (N, 3).
    """
    least = a.radius + b.radius + TOUCH
    left: np.ndarray = np.flatnonzero(_gaps(a, b, R, p) <= least)
    while len(left):
        first = left[0]
        axis, gap = separation(a.points, b.points @ R[first].T + p[first])
        if gap <= least:
            yield int(first)
            left = left[1:]
            continue
        nearest = ((axis @ R[left]) @ b.points.T).min(axis=1) + p[left] @ axis
        apart = nearest - (a.points @ axis).max() > least
        apart[0] = True   # by `separation`, whatever the rounding here
        left = left[~apart]


def _gaps(a: _Hull, b: _Hull, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return lower bounds of the distance of two hulls: the gap along the line of centres, (N,)."""
    axes = R @ b.points.mean(axis=0) + p - a.points.mean(axis=0)
    axes /= np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), TOUCH)
    nearest = (np.einsum('nji,nj->ni', R, axes) @ b.points.T).min(axis=1) + (p * axes).sum(axis=1)
    return nearest - (axes @ a.points.T).max(axis=1)
