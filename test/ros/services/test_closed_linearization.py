"""Test ~/linearization of a closed mechanism: results of the library, refusals."""

import numpy as np
import pytest
from support.current_robots import close, node_state_at, state_of
from support.node_states import ask, measure, node_state_of, refused, wrench
from support.tiny_robots import TWO_JOINTS

NAMES = ['right_elbow', 'left_shoulder', 'right_shoulder', 'left_elbow']


@pytest.mark.parametrize('step', [0.0, 0.01])
@pytest.mark.parametrize('coordinates', [[], ['right_elbow', 'left_elbow']])
def test_the_linear_models_are_those_of_the_library(coordinates, step):
    """Two states under a wrench; columns of B in the order of the reply."""
    node_state, robot = node_state_at('five_bar')
    q, v = map(np.array, zip(*(state_of(robot, seed) for seed in range(2))))
    tau, push = np.random.default_rng(0).normal(size=(2, 4)), np.arange(6.0)
    order = [robot.joint_names.index(name) for name in NAMES]
    reply = ask(node_state, 'linearization', joint_names=NAMES, closed=True, step=step,
                coordinates=coordinates, position=q[:, order].ravel(),
                velocity=v[:, order].ravel(), effort=tau[:, order].ravel(),
                external_wrenches=[wrench('left_fore', push)])
    want = robot.closed_linearization(q, v, tau, step or None, coordinates=coordinates or None,
                                      wrenches={'left_fore': push})
    assert (reply.states, reply.joint_names) == (2, NAMES)
    assert reply.coordinates == (coordinates or ['left_shoulder', 'right_shoulder'])
    close(np.reshape(reply.state_matrix, (2, 4, 4)), want.A)
    close(np.reshape(reply.input_matrix, (2, 4, 4)), want.B[..., order])
    close(np.reshape(reply.drift, (2, 4)), want.drift)


def test_efforts_of_passive_joints_are_zero():
    """Measured efforts of the motors, and none of the others."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    measure(node_state, q, v, np.array([0.4, 5.0, 6.0]))
    reply = ask(node_state, 'linearization', closed=True)
    close(reply.drift, robot.closed_linearization(q, v, [0.4, 0.0, 0.0]).drift)


def test_what_has_no_answer_is_refused():
    """Fields that are not read, a tree without loops, bad coordinates."""
    node_state, robot = node_state_at('five_bar')
    q, v = state_of(robot)
    state = {'position': q, 'velocity': v, 'effort': np.zeros(4)}
    assert refused(node_state, 'linearization', **state, coordinates=['left_elbow']) == (
        'coordinates is given, but it is read only with closed: true')
    assert 'left_elbow do not determine the motion' in refused(
        node_state, 'linearization', **state, closed=True, coordinates=['left_elbow'])
    assert refused(node_state_of(TWO_JOINTS), 'linearization', closed=True, position=[0.1, 0.2],
                   velocity=[0.0, 0.0], effort=[0.0, 0.0]).startswith(
        'closed is true, but the robot has no loops')
