"""Run a TorquePipeline without ROS, in simulated time; check every release."""

import numpy as np

from dynamics_node.parameter import PerJoint
from dynamics_node.ros.parameters.torque import TorqueParameters
from dynamics_node.ros.torque.pipeline import TorquePipeline
from dynamics_node.safety import SafetySettings
from support.node_states import node_state_of

STEP = 0.01   # [s]
ROUNDING = 1e-9
IMPEDANCE = {'mode': 'impedance', 'gains': 'kp_kd', 'kp': PerJoint(30.0), 'kd': PerJoint(4.0)}


class Rig:
    """A pipeline, a robot with a given measured state, and the releases.

    :ivar q, v, effort: of the next joint state; effort None: not measured.
    :ivar errors: errors that the pipeline logged.
    """

    def __init__(self, source, safety=None, node=None, **torque):
        self.node_state = node_state_of(source, **(node or {}))
        self.parameters = TorqueParameters(**torque)
        self.settings = SafetySettings(**{'ramp_in_time': 0.1, 'ramp_out_time': 0.1,
                                          **(safety or {})})
        self.errors, self.releases, self._since = [], [], 0.0
        self.pipeline = TorquePipeline(self.node_state.current_robot, self.node_state.clock,
                                       self.parameters, self.settings, self.errors.append)
        self.robot = self.node_state.robot if self.node_state.current_robot.exists else None
        if self.robot is not None:
            self.q, self.v = np.full(self.robot.nq, 0.2), np.zeros(self.robot.nv)
            self.effort = None

    @property
    def gate(self):
        return self.pipeline.gate

    @property
    def state(self):
        return self.gate.state.value

    @property
    def reason(self):
        return self.gate.status().reason

    def pass_time(self, seconds=STEP):
        self.node_state.clocks.now += round(seconds * 1e9)
        self.node_state.clocks.seconds += seconds

    def measured(self, joints=None, age=0.0, together=False):
        """Publish joint states, with the present time: each joint alone, or one message of all."""
        now = self.node_state.clocks.now - round(age * 1e9)
        if together:
            self.node_state.measured_state.take(now, self.robot.joint_names, self.q, self.v,
                                                () if self.effort is None else self.effort)
            return
        for joint in self.node_state.robot.model.joints:
            if joints is None or joint.name in joints:
                effort = () if self.effort is None else self.effort[joint.v]
                self.node_state.measured_state.take(now, [joint.name], self.q[joint.q],
                                                    self.v[joint.v], effort)

    def step(self, seconds=STEP):
        """Advance the time, measure the robot, and return the released effort."""
        self.pass_time(seconds)
        self.measured()
        return self.note(self.pipeline.on_state(self.node_state.snapshot()), seconds)

    def tick(self, seconds=STEP):
        """Advance the time without a joint state."""
        self.pass_time(seconds)
        return self.note(self.pipeline.tick(), seconds)

    def run(self, seconds):
        """Step for a while; return the last effort."""
        for _ in range(round(seconds / STEP)):
            last = self.step()
        return last

    def enable(self):
        self.measured()
        self.pipeline.enable(self.node_state.snapshot())

    def enabled(self):
        """Enable, and wait until the ramp in is over."""
        self.enable()
        self.run(self.settings.ramp_in_time + 2 * STEP)
        assert self.state == 'enabled'
        return self

    def run_out(self):
        """Disable, and wait until the ramp out is over."""
        self.pipeline.disable()
        while not self.gate.idle:
            self.step()

    def exit(self):
        """Release the last messages."""
        for k, stamped in enumerate(self.pipeline.shutdown_sequence()):
            self.note(stamped, self.settings.exit_period if k else 0.0)

    def note(self, stamped, passed):
        """Check a release against its limits and the one before it."""
        self._since += passed
        if stamped is None:
            return None
        release, stamp = stamped
        effort, limit = release.effort, self.limits(release.names)
        assert effort.shape == limit.shape and np.isfinite(effort).all()
        assert (np.abs(effort) <= limit).all()
        assert stamp <= self.node_state.clocks.now
        if self.releases:
            change = np.abs(effort - self.releases[-1][0].effort)
            passed = min(self._since, self.settings.max_state_age)
            assert (change <= limit / self.settings.slew_time * passed + ROUNDING).all()
        self._since = 0.0
        self.releases.append(stamped)
        return effort

    def limits(self, names):
        """Return the effort limits of the URDF."""
        return np.array([self.robot.model.joint(name).max_effort for name in names])


def to(positions, after=1.0, names=('shoulder', 'elbow'), start=None):
    """Return a trajectory of one point, as follow takes it."""
    return list(names), start, np.array([after]), np.array([positions]), None, None
