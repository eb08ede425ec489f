"""Test ~/derivative_terms: the results of the library in the order of the reply."""

import numpy as np
import pytest
from support.differences import relative
from support.node_states import ask, node_state_of, refused, scene, tree_scene, whole_state
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS

N = 2
MATRICES = ('mass_matrix_derivatives', 'christoffel_symbols', 'gravity_stiffness')


def array(reply, name, *shape):
    return np.reshape(getattr(reply, name), (N, *shape))


@pytest.mark.parametrize('tree', one_of_each_sort()[1:3], ids=str)
def test_numbers_are_those_of_the_robot(tree):
    """Every term of N states, for some joints named and the others measured."""
    s = tree_scene(tree)
    names, nv = s.some_joints(), s.robot.nv
    order = s.of(s.reply_order(names), np.arange(nv))
    q = np.array([s.put(names, s.robot.random_configuration(s.rng), s.q, 'q') for _ in range(N)])
    a, weights, *along = (s.put(names, s.rng.normal(size=nv), np.zeros(nv)) for _ in range(5))
    reply = ask(s.node_state, 'derivative_terms', joint_names=names,
                position=s.of(names, q, 'q').ravel(), acceleration=s.of(names, a),
                weights=s.of(names, weights), regressor=True, friction=True, armature=True,
                **dict.fromkeys(MATRICES, True),
                **{f'{name}_direction': s.of(names, x) for name, x in zip(
                    ('position', 'velocity', 'acceleration'), along)})
    for name in MATRICES:
        want = getattr(s.robot, name)(q)
        rank = want.ndim - 1
        want = want[(slice(None), *np.ix_(*[order] * rank))]
        assert relative(array(reply, name, *[nv] * rank), want) < EXACT_MATHS
    product = s.robot.inverse_dynamics_hessian_product(q, s.v, a, weights, *along)
    for name, want in zip(('position', 'velocity', 'acceleration'), product):
        assert relative(array(reply, f'{name}_gradient_rate', nv), want[:, order]) < EXACT_MATHS
    assert tuple(reply.frames) == s.robot.body_names
    assert reply.columns == 10 * len(reply.frames) + 3 * nv


def test_a_regressor_times_parameters_is_the_effort():
    """With the columns of friction and rotors in the order of the reply's joints."""
    s = tree_scene(one_of_each_sort()[0])
    names, model = s.some_joints(), s.robot.model
    reply = ask(s.node_state, 'derivative_terms', joint_names=names, regressor=True, friction=True,
                armature=True)
    order = s.of(s.reply_order(names), np.arange(s.robot.nv))
    parameters = np.concatenate([s.robot.inertial_parameters, model.damping[order],
                                 model.friction[order], model.armature[order]])
    Y = np.reshape(reply.regressor, (s.robot.nv, reply.columns))
    effort = ask(s.node_state, 'inverse_dynamics', joint_names=names).effort
    assert relative(Y @ parameters, effort) < EXACT_MATHS


def test_only_what_is_requested_is_in_the_reply():
    """And a velocity is asked for only where it is read."""
    node_state = node_state_of(TWO_JOINTS)   # nothing is measured
    reply = ask(node_state, 'derivative_terms', position=[0.1, 0.2], gravity_stiffness=True)
    assert len(reply.gravity_stiffness) == 4
    assert not any(map(len, (reply.regressor, reply.christoffel_symbols, reply.frames)))
    assert 'velocity' in refused(node_state, 'derivative_terms', position=[0.1, 0.2],
                                 regressor=True)


def test_a_reply_that_is_too_large_is_refused():
    """Before it is computed: every term counts."""
    node_state = scene(TWO_JOINTS).node_state
    for request, numbers in (({'christoffel_symbols': True}, 8), ({'gravity_stiffness': True}, 4),
                             ({'regressor': True, 'friction': True}, 48),
                             ({'weights': [1.0, 1.0]}, 6)):
        node_state.caps.most['service.max_reply'] = 8 * numbers
        ask(node_state, 'derivative_terms', **whole_state(), **request)
        node_state.caps.most['service.max_reply'] = 8 * numbers - 1
        assert 'service.max_reply' in refused(node_state, 'derivative_terms', **whole_state(),
                                              **request)
