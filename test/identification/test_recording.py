"""Test recordings: shapes, names, order."""

import numpy as np
import pytest

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.recording import raw_recording, select_joints

TIME = np.arange(4.0)


def raw(names, **changes):
    columns = np.arange(4.0)[:, None] + 10.0 * np.arange(len(names))
    return raw_recording(**{'joint_names': names, 'time': TIME, 'q': columns, 'tau': -columns,
                            **changes})


def test_joints_come_in_the_robots_order_and_others_are_left_out(arm):
    """A gripper's joints are in joint states too."""
    names = ['finger', *reversed(arm.joint_names)]
    chosen = select_joints(arm, raw(names, v=np.ones((4, 8))))
    assert chosen.joint_names == arm.joint_names
    assert np.array_equal(chosen.q[0], [70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0])
    assert np.array_equal(chosen.tau, -chosen.q)
    assert chosen.v.shape == (4, 7)


def test_a_missing_joint_is_named(arm):
    """With the recorded joints, and what to do."""
    with pytest.raises(DynamicsError, match=r"lacks the joints \['joint_4'\].*'finger'.*lock"):
        select_joints(arm, raw([n for n in arm.joint_names if n != 'joint_4'] + ['finger']))


def test_a_floating_base_is_refused():
    """Its configuration is not a column per joint."""
    robot = Robot.from_urdf(ARM7, base='floating')
    with pytest.raises(DynamicsError, match="more than one axis.*base='fixed'"):
        select_joints(robot, raw(robot.joint_names))


@pytest.mark.parametrize('changes, words', [
    ({'q': np.zeros((3, 2))}, r'q has shape \(3, 2\); expected \(4, 2\)'),
    ({'tau': np.zeros((4, 1))}, r'tau has shape'),
    ({'v': np.zeros(4)}, r'v has shape'),
    ({'time': np.zeros((4, 1))}, r'time has shape'),
    ({'q': [['a', 'b']] * 4}, 'q must hold real numbers, got'),
    ({'joint_names': ['a', 'a']}, r"\['a'\] twice"),
    ({'joint_names': []}, 'joint_names is empty')])
def test_wrong_shapes_are_named(changes, words):
    """By the argument, with what is expected."""
    with pytest.raises(DynamicsError, match=words):
        raw(['a', 'b'], **changes)


def test_rows_are_chosen_in_all_columns():
    """A train and validation split, for one."""
    half = raw(['a'], v=np.ones((4, 1))).rows(slice(2, None))
    assert half.q[:, 0].tolist() == half.time.tolist() == [2.0, 3.0]
    assert len(half.tau) == len(half.v) == 2
    assert raw(['a']).rows(slice(1)).v is None
