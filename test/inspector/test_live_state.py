"""Test the words for the state of a node, and named numbers in the order of the robot."""

import numpy as np
import pytest
from support import small_robots

from dynamics_node.inspector.live_state import (
    LiveState,
    NamedValues,
    configuration_of,
    status_text,
    vector_of,
)

POSITIONS = NamedValues({'upper_joint': 0.1, 'lower_joint': 0.2, 'another': 9.0}, arrived=100.0)
LIVE = LiveState(True, '<robot/>', POSITIONS, gate='enabled', mode='gravity')


@pytest.fixture(scope='module')
def robot():
    return small_robots.arm(compile=False)


@pytest.mark.parametrize(('state', 'now', 'kind', 'words'), [
    (LIVE._replace(node_exists=False), 100.1, 'disconnected', 'no node /n is running'),
    (LIVE._replace(position=None), 100.1, 'loading', 'no joint states yet of upper_joint'),
    (LIVE._replace(position=NamedValues({'upper_joint': 0.0}, 100.0)), 100.1, 'loading',
     'of lower_joint.'),
    (LIVE, 107.0, 'silent', 'No joint states for 7 s'),
    (LIVE._replace(gate='fault', fault='joint_2 is too fast'), 100.1, 'fault',
     'FAULT: joint_2 is too fast'),
    (LIVE._replace(health='old: x'), 100.1, 'live', 'Torques: enabled, mode gravity. old: x.')])
def test_each_state_is_said_in_words(robot, state, now, kind, words):
    found = status_text('/n', state, robot, now)
    assert found.kind == kind and words in found.text


def test_a_node_without_a_description_is_loading():
    found = status_text('/n', LIVE, None, 100.1)
    assert found.kind == 'loading' and 'robot_description' in found.text


def test_numbers_are_taken_by_name(robot):
    """Joints of other robots are ignored, missing and unknown numbers get the default."""
    assert configuration_of(robot, POSITIONS).tolist() == [0.1, 0.2]
    assert configuration_of(robot, None).tolist() == [0.0, 0.0]
    assert vector_of(robot, NamedValues({'lower_joint': 3.0}, 0.0)).tolist() == [0.0, 3.0]
    assert vector_of(robot, NamedValues({'lower_joint': np.nan}, 0.0)).tolist() == [0.0, 0.0]
    assert np.isnan(vector_of(robot, None, np.nan)).all()
