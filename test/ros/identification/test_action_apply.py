"""Test that an identified robot is applied only to the robot that was identified, without DDS."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.node_states import node_state_of
from support.recorded_arm import THREE_JOINTS

from dynamics_node.action import Identify
from dynamics_node.ros.identification.action import IdentificationServer
from dynamics_node.ros.identification.jobs import Outcome
from dynamics_node.ros.parameters.declared import ModelParameters
from dynamics_node.ros.services.identify import identify_job

ARRAYS = ('before', 'values', 'sigmas', 'rms_before', 'rms_after', 'rms_torque')
OUTCOME = Outcome(**{
    **dict.fromkeys(Outcome._fields, ()), **dict.fromkeys(ARRAYS, np.zeros(0)),
    **dict.fromkeys(('error', 'error_share', 'gain', 'condition'), 1.0),
    'determined': np.zeros(0, dtype=bool), 'samples': 100, 'urdf': '', 'friction_yaml': '',
    'drive': {}, 'files': []})
LOAD = 'wrist_link', 1.0, (0.0, 0.0, 0.1), np.zeros((3, 3))
SPRINGS = 'springs: [{name: balance, joint: elbow, stiffness: 20.0}]'


def applied(change):
    """Return (result, outcomes that were applied) of a goal during which the robot is changed."""
    node_state, used, results = node_state_of(THREE_JOINTS, shared_folders=('/',)), [], []
    goal = Identify.Goal(recording='/a.csv', apply=True)
    job = identify_job(node_state, goal)
    change(node_state.current_robot)
    server = SimpleNamespace(
        _node_state=node_state, _may_apply=lambda: None, _apply=used.append,
        _server=SimpleNamespace(finish=lambda handle, end, result: results.append((end, result))))
    handle = SimpleNamespace(request=goal, succeed='succeed', abort='abort')
    IdentificationServer.end_goal(server, handle, job, OUTCOME)
    (end, result), = results
    assert (end == 'succeed') == result.success
    return result, used


def test_the_robot_of_the_goal_is_replaced():
    """A payload that comes and goes does not count."""
    def change(current):
        current.set_payload('tool', LOAD, 0.0)
        current.remove_payload('tool', 0.0)
    for each in (lambda current: None, change):
        result, used = applied(each)
        assert result.success and used == [OUTCOME], result.message


@pytest.mark.parametrize('change', [
    lambda current: current.set_payload('tool', LOAD, 0.0),
    lambda current: current.set_payload('tool', LOAD, 1000.0),
    lambda current: current.set_gravity((0.0, 0.0, -1.6)),
    lambda current: current.set_friction({'elbow': 3.0}, {}),
    lambda current: reloaded(current, springs=SPRINGS)],
    ids=['payload', 'payload in transition', 'gravity', 'friction', 'springs'])
def test_a_robot_that_was_changed_is_not_replaced(change):
    result, used = applied(change)
    assert not result.success and used == []
    assert result.message.startswith('identified, but not applied: the robot was changed meanwhile')


def reloaded(current, **parameters):
    """Load the same description with other parameters."""
    current.load(current.text, ModelParameters(**parameters))
