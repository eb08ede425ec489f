"""How hard does a law pull towards its reference: joint by joint, or along axes of a frame?"""

from typing import NamedTuple

import numpy as np

from dynamics_node.checks import MOST_JOINTS, whole
from dynamics_node.control.spline import check_reals
from dynamics_node.errors import DynamicsError, shown

TASK_LAWS = ('impedance', 'motion')


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


class TaskGains(NamedTuple):
    """Of mode task_space, not to be written.

    With law 'impedance' stiffness makes forces, N/m and N m/rad; with 'motion' it acts on unit
    inertia, 1/s^2. It counts where a reference has none of its own, as the damping ratio does.
    """

    law: str
    stiffness: np.ndarray      # along the contact axes, (6,)
    damping_ratio: float       # 1 is critical
    posture: Gains             # that hold the posture [1/s^2, 1/s], in the null space

    @classmethod
    def of(cls, nv, law='impedance', stiffness=(500.0, 30.0), damping_ratio=1.0, kp=25.0, kd=10.0):
        """Return them, checked; stiffness is one number, two (linear, angular) or six.

        :raise DynamicsError: one is negative or not finite, or of the wrong size.
        """
        if not isinstance(law, str) or law not in list(TASK_LAWS):
            raise DynamicsError(f'no task law {shown(law)}; expected one of {", ".join(TASK_LAWS)}')
        ratio = float(not_negative('damping_ratio', check_reals('damping_ratio', damping_ratio,
                                                                ())))
        return cls(law, six('stiffness', stiffness), ratio, Gains.per_joint(nv, kp, kd))


def per_joint(name, value, nv):
    """Return value as nv finite numbers, none negative; a single number is every joint's."""
    nv = whole('nv', nv, 0, MOST_JOINTS)
    return _held(not_negative(name, check_reals(name, value, (), (nv,))), nv)


def six(name, values):
    """Return six finite numbers, none negative: one is all, two are linear and angular."""
    values = not_negative(name, check_reals(name, values, (1,), (2,), (6,)))
    return _held(np.repeat(values, 3) if len(values) == 2 else values, 6)


def not_negative(name, values):
    """Return an array, none of whose entries is negative."""
    if (values < 0.0).any():
        k = int(np.flatnonzero(values < 0.0)[0])
        place = f'[{k}]' if values.ndim else ''
        raise DynamicsError(f'{name}{place} is {values.flat[k]}; expected zero or a positive '
                            'number')
    return values


def _held(values, size):
    values = np.array(np.broadcast_to(values, (size,)))
    values.flags.writeable = False
    return values
