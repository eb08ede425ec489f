"""Test the figures, bars and records of the inspector on every robot of example-robot-data."""

import json

import numpy as np
import pytest
from support.differences import relative
from support.html_checks import Page
from support.real_robots import ROBOTS
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.inspector.figures import MotionState, figures, frame_ellipsoids
from dynamics_node.inspector.heat_map import heat_map
from dynamics_node.inspector.page import history_columns, last_frame
from dynamics_node.inspector.shapes import inertia_boxes, shapes_of_urdf
from dynamics_node.inspector.stacked_bars import stacked_bars
from dynamics_node.inspector.state_json import state_text
from dynamics_node.reports.units import effort_units


@pytest.mark.parametrize('example', ROBOTS, ids=str)
def test_every_robot_has_figures_bars_and_a_record(example):
    robot = Robot.from_urdf(example.urdf, base=example.base, compile=False)
    rng = np.random.default_rng(3)
    state = MotionState(robot.random_configuration(rng), *rng.normal(size=(2, robot.nv)))
    frame = last_frame(robot)
    found = figures(robot, state, frame)
    assert relative(found.torque, robot.inverse_dynamics(*state)) < EXACT_MATHS
    assert found.mass_matrix.shape == (robot.nv, robot.nv) and found.greatest_payload >= 0.0
    ellipsoids = frame_ellipsoids(robot, state.q, frame)
    assert all((radii >= 0.0).all() for _, radii in ellipsoids)
    page = Page(stacked_bars(robot.dof_names, effort_units(robot), found, None))
    assert 'nan' not in page.text and page.of('svg')
    assert Page(heat_map('Mass matrix', found.matrix_names, found.mass_matrix)).of('rect')
    record = json.loads(state_text(robot, state, found, frame))
    assert len(record['torque']) == robot.nv
    assert len(history_columns(robot)) == robot.nq + 3 * robot.nv
    assert [*shapes_of_urdf(robot.model, example.text()), *inertia_boxes(robot.model)]
