"""Define the gains of the laws: joint by joint, or along the axes of a frame."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import MOST_JOINTS, check_reals, whole
from dynamics_node.errors import DynamicsError, shown

TASK_LAWS = ('impedance', 'motion')


class Gains(NamedTuple):
    """Gains of position and velocity error, (nv,) each, read-only.

    Their units depend on the law: 1/s^2 and 1/s for computed torque (unit inertia); N m/rad and
    N m s/rad for impedance (N/m and N s/m for a prismatic joint).
    """

    kp: np.ndarray
    kd: np.ndarray

    @classmethod
    def per_joint(cls, nv: int, kp: ArrayLike, kd: ArrayLike) -> 'Gains':
        """Return the given gains; a single number applies to every joint.

        :raise DynamicsError: one is negative or not finite, or their number is not nv.
        """
        return cls(per_joint('kp', kp, nv), per_joint('kd', kd, nv))

    @classmethod
    def from_frequency(cls, nv: int, frequency: ArrayLike,
                       damping_ratio: ArrayLike = 1.0) -> 'Gains':
        r"""Return the gains of an error with given natural frequency and damping ratio.

        kp = w^2,   kd = 2 D w   for   e'' + kd e' + kp e = 0.

        For computed torque only, where the law compensates the robot's own inertia.

        :param frequency: natural frequency w, a number or (nv,) [rad/s]; 2 pi times the one in Hz.
        :param damping_ratio: D, a number or (nv,): 1 is critical, the fastest without overshoot.

        Hutter 2017, eq. 3.78 and 3.79.
        """
        w = per_joint('frequency', frequency, nv)
        D = per_joint('damping_ratio', damping_ratio, nv)
        with np.errstate(over='ignore'):  # checked in per_joint
            return cls.per_joint(nv, w * w, 2.0 * D * w)


class TaskGains(NamedTuple):
    """Gains of mode task_space, read-only.

    The unit of the stiffness is N/m and N m/rad with law 'impedance', 1/s^2 with law 'motion' (unit
    inertia). A reference with its own stiffness or damping replaces them.
    """

    law: str
    stiffness: np.ndarray      # along the contact axes, (6,)
    damping_ratio: float       # 1 is critical
    posture: Gains             # of the posture, in the null space [1/s^2, 1/s]

    @classmethod
    def of(cls, nv: int, law: str = 'impedance', stiffness: ArrayLike = (500.0, 30.0),
           damping_ratio: float = 1.0, kp: ArrayLike = 25.0,
           kd: ArrayLike = 10.0) -> 'TaskGains':
        """Return checked gains; stiffness is one number, two (linear, angular) or six.

        :raise DynamicsError: one is negative or not finite, or of the wrong size.
        """
        if not isinstance(law, str) or law not in list(TASK_LAWS):
            raise DynamicsError(f'no task law {shown(law)}; expected one of {", ".join(TASK_LAWS)}')
        ratio = float(not_negative('damping_ratio', check_reals('damping_ratio', damping_ratio,
                                                                ())))
        return cls(law, six_gains('stiffness', stiffness), ratio, Gains.per_joint(nv, kp, kd))


def per_joint(name: str, value: ArrayLike, nv: int) -> np.ndarray:
    """Return nv finite numbers, none negative; a single number applies to every joint."""
    nv = whole('nv', nv, 0, MOST_JOINTS)
    return _read_only(not_negative(name, check_reals(name, value, (), (nv,))), nv)


def six_gains(name: str, values: ArrayLike) -> np.ndarray:
    """Return six finite numbers, none negative, from one for all, (linear, angular), or six."""
    values = not_negative(name, check_reals(name, values, (1,), (2,), (6,)))
    return _read_only(np.repeat(values, 3) if len(values) == 2 else values, 6)


def not_negative(name: str, values: np.ndarray) -> np.ndarray:
    """Return an array after a check that no entry is negative."""
    if (values < 0.0).any():
        k = int(np.flatnonzero(values < 0.0)[0])
        place = f'[{k}]' if values.ndim else ''
        raise DynamicsError(f'{name}{place} is {values.flat[k]}; expected zero or a positive '
                            'number')
    return values


def _read_only(values: ArrayLike, size: int) -> np.ndarray:
    values = np.array(np.broadcast_to(values, (size,)))
    values.flags.writeable = False
    return values
