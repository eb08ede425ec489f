"""Draw the ellipsoids of manipulability of a link in three orthographic views."""

from collections.abc import Mapping

import numpy as np

from dynamics_node.algorithms.manipulability import Manipulability
from dynamics_node.reports.body_views import VIEWS, silhouette
from dynamics_node.reports.digits import shown
from dynamics_node.reports.markup import Markup, path, tag
from dynamics_node.reports.plots import picture
from dynamics_node.spatial.ellipsoid import Ellipsoid

SIDE, LEGEND = 260.0, 20.0   # [px] of the square of a view, and of the legend below it
RADIUS = 100.0               # [px] the greatest radius of each ellipsoid has this length
THINNEST = 1e-3              # least share of it that is drawn
KINDS = {'velocity': 'one', 'force': 'two', 'acceleration': 'three'}   # CSS classes


def manipulability_views(found: Manipulability) -> list[Markup]:
    """Return three views as SVG, of one state and the rows x, y, z.

    Each ellipsoid is scaled to the same greatest radius: shape and direction count.
    """
    solids = {
        'velocity': _solid(found.velocity_axes, found.velocity_radii),
        'force': _solid(found.velocity_axes, found.force_radii),
        'acceleration': _solid(found.dynamic_axes, found.dynamic_radii)}
    return [_view(title, axes, solids) for title, axes in VIEWS.items()]


def _solid(axes: np.ndarray, radii: np.ndarray) -> Ellipsoid:
    """Return the Ellipsoid of greatest radius 1; radii that are infinite are the greatest."""
    greatest = radii.max()
    share = np.isinf(radii) * 1.0 if np.isinf(greatest) else radii / (greatest or 1.0)
    return Ellipsoid(np.zeros(3), axes, np.maximum(share, THINNEST))


def _view(title: str, axes: tuple[int, int], solids: Mapping[str, Ellipsoid]) -> Markup:
    middle = SIDE / 2
    drawn = [tag('path', d=path([middle - RADIUS, middle + RADIUS], [middle] * 2), class_='raster'),
             tag('path', d=path([middle] * 2, [middle - RADIUS, middle + RADIUS]), class_='raster')]
    for (name, kind), solid in zip(KINDS.items(), solids.values()):
        half, angle = silhouette(solid, axes)
        drawn.append(tag('ellipse', tag('title', name), cx=middle, cy=middle,
                         rx=float(half[0] * RADIUS), ry=float(half[1] * RADIUS), class_=kind,
                         transform=f'rotate({-np.degrees(angle):.2f} {middle:.2f} {middle:.2f})'))
    for k, (name, kind) in enumerate(KINDS.items()):
        x, y = 85.0 * k, SIDE + LEGEND - 6.0
        drawn += [tag('path', d=path([x, x + 14.0], [y] * 2), class_=kind),
                  tag('text', name, x=x + 18.0, y=y + 4.0, class_='soft')]
    drawn.append(tag('text', title, x=0.0, y=12.0, class_='strong'))
    text = '; '.join(f'{name} {" ".join(shown(x, 3) for x in solid.half_axes)}'
                     for name, solid in solids.items())
    return picture(SIDE, SIDE + LEGEND, f'Manipulability {title}', text, drawn)
