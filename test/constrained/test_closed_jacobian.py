"""Test Jacobians of frames by independent coordinates: differences, closed forms, batches."""

import numpy as np
import pytest
from support.bundled_mechanisms import standing
from support.differences import along, relative
from support.linkage_closed_forms import SliderCrank
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import MECHANISMS

CASES = [('four_bar', None), ('five_bar', ['left_elbow', 'right_elbow']),
         ('stewart', ['platform_joint'])]


def robot_of(name):
    bundled = MECHANISMS[name]
    return Robot.from_urdf(bundled.urdf, loops=bundled.loops, compile=False)


@pytest.mark.parametrize('local', [False, True])
@pytest.mark.parametrize(('name', 'coordinates'), CASES, ids=str)
def test_velocity_and_acceleration_of_a_frame(name, coordinates, local):
    """Those of all joints, which follow; the rate is that of differences along the motion."""
    robot = robot_of(name)
    q, v, tau = standing(robot.model, robot.loops.constraints, 2)
    frame = robot.frame_names[-1]
    closed = robot.closed_dynamics(q, v, coordinates=coordinates)
    names = coordinates or [each for each in robot.joint_names if each not in robot.loops.passive]
    entries = [k for each in names for k in range(robot.nv)[robot.model.joint(each).v]]
    found = robot.closed_jacobian(q, v, frame, local, coordinates=coordinates)
    u, u_rate = v[entries], tau[entries]
    assert relative(found.jacobian @ u, robot.jacobian(q, frame, local) @ v) < SOLVED
    if not local:  # axes that turn have another rate
        a = closed.transmission @ u_rate + closed.transmission_rate @ u
        assert relative(found.jacobian @ u_rate + found.drift,
                        robot.frame_acceleration(q, v, a, frame)) < SOLVED
    assert relative(found.drift, found.rate @ u) < EXACT_MATHS
    rate = along(robot, lambda q: robot.closed_jacobian(q, v, frame, local,
                                                        coordinates=coordinates).jacobian, q, v)
    assert relative(found.rate, rate) < RATE_BY_DIFFERENCES


def test_the_slider_of_a_slider_crank_moves_as_in_the_textbook():
    """dx/dt by the crank, and its rate."""
    robot, linkage, t, w = robot_of('slider_crank'), SliderCrank(), 0.8, 2.0
    slopes = linkage.at(t).slopes
    v = np.array([slope.first for slope in slopes]) * w
    found = robot.closed_jacobian(linkage.coordinates(t), v, 'slider')
    assert relative(found.jacobian[:, 0], [slopes[2].first, 0, 0, 0, 0, 0]) < SOLVED
    assert relative(found.drift, [slopes[2].second * w * w, 0, 0, 0, 0, 0]) < SOLVED


def test_batches_give_the_results_of_single_states():
    """Row by row, also with one velocity for all configurations."""
    robot = robot_of('five_bar')
    q, v = map(np.array, zip(*(standing(robot.model, robot.loops.constraints, seed)[:2]
                               for seed in range(3))))
    batch = robot.closed_jacobian(q, v, 'tool')
    same = robot.closed_jacobian(q, v[1], 'tool')
    assert batch.jacobian.shape == batch.rate.shape == (3, 6, 2) and batch.drift.shape == (3, 6)
    for many, one, again in zip(batch, robot.closed_jacobian(q[1], v[1], 'tool'), same):
        assert np.array_equal(many[1], one) and np.array_equal(again[1], one)


def test_bad_arguments_are_refused_by_name():
    """An unknown frame, open loops, too few coordinates."""
    robot = robot_of('five_bar')
    q, v, _ = standing(robot.model, robot.loops.constraints, 0)
    with pytest.raises(DynamicsError, match="'hand'"):
        robot.closed_jacobian(q, v, 'hand')
    with pytest.raises(DynamicsError, match='the loops are open by'):
        robot.closed_jacobian(q + 0.1, v, 'tool')
    with pytest.raises(DynamicsError, match='left_elbow do not determine the motion'):
        robot.closed_jacobian(q, v, 'tool', coordinates=['left_elbow'])
