"""Test the last minute as CSV, and the state as JSON."""

import csv
import io
import json

import numpy as np
from support.differences import relative
from support.nasty_robot import NASTY_URDF
from support.tolerances import EXACT_MATHS

from dynamics_node import Robot
from dynamics_node.inspector.figures import MotionState, figures
from dynamics_node.inspector.history import History
from dynamics_node.inspector.state_json import file_name, state_text


def test_rows_older_than_a_minute_are_dropped_and_digits_are_kept():
    history = History(['a', 'b,"\n'])
    for k in range(100):
        history.append(float(k), np.array([k / 3.0, np.nan]))
    head, *rows = csv.reader(io.StringIO(history.text()))
    assert head == ['time', 'a', 'b,"\n'] and len(rows) == len(history) == 61
    assert [(float(row[0]), float(row[1]), row[2]) for row in rows] == [
        (k, k / 3.0, '') for k in range(39, 100)]


def test_the_state_is_strict_json_with_the_numbers_of_the_library():
    robot = Robot.from_urdf(NASTY_URDF, compile=False)
    state = MotionState(np.array([0.4, 0.2]), np.zeros(2), np.ones(2))
    frame = robot.frame_names[-1]
    found = json.loads(state_text(robot, state, figures(robot, state, frame), frame))
    assert relative(found['torque'], robot.inverse_dynamics(*state)) < EXACT_MATHS
    assert found['mass_matrix'] == robot.mass_matrix(state.q).tolist()
    assert found['dof_names'] == list(robot.dof_names)


def test_a_download_has_a_harmless_name():
    name = file_name(Robot.from_urdf(NASTY_URDF, compile=False), '.csv')
    assert name == 'script_alert_1_script_amp_svg_0.csv'
