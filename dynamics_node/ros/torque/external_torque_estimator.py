"""From measured states to what pushes the robot: observer, flag and wrench together. Pure."""

from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.observer.wrench import wrench_at
from dynamics_node.ros.parameters.observer import flag_of, observer_of
from dynamics_node.ros.state.measured_state import NEVER

OFF = 'unknown'
GAPS = 3   # one after another: joint states are too slow


class ExternalTorqueEstimate(NamedTuple):
    """What is seen at a joint state."""

    stamp: int             # [ns] of the state
    torque: np.ndarray     # (nv,) external [N m or N]
    contact: bool


class ExternalTorqueEstimator:
    """The external torque of a desk's robot.

    :ivar parameters: ObserverParameters.
    :ivar reason: why nothing is observed, '' while something is.
    :ivar peaks: (nv,) largest external torques while nothing was beyond a threshold.
    :ivar contacts: number of them so far.
    """

    def __init__(self, desk, parameters):
        self._desk, self.contacts = desk, 0
        self.use(parameters)

    @property
    def on(self):
        """Whether joint states are to be looked at."""
        return self.observer is not None

    def check(self, parameters):
        """Raise what is wrong with other parameters for the robot that is held."""
        if parameters.effort_meaning != OFF and self._desk.held.exists:
            robot = self._desk.robot
            observer_of(robot, parameters)
            flag_of(robot, parameters)

    def use(self, parameters):
        """Take other parameters, checked; begin anew."""
        self.parameters = parameters
        self.robot_changed()

    def robot_changed(self):
        """Begin anew with the desk's robot."""
        self.observer = self.flag = self._stamp = self.peaks = None
        self._slow = 0
        self.reason = 'there is no robot'
        if self._desk.held.exists:
            robot = self._desk.robot
            try:
                self.observer = observer_of(robot, self.parameters)
                self.flag = flag_of(robot, self.parameters)
                self.reason, self.peaks = '', np.zeros(robot.nv)
            except DynamicsError as error:  # parameters that fitted the robot before, or unknown
                self.observer, self.reason = None, str(error)

    def on_state(self):
        """Return the Sight of the newest joint state; None: it tells nothing new."""
        state = self._desk.state
        if self.observer is None or state is None or state.oldest in (NEVER, self._stamp):
            return None
        self.reason = self._lacking(state)
        if self.reason:
            self.observer.reset()
            self.flag.reset()
            return None
        robot = self._desk.robot
        if robot is not self.observer.robot:   # a payload has come or gone
            self.observer.use(robot)
        dt = 0.0 if self._stamp is None else (state.oldest - self._stamp) * 1e-9
        self._stamp = state.oldest
        try:
            torque = self.observer.step(state.q, state.v, state.effort, dt)
        except DynamicsError as error:  # numbers beyond all bounds
            self.reason = str(error)
            return None
        self._slow = self._slow + 1 if dt > self.observer.longest_step else 0
        if self._slow > GAPS:   # r stays at a gap: after gap upon gap it would say that all is well
            self.reason = (f'joint_states of all joints come {dt:.3g} s apart; expected '
                           f'{self.observer.longest_step:g} s or less')
            self.observer.reset()
            self.flag.reset()
            return None
        return self._seen(torque, max(0.0, dt))

    def wrench(self):
        """Return the WrenchEstimate at the frame, in its axes."""
        return wrench_at(self.observer.robot, self._desk.state.q, self.observer.torque,
                         self.parameters.frame, local=True)

    def _seen(self, torque, dt):
        before = self.flag.contact
        contact = self.flag.step(torque, dt)
        self.contacts += contact and not before
        if not contact and not self.flag.joints.any():
            self.peaks = np.maximum(self.peaks, np.abs(torque))
        return ExternalTorqueEstimate(self._stamp, torque, contact)

    def _lacking(self, state):
        """Return what of a state is not measured that the observer needs, in words."""
        if np.isnan(state.effort).any():
            names = self.observer.robot.dof_names
            lacks = [name for name, effort in zip(names, state.effort) if np.isnan(effort)]
            return f'joint_states has no effort of {", ".join(lacks)}'
        if state.velocity_assumed:
            return ('joint_states has no velocity, and missing_velocity is zero; set it to '
                    'difference')
        return ''
