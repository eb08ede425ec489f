"""Test a robot whose status is larger than a packet of the link between the two processes."""

import pickle
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from support.remote_node import joint_state, wait_until
from support.tiny_robots import chain
from support.torque_wire import DEEP

from dynamics_node.ros.process_link import PACKET

JOINTS = [f'joint_{k:03d}_{"x" * 180}' for k in range(400)]   # long names: a large status
EFFORT = 50.0   # [N m], of each joint of the chain


class Chain:
    """A robot of 400 joints at rest, driven by a node."""

    def __init__(self, node):
        self.node, self.torques, self.statuses = node, [], []
        for kind, topic, take in ((JointState, f'{node.name}/torque', self.torques.append),
                                  (DiagnosticArray, '/diagnostics', self._on_diagnostics)):
            node.client.create_subscription(kind, topic, take, DEEP)

    def _on_diagnostics(self, message):
        self.statuses += [status for status in message.status
                          if status.name == f'{self.node.name}: torque']

    def run_until(self, condition, what):
        """Send joint states until something is true."""
        def stepped():
            self.node.publish(joint_state(time.time_ns(), JOINTS, np.zeros(400), np.zeros(400)))
            self.node.assert_alive()
            time.sleep(0.05)
            return condition()
        return wait_until(stepped, what)

    def value(self, name):
        """Return a value of the newest diagnostics."""
        return next(item.value for item in self.statuses[-1].values if item.key == name)

    def ask(self, data):
        """Return the reply to ~/enable."""
        future = self.node.ready(SetBool, 'enable').call_async(SetBool.Request(data=data))
        self.run_until(future.done, 'enable')
        return future.result()

    def said(self, text):
        return self.statuses and self.statuses[-1].message == text


def test_a_robot_of_400_joints_is_driven(launch, tmp_path):
    """The torque process replies with its status, and lives on."""
    assert len(pickle.dumps(dict.fromkeys(JOINTS, 0.0))) > PACKET
    (tmp_path / 'chain.urdf').write_text(chain(*[(name, 'continuous') for name in JOINTS]))
    robot = Chain(launch(f'robot_description:={tmp_path / "chain.urdf"}', 'safety.slew_time:=0.1',
                         'safety.max_state_age:=1.0', 'safety.max_clock_step:=3.0',
                         'safety.ramp_in_time:=0.1', 'safety.ramp_out_time:=0.1',
                         'gravity:=[0.0, 0.0, 0.0]'))   # else no limit could hold it
    robot.run_until(lambda: robot.ask(True).success, 'enable')
    robot.run_until(lambda: robot.torques and robot.statuses, 'torques')
    process = robot.value('process')
    for _ in range(3):   # the status comes by replies, once a second
        count = int(robot.value('released'))
        robot.run_until(lambda n=count: robot.ask(True) and int(robot.value('released')) > n,
                        'the next status')
    assert robot.ask(False).success
    robot.run_until(lambda: robot.said('disabled'), 'the end of the torques')
    assert robot.value('process') == process
    for message in robot.torques:
        assert message.name == JOINTS
        assert (np.abs(message.effort) <= EFFORT).all()
