"""Compute the permitted torque of a measured state: reference, control law, safety gate.

Every published torque passes the gate of this pipeline. Independent of rclpy. Times in arguments
are nanoseconds; inside they are seconds since construction, for which a double is precise enough.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dynamics_node.control.blended_controller import blend_after
from dynamics_node.control.controller import Controller
from dynamics_node.control.controller_with_reference import (
    ControllerWithReference,
    with_own_reference,
)
from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.control.reference import Reference
from dynamics_node.control.task_reference import task_reference
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.observer import UNDECLARED, ObserverParameters
from dynamics_node.ros.parameters.robot_mismatch import torque_limits
from dynamics_node.ros.parameters.torque import (
    TorqueParameters,
    driven_joints,
    live_differ,
    only_live_differ,
    task_frame_of,
)
from dynamics_node.ros.state.measured_state import NEVER, MeasuredSnapshot
from dynamics_node.ros.torque import change_checks, law_kernels, mode_reference
from dynamics_node.ros.torque.measured_command import with_measured_command
from dynamics_node.ros.torque.mode_reference import RUNNING, check_follows, holding_reference
from dynamics_node.ros.torque.predicted_state import Prediction, braking_torque
from dynamics_node.ros.torque.unmeasured_joints import check_velocities, explained
from dynamics_node.safety import Gate, Refused, SafetySettings
from dynamics_node.safety.records import LastValid, Measured, Proposal, Release, State

REFRESH = 0.01  # [s] between two controllers while a payload is in transition
ENABLED, FAULT = State.ENABLED, State.FAULT   # faster than entries of an Enum

StampedRelease = tuple[Release, int]   # with the stamp [ns] of the state it was computed from


class TorquePipeline:
    """The torque of the current robot.

    :ivar parameters, settings: TorqueParameters and SafetySettings.
    :ivar other_publisher: whether another node publishes on these topics; set by the caller.
    :ivar joints, limits: driven joints, in the order of publication, and GateLimits since enable.
    :ivar gravity: (nv,) torque that balances gravity at the last valid state.
    :ivar controller: of the current robot; None: there is none, or the parameters do not fit it.
    :ivar proposal: Proposal of the last measured state; None where it had none.
    """

    def __init__(self, current_robot: CurrentRobot, clock: Callable[[], int],
                 parameters: TorqueParameters, settings: SafetySettings,
                 log_error: Callable[[str], None],
                 steady: Callable[[], float | None] = lambda: None) -> None:
        """Start disabled.

        :param clock: returns the time of stamps [ns].
        :param steady: returns the time of a clock that is never set [s], None in simulated time.
        """
        self._current_robot, self._clock, self._log_error = current_robot, clock, log_error
        self.parameters, self.settings, self._origin = parameters, settings, clock()
        self.gate = Gate(steady=steady, predict=self._predicted)
        self.other_publisher, self._prediction = False, Prediction()
        self.joints: Sequence[str] = ()
        self.limits: Any = None    # these two: None until the first enable
        self.gravity: Any = None
        self.proposal: Any = None
        self._driven = None  # model at the last enable
        self._stamp, self._period = 0, 0.0   # [ns] of the last state; [s] since the one before
        self._stepped: MeasuredSnapshot | None = None   # the last one of the gate since enable
        self._needed: np.ndarray = np.zeros(0, dtype=int)   # joints whose age counts
        self._last_q = self._last_v = np.zeros(0)   # of that state
        self._model: Any = None   # these four: None until there is a robot
        self._robot: Any = None
        self.controller: Any = None
        self._blend: Any = None    # BlendedController that ends in `controller`; None: no blend
        self._limits: Any = None   # GateLimits; None: the parameters do not fit the robot
        self._reference: Any = None
        self._problem = ''   # why torques cannot be enabled for the robot
        self._version, self._refreshed = -1, -np.inf   # of the robot in use, and since when [s]
        self._frames = {''}  # of references so far; '' is torque.task_frame, compiled before
        self.robot_changed()

    # Robot and parameters --------------------------------------------------------------------

    def robot_changed(self) -> None:
        """Use the current robot; if it has other joints, enabled torques end in a fault."""
        if not self._current_robot.exists:
            return
        robot = self._current_robot.robot
        if self._model is None or self._model.joints is not robot.model.joints:
            self._model, self._reference, self._frames = robot.model, None, {''}
            self._renew_limits(robot)
        self._use_robot(robot)
        self.request_kernels(robot.neutral())

    def check(self, parameters: TorqueParameters, settings: SafetySettings,
              robots: Sequence[Robot] = (), another: bool = False) -> None:
        """Raise a DynamicsError if torques are published and a change is not possible meanwhile.

        :param robots: the robot after the change, at the CHANGE_TIMES; empty: the present one.
        :param another: whether that is another robot, not the same one with other settings.
        """
        if self.gate.idle:
            return
        if another or settings != self.settings or not only_live_differ(self.parameters,
                                                                        parameters):
            raise DynamicsError('torques are being published: disable first (~/enable, data: '
                                'false); only mode, gains, scales, gravity, friction and payloads '
                                'can be changed meanwhile')
        if self._drives:
            self._check_change(parameters, robots or [self._current_robot.robot] * 3)

    def _check_change(self, parameters: TorqueParameters, robots: Sequence[Robot]) -> None:
        """Raise a DynamicsError if a change would fling the arm, or is not possible yet."""
        steady = self.gate.state is State.ENABLED and self._blend is None
        change_checks.check_mode_change(self.parameters.mode, parameters.mode, steady)
        controllers = mode_reference.controllers_for(robots, parameters, self._reference)
        if parameters != self.parameters or not law_kernels.same_kernels(self._robot, robots[0]):
            self._request_kernels(controllers[0], self._last_q, parameters)
        law_kernels.check_kernels(robots[0])
        change_checks.check_change(self._present(parameters), *controllers)

    def use(self, parameters: TorqueParameters, settings: SafetySettings) -> None:
        """Use other parameters, checked."""
        drives, old = self._drives, None
        if drives:
            after = self._reference_after(parameters)
            if live_differ(self.parameters, parameters):
                old = with_own_reference(self.controller, self._reference, after, self.now)
            self._reference = after
        self.parameters, self.settings = parameters, settings
        if self._current_robot.exists:
            robot = self._current_robot.robot
            if not drives:
                self._renew_limits(robot)
            self._use_robot(robot, old)
            self.request_kernels(robot.neutral())

    @property
    def _drives(self) -> bool:
        """Whether the torques of the controller are published."""
        return not self.gate.idle and self._driven is self._model and self.controller is not None

    def _reference_after(self, parameters: TorqueParameters) -> Any:
        """Return the reference with other parameters: a new one if another mode needs it."""
        return mode_reference.next_reference(
            self._reference, self.parameters.mode, self._robot, parameters, self._last_q,
            self._last_v, self.now())

    def _present(self, parameters: TorqueParameters) -> change_checks.Present:
        """Return the state of the last torque, in which parameters change."""
        after = self._reference_after(parameters)
        old = with_own_reference(self.controller, self._reference, after, self.now)
        return change_checks.Present(self._last_q, self._last_v, after and after.at(self.now()),
                                     self._limits, old, self._blend, self.parameters.blend_time)

    def _renew_limits(self, robot: Robot) -> None:
        """Give the gate the limits of a robot; without them it cannot be enabled."""
        self._problem, self._limits, self._needed = torque_limits(robot, self.parameters,
                                                                  self.settings)
        self.gate.change_limits(self._limits)

    def _use_robot(self, robot: Robot,
                   old: Controller | ControllerWithReference | None = None) -> None:
        """Create the controller of a robot; called often while a payload is in transition.

        :param old: controller whose torque is blended to the new one; None: slew limits act alone.
        """
        reference = self._reference if self._drives else None
        self._robot, self._refreshed, self.controller = robot, self.now(), None
        if self._problem:
            return
        self.controller, = mode_reference.controllers_for([robot], self.parameters, reference)
        if old is not None:
            self._blend = blend_after(self._blend, old, self.controller, self.now(),
                                      self.parameters.blend_time)
        elif self._blend is not None:
            self._blend.replace_newest(self.controller)

    # Kernels ---------------------------------------------------------------------------------

    def request_kernels(self, q: np.ndarray) -> int:
        """Request the kernels of the law, unless `check` did; return how many are missing."""
        if self.controller is None or self._drives or not self._robot.compilation_enabled:
            return 0
        self._request_kernels(self.controller, q, self.parameters)
        return self._robot.compiling

    def _request_kernels(self, controller: Controller, q: np.ndarray, p: TorqueParameters,
                         frame: str = '') -> None:
        law_kernels.request_kernels(controller, q, lambda: holding_reference(
            controller.robot, p, q, 0.0, frame).at(0.0))

    @property
    def compiling(self) -> bool:
        """Whether kernels of the law are being compiled."""
        return self._robot is not None and self._robot.compiling > 0

    def missing_kernels(self) -> str:
        """Return why torques cannot be enabled yet; '' once the kernels are ready."""
        return '' if self._robot is None else law_kernels.missing_kernels(self._robot)

    # Requests --------------------------------------------------------------------------------

    def enable(self, measured: Any, effort: ObserverParameters = UNDECLARED) -> None:
        """Enable torques, starting at a measured state.

        :param measured: MeasuredSnapshot, None while there is no robot.
        :param effort: declare the meaning of the measured effort.
        :raise DynamicsError: the reason of a refusal.
        """
        if self.gate.state in RUNNING:
            return
        now, self._blend = self.now(), None
        if self._problem or self.controller is None:
            raise DynamicsError(self._problem or 'there is no robot')
        if measured.oldest != NEVER:
            check_velocities(measured)
            self.request_kernels(measured.q)
            law_kernels.check_kernels(self._robot)
            if self.controller.needs_reference:
                self._reference = holding_reference(self._robot, self.parameters, measured.q, now)
                self._use_robot(self._robot)   # on the contacts of this reference
            settled, _ = self._current_robot.settled_robot()
            change_checks.check_held(self.controller.for_robot(settled), measured.q, self._limits)
        proposal = self._proposal(now, measured, measured.oldest_of(self._needed))
        try:
            self.gate.enable(now, with_measured_command(
                proposal, self.controller, measured.effort, effort))
        except Refused as refusal:
            raise explained(refusal, measured, self._needed, self._clock(),
                            self.settings.max_state_age) from None
        self.limits, self.gravity, self._stepped = self._limits, proposal.gravity, None
        self._driven, self.joints = self._model, driven_joints(self._robot, self.parameters)

    def disable(self) -> None:
        """Disable torques: brake, then ramp to the safe torque."""
        self.gate.disable(self.now())

    @property
    def reference(self) -> Any:
        """The current reference; None while disabled, and where the mode follows none."""
        follows = self.gate.state in RUNNING and self.controller.needs_reference
        return self._reference if follows else None

    def change_reference(self, change: Callable[[Reference, float], Reference]) -> None:
        """Follow change(reference, now) instead of the current reference, or refuse to."""
        check_follows(self.parameters, WITH_REFERENCE, 'reference', self.gate.state)
        self._reference = change(self._reference, self.now())

    def follow(self, names: list[str], start: int | None, *points: np.ndarray | None,
               held: bool = False) -> None:
        """Follow a trajectory.

        :param start: time of its origin [ns], None for now.
        :param points: times (N,) [s], positions, velocities, accelerations (N, names) or None.
        :param held: True: the end is held even if torque.hold_reference is false.
        :raise DynamicsError: the trajectory is refused; the current reference continues.
        """
        check_follows(self.parameters, WITH_REFERENCE, 'reference', self.gate.state)
        joints, now = self._current_robot.select_joints(names).v, self.now()
        self._reference = self._reference.replaced_by(
            *points, start=now if start is None else (start - self._origin) * 1e-9, now=now,
            joints=joints, held=held)

    def follow_task(self, measured: Any, start: int | None, frame: str, **values: Any) -> None:
        """Follow a task reference.

        :param measured: MeasuredSnapshot, None while there is no robot.
        :param start, frame: its stamp [ns], None for now; '' is torque.task_frame.
        :param values: the other arguments of task_reference.
        :raise DynamicsError: the reference is refused; the current one continues.
        """
        check_follows(self.parameters, {TASK_SPACE}, 'task reference', self.gate.state)
        now = self.now()
        reference = task_reference(
            self._robot, measured.q, task_frame_of(self._robot, self.parameters, frame), **values)
        if frame not in self._frames:
            self._request_kernels(self.controller, measured.q, self.parameters, frame)
            law_kernels.check_kernels(self._robot)
            self._frames.add(frame)
        self._reference = self._reference.replaced_by(
            reference, now if start is None else (start - self._origin) * 1e-9, now,
            self._robot.frame_pose(measured.q, reference.frame))

    def blend_to(self, controller: Controller, reference: Any, duration: float) -> None:
        """Blend the torque into that of another controller with its checked reference."""
        old = ControllerWithReference(self.controller, self._reference, self.now)
        new = ControllerWithReference(controller, reference, self.now)
        self._blend = blend_after(self._blend, old, new, self.now(), duration)
        self.controller, self._reference = controller, reference

    # Torques ---------------------------------------------------------------------------------

    def on_state(self, measured: MeasuredSnapshot) -> StampedRelease | None:
        """Return the release for a measured state, None while disabled."""
        gate = self.gate
        if gate.idle:
            return None
        now = (self._clock() - self._origin) * 1e-9
        if self._driven is not self._model:   # another robot: the gate is in a fault and ramps out
            return self._stamped(gate.tick(now))
        try:
            stamp = measured.oldest_of(self._needed)
            if stamp == self._stamp and measured.repeats(self._stepped, self._needed):
                release = gate.tick(now)   # an old state must not be taken for a present one
            else:
                self._stepped = measured
                self.proposal = proposal = self._proposal(now, measured, stamp)
                release = gate.step(now, proposal)
                if gate.state is not FAULT:   # the joint state is valid
                    self.gravity = proposal.gravity
        except Exception as error:  # the arm must not keep the last torque
            release = self._trip(now, error)
        return None if release is None else (release, self._stamp)

    def report_fault(self, text: str, kind: str) -> StampedRelease | None:
        """Enter a fault that was found elsewhere; return the release that follows, or None."""
        self.gate.report_fault(self.now(), text, kind)
        return self.tick()

    def tick(self) -> StampedRelease | None:
        """Return the release that is due by time alone, or None."""
        return self._stamped(self.gate.tick(self.now()))

    def shutdown_sequence(self) -> list[StampedRelease]:
        """Return the releases that end in the safe torque, see Gate.shutdown_sequence."""
        return [(release, self._stamp) for release in self.gate.shutdown_sequence(self.now())]

    def now(self) -> float:
        """Return the time of the gate and the reference [s]."""
        return (self._clock() - self._origin) * 1e-9

    def _stamped(self, release: Release | None) -> StampedRelease | None:
        return None if release is None else (release, self._stamp)

    def _trip(self, now: float, error: Exception) -> Release | None:
        failed = 'the torque could not be computed'
        if not isinstance(error, DynamicsError):
            self._log_error(f'{failed}, please report this:\n{traceback.format_exc()}')
        self.gate.report_fault(now, f'{failed}: {error}')
        return self.gate.tick(now)

    def _proposal(self, now: float, measured: MeasuredSnapshot, stamp: int) -> Any:
        """Return the Proposal of the wanted torque, None where a joint was never measured."""
        _, q, v, _, _, oldest = measured
        if oldest == NEVER:
            return None
        if stamp != self._stamp:
            self._period = (stamp - self._stamp) * 1e-9
        self._stamp, self._last_q, self._last_v, current = stamp, q, v, self._current_robot
        if self._blend is not None or current.changing or current.version != self._version:
            self._refresh(now)
        state = tuple.__new__(Measured, ((stamp - self._origin) * 1e-9, q, v, None, partial(
            measured.name_oldest, self._needed)))
        return self._proposal_at(now, state, self._period, self.gate.state is not ENABLED and
                                 self.gate.braking)

    def _proposal_at(self, now: float, state: Measured, period: float, braking: bool) -> Proposal:
        """Return the Proposal at a measured or predicted state; period: [s] since the last."""
        controller, age = self._blend or self.controller, None
        gravity = torque = controller.holding_torque(state.q)
        if braking:
            torque = braking_torque(self.controller, state, self._limits.effort, period)
        elif controller.needs_reference and (self.gate.idle or self.gate.state in RUNNING):
            age = None if self.parameters.hold_reference else self._reference.age(now)
            torque = controller.torque(state.q, state.v, self._reference.at(now))
        return tuple.__new__(Proposal, (torque, gravity, state, age, self.other_publisher))

    def _predicted(self, last_valid: LastValid) -> Proposal | None:
        """Return the Proposal at the state that the model predicts, see Gate; None: impossible."""
        driven = self._limits.joints.driven if self._drives else None
        try:
            state, period = self._prediction.at(last_valid, self.controller, driven)
            return self._proposal_at(self.now(), state, period, last_valid.braking)
        except DynamicsError:
            return None

    def _refresh(self, now: float) -> None:
        """Follow payloads in transition, changes of gravity and friction, and blends of gains."""
        if self._blend is not None and not self._blend.advance(now):
            self._blend = None
        current = self._current_robot
        if not current.changing or not 0.0 <= now - self._refreshed < REFRESH:
            robot, self._version = current.robot, current.version
            if robot is not self._robot:
                self._use_robot(robot)
