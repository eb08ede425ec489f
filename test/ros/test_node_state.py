"""Test NodeState: effects of descriptions and parameters on the state, and joint selection."""

import numpy as np
import pytest
from support.node_states import measure, node_state_of
from support.tiny_robots import EVERY_KIND, TWO_JOINTS, chain

from dynamics_node import DynamicsError
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.state.joint_state_bytes import Reading, ReceivedJointState

SECOND = 1_000_000_000  # [ns]


def elbow_at(stamp, position):
    """Return a received joint state of the elbow without velocity."""
    return ReceivedJointState(stamp, Reading(stamp, ('elbow',), (position,), (), ()), b'')


def test_the_state_survives_a_new_description_by_name():
    """Joints that are new have not been measured."""
    node_state = node_state_of(TWO_JOINTS)
    measure(node_state, np.array([0.1, 0.2]), np.array([1.0, 2.0]))
    assert node_state.load(chain(('wrist', 'revolute'), ('elbow', 'revolute')))
    assert node_state.measured_state.q[1] == 0.2
    assert node_state.measured_state.snapshot().never_measured == ['wrist']
    assert node_state.measured_state.model.joints == node_state.robot.model.joints


@pytest.mark.parametrize('source', [TWO_JOINTS, '<robot name="r"/>'])
def test_the_same_description_or_a_bad_one_keeps_the_state(source):
    """It is the same object, and so is the joint selection."""
    node_state = node_state_of(TWO_JOINTS)
    state, selection = node_state.measured_state, node_state.current_robot.select_joints(['elbow'])
    try:
        assert not node_state.load(source)
    except DynamicsError:
        assert source != TWO_JOINTS
    assert node_state.measured_state is state
    assert node_state.current_robot.select_joints(['elbow']) is selection


def test_a_selection_does_not_outlive_its_robot():
    """Another robot has its joints elsewhere."""
    node_state = node_state_of(TWO_JOINTS)
    assert node_state.current_robot.select_joints(['elbow']).named == (1,)
    node_state.load(chain(('elbow', 'revolute'), ('shoulder', 'revolute')))
    assert node_state.current_robot.select_joints(['elbow']).named == (0,)


def test_other_parameters_count_at_once_for_what_is_measured_next():
    """Missing velocities and their filter; the robot is made anew by the next load only."""
    node_state = node_state_of(TWO_JOINTS)
    node_state.use(ModelParameters(missing_velocity='difference', velocity_filter_time=0.0,
                             base='floating'))
    node_state.measured_state.take(0, ['elbow'], [0.0])
    node_state.measured_state.take(SECOND, ['elbow'], [0.5])
    assert node_state.measured_state.v[1] == 0.5
    node_state.use(ModelParameters(missing_velocity='difference', velocity_filter_time=0.1,
                             base='floating'))
    node_state.measured_state.take(2 * SECOND, ['elbow'], [2.0])
    assert node_state.measured_state.v[1] == pytest.approx(0.5 + 1.0 / 1.1)   # towards 1.5
    assert node_state.robot.joint_names == ('shoulder', 'elbow')
    assert node_state.load(TWO_JOINTS)
    assert node_state.robot.joint_names == ('floating_base', 'shoulder', 'elbow')
    node_state.measured_state.take(3 * SECOND, ['elbow'], [3.5])
    before = 0.5 + 1.0 / 1.1   # the state of the new robot handles them alike
    assert node_state.measured_state.v[-1] == pytest.approx(before + (1.5 - before) / 1.1)


def test_a_selection_has_the_indices_of_the_entries_of_a_request():
    """In q and in v, which differ in size behind a floating base."""
    node_state = node_state_of(EVERY_KIND, base='floating')
    selection = node_state.current_robot.select_joints(['elbow', 'drift'])
    assert selection.names == ['elbow', 'drift', 'floating_base', 'lift', 'turn']
    assert selection.q.tolist() == [12, 9, 10, 11]
    assert selection.v.tolist() == [11, 8, 9, 10]
    assert selection.order.tolist() == [11, 8, 9, 10, 0, 1, 2, 3, 4, 5, 6, 7]
    assert not selection.whole


@pytest.mark.parametrize(('names', 'whole'), [
    ([], True), (['shoulder', 'elbow'], True), (['shoulder'], False), (['elbow'], False),
    (['elbow', 'shoulder'], False)])
def test_only_all_joints_in_the_order_of_the_model_are_the_whole_vector(names, whole):
    """The first ones alone are in order, but incomplete."""
    assert node_state_of(TWO_JOINTS).current_robot.select_joints(names).whole is whole


def test_queued_joint_states_are_read_with_the_parameters_of_their_arrival():
    """None is lost by a change, or seen by the next robot only."""
    waiting = []

    def received():
        while waiting:
            yield waiting.pop(0)
    node_state = node_state_of(TWO_JOINTS, received, missing_velocity='fault')
    waiting += [elbow_at(0, 0.0), elbow_at(SECOND, 0.5)]
    node_state.use(ModelParameters(missing_velocity='difference', velocity_filter_time=0.0))
    assert np.isnan(node_state.measured_state.v[1])  # unknown, as declared when they came
    waiting.append(elbow_at(2 * SECOND, 1.5))
    assert node_state.load(TWO_JOINTS.replace('name="', 'name="other_', 1))
    assert waiting == []
    assert (node_state.measured_state.q[1], node_state.measured_state.v[1]) == (1.5, 1.0)
