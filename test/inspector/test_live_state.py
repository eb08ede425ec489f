"""Test the words for the state of a node, and named numbers in the order of the robot."""

import numpy as np
import pytest
from support import small_robots
from support.watched_stand_in import named

from dynamics_node.inspector.live_state import (
    LiveBase,
    LiveState,
    configuration_of,
    status_text,
    vector_of,
    velocity_of,
    without_old,
)

POSITIONS = named({'upper_joint': 0.1, 'lower_joint': 0.2, 'another': 9.0}, 100.0)
LIVE = LiveState(True, position=POSITIONS, gate='enabled', mode='gravity')
BASE = LiveBase('base', '/odom', np.array([1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5]), np.arange(6.0),
                100.0)


@pytest.fixture(scope='module')
def robot():
    return small_robots.arm(compile=False)


@pytest.mark.parametrize(('state', 'now', 'kind', 'words'), [
    (LIVE._replace(node_exists=False), 100.1, 'disconnected', 'no node /n is running'),
    (LIVE._replace(position=None), 100.1, 'loading', 'no joint states yet of upper_joint'),
    (LIVE._replace(position=named({'upper_joint': 0.0}, 100.0)), 100.1, 'loading',
     'of lower_joint.'),
    (LIVE, 107.0, 'silent', 'No joint states for 7 s'),
    (LIVE._replace(position=POSITIONS._replace(arrived={
        'upper_joint': 93.0, 'lower_joint': 100.0})), 100.1, 'silent',
     'No joint states of upper_joint for 7 s'),
    (LIVE._replace(position=named({'upper_joint': np.nan, 'lower_joint': np.inf}, 100.0)), 100.1,
     'silent', 'The position of upper_joint, lower_joint is not a finite number'),
    (LIVE._replace(gate='fault', fault='x is too fast'), 107.0, 'silent', 'FAULT: x is too fast'),
    (LIVE._replace(gate='fault', fault='joint_2 is too fast'), 100.1, 'fault',
     'FAULT: joint_2 is too fast'),
    (LIVE._replace(gate='fault', base=LiveBase('base', '/odom')), 100.1, 'fault',
     'safe torque. No base state on /odom yet: the base is drawn at its neutral pose'),
    (LIVE._replace(gate='fault', base=BASE._replace(refusal='no link')), 100.1, 'fault',
     'The base state is refused: no link.'),
    (LIVE._replace(health='old: x'), 100.1, 'live', 'Torques: enabled, mode gravity. old: x.'),
    (LIVE._replace(last_refusal='it begins elsewhere'), 100.1, 'live',
     'Last refused reference: it begins elsewhere.'),
    (LIVE._replace(base=BASE), 100.1, 'live', 'Torques: enabled, mode gravity.'),
    (LIVE._replace(base=BASE._replace(arrived=93.0)), 100.1, 'silent',
     'No base state on /odom for 7 s. What is shown is old.'),
    (LIVE._replace(base=BASE._replace(arrived=93.0, refusal='no link')), 100.1, 'silent',
     'for 7 s (no link).'),
    (LIVE._replace(base=LiveBase('base', '/odom')), 100.1, 'live',
     'No base state on /odom yet: the base is drawn at its neutral pose'),
    (LIVE._replace(base=LiveBase('base', '/odom', refusal='no link')), 100.1, 'live',
     'those of that pose. The base state is refused: no link.')])
def test_each_state_is_said_in_words(robot, state, now, kind, words):
    found = status_text('/n', state, robot, now)
    assert found.kind == kind and words in found.text


def test_a_node_without_a_description_is_loading():
    found = status_text('/n', LIVE, None, 100.1)
    assert found.kind == 'loading' and 'robot_description' in found.text


def test_a_floating_base_has_the_pose_and_the_twist_that_arrived():
    robot = small_robots.arm(base='floating', compile=False)
    base = BASE._replace(joint=robot.joint_names[0])
    q = configuration_of(robot, POSITIONS, base=base)
    assert q.tolist() == [*BASE.q, 0.1, 0.2]
    v = velocity_of(robot, named({'lower_joint': 3.0}, 0.0), base)
    assert v.tolist() == [*BASE.v, 0.0, 3.0]
    unknown = LiveBase(base.joint, '/odom')
    assert configuration_of(robot, None, base=unknown).tolist() == robot.neutral().tolist()
    assert velocity_of(robot, None, unknown).tolist() == [0.0] * 8


def test_numbers_are_taken_by_name(robot):
    """Joints of other robots are ignored, missing and unknown numbers get the default."""
    assert configuration_of(robot, POSITIONS).tolist() == [0.1, 0.2]
    assert configuration_of(robot, None).tolist() == [0.0, 0.0]
    assert vector_of(robot, named({'lower_joint': 3.0}, 0.0)).tolist() == [0.0, 3.0]
    assert vector_of(robot, named({'lower_joint': np.nan}, 0.0)).tolist() == [0.0, 0.0]
    assert vector_of(robot, named({'lower_joint': np.inf}, 0.0)).tolist() == [0.0, 0.0]
    assert np.isnan(vector_of(robot, None, np.nan)).all()


def test_old_numbers_are_left_out_joint_by_joint():
    """Positions are kept, since their age is said in words."""
    old, new = named({'upper_joint': 1.0}, 90.0), named({'lower_joint': 2.0}, 99.0)
    state = LIVE._replace(wanted=old, released=old, reference=old, external=old, error=new,
                          effort=type(old)({**old.values, **new.values},
                                           {**old.arrived, **new.arrived}))
    found = without_old(state, 100.0)
    assert found.wanted is found.released is found.reference is found.external is None
    assert found.error.values == found.effort.values == {'lower_joint': 2.0}
    assert found.position == POSITIONS


def test_a_reference_that_is_not_finite_is_left_out():
    bad = named({'upper_joint': np.nan, 'lower_joint': 1.0}, 100.0)
    found = without_old(LIVE._replace(reference=bad, wanted=bad), 100.0)
    assert found.reference is None and found.wanted is not None
