"""How hard a law pulls towards its reference: joint by joint."""

from typing import NamedTuple

import numpy as np

from dynamics_node.control.spline import check_reals
from dynamics_node.errors import DynamicsError


class Gains(NamedTuple):
    """Of position and velocity error, (nv,) each, not to be written.

    What they mean is up to the law. Computed torque has them act on unit inertia, 1/s^2 and 1/s;
    impedance makes torques with them, N m/rad and N m s/rad (N/m and N s/m for a prismatic joint).
    """

    kp: np.ndarray
    kd: np.ndarray

    @classmethod
    def per_joint(cls, nv, kp, kd):
        """Return the gains as they are; a single number is every joint's.

        :raise DynamicsError: one is negative or not finite, or they are not nv.
        """
        return cls(per_joint('kp', kp, nv), per_joint('kd', kd, nv))

    @classmethod
    def from_frequency(cls, nv, frequency, damping_ratio=1.0):
        r"""Return the gains that make each error a mass on a spring with a damper.

        kp = w^2,   kd = 2 D w,   so that  e'' + kd e' + kp e = 0  swings with w, damped by D.

        For computed torque only, where the law takes the robot's own inertia out.

        :param frequency: natural frequency w, a number or (nv,) [rad/s]; 2 pi times the one in Hz.
        :param damping_ratio: D, a number or (nv,): 1 is critical, the fastest without overshoot.

        Hutter 2017, eq. 3.78 and 3.79.
        """
        w = per_joint('frequency', frequency, nv)
        D = per_joint('damping_ratio', damping_ratio, nv)
        with np.errstate(over='ignore'):  # what is not finite is refused
            return cls.per_joint(nv, w * w, 2.0 * D * w)


def per_joint(name, value, nv):
    """Return value as nv finite numbers, none negative; a single number is every joint's."""
    values = check_reals(name, value, (), (nv,))
    if (values < 0.0).any():
        k = int(np.flatnonzero(values < 0.0)[0])
        place = f'[{k}]' if values.ndim else ''
        raise DynamicsError(f'{name}{place} is {values.flat[k]}; expected zero or a positive '
                            'number')
    values = np.array(np.broadcast_to(values, (nv,)))
    values.flags.writeable = False
    return values
