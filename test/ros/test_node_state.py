"""The desk: what other descriptions or parameters do to the state, and the choice of joints."""

import numpy as np
import pytest
from support.node_states import desk_of, measure
from support.tiny_robots import EVERY_KIND, TWO_JOINTS, chain

from dynamics_node import DynamicsError
from dynamics_node.ros.parameters.declared import ModelParameters

SECOND = 1_000_000_000  # [ns]


def test_the_state_survives_a_new_description_by_name():
    """Joints that are new have not been measured."""
    desk = desk_of(TWO_JOINTS)
    measure(desk, np.array([0.1, 0.2]), np.array([1.0, 2.0]))
    assert desk.load(chain(('wrist', 'revolute'), ('elbow', 'revolute')))
    assert desk.state.q[1] == 0.2
    assert desk.state.never_measured == ['wrist']
    assert desk.state.model.joints == desk.robot.model.joints


@pytest.mark.parametrize('source', [TWO_JOINTS, '<robot name="r"/>'])
def test_the_same_description_or_a_bad_one_leaves_the_state_alone(source):
    """It is the same object, and so is what was chosen before."""
    desk = desk_of(TWO_JOINTS)
    state, choice = desk.state, desk.choose(['elbow'])
    try:
        assert not desk.load(source)
    except DynamicsError:
        assert source != TWO_JOINTS
    assert desk.state is state
    assert desk.choose(['elbow']) is choice


def test_a_choice_does_not_outlive_its_robot():
    """Another robot has its joints elsewhere."""
    desk = desk_of(TWO_JOINTS)
    assert desk.choose(['elbow']).named == (1,)
    desk.load(chain(('elbow', 'revolute'), ('shoulder', 'revolute')))
    assert desk.choose(['elbow']).named == (0,)


def test_other_parameters_count_at_once_for_what_is_measured_next():
    """Missing velocities and their filter; the robot is made anew by the next load only."""
    desk = desk_of(TWO_JOINTS)
    desk.use(ModelParameters(missing_velocity='difference', velocity_filter_time=0.0,
                             base='floating'))
    desk.state.take(0, ['elbow'], [0.0])
    desk.state.take(SECOND, ['elbow'], [0.5])
    assert desk.state.v[1] == 0.5
    desk.use(ModelParameters(missing_velocity='difference', velocity_filter_time=1.0,
                             base='floating'))
    desk.state.take(2 * SECOND, ['elbow'], [2.0])
    assert desk.state.v[1] == 1.0  # halfway from 0.5 to 1.5
    assert desk.robot.joint_names == ('shoulder', 'elbow')
    assert desk.load(TWO_JOINTS)
    assert desk.robot.joint_names == ('floating_base', 'shoulder', 'elbow')
    desk.state.take(3 * SECOND, ['elbow'], [3.5])
    assert desk.state.v[-1] == 1.25  # the state of the new robot handles them alike


def test_a_choice_tells_where_the_entries_of_a_request_go():
    """In q and in v, which differ in size behind a floating base."""
    desk = desk_of(EVERY_KIND, base='floating')
    choice = desk.choose(['elbow', 'drift'])
    assert choice.names == ['elbow', 'drift', 'floating_base', 'lift', 'turn']
    assert choice.q.tolist() == [12, 9, 10, 11]
    assert choice.v.tolist() == [11, 8, 9, 10]
    assert choice.order.tolist() == [11, 8, 9, 10, 0, 1, 2, 3, 4, 5, 6, 7]
    assert not choice.whole


@pytest.mark.parametrize(('names', 'whole'), [
    ([], True), (['shoulder', 'elbow'], True), (['shoulder'], False), (['elbow'], False),
    (['elbow', 'shoulder'], False)])
def test_only_all_joints_in_the_order_of_the_model_are_the_whole_vector(names, whole):
    """The first ones alone come in order, but are not all."""
    assert desk_of(TWO_JOINTS).choose(names).whole is whole


def test_joint_states_that_wait_are_read_under_the_parameters_they_came_under():
    """Nor is one lost by a change, or seen by the next robot only."""
    desk = desk_of(TWO_JOINTS, missing_velocity='zero')
    waiting = [(0, ['elbow'], [0.0]), (SECOND, ['elbow'], [0.5])]

    def catch_up():
        while waiting:
            desk.state.take(*waiting.pop(0))
    desk.catch_up = catch_up
    desk.use(ModelParameters(missing_velocity='difference', velocity_filter_time=0.0))
    assert desk.state.v[1] == 0.0  # zero was declared when they came
    waiting.append((2 * SECOND, ['elbow'], [1.5]))
    assert desk.load(TWO_JOINTS.replace('name="', 'name="other_', 1))
    assert waiting == []
    assert (desk.state.q[1], desk.state.v[1]) == (1.5, 1.0)
