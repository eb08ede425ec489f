"""Where are the joints, by what was measured? Joint states from any number of publishers, merged.

Pure: no ROS, the time comes with each measurement, as nanoseconds.
"""

import math
import struct
from collections import Counter
from operator import itemgetter

import numpy as np

NEVER = np.iinfo(np.int64).min
# A stamp that is this much older than the newest of its joint is no latecomer: the clock was set
# back (a simulation was reset, a bag starts again), and time goes on from there.
RESTART = 1_000_000_000  # [ns]
TURN = 2.0 * np.pi


class MeasuredState:
    """The newest position, velocity and effort of every joint, and when each was measured.

    :ivar q: (nq,), v: (nv,), effort: (nv,), nan where never measured.
    :ivar stamps: (joints,) [ns], NEVER where never measured.
    :ivar oldest: of the stamps.
    :ivar velocity_assumed: whether the velocity of some joint was left out, and taken for zero.
    :ivar counts: what was left out so far, by reason.
    """

    def __init__(self, model, missing_velocity='zero', filter_time=0.02):
        """Begin with nothing measured.

        :param missing_velocity: 'zero' or 'difference', for what comes without a velocity.
        :param filter_time: time constant of the low pass on that difference [s].
        """
        self.model = model
        self.missing_velocity, self.filter_time = missing_velocity, filter_time
        self._numbers = np.full(model.nq + 2 * model.nv, np.nan)  # q, v, effort: one after another
        self.q, self.v, self.effort = np.split(self._numbers, [model.nq, model.nq + model.nv])
        for joint in model.joints:
            if joint.kind in ('planar', 'floating'):
                self.effort[joint.v] = 0.0  # nothing drives it, unless a request says so
        self._memory = self._numbers.data
        self._pack = struct.Struct(f'={len(self._numbers)}d').pack_into
        self.stamps = np.full(len(model.joints), NEVER, dtype=np.int64)
        self.counts = Counter()
        self._assumed, self.velocity_assumed = np.zeros(model.nv, dtype=bool), False
        self.oldest = self._newest = NEVER
        self._names = self._map = self._whole = None

    @property
    def never_measured(self):
        """Names of the joints that nobody has spoken of yet."""
        return [joint.name for joint, stamp in zip(self.model.joints, self.stamps)
                if stamp == NEVER]

    def moved_to(self, model, missing_velocity, filter_time):
        """Return the state of another model: what both have in common is kept."""
        other = MeasuredState(model, missing_velocity, filter_time)
        other.counts = self.counts
        place = {joint.name: k for k, joint in enumerate(self.model.joints)}
        for k, joint in enumerate(model.joints):
            old = self.model.joints[place[joint.name]] if joint.name in place else None
            if old is not None and old.kind == joint.kind:
                other.q[joint.q], other.v[joint.v] = self.q[old.q], self.v[old.v]
                other.effort[joint.v] = self.effort[old.v]
                other.stamps[k] = self.stamps[place[joint.name]]
        other._note_stamps()
        return other

    def take(self, stamp, names, position, velocity=(), effort=()):
        """Take in a joint state: one entry per name, or none; nan is as good as none.

        Joints that the model has not are passed over; entries older than what is known are dropped.
        """
        names = tuple(names)
        if names is not self._names and names != self._names:
            self._names, self._map = names, self._place(names)
            self._whole = _whole(self._map, len(names), self.model)
        if len(position) == len(velocity) == len(effort) == len(names) and (
                stamp >= self._newest and self._take_whole(stamp, position, velocity, effort)):
            return
        position, velocity, effort = (np.asarray(values, dtype=float)
                                      for values in (position, velocity, effort))
        for values in (position, velocity, effort):
            if len(values) and len(values) != len(names):
                self.counts['sizes of names and values differ'] += 1
                return
        entry, joint, at_q, at_v = self._map
        if not len(entry):
            return
        new = self._in_time(stamp, joint)
        if new is not None:
            entry, joint, at_q, at_v = entry[new], joint[new], at_q[new], at_v[new]
        q = _entries(position, entry)
        v = _entries(velocity, entry)
        known = np.isfinite(q)
        if not known.all():
            self._take_velocities_alone(v, known, at_v)
            entry, joint, at_q, at_v = entry[known], joint[known], at_q[known], at_v[known]
            q, v = q[known], v[known]
        lacking = ~np.isfinite(v)
        if lacking.any():
            v = np.where(lacking, self._missing(stamp, joint, at_q, at_v, q), v)
        self._note_velocities(at_v, lacking & (self.missing_velocity == 'zero'))
        self.q[at_q], self.v[at_v], self.stamps[joint] = q, v, stamp
        tau = _entries(effort, entry)
        self.effort[at_v] = np.where(np.isfinite(tau), tau, np.nan)
        self._note_stamps()

    def _take_whole(self, stamp, position, velocity, effort):
        """Take in a newer message in which nothing is missing, as most are: the fast way.

        Return whether it was one.
        """
        if self._whole is None:
            return False
        pick, places, joints = self._whole
        values = (*position, *velocity, *effort)
        if pick is not None:
            values = pick(values)
        if not math.isfinite(sum(values)):  # something is missing, or huge
            return False
        if self.velocity_assumed:
            self._note_velocities(self._map[3], False)
        if places is None:
            self._pack(self._memory, 0, *values)
        else:
            self._numbers[places] = values
        if joints is None:
            self.stamps.fill(stamp)
            self.oldest = stamp
        else:
            self.stamps[joints] = stamp
            self.oldest = int(self.stamps.min())
        self._newest = stamp
        return True

    def _note_velocities(self, at_v, assumed):
        self._assumed[at_v] = assumed
        self.velocity_assumed = bool(self._assumed.any())

    def _note_stamps(self):
        self.oldest = int(min(self.stamps, default=NEVER))
        self._newest = int(max(self.stamps, default=NEVER))

    def take_joint(self, stamp, name, q, v):
        """Take in the state of one joint of several coordinates, a floating base for example."""
        k = next(k for k, joint in enumerate(self.model.joints) if joint.name == name)
        new = self._in_time(stamp, np.array([k]))
        if new is None or new.size:
            joint = self.model.joints[k]
            self.q[joint.q], self.v[joint.v], self.stamps[k] = q, v, stamp
            self._note_stamps()

    def _place(self, names):
        """Return for what is both in the message and the model: entry, joint, place in q, in v."""
        entry_of = {name: i for i, name in enumerate(names)}
        found = [(entry_of[joint.name], k, joint.q.start, joint.v.start)
                 for k, joint in enumerate(self.model.joints)
                 if joint.name in entry_of and joint.kind not in ('planar', 'floating')]
        return np.array(found, dtype=int).reshape(-1, 4).T

    def _in_time(self, stamp, joint):
        """Return which of these joints the stamp is news for; None: for all."""
        last = self.stamps[joint]
        if (last <= stamp).all():
            return None
        late = (last > stamp) & (last <= stamp + RESTART)
        restarted = (last > stamp + RESTART)
        if late.any():
            self.counts['out of order'] += int(late.sum())
        if restarted.any():
            self.counts['clock set back'] += 1
        return np.flatnonzero(~late)

    def _take_velocities_alone(self, v, known, at_v):
        """Keep a velocity that comes without its position."""
        self.counts['position missing'] += int((~known).sum())
        alone = ~known & np.isfinite(v)
        self.v[at_v[alone]] = v[alone]

    def _missing(self, stamp, joint, at_q, at_v, q):
        """Return what stands for velocities that were not measured."""
        if self.missing_velocity == 'zero':
            return np.zeros(len(q))
        last = self.stamps[joint]
        follows = (last != NEVER) & (last < stamp)
        dt = np.where(follows, (stamp - np.where(follows, last, stamp)) * 1e-9, np.inf)
        moved = q - self.q[at_q]
        turns = np.array([self.model.joints[k].kind == 'continuous' for k in joint])
        moved = np.where(turns, moved - TURN * np.round(moved / TURN), moved)
        # a repeated stamp tells nothing new; the first one, or one after a reset, begins at rest
        before = np.where(follows | (last == stamp), self.v[at_v], 0.0)
        rate = np.where(follows, moved, 0.0) / dt
        return before + np.where(follows, rate - before, 0.0) / (1.0 + self.filter_time / dt)


def _whole(found, n, model):
    """Return how to take a whole message of n joints: what to pick, its places, whose stamps.

    Picked from the positions, velocities and efforts one after another, to go into q, v and effort
    one after another. Each is None where it is all there is, in order.
    """
    entry, joint, at_q, at_v = found
    if not len(entry):
        return None
    picked = np.concatenate([entry, n + entry, 2 * n + entry]).tolist()
    places = np.concatenate([at_q, model.nq + at_v, model.nq + model.nv + at_v])
    return (None if picked == list(range(3 * n)) else itemgetter(*picked),
            None if places.tolist() == list(range(model.nq + 2 * model.nv)) else places,
            None if len(joint) == len(model.joints) else joint)


def _entries(values, entry):
    if not len(values):
        return np.full(len(entry), np.nan)
    return values[entry]
