"""Sample the reference motion of a frame: blend task references, bring the last one to rest."""

from typing import NamedTuple

import numpy as np

from dynamics_node.control.blended_spline import BlendedSpline
from dynamics_node.control.pose_coordinates import (
    PoseMotion,
    from_coordinates,
    pose_error,
    stepped,
    to_coordinates,
)
from dynamics_node.control.spline import MotionSample, Spline
from dynamics_node.control.task_reference import TaskReference, selection
from dynamics_node.errors import DynamicsError

PEAK = 15 / 8  # greatest over mean speed of a quintic from rest to rest


class PoseLimits(NamedTuple):
    """The limits of all task references of a robot."""

    blend_time: float = 0.2   # time in which a new reference replaces the old one [s]
    max_speed: float = 0.25   # of a reference, and of the approach to a distant one [m/s]
    max_turn: float = 1.0     # likewise [rad/s]
    timeout: float = 0.1      # time that a reference continues with its twist [s]


class TaskMotionSample(NamedTuple):
    """The sample that the law of mode task_space follows."""

    reference: TaskReference   # frame, wrench, selection, stiffness and damping
    pose_motion: PoseMotion    # wanted pose, twist and acceleration of the frame
    posture: np.ndarray        # wanted joint positions, in the null space of the frame, (nq,)


class BlendedPoseSpline:
    """The motion of a frame. Immutable; a new TaskReference makes a new one.

    A reference is the motion  p + v s + a s^2 / 2  of its pose, s seconds after its stamp, until
    the timeout; if no other has come by then, it is brought to rest within the blend time and stays
    there. The difference from the motion before fades out along a quintic in the coordinates about
    the new pose (pose_coordinates.py): within the blend time, or in the time that a distant pose
    needs at max_speed and max_turn. So pose, twist and acceleration never jump, at any distance of
    the reference.

    Along axes of force and free axes the frame moves as its contacts and joints determine; when
    such an axis is controlled by motion again, the motion starts at the measured pose. Wrench,
    selection, stiffness and damping change at once; the safety gate limits the torque.
    """

    def __init__(self, reference: TaskReference, spline: BlendedSpline, limits: PoseLimits,
                 posture: np.ndarray, requested: float) -> None:
        """Store the parts. Use `hold` to create the first one.

        :param requested: time of the reference [s], -inf where there was none.
        """
        self._reference, self._spline, self._limits = reference, spline, limits
        self._posture, self._requested = posture, requested
        self._final: TaskMotionSample | None = None   # after the end

    @classmethod
    def hold(cls, frame: str, pose: np.ndarray, now: float, limits: PoseLimits,
             posture: np.ndarray) -> 'BlendedPoseSpline':
        """Return the motion that rests at a pose, usually the measured one."""
        return cls(_resting(frame, pose), BlendedSpline.hold(np.zeros(6), now), limits, posture,
                   -np.inf)

    @classmethod
    def stop(cls, frame: str, pose: np.ndarray, twist: np.ndarray, now: float, limits: PoseLimits,
             posture: np.ndarray) -> 'BlendedPoseSpline':
        """Return the motion that begins with a pose and a twist and rests after the blend time.

        :param twist: in world axes at the origin of the frame, linear first, (6,).
        """
        rest = stepped(pose, 0.5 * limits.blend_time * twist)
        x, dx, _ = to_coordinates(rest, PoseMotion(pose, twist, np.zeros(6)))
        return cls(_resting(frame, rest), BlendedSpline.stop(x, dx, np.zeros(6), now,
                                                             limits.blend_time),
                   limits, posture, -np.inf)

    def replaced_by(self, reference: TaskReference, start: float, now: float,
                    measured: np.ndarray) -> 'BlendedPoseSpline':
        """Return the motion that follows a reference from now on.

        :param start: its stamp [s], no further from now than the timeout.
        :param measured: present pose of the reference's frame, (4, 4).
        :raise DynamicsError: the stamp is too old or too far ahead, or the twist is too fast.
        """
        limits = self._limits
        _check_speed(reference, limits)
        if abs(now - start) > limits.timeout:
            raise DynamicsError(f'the stamp is {abs(now - start):.3g} s '
                                f'{"ago" if now > start else "ahead"}; expected zero, or one '
                                f'within the timeout of {limits.timeout:g} s')
        before = to_coordinates(reference.pose,
                                self._present_motion(reference.frame, now, measured))
        S = reference.selection.motion  # nothing is interpolated along the other axes
        before = MotionSample(*(S @ part for part in before))
        requested = self._spline_of(reference)
        far = before.q - requested.at(now - start).q
        time = max(limits.blend_time, PEAK * np.linalg.norm(far[:3]) / limits.max_speed,
                   PEAK * np.linalg.norm(far[3:]) / limits.max_turn)
        spline = BlendedSpline.blend(np.arange(6), requested, start, now, before, float(time))
        return BlendedPoseSpline(reference, spline, limits, self._posture, now)

    def at(self, now: float) -> TaskMotionSample:
        """Return the TaskMotionSample at a time."""
        if self._final is not None and now >= self._spline.rest:
            return self._final
        reference = self._reference
        sample = TaskMotionSample(
            reference, from_coordinates(reference.pose, self._spline.at(now)), self._posture)
        if now > self._spline.rest:
            self._final = sample
        return sample

    def age(self, now: float) -> float:
        """Return the time since the last reference, 0 if there was none [s]."""
        return max(0.0, now - self._requested) if self._requested > -np.inf else 0.0

    def _present_motion(self, frame: str, now: float, measured: np.ndarray) -> PoseMotion:
        """Return the PoseMotion that the next reference continues."""
        if frame != self._reference.frame:
            return PoseMotion.still(measured)
        present = self.at(now).pose_motion
        selected = self._reference.selection
        if selected.all_motion:
            return present
        away = pose_error(present.pose, measured)
        return present._replace(pose=stepped(present.pose, away - selected.motion @ away))

    def _spline_of(self, reference: TaskReference) -> Spline:
        """Return the Spline of the coordinates of a reference, in seconds after its stamp."""
        v, a, T = reference.twist, reference.acceleration, self._limits.timeout
        still = np.zeros(6)
        if not (v.any() or a.any()):
            return Spline([0.0], [still])
        end, speed = v * T + a * T * T / 2, v + a * T
        stop = self._limits.blend_time
        return Spline([0.0, T, T + stop], [still, end, end + speed * stop / 2],
                      [v, speed, still], [a, a, still])


def _resting(frame: str, pose: np.ndarray) -> TaskReference:
    """Return the TaskReference that rests at a pose, all axes controlled by motion."""
    none = np.zeros(6)
    return TaskReference(frame, pose, none, none, none,
                         selection(np.eye(3), np.zeros(6, dtype=bool)), None, None)


def _check_speed(reference: TaskReference, limits: PoseLimits) -> None:
    """Refuse a twist beyond the limits, now or at the timeout."""
    later = reference.twist + reference.acceleration * limits.timeout
    for name, part, most, unit in (('linear', slice(3), limits.max_speed, 'm/s (task_max_speed)'),
                                   ('angular', slice(3, 6), limits.max_turn,
                                    'rad/s (task_max_turn)')):
        fast = max(np.linalg.norm(reference.twist[part]), np.linalg.norm(later[part]))
        if not fast <= most:
            raise DynamicsError(f'twist.{name} reaches {fast:.3g} before the timeout; expected at '
                                f'most {most:g} {unit}')
