"""Compute the permitted torque of a measured state: reference, control law, safety gate.

Every published torque passes the gate of this pipeline. Independent of rclpy. Times in arguments
are nanoseconds; inside they are seconds from construction on: a double of seconds since 1970 is
too coarse.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dynamics_node.control.blended_pose_spline import BlendedPoseSpline
from dynamics_node.control.controller import Controller
from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.control.reference import Reference
from dynamics_node.control.task_reference import task_reference
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.robot import Robot
from dynamics_node.ros.current_robot import CurrentRobot
from dynamics_node.ros.parameters.torque import (
    LIVE,
    TorqueParameters,
    controller_of,
    driven_joints,
    gate_limits,
    pose_limits,
    posture_of,
    reference_limits,
    starts_measured,
    task_frame_of,
)
from dynamics_node.ros.state.measured_state import NEVER, MeasuredSnapshot
from dynamics_node.safety import (
    Gate,
    GateLimits,
    Measured,
    Proposal,
    Release,
    SafetySettings,
    State,
)

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
                 log_error: Callable[[str], None]) -> None:
        """Start disabled.

        :param clock: returns the time of stamps [ns].
        """
        self._current_robot, self._clock, self._log_error = current_robot, clock, log_error
        self.parameters, self.settings = parameters, settings
        self._origin = clock()
        self.gate = Gate()
        self.other_publisher = False
        self.joints: Sequence[str] = ()
        self.limits: Any = None    # these two: None until the first enable
        self.gravity: Any = None
        self._next_limits: GateLimits | None = None   # of the next enable
        self._driven = None  # model at the last enable
        self._stamp = 0      # [ns] of the state that a torque was last computed from
        self._last_q: Any = None   # of that state
        self._model: Any = None   # these four: None until there is a robot
        self._robot: Any = None
        self._controller: Any = None
        self._reference: Any = None
        self._problem = ''   # why torques cannot be enabled for the robot
        self._refreshed = -np.inf
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

    def check_robot(self, robot: Robot) -> None:
        """Raise a DynamicsError if torques are published and cannot go on with another robot.

        :param robot: the same robot with other payloads, gravity or friction.
        """
        if self.gate.idle or self._model is None or self._model.joints is not robot.model.joints:
            return
        controller = controller_of(robot, self.parameters)
        if self._controller is not None:
            self._request_kernels(controller, self._last_q)
            self._check_kernels(robot)

    def check(self, parameters: TorqueParameters, settings: SafetySettings) -> None:
        """Raise a DynamicsError if other parameters do not fit the current robot."""
        if not self.gate.idle and not _only_live(self.parameters, parameters,
                                                 self.settings, settings):
            raise DynamicsError('torques are being published: disable first (~/enable, data: '
                                'false); only gains and scales can be changed meanwhile')
        if self._current_robot.exists:
            robot = self._current_robot.robot
            controller_of(robot, parameters)
            gate_limits(robot, parameters, settings)
            if parameters.mode in WITH_REFERENCE:
                reference_limits(robot, parameters)
            posture_of(robot, parameters, robot.neutral())

    def use(self, parameters: TorqueParameters, settings: SafetySettings) -> None:
        """Use other parameters, checked."""
        self.parameters, self.settings = parameters, settings
        if self._current_robot.exists:
            robot = self._current_robot.robot
            if self.gate.idle:
                self._renew_limits(robot)
            self._use_robot(robot)
            self.request_kernels(robot.neutral())

    def _renew_limits(self, robot: Robot) -> None:
        """Give the gate the limits of a robot; without them it cannot be enabled."""
        self._problem, limits = '', None
        try:
            limits = gate_limits(robot, self.parameters, self.settings)
        except DynamicsError as error:  # the parameters do not fit this robot
            self._problem = str(error)
        self._next_limits = limits
        self.gate.change_limits(limits)

    def _use_robot(self, robot: Robot) -> None:
        """Create the controller of a robot; called often while a payload is in transition."""
        self._robot, self._refreshed, self._controller = robot, self.now(), None
        self._starts_measured = starts_measured(self.parameters)
        try:
            self._controller = controller_of(robot, self.parameters)
        except DynamicsError as error:
            self._problem = str(error)

    # Kernels ---------------------------------------------------------------------------------

    def request_kernels(self, q: np.ndarray) -> int:
        """Request the kernels of the law, with and without payload; return how many are missing.

        They are requested by computing a torque at q, at rest. NumPy is too slow for a torque.
        """
        if self._controller is None or not self._robot.compilation_enabled:
            return 0
        self._request_kernels(self._controller, q)
        return self._robot.compiling

    def _request_kernels(self, controller: Controller, q: np.ndarray, frame: str = '') -> None:
        robot = controller.robot
        variants = [controller]
        if not robot.payloads:
            link = robot.model.bodies[-1].name
            variants.append(controller.for_robot(robot.with_payload('', link, 0.0)))
        for each in variants:
            with suppress(DynamicsError):   # q may be no valid state, for instance of loops
                each.holding_torque(q)
                if each.needs_reference:
                    each.torque(q, np.zeros(robot.nv), self._hold(0.0, q, frame).at(0.0))

    @property
    def compiling(self) -> bool:
        """Whether kernels of the law are being compiled."""
        return self._robot is not None and self._robot.compiling > 0

    def missing_kernels(self) -> str:
        """Return why torques cannot be enabled yet; '' once the kernels are ready."""
        try:
            if self._robot is not None:
                self._check_kernels(self._robot)
            return ''
        except DynamicsError as error:
            return str(error)

    def _check_kernels(self, robot: Robot) -> None:
        """Raise a DynamicsError while kernels are missing."""
        if not robot.compilation_enabled:
            return
        if robot.compiling:
            raise DynamicsError(f'{robot.compiling} kernels of the torque are being compiled: try '
                                'again in a moment')
        for reason in robot.compile_failures:
            raise DynamicsError(f'a kernel of the torque could not be made: {reason}. With '
                                'compile: false torques are computed in NumPy')

    # Requests --------------------------------------------------------------------------------

    def enable(self, measured: Any) -> None:
        """Enable torques, starting at a measured state.

        :param measured: MeasuredSnapshot, None while there is no robot.
        :raise DynamicsError: the reason of a refusal.
        """
        if self.gate.state in RUNNING:
            return
        now = self.now()
        if self._problem or self._controller is None:
            raise DynamicsError(self._problem or 'there is no robot')
        if measured.oldest != NEVER:
            self.request_kernels(measured.q)
            self._check_kernels(self._robot)
            if self._controller.needs_reference:
                self._reference = self._hold(now, measured.q)
        proposal = self._proposal(now, measured)
        self.gate.enable(now, proposal)
        self.limits, self.gravity = self._next_limits, proposal.gravity
        self._driven, self.joints = self._model, driven_joints(self._robot, self.parameters)

    def disable(self) -> None:
        """Disable torques: ramp to the safe torque."""
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
            self._check_kernels(self._robot)
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
        _, q, v, effort, _, oldest, _ = measured
        if oldest == NEVER:
            return None
        self._stamp, self._last_q = oldest, q
        self._refresh(now)
        controller, reference, age = self._controller, self._reference, None
        motion = None
        if controller.needs_reference:
            motion = reference.at(now)
            age = None if self.parameters.hold_reference else reference.age(now)
        gravity = controller.holding_torque(q)
        torque = gravity if motion is None else controller.torque(q, v, motion)
        state = Measured(self._seconds(oldest), q, v, effort if self._starts_measured else None)
        return Proposal(torque, gravity, state, age, self.other_publisher)

    def _refresh(self, now: float) -> None:
        """Follow payloads in transition, and changes of gravity and friction."""
        if self._current_robot.changing and 0.0 <= now - self._refreshed < REFRESH:
            return
        robot = self._current_robot.robot
        if robot is not self._robot:
            self._use_robot(robot)


def _only_live(old: TorqueParameters, new: TorqueParameters, old_settings: SafetySettings,
               new_settings: SafetySettings) -> bool:
    """Return whether only parameters differ that may change while torques are published."""
    same = [name for name in vars(old) if name not in LIVE]
    return old_settings == new_settings and all(getattr(old, name) == getattr(new, name)
                                                for name in same)
