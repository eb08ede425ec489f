"""Make references that replace one another at random times; compare their motions."""

import numpy as np
from hypothesis import strategies as st

from dynamics_node.control.reference import Reference
from dynamics_node.control.reference_limits import ReferenceLimits
from support.differences import relative

N, BLEND = 3, 0.2
FREE = ReferenceLimits(('a', 'b', 'c'), np.full(N, -np.inf), np.full(N, np.inf), np.full(N, np.nan),
             np.array([], dtype=int), BLEND, np.inf)


def trajectory(rng, given=3, joints=N, begin=0.0):
    """Return times and the positions, velocities, accelerations that are given, at random."""
    n = rng.integers(1, 5)
    times = begin + np.append(0.0, np.cumsum(rng.uniform(0.15, 0.6, n - 1)))
    return times, *rng.normal(size=(given, n, joints))


@st.composite
def histories(draw):
    """Return [(now, Reference)], one replaced after the other: early, late, of some joints."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    now = rng.uniform(-5, 5)
    history = [(now, Reference.hold(rng.normal(size=N), now, FREE))]
    for _ in range(draw(st.integers(1, 4))):
        now += rng.uniform(0.01, 1.0)
        joints = rng.permutation(N)[:rng.integers(1, N + 1)]
        points = trajectory(rng, draw(st.integers(1, 3)), len(joints))
        start = now + rng.uniform(-points[0][-1], 0.6)
        history.append((now, history[-1][1].replaced_by(*points, start=start, now=now,
                                                        joints=joints)))
    return history


def spread(one, other):
    return max(relative(a, b) for a, b in zip(one, other))
