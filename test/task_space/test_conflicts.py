"""Test the names of conflicting tasks and bounds: small sets by hand, and a quadruped."""

import numpy as np
import pytest
from support.standing_robots import BOUNDS, FEET, solo12, state

from dynamics_node.constrained.constraint import Constraint
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.conflicts import RowGroup, conflicting
from dynamics_node.task_space.qp import solve_qp
from dynamics_node.task_space.tasks import Task

NOTHING = np.zeros((0, 2)), np.zeros(0)


def group(name, row, lower, upper):
    return RowGroup(name, np.array([row], dtype=float), np.array([lower]), np.array([upper]))


def test_two_of_many_contradict_each_other():
    """Only those are named."""
    groups = [group('far', [0.0, 1.0], -5.0, 5.0), group('above', [1.0, 0.0], 1.0, np.inf),
              group('equal', [0.0, 1.0], 2.0, 2.0), group('below', [1.0, 0.0], -np.inf, 0.0)]
    assert conflicting(groups, *NOTHING) == ('above', 'below')


def test_constraints_given_as_fixed_are_not_named():
    """Sums of 3 and of 2, beside x <= 1 and y <= 1."""
    groups = [group('x', [1.0, 0.0], -np.inf, 1.0), group('y', [0.0, 1.0], -np.inf, 1.0)]
    assert conflicting(groups, np.ones((1, 2)), np.array([3.0])) == ('x', 'y')
    assert conflicting(groups, np.ones((1, 2)), np.array([2.0])) == ()


@pytest.mark.parametrize('seed', range(10))
def test_the_set_is_minimal(seed):
    """Together they cannot hold; without any one of them they can."""
    rng = np.random.default_rng(seed)
    G, limit = rng.normal(size=(12, 4)), rng.uniform(-1.5, 0.2, size=12)
    groups = [RowGroup(f'{k}', G[k:k + 1], np.array([-np.inf]), limit[k:k + 1]) for k in range(12)]
    names = conflicting(groups, np.zeros((0, 4)), np.zeros(0))
    rows = [int(name) for name in names]

    def can(some):
        return solve_qp(np.eye(4), np.zeros(4), G[some], None, limit[some]).solved
    assert can(list(range(12))) == (not rows)
    assert not rows or not can(rows)
    for row in rows:
        assert can([k for k in rows if k != row])


def test_a_jump_conflicts_with_torque_bounds():
    """The task, and the torque bounds of the legs that would have to push."""
    q, v = state(0, speed=0.0)
    jump = [Task('jump', 'frame', 0, frame='base_link', stiffness=0.0,
                 acceleration=(0.0, 0.0, 90.0, 0.0, 0.0, 0.0))]
    found = solo12().whole_body(q, v, jump, FEET, BOUNDS[:2])
    assert found.status == 'infeasible' and found.torque is None
    assert "task 'jump'" in found.conflict
    assert any(name.startswith('torque of') for name in found.conflict)
    assert solo12().whole_body(q, v, jump, FEET, BOUNDS[1:2]).status == 'solved'


def test_falling_faster_than_gravity_conflicts_with_contacts():
    """Contacts do not pull."""
    q, v = state(0, speed=0.0)
    fall = [Task('fall', 'frame', 0, frame='base_link', stiffness=0.0,
                 acceleration=(0.0, 0.0, -40.0, 0.0, 0.0, 0.0))]
    found = solo12().whole_body(q, v, fall, FEET, BOUNDS[1:2])
    assert found.status == 'infeasible' and "task 'fall'" in found.conflict
    assert any(name.startswith('friction of') for name in found.conflict)


def test_two_exclusive_hard_tasks_are_named():
    """And no bound."""
    q, v = state(0, speed=0.0)
    both = [Task('up', 'frame', 0, frame='base_link', axes=('z',), stiffness=0.0,
                 acceleration=(0.0, 0.0, 0.1, 0.0, 0.0, 0.0)),
            Task('down', 'frame', 0, frame='base_link', axes=('z',), stiffness=0.0,
                 acceleration=(0.0, 0.0, -0.1, 0.0, 0.0, 0.0)),
            Task('posture', 'posture', position=q[7:])]
    found = solo12().whole_body(q, v, both, FEET, BOUNDS)
    assert found.conflict == ("task 'up'", "task 'down'")


def test_moving_a_foot_in_contact_conflicts_with_the_contact():
    """The contact and the task are named; strict levels give the same."""
    q, v = state(0, speed=0.0)
    lift = Task('lift', 'frame', 0, frame='FL_FOOT', axes=('z',), stiffness=0.0,
                acceleration=(0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    for others in ([Task('rest', 'torque', 1)], [Task('a', 'posture', 1), Task('b', 'torque', 2)]):
        found = solo12().whole_body(q, v, [lift, *others], FEET, BOUNDS)
        assert found.conflict == ("contact 'FL_contact'", "task 'lift'")


def test_a_motion_beyond_a_joint_limit_conflicts_with_the_limit(arm):
    """Of a joint at its limit."""
    joint = arm.model.joints[1]
    q = arm.neutral()
    q[1] = joint.upper
    ask = Task('on', 'posture', 0, joints=(joint.name,), acceleration=(5.0,), stiffness=0.0)
    found = arm.whole_body(q, np.zeros(7), [ask],
                           bounds=[Bound('joint_limits', step=0.001, limit=20.0)])
    assert found.conflict == (f'limits of {joint.name}', "task 'on'")


def test_contradictory_contacts_are_named():
    """One fixed point, and another of the same link moving away from it."""
    q = solo12().neutral()
    v = np.zeros(18)
    v[3:6] = 1.0  # turning about its own origin, which is held, and so is a point beside it
    held = [Constraint('here', 'weld', 'base_link', to_pose=tuple(q[:3])),
            Constraint('there', 'distance', 'FL_FOOT', to_pose=(0.0, 0.0, 5.0), distance=1.0)]
    found = solo12().whole_body(q, v, [Task('base', 'frame', 0, frame='base_link')], held)
    assert found.status == 'infeasible'
    assert found.conflict == ("contact 'here'", "task 'base'")
