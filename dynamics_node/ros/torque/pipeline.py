"""Compute the permitted torque of a measured state: reference, control law, safety gate.

Every published torque passes the gate of this pipeline. Independent of rclpy. Times in arguments
are nanoseconds; inside they are seconds from construction on: a double of seconds since 1970 is
too coarse.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynamics_node.control.blended_controller import BlendedController
from dynamics_node.control.blended_pose_spline import BlendedPoseSpline
from dynamics_node.control.braking import greatest_rate
from dynamics_node.control.controller import Controller
from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.control.needed_joints import needed_joints
from dynamics_node.control.reference import Reference
from dynamics_node.control.task_reference import task_reference
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.observer import UNDECLARED, ObserverParameters
from dynamics_node.ros.parameters.torque import (
    TorqueParameters,
    controller_of,
    driven_joints,
    gate_limits,
    only_live_differ,
    pose_limits,
    posture_of,
    reference_limits,
    task_frame_of,
)
from dynamics_node.ros.state.measured_state import NEVER, MeasuredSnapshot
from dynamics_node.ros.torque.change_checks import Present, check_change, check_held
from dynamics_node.ros.torque.law_kernels import check_kernels, missing_kernels, request_kernels
from dynamics_node.ros.torque.measured_command import with_measured_command
from dynamics_node.safety import (
    Gate,
    Measured,
    Proposal,
    Refused,
    Release,
    SafetySettings,
    State,
)
from dynamics_node.safety.faults import NO_STATE

RUNNING = (State.RAMPING_IN, State.ENABLED)
REFRESH = 0.01  # [s] between two controllers while a payload is in transition

StampedRelease = tuple[Release, int]   # with the stamp [ns] of the state it was computed from


class TorquePipeline:
    """The torque of the current robot.

    :ivar parameters, settings: TorqueParameters and SafetySettings.
    :ivar other_publisher: whether another node publishes on these topics; set by the caller.
    :ivar joints: driven joints since the last enable, in the order of publication.
    :ivar limits: GateLimits since then.
    :ivar gravity: (nv,) torque that balances gravity at the last valid state.
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
        self.parameters, self.settings = parameters, settings
        self._origin = clock()
        self.gate = Gate(steady=steady)
        self.other_publisher = False
        self.joints: Sequence[str] = ()
        self.limits: Any = None    # these two: None until the first enable
        self.gravity: Any = None
        self._driven = None  # model at the last enable
        self._stamp = 0      # [ns] of the state that a torque was last computed from
        self._period = 0.0   # [s] between that state and the one before
        self._needed: np.ndarray = np.zeros(0, dtype=int)   # joints whose age counts
        self._last_q: Any = None   # of that state
        self._last_v: Any = None
        self._model: Any = None   # these four: None until there is a robot
        self._robot: Any = None
        self._controller: Any = None
        self._blend: Any = None    # BlendedController on the way to it; None: it alone is in effect
        self._limits: Any = None   # GateLimits; None: the parameters do not fit the robot
        self._reference: Any = None
        self._problem = ''   # why torques cannot be enabled for the robot
        self._refreshed = -np.inf
        self._frames = {''}  # of references so far; '' is torque.task_frame, compiled before
        self.robot_changed()

    reference = property(lambda self: self._reference, doc='The current reference; None: none yet.')

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

    def check_robot(self, robot: Robot, *later: Robot) -> None:
        """Raise a DynamicsError if torques are published and cannot go on with another robot.

        :param robot: the same robot with other payloads, gravity or friction.
        :param later: payloads may be in transition: the same at the later CHANGE_TIMES.
        """
        if not self._drives or self._model.joints is not robot.model.joints:
            return
        controller = controller_of(robot, self.parameters)
        self._request_kernels(controller, self._last_q)
        check_kernels(robot)
        check_change(self._present(), controller, *map(controller.for_robot, later))

    def check(self, parameters: TorqueParameters, settings: SafetySettings) -> None:
        """Raise a DynamicsError if other parameters do not fit the current robot."""
        if not self.gate.idle and not (only_live_differ(self.parameters, parameters)
                                       and settings == self.settings):
            raise DynamicsError('torques are being published: disable first (~/enable, data: '
                                'false); only gains and scales can be changed meanwhile')
        if self._current_robot.exists:
            robot = self._current_robot.robot
            controller = controller_of(robot, parameters)
            if self._drives:
                check_change(self._present(), controller, controller, controller)
            gate_limits(robot, parameters, settings)
            if parameters.mode in WITH_REFERENCE:
                reference_limits(robot, parameters)
            posture_of(robot, parameters, robot.neutral())

    def use(self, parameters: TorqueParameters, settings: SafetySettings) -> None:
        """Use other parameters, checked."""
        changed = parameters != self.parameters
        self.parameters, self.settings = parameters, settings
        if self._current_robot.exists:
            robot = self._current_robot.robot
            if self.gate.idle:
                self._renew_limits(robot)
            self._use_robot(robot, blend=changed and self._drives)
            self.request_kernels(robot.neutral())

    @property
    def _drives(self) -> bool:
        """Whether the torques of the controller are published."""
        return not self.gate.idle and self._driven is self._model and self._controller is not None

    def _present(self) -> Present:
        """Return the state of the last torque."""
        motion = self._reference.at(self.now()) if self._controller.needs_reference else None
        return Present(self._last_q, self._last_v, motion, self._limits,
                       self._controller, self._blend, self.parameters.blend_time)

    def _renew_limits(self, robot: Robot) -> None:
        """Give the gate the limits of a robot; without them it cannot be enabled."""
        self._problem, limits = '', None
        try:
            limits = gate_limits(robot, self.parameters, self.settings)
            self._needed = needed_joints(robot, driven_joints(robot, self.parameters))
        except DynamicsError as error:  # the parameters do not fit this robot
            self._problem = str(error)
        self._limits = limits
        self.gate.change_limits(limits)

    def _use_robot(self, robot: Robot, blend: bool = False) -> None:
        """Create the controller of a robot; called often while a payload is in transition.

        :param blend: whether the published torque goes over to that of the new controller in
            blend_time; otherwise the slew limits alone limit its change.
        """
        old = self._controller
        self._robot, self._refreshed, self._controller = robot, self.now(), None
        try:
            self._controller = controller_of(robot, self.parameters)
        except DynamicsError as error:
            self._problem = str(error)
            return
        if self._blend is not None:
            (self._blend.then if blend else self._blend.replace_newest)(self._controller)
        elif blend:
            self._blend = BlendedController(old, self._controller, self.now(),
                                            self.parameters.blend_time)

    # Kernels ---------------------------------------------------------------------------------

    def request_kernels(self, q: np.ndarray) -> int:
        """Request the kernels of the law, see law_kernels.py; return how many are missing."""
        if self._controller is None or not self._robot.compilation_enabled:
            return 0
        self._request_kernels(self._controller, q)
        return self._robot.compiling

    def _request_kernels(self, controller: Controller, q: np.ndarray, frame: str = '') -> None:
        request_kernels(controller, q, lambda: self._hold(0.0, q, frame).at(0.0))

    @property
    def compiling(self) -> bool:
        """Whether kernels of the law are being compiled."""
        return self._robot is not None and self._robot.compiling > 0

    def missing_kernels(self) -> str:
        """Return why torques cannot be enabled yet; '' once the kernels are ready."""
        return '' if self._robot is None else missing_kernels(self._robot)

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
        if self._problem or self._controller is None:
            raise DynamicsError(self._problem or 'there is no robot')
        if measured.oldest != NEVER:
            self.request_kernels(measured.q)
            check_kernels(self._robot)
            if self._controller.needs_reference:
                self._reference = self._hold(now, measured.q)
            settled, _ = self._current_robot.settled_robot()
            check_held(self._controller.for_robot(settled), measured.q, self._limits)
        proposal = self._proposal(now, measured)
        try:
            self.gate.enable(now, with_measured_command(
                proposal, self._controller, measured.effort, effort))
        except Refused as refusal:
            if refusal.kind == NO_STATE:
                raise DynamicsError('no joint state has been measured of: '
                                    f'{", ".join(measured.never_measured)}') from refusal
            raise
        self.limits, self.gravity = self._limits, proposal.gravity
        self._driven, self.joints = self._model, driven_joints(self._robot, self.parameters)

    def disable(self) -> None:
        """Disable torques: brake, then ramp to the safe torque."""
        self.gate.disable(self.now())

    def follow(self, names: list[str], start: int | None, *points: np.ndarray | None) -> None:
        """Follow a trajectory.

        :param start: time of its origin [ns], None for now.
        :param points: times (N,) [s], positions, velocities, accelerations (N, names) or None.
        :raise DynamicsError: the trajectory is refused; the current reference continues.
        """
        self._check_follows(WITH_REFERENCE, 'reference')
        selection = self._current_robot.select_joints(names)
        now = self.now()
        self._reference = self._reference.replaced_by(
            *points, start=now if start is None else self._seconds(start), now=now,
            joints=selection.v)

    def follow_task(self, measured: Any, start: int | None, frame: str, **values: Any) -> None:
        """Follow a task reference.

        :param measured: MeasuredSnapshot, None while there is no robot.
        :param start: its stamp [ns], None for now.
        :param frame: '' is torque.task_frame.
        :param values: the other arguments of task_reference.
        :raise DynamicsError: the reference is refused; the current one continues.
        """
        self._check_follows({TASK_SPACE}, 'task reference')
        now = self.now()
        reference = task_reference(
            self._robot, measured.q, task_frame_of(self._robot, self.parameters, frame), **values)
        if frame not in self._frames:
            self._request_kernels(self._controller, measured.q, frame)
            check_kernels(self._robot)
            self._frames.add(frame)
        self._reference = self._reference.replaced_by(
            reference, now if start is None else self._seconds(start), now,
            self._robot.frame_pose(measured.q, reference.frame))

    def _check_follows(self, modes: Any, what: str) -> None:
        """Refuse a reference that the mode does not follow, or while disabled."""
        if self._controller is None or self._controller.mode not in modes:
            raise DynamicsError(f"torque.mode is '{self.parameters.mode}', which follows no "
                                f'{what}; modes that do: {", ".join(sorted(modes))}')
        if self.gate.state not in RUNNING:
            raise DynamicsError('torques are disabled: enable them first (~/enable, data: true), '
                                'then send the reference')

    def _hold(self, now: float, q: np.ndarray, frame: str = '') -> Reference | BlendedPoseSpline:
        """Return the reference that stays at the configuration q.

        :param frame: of mode task_space; '' is torque.task_frame.
        """
        p, robot = self.parameters, self._robot
        if p.mode != TASK_SPACE:
            return Reference.hold(q, now, reference_limits(robot, p))
        frame = task_frame_of(robot, p, frame)
        return BlendedPoseSpline.hold(frame, robot.frame_pose(q, frame), now, pose_limits(p),
                                      posture_of(robot, p, q))

    # Torques ---------------------------------------------------------------------------------

    def on_state(self, measured: MeasuredSnapshot) -> StampedRelease | None:
        """Return the release for a measured state, None while disabled."""
        if self.gate.idle:
            return None
        now = self.now()
        if self._driven is not self._model:  # the gate is in a fault and ramps out by itself
            return self._stamped(self.gate.tick(now))
        try:
            proposal = self._proposal(now, measured)
            release = self.gate.step(now, proposal)
            if self.gate.state is not State.FAULT:   # the joint state is valid
                self.gravity = proposal.gravity
        except Exception as error:  # the arm must not keep the last torque
            release = self._trip(now, error)
        return self._stamped(release)

    def report_fault(self, text: str, kind: str) -> StampedRelease | None:
        """Enter a fault that was found elsewhere; return the release that follows, or None."""
        now = self.now()
        self.gate.report_fault(now, text, kind)
        return self._stamped(self.gate.tick(now))

    def tick(self) -> StampedRelease | None:
        """Return the release that is due by time alone, or None."""
        return None if self.gate.idle else self._stamped(self.gate.tick(self.now()))

    def shutdown_sequence(self) -> list[StampedRelease]:
        """Return the releases that end in the safe torque, see Gate.shutdown_sequence."""
        return [(release, self._stamp) for release in self.gate.shutdown_sequence(self.now())]

    def now(self) -> float:
        """Return the time of the gate and the reference [s]."""
        return (self._clock() - self._origin) * 1e-9

    def _seconds(self, ns: int) -> float:
        return (ns - self._origin) * 1e-9

    def _stamped(self, release: Release | None) -> StampedRelease | None:
        return None if release is None else (release, self._stamp)

    def _trip(self, now: float, error: Exception) -> Release | None:
        if not isinstance(error, DynamicsError):
            self._log_error(f'the torque could not be computed, please report this:\n'
                            f'{traceback.format_exc()}')
        self.gate.report_fault(now, f'the torque could not be computed: {error}')
        return self.gate.tick(now)

    def _proposal(self, now: float, measured: MeasuredSnapshot) -> Any:
        """Return the Proposal of the wanted torque, None where a joint was never measured."""
        _, q, v, _, stamps, oldest = measured
        if oldest == NEVER:
            return None
        if now - self._seconds(oldest) > self.settings.max_state_age:
            oldest = int(stamps[self._needed].min())
        if oldest != self._stamp:
            self._period = (oldest - self._stamp) * 1e-9
        self._stamp, self._last_q, self._last_v = oldest, q, v
        self._refresh(now)
        controller, age = self._blend or self._controller, None
        gravity = torque = controller.holding_torque(q)
        if self.gate.braking:
            torque = self._braking_torque(q, v)
        elif controller.needs_reference and (self.gate.idle or self.gate.state in RUNNING):
            age = None if self.parameters.hold_reference else self._reference.age(now)
            torque = controller.torque(q, v, self._reference.at(now))
        state = Measured(self._seconds(oldest), q, v)
        return Proposal(torque, gravity, state, age, self.other_publisher)

    def _braking_torque(self, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
        """Return the torque that brakes the robot, None if it cannot be computed."""
        try:
            return self._controller.braking_torque(q, v, self._limits.effort,
                                                   greatest_rate(self._period))
        except DynamicsError:
            return None

    def _refresh(self, now: float) -> None:
        """Follow payloads in transition, changes of gravity and friction, and blends of gains."""
        if self._blend is not None and not self._blend.advance(now):
            self._blend = None
        if self._current_robot.changing and 0.0 <= now - self._refreshed < REFRESH:
            return
        robot = self._current_robot.robot
        if robot is not self._robot:
            self._use_robot(robot)
