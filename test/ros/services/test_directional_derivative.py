"""Test ~/directional_derivative: the results of the library in the order of the reply."""

import numpy as np
import pytest
from support.differences import STEP, relative
from support.node_states import ask, refused, scene, tree_scene, whole_state, wrench
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS, RATE_BY_DIFFERENCES

from dynamics_node.model.joints import Floating
from dynamics_node.ros.services.directional_derivative import JOINT_RATES

N = 3
INPUTS = {'inverse': ('acceleration',), 'forward': ('effort',),
          'hybrid': ('acceleration', 'effort')}


def rates_of(s, names, question):
    """Return (fields of a request, arguments of the Robot method) that change everything."""
    fields, rates = {}, {}
    for argument, field in JOINT_RATES.items():
        known = field.removesuffix('_rate')
        if known in ('acceleration', 'effort') and known not in INPUTS[question]:
            continue
        x = s.put(names, s.rng.normal(size=s.robot.nv), np.zeros(s.robot.nv))
        fields[field], rates[argument] = s.of(names, x), x
    joints = {body.joint_name: s.rng.normal(size=6) for body in s.robot.model.bodies
              if not isinstance(body.joint, Floating)}
    rates.update(dorigins=joints, daxes=joints, dgravity=s.rng.normal(size=3),
                 dinertias={'l3': s.rng.normal(size=10)}, dwrenches={'l4': s.rng.normal(size=6)})
    numbers = np.concatenate([*joints.values()])
    return {**fields, 'origin_joints': list(joints), 'origin_rates': numbers,
            'axis_joints': list(joints), 'axis_rates': numbers, 'inertia_frames': ['l3'],
            'inertia_rates': rates['dinertias']['l3'], 'gravity_rate': rates['dgravity'],
            'wrench_rates': [wrench('l4', rates['dwrenches']['l4'])]}, rates


@pytest.mark.parametrize(('tree', 'question'), zip(one_of_each_sort(), [*INPUTS, 'inverse']),
                         ids=str)
def test_numbers_are_those_of_the_robot(tree, question):
    """Some joints named, N states, a wrench, every kind of rate."""
    s = tree_scene(tree)
    names, nv = s.some_joints(), s.robot.nv
    push = s.rng.normal(size=6)
    q = np.array([s.put(names, s.robot.random_configuration(s.rng), s.q, 'q') for _ in range(N)])
    default = {'acceleration': np.zeros(nv), 'effort': np.zeros(nv)}
    inputs = {name: s.put(names, s.rng.normal(size=nv), default[name])
              for name in INPUTS[question]}
    if question == 'forward':   # what is not named is measured
        inputs['effort'] = s.put(names, inputs['effort'], s.tau)
    fields, rates = rates_of(s, names, question)
    reply = ask(s.node_state, 'directional_derivative', question=question, joint_names=names,
                position=s.of(names, q, 'q').ravel(), external_wrenches=[wrench('l2', push)],
                **{name: s.of(names, x) for name, x in inputs.items()}, **fields)
    state = [q, s.v, *inputs.values()]
    if question == 'hybrid':    # the named joints are driven, the others stand still
        given = s.put(names, np.zeros(nv), np.ones(nv)).astype(bool)
        state.append(given)
    found = getattr(s.robot, f'{question}_dynamics_directional_derivative')(
        *state, wrenches={'l2': push}, **rates)
    found = found if isinstance(found, tuple) else (found,)
    order = s.of(s.reply_order(names), np.arange(nv))
    assert reply.states == N
    outputs = {'inverse': ('effort',), 'forward': ('acceleration',),
               'hybrid': ('acceleration', 'effort')}[question]
    for name, want in zip(outputs, found):
        got = np.reshape(getattr(reply, f'{name}_rate'), (N, nv))
        assert relative(got, want[:, order]) < EXACT_MATHS
    assert (len(reply.effort_rate) == 0) == ('effort' not in outputs)


def test_an_encoder_offset_is_the_slope_of_the_torques():
    """By central differences through ~/inverse_dynamics."""
    s = scene(TWO_JOINTS)
    reply = ask(s.node_state, 'directional_derivative', question='inverse',
                joint_names=['elbow'], position_rate=[1.0])

    def effort(step):
        moved = s.q + step * np.array([name == 'elbow' for name in s.robot.joint_names])
        return np.array(ask(s.node_state, 'inverse_dynamics', position=moved,
                            velocity=s.v).effort)
    slope = (effort(STEP) - effort(-STEP)) / (2.0 * STEP)
    elbow_first = [s.robot.joint_names.index(name) for name in reply.joint_names]
    assert relative(reply.effort_rate, slope[elbow_first]) < RATE_BY_DIFFERENCES


def test_without_rates_nothing_changes():
    """And a rate of a measured state is found without naming a joint."""
    s = scene(TWO_JOINTS)
    for question in INPUTS:
        reply = ask(s.node_state, 'directional_derivative', question=question)
        assert not np.any([*reply.effort_rate, *reply.acceleration_rate])


def test_rates_are_one_row_and_many_states_are_bounded():
    """A row of rates per state is refused, as is a reply that is too large."""
    node_state = scene(TWO_JOINTS).node_state
    assert refused(node_state, 'directional_derivative', question='inverse', **whole_state(),
                   velocity_rate=[1.0] * 4).startswith('velocity_rate has 4 entries; expected 2')
    node_state.caps.most['service.max_reply'] = 8
    assert 'service.max_reply' in refused(node_state, 'directional_derivative',
                                          question='inverse', **whole_state())
    node_state.caps.most['service.max_frames'] = 1
    assert refused(node_state, 'directional_derivative', question='inverse',
                   origin_joints=['a', 'b']) == 'origin_joints: 2, at most 1 (service.max_frames)'
