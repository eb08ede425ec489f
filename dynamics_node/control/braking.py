"""Compute how fast a moving robot can be braked within its effort limits.

All joints decelerate in proportion, a = -r v, so that the robot stays on the line in joint space
on which it moves. The torque for that is affine in the rate r:

    tau(r) = tau(0) - r M(q) v,   tau(0) = C(q, v) v + g(q)

The largest r at which no joint needs more than its effort limit gives the shortest stop on that
line. Friction is left out of the torque: it brakes too.
"""

import numpy as np

LEAST_RATE = 2.0   # [1/s]; where the limits allow less, the gate cuts the torque of single joints
# At most this share of the velocity is removed per joint state, and at most this rate [1/s]: a
# torque is late by a joint state or two, and joints are not quite stiff.
SHARE_PER_STATE, GREATEST_RATE = 0.25, 50.0
SHORTEST, LONGEST = 0.0005, 0.05   # [s] range of the time between two joint states


def greatest_rate(period: float) -> float:
    """Return the greatest rate r [1/s] for joint states that are `period` seconds apart."""
    return min(GREATEST_RATE, SHARE_PER_STATE / min(max(period, SHORTEST), LONGEST))


def braking_rate(coasting: np.ndarray, per_rate: np.ndarray, effort: np.ndarray,
                 most: float) -> float:
    """Return the largest rate r [1/s] with |coasting + r per_rate| <= effort, at most `most`.

    :param coasting: torque at r = 0, (nv,) [N m or N].
    :param per_rate: change of the torque with r, (nv,).
    :param effort: limits, (nv,), 0 where no motor acts.
    """
    driven = (effort > 0.0) & (per_rate != 0.0)
    room = effort - np.sign(per_rate) * coasting
    rates = room[driven] / np.abs(per_rate[driven])
    return float(np.clip(rates.min(initial=np.inf), min(LEAST_RATE, most), most))
