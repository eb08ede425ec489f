"""Merge joint states of any number of publishers into the newest state of every joint.

Independent of ROS. Every time is a stamp in nanoseconds.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from dynamics_node.model.model import Model

NEVER = np.iinfo(np.int64).min
# A message this much older than the newest one of its joint is not late: the clock was set back (a
# simulation was reset, a bag starts again), and time continues from there.
RESTART = 1_000_000_000  # [ns]
# The clock was also set back if the newest message is this far ahead of the clock, and this one is
# not: a driver whose own clock is ahead sends both.
AHEAD = 50_000_000       # [ns]
TURN = 2.0 * np.pi
NANOSECONDS = np.dtype(np.int64)


class MeasuredSnapshot(NamedTuple):
    """State of all joints at one moment. The arrays are read-only and never change."""

    model: Model
    q: np.ndarray            # (nq,), nan where never measured
    v: np.ndarray            # (nv,), likewise, and where missing_velocity says so
    effort: np.ndarray       # (nv,), likewise; 0 at planar and floating joints
    own_stamps: np.ndarray | None   # (joints,) [ns], NEVER where never measured; None: all oldest
    oldest: int              # smallest stamp [ns]

    @property
    def stamps(self) -> np.ndarray:
        """The stamps of the joints, (joints,) [ns], NEVER where never measured."""
        if self.own_stamps is not None:
            return self.own_stamps
        return np.full(len(self.model.joints), self.oldest, dtype=NANOSECONDS)

    def oldest_of(self, joints: np.ndarray) -> int:
        """Return the smallest stamp of some joints [ns], given by their indices."""
        stamps = self.own_stamps
        if stamps is None or len(joints) == len(stamps):
            return self.oldest
        return int(stamps[joints].min())

    def name_oldest(self, joints: np.ndarray) -> str:
        """Return the name of the joint with the smallest stamp of some; '' if all have the same."""
        stamps = self.stamps[joints]
        same = (stamps == stamps[0]).all()
        return '' if same else self.model.joints[int(joints[stamps.argmin()])].name

    def repeats(self, other: MeasuredSnapshot | None, joints: np.ndarray) -> bool:
        """Return whether some joints, given by their indices, were not measured since another."""
        return other is not None and np.array_equal(self.stamps[joints], other.stamps[joints])

    @property
    def never_measured(self) -> list[str]:
        """Names of the joints that no joint state has contained yet."""
        return [joint.name for joint, stamp in zip(self.model.joints, self.stamps)
                if stamp == NEVER]


class _Placement(NamedTuple):
    """Places in the state of the entries of a message with certain joint names."""

    pick: Callable | None     # picks known joints from (*position, *velocity, *effort); None: all
    joint: np.ndarray         # indices of these joints in the model
    q: np.ndarray             # their places in q
    v: np.ndarray             # their places in v and effort
    places: np.ndarray | None     # the same in (q, v, effort); None: all of it, in order


class MeasuredState:
    """The newest position, velocity and effort of every joint, with their stamps.

    Each message replaces the snapshot of the current values.

    :ivar counts: number of dropped entries or messages, by reason.
    """

    def __init__(self, model: Model, missing_velocity: str = 'difference',
                 filter_time: float = 0.02, clock: Callable[[], int] | None = None) -> None:
        """Start with nothing measured.

        :param missing_velocity: 'difference' or 'fault', for joint states without velocity.
        :param filter_time: time constant of the low pass on that difference [s].
        :param clock: returns the time of the stamps [ns]; None: it is not known.
        """
        self.model, self._clock = model, clock
        self.missing_velocity, self.filter_time = missing_velocity, filter_time
        effort = np.full(model.nv, np.nan)
        for joint in model.joints:
            if joint.kind in ('planar', 'floating'):
                effort[joint.v] = 0.0  # not actuated, unless a request gives an effort
        self._ends = model.nq, model.nq + model.nv
        self._replace(np.concatenate([np.full(self._ends[1], np.nan), effort]),
                      np.full(len(model.joints), NEVER, dtype=NANOSECONDS))
        self._pack = struct.Struct(f'={self._ends[1] + model.nv}d').pack
        self.counts: Counter[str] = Counter()
        self._names: tuple[str, ...] | None = None
        self._placement: _Placement | None = None

    def snapshot(self) -> MeasuredSnapshot:
        """Return the current values; the same object until one of them changes."""
        return self._snapshot

    @property
    def q(self) -> np.ndarray:
        """The positions, (nq,), nan where never measured."""
        return self._snapshot.q

    @property
    def v(self) -> np.ndarray:
        """The velocities, (nv,), likewise."""
        return self._snapshot.v

    @property
    def effort(self) -> np.ndarray:
        """The efforts, (nv,), likewise."""
        return self._snapshot.effort

    @property
    def stamps(self) -> np.ndarray:
        """The stamps, (joints,) [ns], NEVER where never measured."""
        return self._snapshot.stamps

    def moved_to(self, model: Model, missing_velocity: str,
                 filter_time: float) -> MeasuredState:
        """Return the state of another model; joints of the same name and type keep their values."""
        other = MeasuredState(model, missing_velocity, filter_time, self._clock)
        other.counts = self.counts
        numbers, stamps = other._copied()
        q, v, effort = np.split(numbers, other._ends)   # views
        place = {joint.name: k for k, joint in enumerate(self.model.joints)}
        for k, joint in enumerate(model.joints):
            old = self.model.joints[place[joint.name]] if joint.name in place else None
            if old is not None and old.kind == joint.kind:
                q[joint.q], v[joint.v] = self.q[old.q], self.v[old.v]
                effort[joint.v], stamps[k] = self.effort[old.v], self.stamps[place[joint.name]]
        other._replace(numbers, stamps)
        return other

    def _replace(self, numbers: np.ndarray, stamps: np.ndarray) -> None:
        """Use other values (q, v, effort) and stamps; both arrays become read-only."""
        numbers.flags.writeable = stamps.flags.writeable = False
        first, second = self._ends
        every = stamps.tolist()
        self._numbers, self._newest = numbers, max(every, default=NEVER)
        self._snapshot = MeasuredSnapshot(
            self.model, numbers[:first], numbers[first:second], numbers[second:], stamps,
            min(every, default=NEVER))

    def _copied(self) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of the values (q, v, effort) and of the stamps."""
        return self._numbers.copy(), self._snapshot.stamps.copy()

    # Joint states ----------------------------------------------------------------------------

    def take(self, stamp: int, names: Sequence[str], position: Sequence[float],
             velocity: Sequence[float] = (), effort: Sequence[float] = ()) -> None:
        """Store a joint state: one entry per name or none; nan counts as missing.

        Joints that the model does not have are ignored. Entries older than the stored ones are
        dropped.
        """
        names = tuple(names)
        if names is not self._names and names != self._names:
            self._names, self._placement = names, _placement_of(names, self.model)
        n, placement = len(names), self._placement
        if not len(position) == len(velocity) == len(effort) == n:
            if any(len(x) not in (0, n) for x in (position, velocity, effort)):
                self.counts['sizes of names and values differ'] += 1
                return
            missing = (math.nan,) * n
            position, velocity, effort = (x if len(x) else missing
                                          for x in (position, velocity, effort))
        if placement is None:
            return
        values: Sequence[float] | np.ndarray = (*position, *velocity, *effort)
        if placement.pick is not None:
            values = placement.pick(values)
        # A finite sum proves that all values are finite.
        if stamp < self._newest or not math.isfinite(sum(values)):
            placement, values = self._completed(stamp, placement, np.array(values))
        if placement.places is None and stamp >= self._newest:   # every joint, in its place
            # Arrays in the memory of bytes are read-only. MeasuredSnapshot() is slower.
            self._numbers = numbers = np.frombuffer(self._pack(*values))
            first, second = self._ends
            self._newest, self._snapshot = stamp, tuple.__new__(MeasuredSnapshot, (
                self.model, numbers[:first], numbers[first:second], numbers[second:], None, stamp))
        else:
            self._store(stamp, placement, values)

    def _store(self, stamp: int, placement: _Placement,
               values: Sequence[float] | np.ndarray) -> None:
        """Store values of some joints, or in another order, that are known and not late."""
        numbers, stamps = self._copied()
        numbers[slice(None) if placement.places is None else placement.places] = values
        stamps[placement.joint] = stamp
        self._replace(numbers, stamps)

    def _completed(self, stamp: int, placement: _Placement,
                   values: np.ndarray) -> tuple[_Placement, np.ndarray]:
        """Return placement and values without late joints and with missing velocities filled in.

        Where a position is missing, the joint is dropped; its velocity alone is stored here.
        """
        q, v, effort = values.reshape(3, -1)
        known = np.isfinite(q)
        in_time = self._in_time(stamp, placement.joint) if stamp < self._newest else True
        keep = known & in_time
        if not keep.all():
            alone = ~known & in_time
            if alone.any():
                self.counts['position missing'] += int(alone.sum())
                alone &= np.isfinite(v)
                self._store_velocities(placement.v[alone], v[alone])
            q, v, effort = q[keep], v[keep], effort[keep]
            placement = _placed(None, placement.joint[keep], placement.q[keep], placement.v[keep],
                                self.model)
        missing = ~np.isfinite(v)
        if missing.any():
            v = np.where(missing, self._estimated_velocities(stamp, placement, q), v)
        return placement, np.concatenate([q, v, np.where(np.isfinite(effort), effort, np.nan)])

    def _in_time(self, stamp: int, joint: np.ndarray) -> np.ndarray:
        """Return for each joint whether the stamp is not late, as booleans."""
        last = self.stamps[joint]
        older = last > stamp
        set_back = last > stamp + RESTART
        if self._clock is not None:
            latest = self._clock() + AHEAD
            set_back |= older & (last > latest) & (stamp <= latest)
        late = older & ~set_back
        if late.any():
            self.counts['out of order'] += int(late.sum())
        if set_back.any():
            self.counts['clock set back'] += 1
        return ~late

    def _estimated_velocities(self, stamp: int, placement: _Placement,
                              q: np.ndarray) -> np.ndarray:
        """Return velocities for joints that were measured without one."""
        if self.missing_velocity == 'fault':
            return np.full(len(q), np.nan)
        last = self.stamps[placement.joint]
        follows = (last != NEVER) & (last < stamp)
        dt = np.where(follows, (stamp - np.where(follows, last, stamp)) * 1e-9, np.inf)
        moved = q - self.q[placement.q]
        turns = np.array([self.model.joints[k].kind == 'continuous' for k in placement.joint])
        moved = np.where(turns, moved - TURN * np.round(moved / TURN), moved)
        # A repeated stamp keeps the velocity; after the first stamp, or a reset, it is zero, as
        # after a velocity that was unknown.
        before = np.where(follows | (last == stamp), np.nan_to_num(self.v[placement.v]), 0.0)
        rate = np.where(follows, moved, 0.0) / dt
        return before + np.where(follows, rate - before, 0.0) / (1.0 + self.filter_time / dt)

    def _store_velocities(self, at: np.ndarray | slice, v: np.ndarray) -> None:
        """Store velocities at some places of v; stamps stay."""
        numbers, stamps = self._copied()
        numbers[self._ends[0]:self._ends[1]][at] = v
        self._replace(numbers, stamps)

    # Joints with several coordinates ---------------------------------------------------------

    def take_joint(self, stamp: int, name: str, q: np.ndarray, v: np.ndarray) -> None:
        """Store the state of one joint with several coordinates, such as a floating base."""
        k = next(k for k, joint in enumerate(self.model.joints) if joint.name == name)
        if self._in_time(stamp, np.array([k])).all():
            joint, (numbers, stamps) = self.model.joints[k], self._copied()
            first, second = self._ends
            numbers[:first][joint.q], numbers[first:second][joint.v], stamps[k] = q, v, stamp
            self._replace(numbers, stamps)

    def take_velocity(self, name: str, v: np.ndarray) -> None:
        """Store the velocity of one joint with several coordinates; its stamp stays."""
        self._store_velocities(self.model.joint(name).v, v)


def _placement_of(names: tuple[str, ...], model: Model) -> _Placement | None:
    """Return the placement of a message with these joint names, None if the model has none."""
    entry_of, n = {name: i for i, name in enumerate(names)}, len(names)
    found = [(entry_of[joint.name], k, joint.q.start, joint.v.start)
             for k, joint in enumerate(model.joints)
             if joint.name in entry_of and joint.kind not in ('planar', 'floating')]
    if not found:
        return None
    entry, joint, at_q, at_v = np.array(found, dtype=int).T
    picked = np.concatenate([entry, n + entry, 2 * n + entry]).tolist()
    return _placed(None if picked == list(range(3 * n)) else itemgetter(*picked), joint, at_q, at_v,
                   model)


def _placed(pick: Callable | None, joint: np.ndarray, at_q: np.ndarray, at_v: np.ndarray,
            model: Model) -> _Placement:
    places = np.concatenate([at_q, model.nq + at_v, model.nq + model.nv + at_v])
    in_order = places.tolist() == list(range(model.nq + 2 * model.nv))
    return _Placement(pick, joint, at_q, at_v, None if in_order else places)
