"""Name the joints because of which torques cannot be enabled. Independent of rclpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.state.measured_state import MeasuredSnapshot
from dynamics_node.safety import Refused
from dynamics_node.safety.faults import NO_STATE, STATE_STALE


def check_velocities(measured: MeasuredSnapshot) -> None:
    """Raise a DynamicsError if the velocity of a measured joint is not known."""
    unknown = [joint.name for joint in measured.model.joints
               if not np.isfinite(measured.v[joint.v]).all()]
    if unknown:
        raise DynamicsError(f'no velocity is known of: {", ".join(unknown)}; joint_states has '
                            "none, and missing_velocity is 'fault', or there was one state only")


def explained(refusal: Refused, measured: MeasuredSnapshot, needed: Sequence[int] | np.ndarray,
              now: int, max_age: float) -> DynamicsError:
    """Return a refusal of the gate with the names of the joints.

    :param needed: indices of the joints whose age counts.
    :param now: [ns] on the clock of the stamps.
    :param max_age: [s], safety.max_state_age.
    """
    if refusal.kind == NO_STATE:
        return DynamicsError('no joint state has been measured of: '
                             f'{", ".join(measured.never_measured)}')
    if refusal.kind == STATE_STALE:
        ages = {measured.model.joints[k].name: (now - int(measured.stamps[k])) * 1e-9
                for k in needed}
        old = [f"'{name}' {age:.3g} s ago" for name, age in ages.items() if age >= max_age]
        return DynamicsError(f'joints were measured too long ago: {", ".join(old)}; at most '
                             f'{max_age:g} s (safety.max_state_age). A joint that the torques '
                             'need not move can be left out of torque.joints, or be locked')
    return refusal
