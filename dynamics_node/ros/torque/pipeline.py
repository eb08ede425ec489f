"""From the measured state to a permitted torque: law, reference and gate together. Pure.

Everything that is published goes through the one gate of this object. Times are nanoseconds at the
door, seconds since the beginning inside: a double that counts from 1970 is too coarse.
"""

import traceback
from contextlib import suppress

import numpy as np

from dynamics_node.control.blended_pose_spline import BlendedPoseSpline
from dynamics_node.control.laws import TASK_SPACE, WITH_REFERENCE
from dynamics_node.control.reference import Reference
from dynamics_node.control.task_reference import task_reference
from dynamics_node.errors import DynamicsError
from dynamics_node.ros.parameters.torque import (
    LIVE,
    controller_of,
    driven_joints,
    gate_rules_of,
    posture_of,
    reference_rules_of,
    starts_measured,
    task_frame_of,
    task_rules_of,
)
from dynamics_node.ros.state.measured_state import NEVER
from dynamics_node.safety import Gate, Measured, Proposal, State

RUNNING = (State.RAMPING_IN, State.ENABLED)
REFRESH = 0.01  # [s] how often a payload in transition makes another controller


class TorquePipeline:
    """The torque of a desk's robot.

    :ivar parameters, settings: TorqueParameters and safety Settings.
    :ivar other_publisher: whether somebody else speaks on the command topic, told from outside.
    :ivar joints: those driven since the last enable, in the order in which they are published.
    """

    def __init__(self, desk, parameters, settings, log_error):
        self._desk, self._log_error = desk, log_error
        self.parameters, self.settings = parameters, settings
        self._origin = desk.clock()
        self.gate = Gate()
        self.other_publisher, self.joints = False, ()
        self._driven = None  # model that the gate was enabled with
        self._stamp = 0      # [ns] of the state that a torque was last computed from
        self._model = self._robot = self._controller = self._reference = None
        self._problem = ''   # why the robot cannot be driven
        self._refreshed = -np.inf
        self._frames = {''}  # that references had; '' is torque.task_frame, prepared before
        self.robot_changed()

    # What changes ----------------------------------------------------------------------------

    def robot_changed(self):
        """Take the desk's robot; if it is another one, what is under way is a fault."""
        if not self._desk.held.exists:
            return
        robot = self._desk.robot
        if self._model is None or self._model.joints is not robot.model.joints:
            self._model, self._reference, self._frames = robot.model, None, {''}
            self._renew(robot)
        self._use(robot)
        self._prepare(self.parameters.task_frame)

    def check(self, parameters, settings):
        """Raise what is wrong with other parameters for the robot that is held."""
        if not self.gate.idle and not _only_live(self.parameters, parameters,
                                                 self.settings, settings):
            raise DynamicsError('torques are being published: disable first (~/enable, data: '
                                'false); only gains and scales change meanwhile')
        if self._desk.held.exists:
            robot = self._desk.robot
            controller_of(robot, parameters)
            gate_rules_of(robot, parameters, settings)
            if parameters.mode in WITH_REFERENCE:
                reference_rules_of(robot, parameters)
            posture_of(robot, parameters, robot.neutral())

    def use(self, parameters, settings):
        """Take other parameters, checked."""
        self.parameters, self.settings = parameters, settings
        if self._desk.held.exists:
            if self.gate.idle:
                self._renew(self._desk.robot)
            self._use(self._desk.robot)
            self._prepare(self.parameters.task_frame)

    def _renew(self, robot):
        """Let the gate go by the limits of a robot; without them it cannot be enabled."""
        self._problem, rules = '', None
        try:
            rules = gate_rules_of(robot, self.parameters, self.settings)
        except DynamicsError as error:  # parameters that fitted the robot before
            self._problem = str(error)
        self.gate.change_limits(rules)

    def _use(self, robot):
        """Make the controller of a robot; a payload that moves in makes many."""
        self._robot, self._refreshed, self._controller = robot, self.now(), None
        self._starts_measured = starts_measured(self.parameters)
        try:
            self._controller = controller_of(robot, self.parameters)
        except DynamicsError as error:
            self._problem = str(error)

    def _prepare(self, frame):
        """Have the kernels of a frame compiled, in the background: in NumPy it takes too long."""
        if self._controller is not None and self._controller.mode == TASK_SPACE:
            with suppress(DynamicsError):  # compilation may be switched off
                self._controller.compile(frames=[frame], payloads=True)

    # What is asked ---------------------------------------------------------------------------

    def enable(self):
        """Begin to release torques.

        :raise DynamicsError: why not.
        """
        if self.gate.state in RUNNING:
            return
        now = self.now()
        if self._problem or self._controller is None:
            raise DynamicsError(self._problem or 'there is no robot to drive')
        if self._controller.needs_reference:
            self._hold(now)
        self.gate.enable(now, self._proposal(now))
        self._driven, self.joints = self._model, driven_joints(self._robot, self.parameters)

    def disable(self):
        """Ramp out."""
        self.gate.disable(self.now())

    def follow(self, trajectory):
        """Follow a trajectory: (joint names, start [ns] or None for now, times, positions, ...).

        :raise DynamicsError: it is refused; the present reference goes on.
        """
        names, start, *points = trajectory
        self._check_follows(WITH_REFERENCE, 'reference')
        choice = self._desk.choose(names)
        now = self.now()
        self._reference = self._reference.replaced_by(
            *points, start=now if start is None else self._seconds(start), now=now,
            joints=choice.v)

    def follow_task(self, start, frame, **asked):
        """Follow a task reference.

        :param start: its stamp [ns], None for now.
        :param frame: '' is torque.task_frame.
        :param asked: the other arguments of task_reference, numbers in the axes of any frame.
        :raise DynamicsError: it is refused; the present reference goes on.
        """
        self._check_follows({TASK_SPACE}, 'task reference')
        q, now = self._desk.state.q, self.now()
        reference = task_reference(
            self._robot, q, task_frame_of(self._robot, self.parameters, frame), **asked)
        self._reference = self._reference.replaced_by(
            reference, now if start is None else self._seconds(start), now,
            self._robot.frame_pose(q, reference.frame))
        if frame not in self._frames:
            self._frames.add(frame)
            self._prepare(reference.frame)

    def _check_follows(self, modes, what):
        """Refuse a reference that nobody would follow."""
        if self._controller is None or self._controller.mode not in modes:
            raise DynamicsError(f"torque.mode is '{self.parameters.mode}', which follows no "
                                f'{what}; those that do: {", ".join(sorted(modes))}')
        if self.gate.state not in RUNNING:
            raise DynamicsError('torques are disabled: a reference begins where the robot is, so '
                                'enable first (~/enable, data: true)')

    def _hold(self, now):
        """Let the reference stand where the robot is."""
        if self._desk.state.oldest == NEVER:
            return  # the gate refuses, and says so
        if self.parameters.mode == TASK_SPACE:
            self._reference = self._held_frame(now)
            return
        self._reference = Reference.hold(self._desk.state.q, now,
                                         reference_rules_of(self._robot, self.parameters))

    def _held_frame(self, now):
        """Return the BlendedPoseSpline that stands where the frame is."""
        q, p = self._desk.state.q, self.parameters
        frame = task_frame_of(self._robot, p, '')
        return BlendedPoseSpline.hold(frame, self._robot.frame_pose(q, frame), now,
                                      task_rules_of(p),
                              posture_of(self._robot, p, q))

    # What comes out --------------------------------------------------------------------------

    def on_state(self):
        """Return (Release, stamp of the state [ns]) for the newest joint state, or None."""
        if self.gate.idle:
            return None
        now = self.now()
        if self._driven is not self._model:  # what is under way decays by itself
            return self._stamped(self.gate.tick(now))
        try:
            release = self.gate.step(now, self._proposal(now))
        except Exception as error:  # whatever it is: the arm is not left with the last torque
            release = self._stumble(now, error)
        return self._stamped(release)

    def tick(self):
        """Return (Release, stamp) if one is due by time alone, or None."""
        return None if self.gate.idle else self._stamped(self.gate.tick(self.now()))

    def last(self):
        """Return the Releases that end in the safe torque, see Gate.shutdown_sequence."""
        return [self._stamped(release) for release in self.gate.shutdown_sequence(self.now())]

    def now(self):
        """Return the time as the gate and the reference count it [s]."""
        return (self._desk.clock() - self._origin) * 1e-9

    def _seconds(self, ns):
        return (ns - self._origin) * 1e-9

    def _stamped(self, release):
        return None if release is None else (release, self._stamp)

    def _stumble(self, now, error):
        if not isinstance(error, DynamicsError):
            self._log_error(f'the torque could not be computed, please report this:\n'
                            f'{traceback.format_exc()}')
        self.gate.report_fault(now, f'the torque could not be computed: {error}')
        return self.gate.tick(now)

    def _proposal(self, now):
        """Return what is wanted now, None where a joint was never measured."""
        state = self._desk.state
        oldest = state.oldest
        if oldest == NEVER:
            return None
        self._stamp = oldest
        self._refresh(now)
        controller, reference, age = self._controller, self._reference, None
        motion = None
        if controller.needs_reference:
            motion = reference.at(now)
            age = None if self.parameters.hold_reference else reference.age(now)
        gravity = controller.holding_torque(state.q)
        torque = gravity if motion is None else controller.torque(state.q, state.v, motion)
        effort = state.effort if self._starts_measured else None
        return Proposal(torque, gravity, Measured(self._seconds(oldest), state.q, state.v, effort),
                        age, self.other_publisher)

    def _refresh(self, now):
        """Keep up with payloads that come and go, gravity and friction."""
        if self._desk.held.changing and 0.0 <= now - self._refreshed < REFRESH:
            return
        robot = self._desk.robot
        if robot is not self._robot:
            self._use(robot)


def _only_live(old, new, old_settings, new_settings):
    """Return whether nothing differs but what may be tuned while torques are published."""
    same = [name for name in vars(old) if name not in LIVE]
    return old_settings == new_settings and all(getattr(old, name) == getattr(new, name)
                                                for name in same)

