"""Draw three orthographic views of a robot: skeleton, centres of mass, inertia ellipsoids."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dynamics_node.algorithms.kinematics import body_poses
from dynamics_node.algorithms.tree_recursions import joints_at
from dynamics_node.model.model import Model
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, path, tag
from dynamics_node.reports.plots import picture, round_step, ticks
from dynamics_node.robot.robot import Robot
from dynamics_node.spatial.ellipsoid import Ellipsoid, equivalent_ellipsoid
from dynamics_node.spatial.inertia import Inertia
from dynamics_node.spatial.se3 import Pose

# title -> world axes to the right and up
VIEWS = {'from the side: x, z': (0, 2), 'from the front: y, z': (1, 2), 'from above: x, y': (0, 1)}
SIDE = 340.0         # [px] of the square that each view fits in
EDGE = 26.0
DOT = 5.0            # [px] radius at the heaviest body; areas are proportional to masses
MAX_NUMBERS = 16     # bodies with a number each; there is no room for more

ToPicture = Callable[[np.ndarray], tuple[float, float]]   # point (3,) [m] -> x, y [px]


def body_views(robot: Robot, q: np.ndarray) -> list[Markup]:
    """Return the views of the robot at q as SVG, all at the same scale."""
    model = robot.model
    poses = body_poses(model, joints_at(model, q)[0])
    solids = [_placed(inertia, pose) for inertia, pose in zip(model.inertias, poses)]
    whole = robot.center_of_mass(q) if robot.total_mass > 0.0 else None
    low, high = _extent(poses, solids)
    scale = (SIDE - 2 * EDGE) / max(high - low)
    return [_view(title, axes, model, poses, solids, whole, low, high, scale)
            for title, axes in VIEWS.items()]


def silhouette(solid: Ellipsoid, axes: tuple[int, int]) -> tuple[np.ndarray, float]:
    """Return the projection of an Ellipsoid: half axes (2,) [m], and the angle of the first [rad].

    The projection of  x' Q^-1 x <= 1,  Q = R diag(a^2) R',  along an axis has the remaining rows
    and columns of Q.
    """
    Q = solid.axes @ np.diag(solid.half_axes ** 2) @ solid.axes.T
    squares, directions = np.linalg.eigh(Q[np.ix_(axes, axes)])
    return np.sqrt(squares), float(np.arctan2(directions[1, 0], directions[0, 0]))


def _placed(inertia: Inertia, pose: Pose) -> Ellipsoid | None:
    """Return the Ellipsoid of a body in the world; None for a massless body."""
    if not inertia.mass > 0.0:
        return None
    solid = equivalent_ellipsoid(inertia)
    return Ellipsoid(pose.R @ solid.centre + pose.p, pose.R @ solid.axes, solid.half_axes)


def _extent(poses: Sequence[Pose], solids: Sequence[Ellipsoid | None]
            ) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (3,) of the bounding box."""
    points = [pose.p for pose in poses]
    for solid in filter(None, solids):
        reach = np.sqrt(((solid.axes * solid.half_axes) ** 2).sum(axis=1))
        points += [solid.centre - reach, solid.centre + reach]
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    return low, np.maximum(high, low + 0.01)


def _view(title: str, axes: tuple[int, int], model: Model, poses: Sequence[Pose],
          solids: Sequence[Ellipsoid | None], whole: np.ndarray | None, low: np.ndarray,
          high: np.ndarray, scale: float) -> Markup:
    right, up = axes
    height = (high[up] - low[up]) * scale + 2 * EDGE
    width = (high[right] - low[right]) * scale + 2 * EDGE
    left = (SIDE - width) / 2 + EDGE

    def at(point: np.ndarray) -> tuple[float, float]:
        return (float(left + (point[right] - low[right]) * scale),
                float(height - EDGE - (point[up] - low[up]) * scale))

    drawn = list(_grid_lines(low, high, axes, at, height))
    drawn += [_ellipse(solid, axes, at, scale, _name(model, i)) for i, solid in enumerate(solids)
              if solid]
    drawn += [tag('path', d=path(*zip(at(poses[body.parent].p), at(poses[i].p))), class_='bone')
              for i, body in enumerate(model.bodies) if body.joint.nv < 6]
    heaviest = max(inertia.mass for inertia in model.inertias)
    for i, (solid, inertia) in enumerate(zip(solids, model.inertias)):
        if solid:
            x, y = at(solid.centre)
            radius = DOT * np.sqrt(inertia.mass / heaviest)
            drawn.append(tag('circle', cx=x, cy=y, r=max(1.0, float(radius)), class_='mass'))
            if i < len(model.bodies) <= MAX_NUMBERS:
                drawn.append(tag('text', i + 1, x=x + 4.0, y=y - 4.0, font_size=9))
    if whole is not None:
        x, y = at(whole)
        drawn.append(tag('path', tag('title', 'centre of mass of the robot'), class_='event',
                         d=path([x - 7, x + 7], [y, y]) + path([x, x], [y - 7, y + 7])))
    drawn.append(tag('text', title, x=0.0, y=12.0, class_='strong'))
    text = '; '.join(f'{_name(model, i)} at {shown(solid.centre[right], 3)}, '
                     f'{shown(solid.centre[up], 3)} m' for i, solid in enumerate(solids) if solid)
    return picture(SIDE, height, f'The robot {title}', text or 'no body has mass', drawn)


def _ellipse(solid: Ellipsoid, axes: tuple[int, int], at: ToPicture, scale: float, name: str
             ) -> Markup:
    half, angle = silhouette(solid, axes)
    x, y = at(solid.centre)
    return tag('ellipse', tag('title', name), cx=x, cy=y, rx=float(half[0] * scale),
               ry=float(half[1] * scale), class_='ellipsoid',
               transform=f'rotate({-np.degrees(angle):.2f} {x:.2f} {y:.2f})')


def _grid_lines(low: np.ndarray, high: np.ndarray, axes: tuple[int, int], at: ToPicture,
                height: float) -> Iterator[Markup]:
    """Yield grid lines at round lengths, with numbers [m] at the left and below."""
    step = round_step(max(high - low), 5)
    for axis in axes:
        for mark in ticks(low[axis], high[axis], step):
            ends = np.array([low, high])
            ends[:, axis] = mark
            x, y = at(ends[0])
            place = ({'x': x, 'y': height - EDGE + 14.0, 'text_anchor': 'middle'}
                     if axis == axes[0] else {'x': x - 5.0, 'y': y + 3.0, 'text_anchor': 'end'})
            yield tag('path', d=path(*zip((x, y), at(ends[1]))), class_='raster')
            yield tag('text', shown(float(mark), 3), **place, class_='soft', font_size=9)


def _name(model: Model, i: int) -> str:
    return model.bodies[i].name if i < len(model.bodies) else f'{model.root} (fixed)'
