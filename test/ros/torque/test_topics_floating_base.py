"""Test torques of a quadruped on the wire: on four feet they balance gravity, else refused."""

import time

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from support.real_robots import ROBOTS
from support.remote_node import joint_state, wait_until

from dynamics_node import Constraint, Robot
from dynamics_node.constrained.read_loops import to_yaml
from dynamics_node.ros import convert

PATH = next(robot.path for robot in ROBOTS if str(robot) == 'solo12')
FEET = [Constraint(f'{leg}_contact', 'point_contact', f'{leg}_FOOT')
        for leg in ('FL', 'FR', 'HL', 'HR')]
PACE = 0.005     # [s] between two states
TILT = np.array([0.1, 0.05, 0.0, np.sqrt(1.0 - 0.1 ** 2 - 0.05 ** 2)])   # of the base
LEGS = (np.tile([0.05, 0.8, -1.6], 4) * np.repeat([1.0, 1.0, -1.0, -1.0], 3)
        + np.linspace(-0.1, 0.1, 12))


class Quadruped:
    """A robot at rest whose state is sent to a node, and the torques of the node."""

    def __init__(self, node):
        self.node, self.torques = node, []
        self.robot = Robot.from_urdf(PATH, base='floating', compile=False, loops=FEET)
        self.q = np.concatenate([[0.2, -0.1, 0.25], TILT, LEGS])
        node.client.create_subscription(JointState, f'{node.name}/torque', self.torques.append, 10)

    def step(self):
        now = time.time_ns()
        base = Odometry(child_frame_id='base_link')
        base.header.stamp = convert.time(now)
        base.pose.pose.position = convert.point(self.q[:3])
        turn = base.pose.pose.orientation
        turn.x, turn.y, turn.z, turn.w = self.q[3:7].tolist()
        self.node.publish(base, topic='odom')
        self.node.publish(joint_state(now, self.robot.joint_names[1:], self.q[7:], np.zeros(12)))
        time.sleep(PACE)

    def run_until(self, condition, what):
        def stepped():
            self.step()
            self.node.assert_alive()
            return condition()
        return wait_until(stepped, what)

    def arrive(self):
        """Send states until the node has measured every joint."""
        self.run_until(lambda: self.node.call('kinematics').success, 'a measured state')

    def enable(self):
        """Return the reply to ~/enable; states are sent meanwhile."""
        future = self.node.ready(SetBool, 'enable').call_async(SetBool.Request(data=True))
        self.run_until(future.done, 'enable')
        return future.result()


def quadruped(launch, *parameters):
    made = Quadruped(launch(
        f'robot_description:={PATH}', 'base:=floating', 'safety.unknown_effort:=assume',
        'safety.assumed_effort:=3.0', 'safety.max_state_age:=0.5', 'safety.ramp_in_time:=0.1',
        *parameters))
    made.arrive()
    return made


def test_on_four_feet_the_torque_balances_gravity(launch, tmp_path):
    """Under the published torque the robot does not accelerate."""
    (tmp_path / 'feet.yaml').write_text(to_yaml(FEET))
    made = quadruped(launch, f'constraints:={tmp_path / "feet.yaml"}')
    made.run_until(lambda: made.enable().success, 'enable')
    robot, still = made.robot, np.zeros(18)

    def balance():
        if not made.torques:
            return None
        message = made.torques[-1]
        assert tuple(message.name) == robot.joint_names[1:]  # no motor acts on the base
        tau = np.concatenate([np.zeros(6), message.effort])
        a = robot.constrained_forward_dynamics(made.q, still, tau).a
        return [tau] if np.abs(a).max() < 1e-9 else None
    tau, = made.run_until(balance, 'a torque that holds the robot still')
    assert np.abs(tau[[8, 11, 14, 17]]).min() > 0.3   # knees [N m]; those of legs that hang: 0.03


REFUSED = {
    'gravity': "'floating_base' is floating and nothing holds it: no motor torque balances "
               'gravity. List the contacts that carry the robot, its feet for example, as '
               'constraints (parameter constraints',
    'feedforward': 'Mode gravity needs no reference',
    'computed_torque': 'Mode gravity needs no reference',
    'task_space': 'mode task_space is for robots without floating joints',
}


@pytest.mark.parametrize('mode', REFUSED)
def test_without_contacts_enable_is_refused_with_advice(launch, mode):
    """Nothing is published."""
    made = quadruped(launch, f'torque.mode:={mode}')
    reply = wait_until(lambda: 'measured' not in (reply := made.enable()).message and reply,
                       'the torque process to know the state')
    assert not reply.success
    assert REFUSED[mode] in reply.message
    for _ in range(20):
        made.step()
    assert not made.torques


def test_contacts_may_be_listed_later(launch):
    """The parameter can be set while the node runs, although nothing could be enabled before."""
    made = quadruped(launch)
    assert not made.enable().success
    assert made.node.set_parameters({'constraints': to_yaml(FEET)}) == ''
    made.run_until(lambda: made.enable().success, 'enable')
    made.run_until(lambda: made.torques, 'a torque')
