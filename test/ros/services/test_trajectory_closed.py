"""Test ~/trajectory_torques of a closed mechanism: efforts of the motors alone."""

import numpy as np
from support.current_robots import close, node_state_at, state_of
from support.node_states import ask, measure, node_state_of, refused
from support.tiny_robots import TWO_JOINTS
from support.trajectories import column, trajectory

from dynamics_node.control.closed_trajectory import closed_motion
from dynamics_node.control.spline import Spline
from dynamics_node.control.trajectory_torques import trajectory_torques

TIMES = np.array([0.0, 0.5, 1.25, 2.0])
MOTORS = ['right_shoulder', 'left_shoulder']


def test_the_efforts_are_those_of_the_motors_with_the_loops_closed():
    """The passive joints are not named: they follow from where they were measured."""
    node_state, robot = node_state_at('five_bar')
    start, _ = state_of(robot)
    measure(node_state, start, np.zeros(robot.nv))
    entries = [robot.joint_names.index(name) for name in MOTORS]
    positions = start[entries] + 0.1 * np.random.default_rng(0).normal(size=(4, 2))
    reply = ask(node_state, 'trajectory_torques', closed=True, check_period=0.05,
                trajectory=trajectory(MOTORS, TIMES, positions=positions))
    spline = Spline(TIMES, positions)
    checked = np.union1d(TIMES, np.arange(0.0, 2.0, 0.05))
    q, v, a = np.tile(start, (len(checked), 1)), *np.zeros((2, len(checked), robot.nv))
    q[:, entries], v[:, entries], a[:, entries] = spline.at(checked)
    want = trajectory_torques(robot, checked, *closed_motion(robot, start, q, v, a), closed=True)
    at_points = np.searchsorted(checked, TIMES)
    close(column(reply.trajectory, 'effort'), want.effort[at_points][:, entries])
    assert reply.joint_names[:2] == MOTORS
    close(reply.peak_effort, [*want.peak[entries], 0.0, 0.0])


def test_what_has_no_answer_is_refused():
    """Joints without a motor, a joint that was not measured, a robot without loops."""
    node_state, robot = node_state_at('five_bar')
    measure(node_state, *state_of(robot))
    names = ['left_shoulder', 'left_elbow']
    path = {'trajectory': trajectory(names, TIMES, positions=np.zeros((4, 2))), 'closed': True}
    assert refused(node_state, 'trajectory_torques', **path).startswith(
        'trajectory.joint_names has left_elbow, which have no motor and follow the loops')
    path['trajectory'].joint_names = ['left_shoulder', 'right_shoulder']
    fresh, _ = node_state_at('five_bar')
    measure(fresh, *state_of(robot), joints=['left_shoulder', 'left_elbow', 'right_elbow'])
    assert refused(fresh, 'trajectory_torques', **path).startswith('no position of right_shoulder')
    tree = node_state_of(TWO_JOINTS)
    measure(tree, np.zeros(2), np.zeros(2))
    path['trajectory'].joint_names = ['shoulder', 'elbow']
    assert refused(tree, 'trajectory_torques', **path).startswith(
        'closed is true, but the robot has no loops')
