"""Test ~/dynamics_derivatives of a closed mechanism: results of the library, refusals."""

import numpy as np
import pytest
from support.current_robots import close, node_state_at, state_of
from support.node_states import ask, measure, node_state_of, refused, wrench
from support.tiny_robots import TWO_JOINTS

NAMES = ['right_elbow', 'left_shoulder', 'right_shoulder', 'left_elbow']
PUSH = np.array([3.0, -1.0, 2.0, 0.2, 0.4, -0.3])


@pytest.fixture(scope='module')
def five_bar():
    """(NodeState, robot, q (2, 4), v, a random third quantity, the order of NAMES)."""
    node_state, robot = node_state_at('five_bar')
    q, v = map(np.array, zip(*(state_of(robot, seed) for seed in range(2))))
    third = np.random.default_rng(0).normal(size=(2, 4))
    return node_state, robot, q, v, third, [robot.joint_names.index(name) for name in NAMES]


@pytest.mark.parametrize('coordinates', [[], ['right_elbow', 'left_elbow']])
@pytest.mark.parametrize('question', ['inverse', 'forward'])
def test_derivatives_are_those_of_the_library(five_bar, question, coordinates):
    """Of two states with a wrench; columns of efforts in the order of the reply."""
    node_state, robot, q, v, third, order = five_bar
    field = 'acceleration' if question == 'inverse' else 'effort'
    reply = ask(node_state, 'dynamics_derivatives', question=question, joint_names=NAMES,
                closed=True, coordinates=coordinates, position=q[:, order].ravel(),
                velocity=v[:, order].ravel(), external_wrenches=[wrench('left_fore', PUSH)],
                **{field: third[:, order].ravel()})
    want = getattr(robot, f'closed_{question}_derivatives')(
        q, v, third, coordinates=coordinates or None, wrenches={'left_fore': PUSH})
    assert (reply.states, reply.joint_names) == (2, NAMES)
    assert reply.coordinates == (coordinates or ['left_shoulder', 'right_shoulder'])
    close(np.reshape(reply.by_position, (2, 2, 2)), want.dq)
    close(np.reshape(reply.by_velocity, (2, 2, 2)), want.dv)
    if question == 'inverse':
        close(np.reshape(reply.effort, (2, 2)), want.tau)
        close(np.reshape(reply.by_input, (2, 2, 2)), want.da)
    else:
        close(np.reshape(reply.acceleration, (2, 2)), want.a)
        close(np.reshape(reply.by_input, (2, 2, 4)), want.dtau[..., order])


def test_efforts_of_passive_joints_are_zero():
    """Measured efforts of the motors, and none of the others."""
    node_state, robot = node_state_at('four_bar')
    q, v = state_of(robot)
    measure(node_state, q, v, np.array([0.4, 5.0, 6.0]))
    reply = ask(node_state, 'dynamics_derivatives', question='forward', closed=True)
    close(reply.acceleration, robot.closed_forward_derivatives(q, v, [0.4, 0.0, 0.0]).a)


def test_what_has_no_answer_is_refused(five_bar):
    """Fields that are not read, questions without answer, a tree without loops."""
    node_state, _, q, v, a, _ = five_bar
    state = {'position': q[0], 'velocity': v[0], 'acceleration': a[0]}
    service = 'dynamics_derivatives'
    assert refused(node_state, service, question='inverse', **state,
                   coordinates=['left_elbow']) == (
        'coordinates is given, but it is read only with closed: true')
    assert refused(node_state, service, question='hybrid', **state, effort=a[0], closed=True) == (
        "question is 'hybrid'; with closed: true it must be inverse or forward")
    assert 'left_elbow do not determine the motion' in refused(
        node_state, service, question='inverse', **state, closed=True, coordinates=['left_elbow'])
    assert refused(node_state_of(TWO_JOINTS), service, question='inverse', closed=True,
                   position=[0.1, 0.2], velocity=[0.0, 0.0]).startswith(
        'closed is true, but the robot has no loops')
