"""Test the state of a request: given fields, the rest as measured; and the header of a reply."""

import numpy as np
import pytest
from support.node_states import (
    FIELDS,
    MORE,
    NOW,
    ask,
    measure,
    node_state_of,
    refused,
    scene,
    tree_scene,
    whole_state,
)
from support.random_trees import one_of_each_sort
from support.reply_stamps import stamp_of
from support.tiny_robots import EVERY_KIND, TWO_JOINTS

from dynamics_node.example_robots import ARM7

SECOND = 1_000_000_000  # [ns]


@pytest.mark.parametrize('tree', one_of_each_sort(), ids=str)
@pytest.mark.parametrize('given', ['', 'position', 'velocity', 'position velocity'])
def test_fields_that_are_left_out_are_measured(tree, given):
    """Any subset of the joints in any order; the reply names those first, then the others."""
    s = tree_scene(tree)
    for _ in range(5):
        names = s.some_joints()
        other = {'position': s.robot.random_configuration(s.rng),
                 'velocity': s.rng.normal(size=s.robot.nv)}
        which, measured = {'position': 'q', 'velocity': 'v'}, {'position': s.q, 'velocity': s.v}
        fields = {name: s.of(names, other[name], which[name]) for name in given.split()}
        q, v = (s.put(names, other[name], measured[name], which[name]) if name in fields
                else measured[name] for name in ('position', 'velocity'))
        reply = ask(s.node_state, 'inverse_dynamics', joint_names=names, **fields)
        order = s.reply_order(names)
        assert reply.joint_names == order
        want = s.robot.inverse_dynamics(q, v, np.zeros(s.robot.nv))
        assert reply.effort.tolist() == s.of(order, want).tolist()


def test_no_names_stand_for_all_joints_in_the_order_of_the_model():
    """As the model report has them."""
    s = scene(EVERY_KIND)
    reply = ask(s.node_state, 'inverse_dynamics', position=s.q, velocity=s.v)
    assert reply.joint_names == list(s.robot.joint_names) == ['lift', 'turn', 'drift', 'elbow']
    assert reply.joint_names == ask(s.node_state, 'model_report').joint_names
    want = s.robot.inverse_dynamics(s.q, s.v, np.zeros(s.robot.nv))
    assert reply.effort.tolist() == want.tolist()


def test_a_request_does_not_change_the_measured_state():
    """Also one that gives other numbers."""
    s = scene(EVERY_KIND)
    before = [x.tobytes() for x in (s.node_state.measured_state.q, s.node_state.measured_state.v,
                                    s.node_state.measured_state.effort)]
    for service in FIELDS:
        assert ask(s.node_state, service, joint_names=['elbow'], position=[0.7], velocity=[0.8],
                   **MORE.get(service, {})).success
    assert [x.tobytes() for x in (s.node_state.measured_state.q, s.node_state.measured_state.v,
                                  s.node_state.measured_state.effort)] == before


# Stamps --------------------------------------------------------------------------------------

@pytest.fixture
def aged():
    """The shoulder measured 3 s ago, the elbow 5 s ago."""
    node_state = node_state_of(TWO_JOINTS)
    for name, age in (('shoulder', 3), ('elbow', 5)):
        measure(node_state, np.array([0.1, 0.2]), np.array([1.0, 2.0]), np.array([10.0, 20.0]),
                age * SECOND, [name])
    return node_state


@pytest.mark.parametrize(('fields', 'age'), [
    ({}, 5), ({'joint_names': ['shoulder']}, 5),
    ({'joint_names': ['shoulder'], **whole_state(1)}, 5),
    ({'joint_names': ['elbow'], **whole_state(1)}, 3),
    ({'joint_names': ['elbow'], 'position': [0.1]}, 5),
    ({'position': [0.1, 0.2]}, 5), ({'velocity': [0.1, 0.2]}, 5), (whole_state(), None)])
@pytest.mark.parametrize('service', FIELDS)
def test_the_stamp_is_that_of_the_oldest_measurement_that_was_used(aged, service, fields, age):
    """And the age is its age; both are zero where none was used."""
    more = MORE.get(service, {})
    if service == 'kinematics' and 'position' in fields and 'velocity' not in fields:
        fields = {**fields, 'jacobian_rates': True}   # reads velocities, unlike poses
    if 'effort' in FIELDS[service]:
        more = {**more, 'effort': [1.0] * len(fields.get('joint_names', [1, 2]))}
    reply = ask(aged, service, **fields, **more)
    assert stamp_of(reply) == (0 if age is None else NOW - age * SECOND)
    assert reply.state_age == (0.0 if age is None else pytest.approx(age))


@pytest.mark.parametrize(('fields', 'age'), [
    ({}, 5), ({'effort': [1.0, 2.0]}, None)])
def test_the_stamp_includes_measured_efforts(aged, fields, age):
    """Also where position and velocity are given."""
    reply = ask(aged, 'forward_dynamics', **whole_state(), **fields)
    assert stamp_of(reply) == (0 if age is None else NOW - age * SECOND)


@pytest.mark.parametrize(('given', 'age'), [([True, True], None), ([True, False], 5),
                                            ([False, True], 3), ([], 5)])
@pytest.mark.parametrize('service', ['hybrid_dynamics', 'batch_dynamics'])
def test_the_stamp_excludes_unused_efforts(aged, service, given, age):
    """Where the acceleration is given, the measured effort is not used."""
    more = {'question': 'hybrid'} if service == 'batch_dynamics' else {}
    reply = ask(aged, service, acceleration_given=given, **whole_state(), **more)
    assert stamp_of(reply) == (0 if age is None else NOW - age * SECOND)


def test_a_state_that_is_too_old_is_refused_by_joint():
    """The limit is a parameter; a request that needs no such state is served."""
    node_state = node_state_of(TWO_JOINTS, max_state_age=4.0)
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2), 3 * SECOND, ['shoulder'])
    measure(node_state, np.zeros(2), np.zeros(2), np.zeros(2), 5 * SECOND, ['elbow'])
    message = refused(node_state, 'inverse_dynamics')
    assert message == ("position and velocity of 'elbow' was measured 5.000 s ago, and "
                       'max_state_age is 4 s (a parameter; 0: no limit)')
    assert "effort of 'elbow'" in refused(node_state, 'forward_dynamics', **whole_state())
    assert ask(node_state, 'inverse_dynamics', joint_names=['elbow'], **whole_state(1)).success
    assert ask(node_state, 'inverse_dynamics', **whole_state()).success


def test_any_number_of_joint_orders_is_served():
    """The cache of orders is bounded."""
    s = scene(ARM7.read_text())
    for _ in range(300):
        names = s.some_joints()
        reply = ask(s.node_state, 'inverse_dynamics', joint_names=names)
        assert reply.joint_names == s.reply_order(names)


def test_the_model_id_is_that_of_the_robot_in_use():
    """Also during a transition, where the robot changes at every call."""
    times = np.linspace(101.0, 109.0, 40).tolist()

    def carrying():
        s = scene(TWO_JOINTS)
        s.node_state.current_robot.set_payload('box', ('elbow_link', 2.0, (0.1, 0.2, 0.3),
                                                       np.zeros((3, 3))), 10.0)
        return s.node_state
    still, ids = carrying(), {}
    for still.clocks.seconds in times:
        reply = ask(still, 'inverse_dynamics')
        ids[min(reply.effort), max(reply.effort)] = reply.model_id
    assert len(set(ids.values())) == len(times)
    moving, looks = carrying(), iter(times)
    moving.current_robot._clock = lambda: next(looks)
    for names in (['elbow'], ['elbow', 'shoulder'], ['shoulder']):  # orders not seen before
        reply = ask(moving, 'inverse_dynamics', joint_names=names)
        assert reply.model_id == ids[min(reply.effort), max(reply.effort)]
