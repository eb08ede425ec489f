"""Test task space over DDS, with messages and through the client, against the library."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ament_index_python import get_package_prefix
from support.current_robots import close
from support.paths import DOCS
from support.remote_node import PATIENCE
from support.reply_stamps import stamp_of
from support.tiny_robots import TWO_JOINTS

from dynamics_node import Constraint, DynamicsError, Robot, Target
from dynamics_node.ros.client import DynamicsClient
from dynamics_node.spatial import so3
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task

PAGE = (DOCS / 'task_space.md').read_text()
REACHED = 1e-6   # the tolerance of inverse kinematics by default
READY = [0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1]
PUSH = [1.0, -2.0, 3.0, 0.4, 0.5, -0.6]


@pytest.fixture
def dynamics(arm):
    """A client of the arm's node, on a node that spins in another thread."""
    return DynamicsClient(arm.node.client, arm.node.name, timeout=PATIENCE)


@pytest.fixture(scope='module')
def standing(launch_once, tmp_path_factory):
    """Two joints on a floating base: its node, and the same robot."""
    urdf = tmp_path_factory.mktemp('standing') / 'standing.urdf'
    urdf.write_text(TWO_JOINTS)
    node = launch_once(f'robot_description:={urdf}', 'base:=floating')
    return node, Robot.from_urdf(TWO_JOINTS, base='floating')


def test_operational_space_follows_the_order_of_the_request(arm):
    """Columns as the joints are named; the others are measured."""
    order = np.array([4, 1, 0, 2, 3, 5, 6])
    reply = arm.node.call('operational_space', joint_names=['joint_5', 'joint_2'],
                          position=[0.4, 0.7], frames=['link_7', 'link_3'])
    assert (reply.success, reply.message, reply.frames) == (True, '', ['link_7', 'link_3'])
    assert stamp_of(reply) == arm.stamp
    q = arm.q.copy()
    q[[4, 1]] = 0.4, 0.7
    found = arm.robot.operational_space(q, arm.v, ['link_7', 'link_3'])
    close(np.reshape(reply.jacobian, (12, 7)), found.jacobian[:, order])
    close(np.reshape(reply.null_space, (7, 7)), found.null_space[np.ix_(order, order)])
    close(np.reshape(reply.consistent_inverse, (7, 12)), found.consistent_inverse[order])
    close(reply.bias, found.bias)


def test_the_client_returns_matrices_in_their_shape(arm, dynamics):
    """Of one link."""
    reply = dynamics.operational_space('tool0', READY, arm.v)
    found = arm.robot.operational_space(READY, arm.v, 'tool0')
    for name in found._fields:
        close(getattr(reply, name), getattr(found, name))


@pytest.mark.parametrize('target', [
    lambda T: Target.pose('tool0', T, rotation_weight=2.0),
    lambda T: Target('tool0', position=T[:3, 3]),
    lambda T: Target('tool0', orientation=so3.to_quaternion(T[:3, :3])),
    lambda T: Target('tool0', axis=(0, 0, 1), direction=T[:3, 2]),
    lambda T: Target('tool0', position=T[:3, 3], axis=(0, 0, 1), direction=T[:3, 2])],
    ids=['pose', 'position', 'orientation', 'axis', 'position and axis'])
def test_the_client_solves_inverse_kinematics(arm, dynamics, target):
    """Checked by the forward kinematics of the library."""
    T = arm.robot.frame_pose(READY, 'tool0')
    wanted = target(T)
    reply = dynamics.inverse_kinematics(wanted, start=np.add(READY, 0.1), restarts=4)
    assert (reply.solved, reply.reason) == (True, 'solved')
    there = arm.robot.frame_pose(reply.position, 'tool0')
    if wanted.position is not None:
        assert np.abs(there[:3, 3] - T[:3, 3]).max() <= REACHED
    which = slice(0, 3) if wanted.orientation is not None else slice(2, 3)
    if wanted.orientation is not None or wanted.axis is not None:
        assert np.abs(there[:3, which] - T[:3, which]).max() <= 2.0 * REACHED


def test_a_pose_out_of_reach_is_no_refusal(standing):
    """Through the client, from a start by name."""
    node, robot = standing
    dynamics = DynamicsClient(node.client, node.name, timeout=PATIENCE)
    two = [Target('base', position=(1.0, 0.0, 0.0)), Target('base', position=(3.0, 0.0, 0.0))]
    reply = dynamics.inverse_kinematics(two, start={'elbow': 0.3}, restarts=0)
    assert (reply.solved, reply.reason) == (False, 'out of reach')
    close(reply.position_errors, [1.0, 1.0])
    assert reply.joint_names[0] == 'elbow' and len(reply.position) == robot.nq


def test_torques_of_tasks_are_those_of_the_library(standing):
    """On a sole, with a wrench, bounds and three levels."""
    node, robot = standing
    dynamics = DynamicsClient(node.client, node.name, timeout=PATIENCE)
    q, v = np.array([*np.zeros(6), 1.0, 0.2, -0.3]), np.array([*np.zeros(6), 0.1, 0.2])
    sole = Constraint('sole', 'flat_contact', 'base', friction=0.6)
    tasks = [Task('pose', 'posture', position=(0.3, -0.2)),
             Task('balance', 'center_of_mass', 2, axes=('x', 'y')),
             Task('tip', 'frame', 2, 3.0, frame='elbow_link', acceleration=PUSH, stiffness=0.0),
             Task('least', 'torque', 3), Task('press', 'force', 3, contact='sole')]
    bounds = [Bound('torque', limit=np.full(8, 60.0)), Bound('joint_limits', 50.0, 0.01),
              Bound('friction', sides=6, sizes={'sole': (0.5, 0.4)}), Bound('acceleration', 200.0)]
    for chosen in (bounds, None, ()):
        reply = dynamics.task_control(tasks, chosen, q, v, contacts=[sole],
                                      wrenches={'elbow_link': PUSH})
        more = {} if chosen is None else {'bounds': chosen}
        want = robot.whole_body(q, v, tasks, [sole], wrenches={'elbow_link': PUSH}, **more)
        assert reply.status == want.status == 'solved'
        close(reply.effort, want.torque)
        close(reply.acceleration, want.acceleration)
        close(reply.multipliers, want.forces['sole'])
        assert list(reply.errors) == list(want.errors)
        for name, error in want.errors.items():
            close(reply.errors[name], error)
        assert reply.active == list(want.active)


def test_a_conflict_is_named_and_has_no_torques(arm, dynamics):
    """A refusal is raised, a conflict is not."""
    jump = Task('jump', 'posture', 0, acceleration=np.full(7, 1e5), stiffness=0.0)
    reply = dynamics.task_control([jump])
    assert (reply.status, len(reply.effort)) == ('infeasible', 0)
    assert "task 'jump'" in reply.conflict
    with pytest.raises(DynamicsError, match="task 'jump'.*'hand'"):
        dynamics.task_control([Task('jump', 'frame', frame='hand')])


def test_the_example_of_the_page_runs(arm, dynamics):
    """The last block of docs/task_space.md."""
    block = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)[-1]
    wall = Constraint('wall', 'point_contact', 'tool0', friction=0.5)
    names = {'tasks': [Task('rest', 'posture')], 'wall': wall}
    exec(block, names)  # noqa: S102
    effort = names['step'](dynamics, READY, np.zeros(7))
    want = arm.robot.whole_body(READY, np.zeros(7), names['tasks'], [wall])
    close(effort, want.torque)


def test_the_command_line_solves_inverse_kinematics(arm):
    """From names and numbers; a pose for each frame."""
    executable = Path(get_package_prefix('dynamics_node'), 'lib/dynamics_node/dynamics_node')

    def call(*words):
        return subprocess.run([sys.executable, executable, 'call', 'inverse_kinematics', *words,
                               '--node', arm.node.name, '--json', '--timeout', str(PATIENCE)],
                              capture_output=True, text=True, timeout=PATIENCE, env=os.environ)
    T = arm.robot.frame_pose(READY, 'tool0')
    numbers = ','.join(map(repr, map(float, [*T[:3, 3], *so3.to_quaternion(T[:3, :3])])))
    start = [f'{name}={float(x)!r}' for name, x in zip(arm.robot.joint_names,
                                                         np.add(READY, 0.1))]
    done = call('--frame', 'tool0', f'--pose={numbers}', '--joint', *start)
    assert done.returncode == 0, done.stderr
    reply = json.loads(done.stdout)
    there = arm.robot.frame_pose(reply['position'], 'tool0')
    assert reply['solved'] and np.abs(there - T).max() <= 2.0 * REACHED
    assert 'one for each' in call('--frame', 'tool0').stderr
    assert "--pose is '1,2'" in call('--frame', 'tool0', '--pose', '1,2').stderr
