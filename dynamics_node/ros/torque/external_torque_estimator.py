"""Estimate the external torque from measured states: momentum observer, contact flag, wrench.

Independent of rclpy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.observer.wrench import WrenchEstimate, wrench_at
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.observer import ObserverParameters, flag_of, observer_of
from dynamics_node.ros.state.measured_state import NEVER, MeasuredSnapshot

GAPS = 3   # with more gaps in a row, joint states are too slow


class ExternalTorqueEstimate(NamedTuple):
    """The estimate at one joint state."""

    stamp: int             # [ns] of the state
    torque: np.ndarray     # (nv,) external [N m or N]
    contact: bool


class ExternalTorqueEstimator:
    """The external torque on the current robot.

    :ivar parameters: ObserverParameters.
    :ivar reason: why the observer is off or paused, '' while it runs.
    :ivar peaks: (nv,) largest external torques while no joint was beyond its threshold.
    :ivar contacts: number of contacts so far.
    """

    def __init__(self, current_robot: CurrentRobot, parameters: ObserverParameters) -> None:
        self._current_robot, self.contacts = current_robot, 0
        self.use(parameters)

    @property
    def on(self) -> bool:
        """Whether the observer is on."""
        return self.observer is not None

    def use(self, parameters: ObserverParameters) -> None:
        """Use other parameters, checked; start again."""
        self.parameters = parameters
        self.robot_changed()

    def robot_changed(self) -> None:
        """Start again with the current robot."""
        self.observer: Any = None   # MomentumObserver and ContactFlag while on
        self.flag: Any = None
        self.peaks: Any = None
        self._stamp: int | None = None
        self._slow = 0
        self.reason = 'there is no robot'
        if self._current_robot.exists:
            robot = self._current_robot.robot
            try:
                self.observer = observer_of(robot, self.parameters)
                self.flag = flag_of(robot, self.parameters)
                self.reason, self.peaks = '', np.zeros(robot.nv)
            except DynamicsError as error:  # parameters do not fit, or effort has no known meaning
                self.observer, self.reason = None, str(error)

    def on_state(self, measured: MeasuredSnapshot) -> ExternalTorqueEstimate | None:
        """Return the estimate at a measured state; None if it contains nothing new."""
        if self.observer is None or measured.oldest in (NEVER, self._stamp):
            return None
        self.reason = self._missing(measured)
        if self.reason:
            self._reset()
            return None
        robot = self._current_robot.robot
        if robot is not self.observer.robot:   # a payload was attached or removed
            self.observer.use(robot)
        dt = 0.0 if self._stamp is None else (measured.oldest - self._stamp) * 1e-9
        self._stamp = measured.oldest
        try:
            torque = self.observer.step(measured.q, measured.v, measured.effort, dt)
        except DynamicsError as error:  # values too large to compute with
            self.reason = str(error)
            return None
        self._slow = self._slow + 1 if dt > self.observer.longest_step else 0
        if self._slow > GAPS:   # the estimate is kept over a gap; over many gaps it is stale
            self.reason = (f'joint_states of all joints come {dt:.3g} s apart; expected '
                           f'{self.observer.longest_step:g} s or less')
            self._reset()
            return None
        return self._estimate(measured.oldest, torque, max(0.0, dt))

    def wrench(self, measured: MeasuredSnapshot) -> WrenchEstimate:
        """Return the external wrench at the frame of the parameters, in its axes."""
        return wrench_at(self.observer.robot, measured.q, self.observer.torque,
                         self.parameters.frame, local=True)

    def _reset(self) -> None:
        self.observer.reset()
        self.flag.reset()

    def _estimate(self, stamp: int, torque: np.ndarray, dt: float) -> ExternalTorqueEstimate:
        before = self.flag.contact
        contact = self.flag.step(torque, dt)
        self.contacts += contact and not before
        if not contact and not self.flag.joints.any():
            self.peaks = np.maximum(self.peaks, np.abs(torque))
        return ExternalTorqueEstimate(stamp, torque, contact)

    def _missing(self, measured: MeasuredSnapshot) -> str:
        """Return a message about quantities missing in the state; '' if it is complete."""
        names = self.observer.robot.dof_names
        for what, values in (('effort', measured.effort), ('velocity', measured.v)):
            if np.isnan(values).any():
                missing = [name for name, value in zip(names, values) if np.isnan(value)]
                return f'joint_states has no {what} of {", ".join(missing)}'
        return ''
