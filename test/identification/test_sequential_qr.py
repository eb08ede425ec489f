"""Test the residuals of a fit against the rows that are fitted."""

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification import Recording, parameter_layout
from dynamics_node.identification.identifiable_parameters import base_parameters
from dynamics_node.identification.sequential_qr import misfit, residuals, row_chunks


@pytest.mark.parametrize('factor', [1, 5])
def test_residuals_are_those_of_the_decimated_rows(factor):
    """To subtract and then decimate is to decimate and then subtract, also with a payload."""
    robot = Robot.from_urdf(ARM7, compile=False)
    robot = robot.with_payload('tool', robot.frame_names[-1], 0.7, (0.0, 0.1, 0.05))
    rng = np.random.default_rng(0)
    q, v, a, tau = rng.normal(size=(4, 60, robot.nv))
    recording = Recording(robot.joint_names, 1e-3 * np.arange(60), q, v, a, tau)
    base = base_parameters(robot, parameter_layout(robot, stribeck_speed=0.1))
    x = rng.normal(size=base.size)
    (found,) = residuals(robot, base, recording, x, factor=factor)
    rows = next(row_chunks(robot, base, recording, factor))
    expected = [A[:, -1] - A[:, :-1] @ x[depends] for A, depends in zip(rows, base.depends)]
    assert found == pytest.approx(np.column_stack(expected), rel=1e-10, abs=1e-10)
    assert misfit(rows[0], x[base.depends[0]]) == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
