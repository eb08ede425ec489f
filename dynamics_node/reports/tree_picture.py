"""Draw the kinematic tree: one row for each body, with its joint, range and mass."""

from collections.abc import Iterator, Sequence

import numpy as np

from dynamics_node.model.model import WORLD, Body, Model
from dynamics_node.reports.digits import column, shown
from dynamics_node.reports.markup import Markup, coordinate, path, tag
from dynamics_node.reports.plots import picture, shortened

ROW, LANE, START = 21.0, 15.0, 14.0
WIDTH, TOP = 720.0, 26.0
RANGE, MASS = 190.0, 96.0   # widths of the last two columns


def tree_picture(model: Model) -> Markup:
    """Return the SVG of the tree: a chain is a straight line down, branches have lanes beside it.

    Bodies have the numbers 1, 2, ... in the order of q. A number in a circle is a revolute joint,
    in a square a prismatic one, in a square with round corners any other one.
    """
    lanes = _lanes(model)
    left = START + LANE * (max(lanes, default=0) + 1) + 8.0
    names = left, left + (WIDTH - MASS - RANGE - left) / 2
    link, limits = names[1], WIDTH - MASS - RANGE
    heights = [TOP + ROW * (k + 1) for k in range(len(model.bodies))] + [TOP]
    drawn = [tag('text', text, x=x, y=12.0, class_='soft') for text, x in (
        ('joint', left), ('moves link', link), ('kind and range', limits),
        ('mass [kg]', WIDTH - MASS))]
    drawn += [_branch(lanes, heights, i, body.parent) for i, body in enumerate(model.bodies)]
    drawn += [tag('rect', x=START - 5.0, y=TOP - 5.0, width=10.0, height=10.0, class_='mass'),
              _text(model.root if model.frames[model.root].body == WORLD else 'world', left, TOP,
                    60)]
    for i, body in enumerate(model.bodies):
        y = heights[i]
        room = int((names[1] - names[0]) / 6.3)
        drawn += [_glyph(START + LANE * lanes[i], y, _kind(model, body), i + 1),
                  _text(body.joint_name, left, y, room), _text(body.name, link, y, room),
                  tag('text', _range(model, body), x=limits, y=y + 4.0, class_='soft')]
    drawn += [*_masses(model, heights), *_loops(model, heights)]
    text = '; '.join(f'{i + 1} {body.name} on {_parent(model, body)} by {body.joint_name}, '
                     f'{_kind(model, body)}' for i, body in enumerate(model.bodies))
    return picture(WIDTH, TOP + ROW * (len(model.bodies) + 1), f'Tree of {model.name}',
                   text or 'no movable joint', drawn)


def _lanes(model: Model) -> list[int]:
    """Return the lane of each body: that of its parent for the last child, else the next one.

    Bodies are in depth-first order, so that a branch is complete before its sibling begins.
    """
    last = {body.parent: i for i, body in enumerate(model.bodies)}
    lanes: list[int] = []
    for i, body in enumerate(model.bodies):
        parent = lanes[body.parent] if body.parent != WORLD else 0
        lanes.append(parent if last[body.parent] == i else parent + 1)
    return lanes


def _branch(lanes: Sequence[int], heights: Sequence[float], i: int, parent: int) -> Markup:
    """Return the line from a parent to its child: down its own lane, then across."""
    x0 = START + LANE * (lanes[parent] if parent != WORLD else 0)
    x1 = START + LANE * lanes[i]
    return tag('path', d=path([x0, x0, x1], [heights[parent], heights[i], heights[i]]),
               class_='bone')


def _glyph(x: float, y: float, kind: str, number: int) -> Markup:
    round_ = kind in ('revolute', 'continuous')
    corner = 7.0 if round_ else 0.0 if kind == 'prismatic' else 3.5
    return tag('g', tag('rect', x=x - 7.0, y=y - 7.0, width=14.0, height=14.0, rx=corner,
                        class_='joint'),
               tag('text', number, x=x, y=y + 3.2, text_anchor='middle', font_size=8.5))


def _text(name: str, x: float, y: float, room: int) -> Markup:
    return tag('text', tag('title', name), shortened(name, room), x=x, y=y + 4.0)


def _masses(model: Model, heights: Sequence[float]) -> Iterator[Markup]:
    """Yield a bar and a number for each body, and for the fixed links."""
    masses = np.array([inertia.mass for inertia in model.inertias])
    heaviest = max(masses.max(), np.finfo(float).tiny)
    for mass, text, y in zip(masses, column(masses), heights):
        yield tag('rect', x=WIDTH - MASS, y=y - 4.0, width=float(44.0 * mass / heaviest),
                  height=8.0, class_='mass')
        yield tag('text', text, x=WIDTH - 12.0, y=y + 4.0, text_anchor='end')


def _kind(model: Model, body: Body) -> str:
    """Return the joint type of a body as in a URDF; mimic joints have no JointInfo."""
    for joint in model.joints:
        if joint.name == body.joint_name:
            return joint.kind
    return type(body.joint).__name__.lower()


def _range(model: Model, body: Body) -> str:
    for joint in model.joints:
        if joint.name == body.joint_name:
            if not np.isfinite([joint.lower, joint.upper]).any():
                return joint.kind
            unit = 'm' if joint.kind == 'prismatic' else 'rad'
            return (f'{joint.kind}, {shown(joint.lower, 3)} \N{HORIZONTAL ELLIPSIS} '
                    f'{shown(joint.upper, 3)} {unit}')
    master = next(joint for joint in model.joints if body.joint_name in joint.mimics)
    return f'follows {shortened(master.name, 18)}'


def _parent(model: Model, body: Body) -> str:
    return model.root if body.parent == WORLD else model.bodies[body.parent].name


def _loops(model: Model, heights: Sequence[float]) -> Iterator[Markup]:
    """Yield a curve at the right edge for each loop that closes between two links."""
    for constraint in model.loops[0]:
        ends = [heights[model.frames[frame].body] for frame in (constraint.frame, constraint.to)
                if frame in model.frames]
        if len(ends) == 2:
            x, (y0, y1) = WIDTH - 8.0, sorted(ends)
            bow = x + 4.0 + 0.12 * (y1 - y0)
            d = (f'M{coordinate(x)},{coordinate(y0)}C{coordinate(bow)},{coordinate(y0)} '
                 f'{coordinate(bow)},{coordinate(y1)} {coordinate(x)},{coordinate(y1)}')
            yield tag('path', tag('title', f'{constraint.name}: {constraint.kind}'), d=d,
                      class_='loop')
