"""Test derivatives and linear models over DDS, as messages and through the client."""

import time

import numpy as np
import pytest
from support.remote_node import PATIENCE, assert_close, floats, joint_state, stamped_wrench
from support.reply_stamps import stamp_of
from support.tolerances import EXACT_MATHS, SOLVED

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.client import DynamicsClient

MATRICES = 'by_position', 'by_velocity', 'by_input'
PUSH = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
NAMED = np.array([4, 1, 6])     # in this order
ORDER = np.array([4, 1, 6, 0, 2, 3, 5])
GIVEN = np.array([True, True, True, True, False, True, True])   # those not named, and two of them


def asked(arm, n=3):
    """Return n states of the named joints as fields, and all that they stand for."""
    rng = np.random.default_rng(n)
    whole = {'position': arm.q, 'velocity': arm.v, 'acceleration': np.zeros(7), 'effort': arm.tau}
    states = {field: np.tile(x, (n, 1)) for field, x in whole.items()}
    for x in states.values():
        x[:, NAMED] = rng.normal(size=(n, len(NAMED)))
    fields = {field: floats(x[:, NAMED].ravel()) for field, x in states.items()}
    names = [arm.robot.joint_names[k] for k in NAMED]
    return {'joint_names': names, **fields}, states


@pytest.mark.parametrize('n', [1, 3])
@pytest.mark.parametrize('question', ['inverse', 'forward', 'hybrid'])
def test_named_joints_are_given_and_the_others_measured(arm, question, n):
    """One state or a trajectory, with a wrench; the header as in every reply."""
    fields, states = asked(arm, n)
    q, v, a, tau = states.values()
    if question == 'hybrid':
        fields['acceleration_given'] = GIVEN[NAMED].tolist()
    else:
        del fields[{'inverse': 'effort', 'forward': 'acceleration'}[question]]
    before = time.time_ns()
    reply = arm.node.call('dynamics_derivatives', question=question, **fields,
                          external_wrenches=[stamped_wrench('link_6', PUSH)])
    assert (reply.success, reply.message, reply.states) == (True, '', n)
    assert reply.joint_names == [arm.robot.joint_names[k] for k in ORDER]
    assert reply.model_id == arm.node.call('model_report').model_id
    assert stamp_of(reply) == arm.stamp
    assert (before - arm.stamp) * 1e-9 <= reply.state_age
    state = {'inverse': (q, v, a), 'forward': (q, v, tau),
             'hybrid': (q, v, a, tau, GIVEN)}[question]
    want = getattr(arm.robot, f'{question}_dynamics_derivatives')(*state, {'link_6': PUSH})
    for name, matrices in zip(MATRICES, want):
        assert_close(getattr(reply, name), matrices[:, ORDER[:, None], ORDER], SOLVED)
    value = getattr(arm.robot, f'{question}_dynamics')(*state, {'link_6': PUSH})
    values = {'inverse': [('effort', value)], 'forward': [('acceleration', value)],
              'hybrid': zip(('acceleration', 'effort'), value)}[question]
    for name, x in values:
        assert_close(getattr(reply, name), x[:, ORDER], SOLVED)


@pytest.mark.parametrize('step', [0.0, 0.004])
@pytest.mark.parametrize('n', [1, 3])
def test_linear_models_are_those_of_the_library(arm, n, step):
    """Continuous and of one step, one state or a trajectory."""
    fields, states = asked(arm, n)
    del fields['acceleration']
    reply = arm.node.call('linearization', step=step, **fields,
                          external_wrenches=[stamped_wrench('link_6', PUSH)])
    assert (reply.success, reply.message, reply.states) == (True, '', n)
    assert reply.joint_names == [arm.robot.joint_names[k] for k in ORDER]
    assert stamp_of(reply) == arm.stamp
    A, B, drift = arm.robot.linearize(states['position'], states['velocity'], states['effort'],
                                      step or None, {'link_6': PUSH})
    both = np.concatenate([ORDER, 7 + ORDER])
    assert_close(reply.state_matrix, A[:, both[:, None], both], SOLVED)
    assert_close(reply.input_matrix, B[:, both[:, None], ORDER], SOLVED)
    assert_close(reply.drift, drift[:, both], SOLVED)


def test_an_empty_request_uses_the_measured_state(arm):
    """As for an LQR at the present state."""
    reply = arm.node.call('linearization')
    A = arm.robot.linearize(arm.q, arm.v, arm.tau).A
    assert (reply.states, reply.joint_names) == (1, list(arm.robot.joint_names))
    assert_close(reply.state_matrix, A, SOLVED)
    reply = arm.node.call('dynamics_derivatives', question='forward')
    assert_close(reply.by_position, A[7:, :7], SOLVED)


def test_a_floating_base_has_seven_positions_and_six_columns(launch):
    """The base is last."""
    robot = Robot.from_urdf(ARM7, base='floating')
    node = launch(f'robot_description:={ARM7}', 'base:=floating')
    base, *joints = robot.joint_names
    rng = np.random.default_rng(0)
    q, v, tau = robot.random_configuration(rng), rng.normal(size=13), np.zeros(13)
    tau[6:] = rng.normal(size=7)
    node.publish_until(lambda: node.call('model_report').never_measured == [base],
                       joint_state(1, joints, q[7:], v[6:], tau[6:]))
    order = np.concatenate([np.arange(6, 13), np.arange(6)])
    both = np.concatenate([order, 13 + order])
    fields = {'joint_names': [*joints, base], 'position': floats([*q[7:], *q[:7]]),
              'velocity': floats(v[order])}
    refused = node.call('linearization', joint_names=joints, position=floats(q[7:]),
                        velocity=floats(v[6:]))
    assert (refused.success, base in refused.message) == (False, True)
    reply = node.call('linearization', **fields)  # efforts as measured, the base has none
    assert reply.joint_names == [*joints, base], reply.message
    A, B, drift = robot.linearize(q, v, tau)
    assert_close(reply.state_matrix, A[np.ix_(both, both)], SOLVED)
    assert_close(reply.input_matrix, B[np.ix_(both, order)], SOLVED)
    assert_close(reply.drift, drift[both], SOLVED)
    reply = node.call('dynamics_derivatives', question='inverse', **fields)
    want = robot.inverse_dynamics_derivatives(q, v, np.zeros(13))
    for name, matrix in zip(MATRICES, want):
        assert_close(getattr(reply, name), matrix[np.ix_(order, order)], SOLVED)


# Through the client --------------------------------------------------------------------------

@pytest.fixture
def dynamics(arm):
    return DynamicsClient(arm.node.client, arm.node.name, timeout=PATIENCE)


@pytest.mark.parametrize(('question', 'given'), [
    ('inverse', ()), ('forward', ()), ('hybrid', GIVEN)])
def test_one_state_gives_matrices_and_rows_give_stacks(arm, dynamics, question, given):
    """As the library has them, and what they are derivatives of."""
    rng = np.random.default_rng(1)
    for shape in ((7,), (1, 7), (4, 7)):
        q, v, a, tau = rng.normal(size=(4, *shape))
        inputs = {'inverse': {'a': a}, 'forward': {'tau': tau},
                  'hybrid': {'a': a, 'tau': tau, 'given': given}}[question]
        reply = dynamics.dynamics_derivatives(question, q, v, **inputs)
        want = getattr(arm.robot, f'{question}_dynamics_derivatives')(q, v, *inputs.values())
        for name, matrix in zip(MATRICES, want):
            assert getattr(reply, name).shape == (*shape, 7)
            assert_close(getattr(reply, name), matrix, SOLVED)
        value = reply.effort if question == 'inverse' else reply.acceleration
        assert value.shape == shape
    mixed = dynamics.dynamics_derivatives(question, q[0], v[0], **inputs)  # rows of an input
    assert mixed.by_input.shape == (4, 7, 7)
    measured = dynamics.dynamics_derivatives(question)
    assert measured.by_position.shape == (7, 7)


@pytest.mark.parametrize(('question', 'given'), [('inverse', ()), ('forward', ()),
                                                 ('hybrid', GIVEN)])
def test_a_direction_is_given_as_to_the_library(arm, dynamics, question, given):
    """Rates of all kinds, for one state and for rows."""
    rng = np.random.default_rng(2)
    rates = {'dq': rng.normal(size=7), 'ddamping': {'joint_2': 0.3},
             'dinertias': {'link_4': rng.normal(size=10)}, 'dgravity': [0.1, 0.2, 0.3],
             'dorigins': {'joint_4': rng.normal(size=6), 'joint_6': rng.normal(size=6)},
             'daxes': {'joint_5': rng.normal(size=6)}, 'dwrenches': {'link_6': PUSH}}
    for shape in ((7,), (3, 7)):
        q, v, a, tau = rng.normal(size=(4, *shape))
        inputs = {'inverse': {'a': a}, 'forward': {'tau': tau},
                  'hybrid': {'a': a, 'tau': tau, 'given': given}}[question]
        reply = dynamics.directional_derivative(
            question, q, v, **inputs, **{**rates, 'ddamping': 0.3 * np.eye(7)[1]})
        want = getattr(arm.robot, f'{question}_dynamics_directional_derivative')(
            q, v, *inputs.values(), **rates)
        fields = {'inverse': ['effort_rate'], 'forward': ['acceleration_rate'],
                  'hybrid': ['acceleration_rate', 'effort_rate']}[question]
        for name, expected in zip(fields, want if isinstance(want, tuple) else [want]):
            assert_close(getattr(reply, name), expected, SOLVED)


def test_terms_come_in_their_shapes(arm, dynamics):
    """Those that were requested; a Hessian product where weights are given."""
    robot, rng = arm.robot, np.random.default_rng(3)
    weights, dq, dv, da = rng.normal(size=(4, 7))
    reply = dynamics.derivative_terms(arm.q, arm.v, arm.q, weights=weights, dq=dq, dv=dv, da=da,
                                      mass_matrix_derivatives=True, christoffel_symbols=True,
                                      gravity_stiffness=True, regressor=True)
    assert_close(reply.regressor, robot.regressor(arm.q, arm.v, arm.q), EXACT_MATHS)
    for name in ('mass_matrix_derivatives', 'christoffel_symbols', 'gravity_stiffness'):
        assert_close(getattr(reply, name), getattr(robot, name)(arm.q), EXACT_MATHS)
    product = robot.inverse_dynamics_hessian_product(arm.q, arm.v, arm.q, weights, dq, dv, da)
    assert_close(reply.position_gradient_rate, product.dq, SOLVED)
    rows = dynamics.derivative_terms(np.linspace(arm.q, arm.q + 0.1, 4), christoffel_symbols=True)
    assert rows.christoffel_symbols.shape == (4, 7, 7, 7)
    assert rows.regressor.size == 0


def test_linear_models_have_their_shapes(arm, dynamics):
    """A, B and drift of one state, and of a trajectory of discrete ones; a dict names joints."""
    one = dynamics.linearization(arm.q, arm.v, arm.tau)
    A, B, drift = arm.robot.linearize(arm.q, arm.v, arm.tau)
    for got, want in ((one.state_matrix, A), (one.input_matrix, B), (one.drift, drift)):
        assert got.shape == want.shape
        assert_close(got, want, EXACT_MATHS)
    q = np.linspace(arm.q, arm.q + 0.1, 5)
    many = dynamics.linearization(q, arm.v, arm.tau, step=0.01, wrenches={'link_6': PUSH})
    want = arm.robot.linearize(q, arm.v, arm.tau, 0.01, {'link_6': PUSH})
    for got, each in zip((many.state_matrix, many.input_matrix, many.drift), want):
        assert got.shape == each.shape
        assert_close(got, each, SOLVED)
    named = dynamics.linearization(q={'joint_3': 0.1}, v={'joint_3': 0.0}, tau={'joint_3': 1.0})
    assert named.joint_names[0] == 'joint_3'
    assert (named.state_matrix.shape, named.input_matrix.shape) == ((14, 14), (14, 7))


def test_a_future_gives_the_same_result(arm, dynamics):
    """Shapes and refusals too."""
    future = dynamics.linearization(arm.q, arm.v, arm.tau, wait=False)
    for _ in range(int(PATIENCE / 0.01)):
        if future.done():
            break
        time.sleep(0.01)
    assert future.result().input_matrix.shape == (14, 7)
    with pytest.raises(DynamicsError, match='step is -1.0; expected zero'):
        dynamics.linearization(arm.q, arm.v, arm.tau, step=-1.0)
