"""Test batches: the results of single states, and fields that are left out or repeated."""

import numpy as np
import pytest
from support.differences import relative
from support.node_states import ask, refused, scene, tree_scene, wrench
from support.random_trees import one_of_each_sort
from support.reply_stamps import stamp_of
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS

N = 5
ANSWERS = {'inverse': ('effort',), 'forward': ('acceleration',),
           'hybrid': ('acceleration', 'effort'),
           'terms': ('mass_matrix', 'coriolis_matrix', 'coriolis', 'gravity', 'friction',
                     'kinetic_energy', 'potential_energy')}
GIVEN = {'inverse': ('acceleration',), 'forward': ('effort',),
         'hybrid': ('acceleration', 'effort'), 'terms': ()}
SINGLE = {'inverse': 'inverse_dynamics', 'forward': 'forward_dynamics',
          'hybrid': 'hybrid_dynamics', 'terms': 'dynamics_terms'}


def rows(s, names, n):
    """Return n states of some joints: {field: (n, entries)}."""
    whole = {'position': np.array([s.robot.random_configuration(s.rng) for _ in range(n)]),
             'velocity': s.rng.normal(size=(n, s.robot.nv)),
             'acceleration': s.rng.normal(size=(n, s.robot.nv)),
             'effort': s.rng.normal(size=(n, s.robot.nv))}
    return {field: s.of(names, x, 'q' if field == 'position' else 'v')
            for field, x in whole.items()}


def one_by_one(s, question, fields, more):
    """Return the results of the services for single states, row by row."""
    for k in range(N):
        reply = ask(s.node_state, SINGLE[question], **more, **{
            field: x[k if len(x) > 1 else 0] for field, x in fields.items()})
        yield [np.ravel(getattr(reply, answer)) for answer in ANSWERS[question]]


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
@pytest.mark.parametrize('question', ANSWERS)
def test_a_batch_gives_the_results_of_single_states(tree, question):
    """Any subset of joints in any order; each array N rows, one row, or left out."""
    s = tree_scene(tree)
    for _ in range(3):
        names = s.some_joints()
        many, one = rows(s, names, N), rows(s, names, 1)
        fields = {field: (many, one)[s.rng.integers(0, 2)][field]
                  for field in ('position', 'velocity', *GIVEN[question]) if s.rng.integers(0, 3)}
        fields['position'] = many['position']  # so that there are N
        more = {'joint_names': names}
        if question != 'terms':
            more['external_wrenches'] = [wrench('l3', s.rng.normal(size=6))]
        if question == 'hybrid':
            more['acceleration_given'] = [bool(x) for x in s.rng.integers(0, 2, len(names))]
        reply = ask(s.node_state, 'batch_dynamics', question=question, **more,
                    **{field: x.ravel() for field, x in fields.items()})
        assert reply.states == N
        assert reply.joint_names == s.reply_order(names)
        for answer, singles in zip(ANSWERS[question],
                                   zip(*one_by_one(s, question, fields, more))):
            assert relative(getattr(reply, answer), np.concatenate(singles)) < EXACT_MATHS
        for answer in {x for answers in ANSWERS.values() for x in answers} - {*ANSWERS[question]}:
            assert len(getattr(reply, answer)) == 0  # nothing that was not asked for


@pytest.mark.parametrize('question', ANSWERS)
def test_a_single_state_is_a_batch_of_one(question):
    """An empty request uses the measured state."""
    s = scene(TWO_JOINTS)
    given = ask(s.node_state, 'batch_dynamics', question=question, position=s.q, velocity=s.v)
    measured = ask(s.node_state, 'batch_dynamics', question=question)
    assert given.states == measured.states == 1
    for answer in ANSWERS[question]:
        assert len(getattr(given, answer)) > 0
        assert getattr(given, answer) == getattr(measured, answer)
    assert (stamp_of(given) > 0) == (question in ('forward', 'hybrid'))  # measured efforts
    assert stamp_of(measured) > 0


@pytest.mark.parametrize('field', ['velocity', 'acceleration', 'effort'])
def test_rows_that_do_not_match_are_refused_by_field(field):
    """The message has the number of rows of each."""
    s = scene(TWO_JOINTS)
    question = 'forward' if field == 'effort' else 'inverse'
    message = refused(s.node_state, 'batch_dynamics', question=question, position=[0.1] * 6,
                      **{field: [0.1] * 4})
    assert message == ('all fields must have the same number of states, or one; position has 3, '
                       f'{field} has 2')


def test_rows_of_a_floating_base_are_seven_and_six():
    """The number of states is found from each by its own size."""
    s = scene(TWO_JOINTS, base='floating')
    names = ['floating_base']
    states = rows(s, names, N)
    reply = ask(s.node_state, 'batch_dynamics', question='inverse', joint_names=names,
                position=states['position'].ravel(), velocity=states['velocity'].ravel())
    assert reply.states == N
    assert len(reply.effort) == N * s.robot.nv
    message = refused(s.node_state, 'batch_dynamics', question='inverse', joint_names=names,
                      position=[0.1] * 12, velocity=[0.1] * 12)
    assert message.startswith('position has 12 entries; expected a multiple of 7, one row per '
                              'state, for the joints floating_base')


@pytest.mark.parametrize('question', ['', 'Inverse', 'derivatives'])
def test_an_unknown_kernel_is_refused_with_the_known_ones(question):
    """Even where all else is valid."""
    message = refused(scene(TWO_JOINTS).node_state, 'batch_dynamics', question=question)
    assert message == f"question is '{question}'; valid choices are inverse, forward, hybrid, terms"


def test_a_state_that_is_not_finite_is_refused_with_its_index():
    """The index counts through all rows."""
    s = scene(TWO_JOINTS)
    bad = [0.1] * 10
    bad[7] = np.nan
    message = refused(s.node_state, 'batch_dynamics', question='inverse', position=bad)
    assert message == 'position[7] is nan; every entry must be finite'


def test_replies_that_are_too_large_are_refused_before_they_are_computed():
    """The message has the size and the limit."""
    s = scene(TWO_JOINTS)
    s.node_state.caps.most['service.max_reply'] = 8 * 2 * 7 * 10   # ten states
    assert ask(s.node_state, 'batch_dynamics', question='terms', position=[0.1] * 20).states == 10
    message = refused(s.node_state, 'batch_dynamics', question='terms', position=[0.1] * 22)
    assert message == 'bytes of the terms of 11 states: 1232, at most 1120 (service.max_reply)'
