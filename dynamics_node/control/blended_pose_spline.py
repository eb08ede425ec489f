"""Where shall a frame be at any moment? Task references, entered smoothly, left at rest."""

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
    """The same for all task references of a robot."""

    blend_time: float = 0.2   # within which a new reference takes over [s]
    max_speed: float = 0.25   # that one may ask for, and at which one far off is approached [m/s]
    max_turn: float = 1.0     # likewise [rad/s]
    timeout: float = 0.1      # for which a reference goes on by its twist [s]


class TaskMotionSample(NamedTuple):
    """What the law of mode task_space follows."""

    reference: TaskReference   # frame, wrench, selection, stiffness and damping
    moving: PoseMotion         # where the frame shall be now
    posture: np.ndarray        # where the joints shall be, as far as the frame leaves them, (nq,)


class BlendedPoseSpline:
    """The motion of a frame. Immutable; a new TaskReference makes a new one.

    A reference is the motion  p + v s + a s^2 / 2  of its pose, s seconds after its stamp, until
    the timeout; if no other has come by then, it is brought to rest within the blend time and stays
    there. How the motion before differed fades out along a quintic in the coordinates about the new
    pose (task_chart.py): within the blend time, or in the time that a pose so far off takes at
    max_speed and max_turn. So pose, twist and acceleration never jump, and no reference is too far.

    Along axes of force and free axes the frame goes where its contacts and joints let it; when such
    an axis is moved along again, the motion starts where the frame is then. Wrench, selection,
    stiffness and damping change at once: what the torque may change, the safety gate says.
    """

    def __init__(self, reference, track, rules, posture, asked):
        """See hold, which is how one begins; asked is when, -inf: nobody did."""
        self._reference, self._track, self._rules = reference, track, rules
        self._posture, self._asked = posture, asked
        self._rest = None  # the TaskMotionSample after the end

    @classmethod
    def hold(cls, frame, pose, now, rules, posture):
        """Return the one that stands at a pose, as a rule where the frame is measured to be."""
        none = np.zeros(6)
        reference = TaskReference(frame, pose, none, none, none,
                                  selection(np.eye(3), np.zeros(6, dtype=bool)), None, None)
        return cls(reference, BlendedSpline.held(none, now), rules, posture, -np.inf)

    def replaced_by(self, reference, start, now, measured):
        """Return the track that follows a reference from now on.

        :param start: its stamp [s], no further from now than the timeout.
        :param measured: the pose where the reference's frame is now, (4, 4).
        :raise DynamicsError: the stamp is too old, or too far ahead; it is too fast.
        """
        rules = self._rules
        _check_speed(reference, rules)
        if abs(now - start) > rules.timeout:
            raise DynamicsError(f'the stamp is {abs(now - start):.3g} s '
                                f'{"ago" if now > start else "ahead"}; expected zero, or one '
                                f'within the timeout of {rules.timeout:g} s')
        before = to_coordinates(reference.pose, self._present(reference.frame, now, measured))
        S = reference.selection.motion  # nothing is interpolated along the other axes
        before = MotionSample(*(S @ part for part in before))
        asked = self._lasting(reference)
        far = before.q - asked.at(now - start).q
        time = max(rules.blend_time, PEAK * np.linalg.norm(far[:3]) / rules.max_speed,
                   PEAK * np.linalg.norm(far[3:]) / rules.max_turn)
        track = BlendedSpline.entered(np.arange(6), asked, start, now, before, time)
        return BlendedPoseSpline(reference, track, rules, self._posture, now)

    def at(self, now):
        """Return the TaskMotionSample at a time."""
        if self._rest is not None and now >= self._track.rest:
            return self._rest
        reference = self._reference
        found = TaskMotionSample(reference, from_coordinates(reference.pose, self._track.at(now)),
                           self._posture)
        if now > self._track.rest:
            self._rest = found
        return found

    def age(self, now):
        """Return for how long no reference has come, 0 if none ever has [s]."""
        return max(0.0, now - self._asked) if self._asked > -np.inf else 0.0

    def _present(self, frame, now, measured):
        """Return the PoseMotion to go on from."""
        if frame != self._reference.frame:
            return PoseMotion.still(measured)
        present = self.at(now).moving
        chosen = self._reference.selection
        if chosen.all_motion:
            return present
        away = pose_error(present.pose, measured)
        return present._replace(pose=stepped(present.pose, away - chosen.motion @ away))

    def _lasting(self, reference):
        """Return the Spline of the coordinates of a reference, in seconds after its stamp."""
        v, a, T = reference.twist, reference.acceleration, self._rules.timeout
        still = np.zeros(6)
        if not (v.any() or a.any()):
            return Spline([0.0], [still])
        end, speed = v * T + a * T * T / 2, v + a * T
        stop = self._rules.blend_time
        return Spline([0.0, T, T + stop], [still, end, end + speed * stop / 2],
                      [v, speed, still], [a, a, still])


def _check_speed(reference, rules):
    """Refuse a twist that is beyond what is permitted, now or when the timeout has passed."""
    later = reference.twist + reference.acceleration * rules.timeout
    for name, part, most, unit in (('linear', slice(3), rules.max_speed, 'm/s (task_max_speed)'),
                                   ('angular', slice(3, 6), rules.max_turn,
                                    'rad/s (task_max_turn)')):
        fast = max(np.linalg.norm(reference.twist[part]), np.linalg.norm(later[part]))
        if not fast <= most:
            raise DynamicsError(f'twist.{name} is {fast:.3g}, with the acceleration; expected at '
                                f'most {most:g} {unit}')
