"""Test ~/dynamics_derivatives and ~/linearization: results of the library in reply order."""

import math

import numpy as np
import pytest
from support.differences import gradient, relative
from support.node_states import (
    ask,
    measure,
    node_state_of,
    refused,
    scene,
    tree_scene,
    whole_state,
    wrench,
)
from support.random_trees import one_of_each_sort
from support.reply_stamps import stamp_of
from support.tiny_robots import EVERY_KIND, TWO_JOINTS
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

N = 3
QUESTIONS = 'inverse', 'forward', 'hybrid'
MATRICES = 'by_position', 'by_velocity', 'by_input'
PUSH = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
# a wrist about its own axis, without inertia about it
NEEDLE = TWO_JOINTS.replace('</robot>', (
    '<link name="needle"/><joint name="spin" type="continuous"><parent link="elbow_link"/>'
    '<child link="needle"/></joint></robot>'))


def rows(s, names, n=N):
    """Return n states of some joints: {field: (n, entries)}."""
    whole = {'position': np.array([s.robot.random_configuration(s.rng) for _ in range(n)]),
             **{field: s.rng.normal(size=(n, s.robot.nv))
                for field in ('velocity', 'acceleration', 'effort')}}
    return {field: s.of(names, x, 'q' if field == 'position' else 'v')
            for field, x in whole.items()}


def flat(fields):
    return {field: x.ravel() for field, x in fields.items()}


def order_of(s, names):
    """Return the degrees of freedom in the order of the reply."""
    return s.of(s.reply_order(names), np.arange(s.robot.nv))


def complete(s, names, fields, k, others):
    """Return the whole vector of a field at state k: the request's, `others` elsewhere."""
    full = np.array(others, dtype=float)
    for field, x in fields.items():
        which = 'q' if field == 'position' else 'v'
        places = s.of(names, np.arange(s.robot.nq if which == 'q' else s.robot.nv), which)
        full[places] = x[k if len(x) > 1 else 0]
    return full


# Derivatives ---------------------------------------------------------------------------------

@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
@pytest.mark.parametrize('question', QUESTIONS)
def test_rows_and_columns_come_in_the_order_of_the_reply(tree, question):
    """Any joints in any order, N states, wrenches: the results of Robot for each state."""
    s = tree_scene(tree)
    names = s.some_joints()
    fields, nv = rows(s, names), s.robot.nv
    fields['velocity'] = fields['velocity'][:1]  # the same for all
    if question != 'hybrid':
        fields.pop({'inverse': 'effort', 'forward': 'acceleration'}[question])
    more, given = {}, np.zeros(nv, dtype=bool)
    if question == 'hybrid':
        said = s.rng.integers(0, 2, len(names)).astype(bool)
        more['acceleration_given'] = said.tolist()
        given[:] = True  # what is not named stands still
        for name, value in zip(names, said):
            given[s.robot.model.joint(name).v] = value
    reply = ask(s.node_state, 'dynamics_derivatives', question=question, joint_names=names,
                external_wrenches=[wrench('l3', PUSH)], **more, **flat(fields))
    assert (reply.states, reply.joint_names) == (N, s.reply_order(names))
    order = order_of(s, names)
    for k in range(N):
        def at(field, others, k=k):
            return complete(s, names, {field: fields[field]}, k, others)
        q, v = at('position', s.q), at('velocity', s.v)
        inputs = {'inverse': lambda: (at('acceleration', np.zeros(nv)),),
                  'forward': lambda: (at('effort', s.tau),),
                  'hybrid': lambda: (at('acceleration', np.zeros(nv)),
                                     at('effort', np.where(given, 0.0, s.tau)), given)}
        state = q, v, *inputs[question](), {'l3': PUSH}
        want = getattr(s.robot, f'{question}_dynamics_derivatives')(*state)
        for name, matrix in zip(MATRICES, want):
            got = np.reshape(getattr(reply, name), (N, nv, nv))[k]
            assert relative(got, matrix[np.ix_(order, order)]) < EXACT_MATHS
        value = getattr(s.robot, f'{question}_dynamics')(*state)
        values = {'inverse': {'effort': value}, 'forward': {'acceleration': value},
                  'hybrid': dict(zip(('acceleration', 'effort'), value))}[question]
        for name in ('acceleration', 'effort'):
            got = np.reshape(getattr(reply, name), (-1, nv))
            if name in values:
                assert relative(got[k], values[name][order]) < EXACT_MATHS
            else:
                assert got.size == 0


@pytest.mark.parametrize('base', ['fixed', 'floating'])
@pytest.mark.parametrize('question', ['inverse', 'forward'])
def test_derivatives_are_the_slopes_of_the_dynamics_services(base, question):
    """One state; central differences through the other service, along unit velocities."""
    s = scene(EVERY_KIND, base=base)
    service, known, answer = {
        'inverse': ('inverse_dynamics', 'acceleration', 'effort'),
        'forward': ('forward_dynamics', 'effort', 'acceleration')}[question]
    x = s.rng.normal(size=s.robot.nv)
    reply = ask(s.node_state, 'dynamics_derivatives', question=question, position=s.q, velocity=s.v,
                **{known: x})
    assert reply.states == 1

    def value(**change):
        state = {'position': s.q, 'velocity': s.v, known: x, **change}
        return np.array(getattr(ask(s.node_state, service, **state), answer))
    assert list(getattr(reply, answer)) == value().tolist()
    h = 1e-6
    slopes = [gradient(s.robot, lambda q: value(position=q), s.q)]
    slopes += [np.stack([(value(**{field: at + h * unit}) - value(**{field: at - h * unit}))
                         / (2.0 * h) for unit in np.eye(s.robot.nv)], axis=-1)
               for field, at in (('velocity', s.v), (known, x))]
    for name, slope in zip(MATRICES, slopes):
        got = np.reshape(getattr(reply, name), slope.shape)
        assert relative(got, slope) < RATE_BY_DIFFERENCES, name


@pytest.mark.parametrize('question', QUESTIONS)
def test_an_empty_request_uses_the_measured_state(question):
    """With its stamp; a complete request needs none."""
    s = scene(TWO_JOINTS)
    state = {'position': s.q, 'velocity': s.v}
    if question != 'inverse':
        state['effort'] = s.tau
    given = ask(s.node_state, 'dynamics_derivatives', question=question, **state)
    measured = ask(s.node_state, 'dynamics_derivatives', question=question)
    assert (given.states, stamp_of(given)) == (measured.states, 0) == (1, 0)
    assert stamp_of(measured) > 0
    for name in MATRICES:
        assert len(getattr(given, name)) == 4
        assert getattr(given, name) == getattr(measured, name)


@pytest.mark.parametrize('question', ['', 'Inverse', 'terms'])
def test_an_unknown_kernel_is_refused_with_the_known_ones(question):
    """Terms have no derivatives."""
    message = refused(scene(TWO_JOINTS).node_state, 'dynamics_derivatives', question=question)
    assert message == f"question is '{question}'; valid choices are inverse, forward, hybrid"


# Linear models -------------------------------------------------------------------------------

@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
@pytest.mark.parametrize('step', [0.0, 0.002])
def test_a_linear_model_of_named_joints(tree, step):
    """Positions, then velocities, each in the order of the reply."""
    s = tree_scene(tree)
    names = s.some_joints()
    fields, nv = rows(s, names), s.robot.nv
    del fields['acceleration']
    reply = ask(s.node_state, 'linearization', joint_names=names, step=step, **flat(fields),
                external_wrenches=[wrench('l3', PUSH)])
    assert (reply.states, reply.joint_names) == (N, s.reply_order(names))
    order = order_of(s, names)
    both = np.concatenate([order, nv + order])
    for k in range(N):
        q, v, tau = (complete(s, names, {field: fields[field]}, k, others) for field, others in (
            ('position', s.q), ('velocity', s.v), ('effort', s.tau)))
        A, B, drift = s.robot.linearize(q, v, tau, step or None, {'l3': PUSH})
        for name, want in (('state_matrix', A[np.ix_(both, both)]),
                           ('input_matrix', B[np.ix_(both, order)]), ('drift', drift[both])):
            got = np.reshape(getattr(reply, name), (N, *want.shape))[k]
            assert relative(got, want) < EXACT_MATHS, name


@pytest.mark.parametrize('base', ['fixed', 'floating'])
def test_the_linear_model_predicts_a_disturbed_motion(base):
    """Two simulations of a millisecond, one of them disturbed, differ by A dx + B du."""
    s = scene(TWO_JOINTS, base=base)
    robot, nv, h = s.robot, s.robot.nv, 1e-3
    model = ask(s.node_state, 'linearization', position=s.q, velocity=s.v, effort=s.tau, step=h)
    A = np.reshape(model.state_matrix, (2 * nv, 2 * nv))
    B = np.reshape(model.input_matrix, (2 * nv, nv))
    dx, du = 1e-4 * s.rng.normal(size=2 * nv), 1e-2 * s.rng.normal(size=nv)

    def after(q, v, tau, n=200):
        for _ in range(n):  # midpoint steps
            half = v + 0.5 * h / n * robot.forward_dynamics(q, v, tau)
            middle = robot.integrate(q, v, 0.5 * h / n)
            q, v = (robot.integrate(q, half, h / n),
                    v + h / n * robot.forward_dynamics(middle, half, tau))
        return q, v
    still = after(s.q, s.v, s.tau)
    moved = after(robot.integrate(s.q, dx[:nv]), s.v + dx[nv:], s.tau + du)
    got = np.concatenate([robot.difference(still[0], moved[0]), moved[1] - still[1]])
    # second order in dx, and A of the beginning stands for the whole step
    assert np.abs(got - (A @ dx + B @ du)).max() < 1e-2 * np.abs(got - dx).max()
    gone = np.concatenate([robot.difference(s.q, still[0]), still[1] - s.v])
    assert np.abs(gone - model.drift).max() < 1e-2 * np.abs(gone).max()


@pytest.mark.parametrize('step', [-0.001, math.nan, math.inf, -math.inf])
def test_an_invalid_step_is_refused_by_name(step):
    """Zero stands for continuous time, anything positive for a step."""
    message = refused(scene(TWO_JOINTS).node_state, 'linearization', step=step)
    assert message == (f'step is {step}; expected zero (continuous time) or a finite, positive '
                       'number of seconds')


def test_a_step_that_overflows_is_refused():
    """An unstable arm; the reply has no infinity."""
    s, rest = scene(TWO_JOINTS), [0.0, 0.0]
    falls = next(q for q in (s.robot.random_configuration(s.rng) for _ in range(100))
                 if np.linalg.eigvals(s.robot.linearize(q, rest, rest).A).real.max() > 1e-3)
    message = refused(s.node_state, 'linearization', step=1e9, position=falls, velocity=rest)
    assert message.startswith('step is 1e+09 s')


# What both refuse ----------------------------------------------------------------------------

BOTH = [('dynamics_derivatives', {'question': question}) for question in QUESTIONS]
BOTH += [('linearization', {})]
DRIVEN = [BOTH[1], BOTH[3]]


@pytest.mark.parametrize(('service', 'more'), BOTH)
def test_rows_that_do_not_match_are_refused_by_field(service, more):
    """The message has the number of rows of each."""
    message = refused(scene(TWO_JOINTS).node_state, service, position=[0.1] * 6, velocity=[0.1] * 4,
                      **more)
    assert message.startswith('all fields must have the same number of states, or one; position '
                              'has 3, velocity has 2')


@pytest.mark.parametrize(('service', 'more'), BOTH)
def test_bad_wrenches_are_refused(service, more):
    """An unknown frame, and numbers that are not finite."""
    node_state = scene(TWO_JOINTS).node_state
    message = refused(node_state, service, external_wrenches=[wrench('hand', PUSH)], **more)
    assert "'hand'" in message and 'elbow_link' in message
    message = refused(node_state, service, external_wrenches=[wrench('elbow_link',
                                                                     PUSH * math.nan)],
                      **more)
    assert message.startswith('external_wrenches[0] is [nan')


@pytest.mark.parametrize(('service', 'more'), DRIVEN)
def test_efforts_that_are_not_measured_are_named(service, more):
    """Positions alone are not enough."""
    node_state = node_state_of(TWO_JOINTS)
    measure(node_state, np.zeros(2), np.zeros(2))
    assert refused(node_state, service, **more).startswith('no effort of shoulder, elbow:')
    for bad, words in (([0.1] * 3, 'effort has 3 entries; expected a multiple of 2, one row'),
                       ([0.1, math.nan], 'effort[1] is nan')):
        assert refused(node_state, service, effort=bad, **more).startswith(words)


def test_an_effort_is_needed_only_where_the_acceleration_is_not_given():
    """The other efforts are not needed."""
    node_state = node_state_of(TWO_JOINTS)
    measure(node_state, np.zeros(2), np.zeros(2))
    request = {'question': 'hybrid', **whole_state()}
    assert refused(node_state, 'dynamics_derivatives', acceleration_given=[True, False],
                   **request).startswith('no effort of elbow:')
    reply = ask(node_state, 'dynamics_derivatives', acceleration_given=[True, True], **request)
    assert stamp_of(reply) == 0


def test_acceleration_given_has_one_entry_per_joint():
    """Or none."""
    message = refused(scene(TWO_JOINTS).node_state, 'dynamics_derivatives', question='hybrid',
                      acceleration_given=[True])
    assert message.startswith('acceleration_given has 1 entries; expected 2')


@pytest.mark.parametrize(('service', 'more'), BOTH)
def test_a_joint_without_inertia_is_named_by_forward_dynamics(service, more):
    """The torques of a needle about its axis are defined, its acceleration is not."""
    node_state = node_state_of(NEEDLE)
    request = {**whole_state(3), **more}
    if more.get('question') == 'inverse':
        reply = ask(node_state, service, **request)
        assert np.reshape(reply.by_input, (3, 3))[2, 2] == 0.0
    else:
        message = refused(node_state, service, effort=[0.1] * 3, **request)
        assert message.startswith("joint 'spin' moves links")


@pytest.mark.parametrize(('service', 'more'), BOTH)
def test_replies_that_are_too_large_are_refused(service, more):
    """By the limit of all batches."""
    s = scene(TWO_JOINTS)
    numbers = {'hybrid': 12 + 4, None: 16 + 8 + 4}.get(more.get('question'), 12 + 2)
    s.node_state.caps.most['service.max_reply'] = 8 * 10 * numbers   # ten states
    assert ask(s.node_state, service, position=[0.1] * 20, **more).states == 10
    message = refused(s.node_state, service, position=[0.1] * 22, **more)
    assert f'of 11 states: {8 * 11 * numbers}, at most {8 * 10 * numbers} ' in message
