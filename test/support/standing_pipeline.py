"""Drive a robot with a floating base by a TorquePipeline without ROS, as examples/foot_step.py."""

import numpy as np

from dynamics_node import Robot
from dynamics_node.constrained.read_loops import to_yaml
from dynamics_node.parameter import PerJoint
from dynamics_node.ros.torque.whole_body_mode import follow_whole_body
from support.pipeline_rig import Rig


class StandingRig(Rig):
    """A pipeline in mode whole_body; the state of the robot is given.

    :ivar q, v: measured next.
    """

    def __init__(self, urdf, contacts, q, effort=2.7, rate=250.0, **changes):
        """Begin disabled.

        :param contacts: Constraints; effort: limit of each joint [N m]; rate: of states [Hz].
        :param changes: other parameters `torque.*`.
        """
        self._effort, self._seconds = effort, 1.0 / rate
        super().__init__(str(urdf), node={'base': 'floating', 'friction': False,
                                          'constraints': to_yaml(contacts)},
                         **{'mode': 'whole_body', 'effort_limits': PerJoint(named=dict.fromkeys(
                             Robot.from_urdf(urdf, compile=False).joint_names, effort)), **changes})
        self.q, self.v = np.array(q), np.zeros(self.robot.nv)

    def measured(self, joints=None, age=0.0):
        """Measure base and joints, with the present time."""
        now, state = self.node_state.clocks.now - round(age * 1e9), self.node_state.measured_state
        for joint in self.robot.model.joints:
            take = state.take_joint if joint.kind == 'floating' else state.take
            name = joint.name if joint.kind == 'floating' else [joint.name]
            take(now, name, self.q[joint.q], self.v[joint.v])

    def limits(self, names):
        return np.full(len(names), self._effort)

    def enable(self, q=None, v=None):
        """Enable at a state, the last one if None."""
        self.q, self.v = self.q if q is None else q, self.v if v is None else v
        self.pass_time(self._seconds)
        super().enable()

    def send(self, message, run=None):
        """Follow a WholeBodyReference message."""
        follow_whole_body(self.pipeline, self.node_state.snapshot(), message)

    def torque(self, q, v):
        """Return the released torque of a state, (12,)."""
        self.q, self.v = q, v
        effort = self.step(self._seconds)
        assert self.state in ('ramping in', 'enabled'), self.reason
        return effort[6:]


