"""What the joints shall do at any moment: a trajectory, smoothly replaced, held at its end."""

import math
from contextlib import suppress

import numpy as np

from dynamics_node.checks import check_kind
from dynamics_node.control.blended_spline import BlendedSpline
from dynamics_node.control.reference_limits import ReferenceLimits
from dynamics_node.control.spline import MotionSample, Spline, check_reals
from dynamics_node.errors import DynamicsError, shown


class Reference:
    """The motion that the laws follow. Immutable; a new trajectory makes a new one.

    Position, velocity and acceleration never jump, whatever is sent: a jump would become one of
    the torque. What cannot be entered smoothly in the time there is, is refused, and the present
    reference goes on.

    Times are seconds of one clock of the caller's. Let it count from a recent moment: of the
    seconds since 1970 a float knows the last 0.24 microseconds only.
    """

    def __init__(self, rules, tracks):
        """See hold, which is how one begins."""
        self._rules, self._tracks = rules, tracks
        self._in_order = (len(tracks) == 1
                          and tracks[0].joints.tolist() == list(range(len(rules.names))))

    @classmethod
    def hold(cls, q, now, rules):
        """Return the reference that stands at q.

        :param q: (n,), where it stands, as a rule where the robot is measured to be.
        :param rules: the Rules for what will replace it.
        """
        now = _time('now', now)
        check_kind('rules', rules, ReferenceLimits)
        q = check_reals('q', q, (len(rules.names),))
        return cls(rules, (BlendedSpline.held(q, now),))

    def replaced_by(self, times, positions, velocities=None, accelerations=None, *, start, now,
                    joints=None):
        """Return the reference that follows a trajectory from now on.

        What lies before now is not made up for: the motion joins where the trajectory is by now.
        Where it begins later, by the blend time or more, the time until its first point is used to
        get there from the present reference, as ros2_controllers does. Where there is less time,
        the difference at the first point must be small (`max_start_error`), and fades out over the
        blend time T. So a stream of points a few ms ahead is followed through a filter of third
        order, by 0.6 T late if it leaves out the velocities, by 0.15 T^2 times the acceleration if
        it leaves out that, and at once if it has all. Joints that may turn without end are taken
        by whole turns to where they are.

        :param times: (N,) after start, strictly increasing [s].
        :param positions, velocities, accelerations: (N, k), see Spline for what may be left out.
        :param start: when its time zero is [s].
        :param joints: which joints the columns are, (k,) integers; the others go on as they did.
        :raise DynamicsError: it is malformed, over already, starts too far off, or would go beyond
            a limit; which joint, when, and what is valid.
        """
        start, now = _time('start', start), _time('now', now)
        joints = self._checked_joints(joints)
        points = self._checked_points(joints, times, positions, velocities, accelerations)
        if start + points.times[-1] < now:
            raise DynamicsError(f'the trajectory was over {now - start - points.times[-1]:.3g} s '
                                'ago; expected one that ends later than now')
        given = 1 + (velocities is not None) + (accelerations is not None)
        track = self._entered(joints, points, given, start, now)
        self._rules.check_limits(joints, *track.sampled())
        others = (old.only(~np.isin(old.joints, joints)) for old in self._tracks)
        return Reference(self._rules, (*filter(None, others), track))

    def at(self, now):
        """Return the Motion at a time, (n,) each."""
        now = _time('now', now)
        if self._in_order:
            return self._tracks[0].at(now)
        n = len(self._rules.names)
        whole = MotionSample(np.empty(n), np.empty(n), np.empty(n))
        for track in self._tracks:
            for part, value in zip(whole, track.at(now)):
                part[track.joints] = value
        return whole

    def done(self, now):
        """Return whether it stands still from now on."""
        now = _time('now', now)
        return all(now >= track.rest for track in self._tracks)

    def age(self, now):
        """Return for how long nothing has been asked of some joint, 0 while something is [s].

        It counts from the last point of a trajectory, and of several (of an arm each, say) from
        the earliest one's. A reference that was only ever held has no age: nobody is late. Whether
        a trajectory's end may be held forever, or is a stream that fell silent, is the user's
        choice: a limit for this age, or none.
        """
        now = _time('now', now)
        return max(0.0, *(now - track.end for track in self._tracks))

    def _entered(self, joints, points, given, start, now):
        """Return the Track of a trajectory that takes over now."""
        rules = self._rules
        present = MotionSample(*(part[joints] for part in self.at(now)))
        meeting = max(now - start, float(points.times[0]))  # the first time they have in common
        error = points.at(meeting).q - self.at(start + meeting).q[joints]
        turns = rules.whole_turns(joints, error)
        parts = [points.positions - turns, points.velocities, points.accelerations][:given]
        if start + meeting - now >= rules.blend_time:
            points = Spline(np.append(now - start, points.times),
                            *(np.vstack([one, part]) for one, part in zip(present, parts)))
        else:
            rules.check_start(joints, error - turns)
            if turns.any():
                points = Spline(points.times, *parts)
        return BlendedSpline.entered(joints, points, start, now, present, rules.blend_time)

    def _checked_joints(self, joints):
        n = len(self._rules.names)
        try:
            array = np.arange(n) if joints is None else np.asarray(joints)
        except Exception:  # an object may raise anything when NumPy reads it
            array = np.empty(0)
        if (array.ndim != 1 or array.dtype.kind not in 'iu' or len(np.unique(array)) != len(array)
                or not ((array >= 0) & (array < n)).all() or not array.size):
            raise DynamicsError(f'joints is {shown(joints)}; expected different integers from '
                                f'0 to {n - 1}')
        return array

    def _checked_points(self, joints, times, positions, velocities, accelerations):
        points = Spline(times, positions, velocities, accelerations)
        if points.positions.shape[1] != len(joints):
            raise DynamicsError(f'positions must have shape (N, {len(joints)}), got '
                                f'{points.positions.shape}')
        return points


def _time(name, value):
    if isinstance(value, (int, float)) and -math.inf < value < math.inf:
        with suppress(OverflowError):  # an integer beyond all floats
            return float(value)
    raise DynamicsError(f'{name} is {shown(value)}; expected a finite time [s]')
