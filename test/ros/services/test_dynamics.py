"""Test inverse, forward and hybrid dynamics of named joints against Robot."""

import math

import numpy as np
import pytest
from support.differences import relative
from support.node_states import ask, refused, scene, tree_scene, wrench
from support.random_trees import one_of_each_sort
from support.tiny_robots import TWO_JOINTS
from support.tolerances import EXACT_MATHS, SOLVED

SERVICES = ('inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics')


def given_some(s, values, measured):
    """Return some joints, their entries of some values, and the values that this stands for."""
    names = s.some_joints()
    return names, s.of(names, values), s.put(names, values, measured)


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_inverse_dynamics_uses_zero_acceleration_for_other_joints(tree):
    """Any subset in any order."""
    s = tree_scene(tree)
    for _ in range(5):
        names, part, a = given_some(s, s.rng.normal(size=s.robot.nv), np.zeros(s.robot.nv))
        reply = ask(s.node_state, 'inverse_dynamics', joint_names=names, acceleration=part)
        want = s.robot.inverse_dynamics(s.q, s.v, a)
        assert reply.effort.tolist() == s.of(reply.joint_names, want).tolist()


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_forward_dynamics_uses_measured_efforts_of_other_joints(tree):
    """Zero for joints without a motor."""
    s = tree_scene(tree)
    for _ in range(5):
        names, part, tau = given_some(s, s.rng.normal(size=s.robot.nv), s.tau)
        reply = ask(s.node_state, 'forward_dynamics', joint_names=names, effort=part)
        want = s.robot.forward_dynamics(s.q, s.v, tau)
        assert reply.acceleration.tolist() == s.of(reply.joint_names, want).tolist()
    as_measured = ask(s.node_state, 'forward_dynamics').acceleration.tolist()
    assert as_measured == s.robot.forward_dynamics(s.q, s.v, s.tau).tolist()


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_each_joint_has_its_acceleration_or_its_effort_given(tree):
    """Other joints keep their velocity; named ones have one of the two, by the mask."""
    s = tree_scene(tree)
    nv = s.robot.nv
    for _ in range(5):
        names = s.some_joints()
        said = [bool(x) for x in s.rng.integers(0, 2, len(names))]
        acceleration, effort = s.rng.normal(size=(2, nv))
        reply = ask(s.node_state, 'hybrid_dynamics', joint_names=names, acceleration_given=said,
                    acceleration=s.of(names, acceleration), effort=s.of(names, effort))
        given = np.ones(nv, dtype=bool)
        for name, value in zip(names, said):
            given[s.robot.model.joint(name).v] = value
        want = s.robot.hybrid_dynamics(s.q, s.v, s.put(names, acceleration, np.zeros(nv)),
                                       s.put(names, effort, np.zeros(nv)), given)
        for got, x in zip((reply.acceleration, reply.effort), want):
            assert got.tolist() == s.of(reply.joint_names, x).tolist()
        # what was given comes back, and both belong together
        a, tau = (np.array(x) for x in (reply.acceleration, reply.effort))
        again = ask(s.node_state, 'inverse_dynamics', joint_names=reply.joint_names, acceleration=a)
        assert relative(again.effort, tau) < SOLVED
        assert (a[s.of(names, given).nonzero()] ==
                s.of(names, acceleration)[s.of(names, given)]).all()


def test_without_a_mask_the_efforts_are_given_and_measured_where_left_out():
    """As forward dynamics, for the joints that are named."""
    s = scene(TWO_JOINTS)
    want = ask(s.node_state, 'forward_dynamics').acceleration
    assert relative(ask(s.node_state, 'hybrid_dynamics').acceleration, want) < EXACT_MATHS


def test_forward_dynamics_undoes_inverse_dynamics_over_the_services():
    """With a wrench on the way."""
    s = scene(TWO_JOINTS)
    push = [wrench('elbow_link', [1.0, 2.0, 3.0, 0.4, 0.5, 0.6])]
    tau = ask(s.node_state, 'inverse_dynamics', acceleration=[0.7, -0.9],
              external_wrenches=push).effort
    a = ask(s.node_state, 'forward_dynamics', effort=tau, external_wrenches=push).acceleration
    assert a == pytest.approx([0.7, -0.9], rel=SOLVED)


@pytest.mark.parametrize('size', [1, 3])
def test_a_mask_has_one_entry_per_named_joint(size):
    """Also where a joint has several degrees of freedom."""
    s = scene(TWO_JOINTS)
    message = refused(s.node_state, 'hybrid_dynamics', acceleration_given=[True] * size)
    assert message == (f'acceleration_given has {size} entries; expected 2, one per named joint, '
                       'or none')


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
def test_wrenches_act_at_any_link_and_add_up(tree):
    """Two at one link are their sum; the order does not matter."""
    s = tree_scene(tree)
    frames = s.robot.frame_names
    pushes = [(str(s.rng.choice(frames)), s.rng.normal(size=6)) for _ in range(4)]
    pushes += [(pushes[0][0], s.rng.normal(size=6))]
    total = {}
    for frame, six in pushes:
        total[frame] = total.get(frame, np.zeros(6)) + six
    messages = [wrench(*push) for push in pushes]
    reply = ask(s.node_state, 'inverse_dynamics', external_wrenches=messages)
    want = s.robot.inverse_dynamics(s.q, s.v, np.zeros(s.robot.nv), total)
    assert reply.effort.tolist() == want.tolist()
    reply = ask(s.node_state, 'forward_dynamics', external_wrenches=messages)
    want = s.robot.forward_dynamics(s.q, s.v, s.tau, total)
    assert reply.acceleration.tolist() == want.tolist()
    given = [True] * len(s.robot.joint_names)
    reply = ask(s.node_state, 'hybrid_dynamics', external_wrenches=messages,
                acceleration_given=given)
    want = s.robot.inverse_dynamics(s.q, s.v, np.zeros(s.robot.nv), total)
    assert relative(reply.effort, want) < EXACT_MATHS


def test_a_wrench_acts_by_the_transposed_jacobian():
    """The torque is less by J' F, with F in the axes of its link and J at its origin."""
    s = scene(TWO_JOINTS)
    six = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    free, loaded = (np.array(ask(s.node_state, 'inverse_dynamics', external_wrenches=push).effort)
                    for push in ([], [wrench('elbow_link', six)]))
    J = s.robot.jacobian(s.q, 'elbow_link', local=True)
    assert relative(free - loaded, J.T @ six) < EXACT_MATHS


@pytest.mark.parametrize('service', SERVICES)
@pytest.mark.parametrize('frame', ['', 'tool0', 'elbow'])
def test_a_wrench_at_an_unknown_link_is_refused_with_the_known_ones(service, frame):
    """A joint is not a link."""
    s = scene(TWO_JOINTS)
    message = refused(s.node_state, service, external_wrenches=[wrench(frame, np.zeros(6))])
    assert message == f"no frame '{frame}'; the robot has: base, shoulder_link, elbow_link"


@pytest.mark.parametrize('service', SERVICES)
@pytest.mark.parametrize('bad', [math.nan, math.inf])
def test_a_wrench_that_is_not_finite_is_refused_with_its_index(service, bad):
    """Force or torque."""
    s = scene(TWO_JOINTS)
    for k in range(6):
        six = np.zeros(6)
        six[k] = bad
        message = refused(s.node_state, service, external_wrenches=[
            wrench('base', np.zeros(6)), wrench('elbow_link', six)])
        assert message.startswith('external_wrenches[1] is ')
        assert message.endswith('every entry must be finite')
