"""Test the stacked bars: lengths, numbers, sides; names are escaped."""

import re

import numpy as np
import pytest
from support.html_checks import Page
from support.nasty_robot import NASTY, NASTY_URDF

from dynamics_node import Robot
from dynamics_node.inspector.colours import PARTS
from dynamics_node.inspector.figures import MotionState, figures
from dynamics_node.inspector.heat_map import heat_map
from dynamics_node.inspector.stacked_bars import HALF, ROOM, stacked_bars
from dynamics_node.inspector.torque_parts import TorqueParts


@pytest.fixture(scope='module')
def nasty():
    """Return the robot whose names are markup, and its figures at a moving state."""
    robot = Robot.from_urdf(NASTY_URDF, compile=False)
    state = MotionState(np.array([0.4, 0.2]), np.array([1.0, -0.5]), np.array([2.0, 30.0]))
    return robot, figures(robot, state, robot.frame_names[-1])


def test_every_part_has_its_own_colour():
    assert set(PARTS) == set(TorqueParts._fields) and len(set(PARTS.values())) == len(PARTS)


def test_the_lengths_of_the_bars_are_the_parts_on_the_scale_of_the_limit(nasty):
    """The second joint is over its limit, and says so in words that need no colour."""
    robot, found = nasty
    page = Page(stacked_bars(robot.dof_names, ('N m', 'N'), found))
    drawn = [(bar['fill'], float(bar['width'])) for bar in page.of('rect') if '#' in bar['fill']]
    reach = ROOM * found.limit[0]
    assert np.abs(found.parts).sum(axis=0)[0] < reach
    for name, colour in PARTS.items():
        part = abs(getattr(found.parts, name)[0])
        if part > 0.0:
            length = next(width for fill, width in drawn if fill == colour)
            assert length == pytest.approx(HALF * part / reach, abs=0.006)   # [px], as written
    assert found.share[1] > 1.0 and '% of 5' in page.text


def test_names_of_a_urdf_are_text(nasty):
    robot, found = nasty
    for html in (stacked_bars(robot.dof_names, ('N m', 'N'), found, now=found),
                 heat_map('M', robot.dof_names, found.mass_matrix)):
        page = Page(html)
        assert not page.of('script') and len(page.of('svg')) == 1
        assert f'{NASTY}4' in page.text


def test_the_torque_to_compare_with_is_marked(nasty):
    robot, found = nasty
    now = found._replace(torque=found.torque + 1.0)
    text = Page(stacked_bars(robot.dof_names, ('N m', 'N'), found, now)).text
    assert len(re.findall(r'\(now ', text)) == 2


def test_a_heat_map_has_a_cell_for_each_entry(nasty):
    robot, found = nasty
    page = Page(heat_map('M', robot.dof_names, found.mass_matrix))
    assert len(page.of('rect')) == robot.nv ** 2
