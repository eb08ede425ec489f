"""Test the chart of the last minute: places of points, gaps, unknown quantities."""

import re

import numpy as np
from support.html_checks import Page

from dynamics_node.inspector.curves import LEFT, TORQUES, WIDTH, chart


def test_a_curve_ends_at_the_right_edge_and_is_interrupted_where_it_is_unknown():
    times = 1000.0 + np.arange(0.0, 31.0)
    measured = np.sin(times)
    measured[10] = np.nan
    html = chart('Torque [N m]', times, {'measured': measured, 'external': np.full(31, np.nan)},
                 TORQUES)
    page = Page(html)
    curve, = (path['d'] for path in page.of('path') if path.get('stroke') == TORQUES['measured'])
    points = [float(x) for x in re.findall(r'[ML]([\d.]+),', curve)]
    assert len(points) == 30 and curve.count('M') == 2
    assert points[-1] == WIDTH and points[0] == LEFT + (WIDTH - LEFT) / 2.0
    assert 'external' not in page.text


def test_a_quantity_that_is_not_published_is_said_so():
    assert 'not published' in chart('Error', np.zeros(1), {'error': np.full(1, np.nan)},
                                    {'error': '#000000'})
