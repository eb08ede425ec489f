"""Compute the motor torque of each torque mode from state and reference.

Each law is f(terms, q, v, motion, gains) -> tau, (nv,) [N m or N]: a pure function of the
TorqueTerms of a robot, its measured state, the MotionSample of its reference and the Gains; a mode
ignores those it does not need. Batches are valid too. Mode task_space, with the reference of a
frame, is in task_laws.py.

With  e = difference(q, q*)  and  de = v* - v,  starred values being the reference's:

| mode                | torque                                                  | friction at |
|---------------------|---------------------------------------------------------|-------------|
| gravity             | g(q)                                                    | -           |
| feedforward         | M(q*) a* + C(q*, v*) v* + g(q*) + friction              | v*          |
| computed_torque     | M(q) (a* + Kp e + Kd de) + C(q, v) v + g(q) + friction  | v*          |
| impedance           | Kp e + Kd de + g(q) + friction                          | v*          |
| impedance_with_bias | Kp e + Kd de + C(q, v) v + g(q) + friction              | v*          |

Friction is evaluated at the velocity of the reference in every mode that has one, because:

* A measured velocity is late and noisy. Near zero, where dry friction changes its sign, it is noise
  only, and the smoothed sign has the slope f / v_s there, 90 N m s/rad for 0.9 N m over 0.01 rad/s:
  this feedback acts as negative damping and would shake the arm.
* The remaining friction damps the error: for computed torque on an exact model
      e'' + Kd e' + Kp e = M(q)^-1 (friction(v) - friction(v*)).
  Friction increases with velocity, so the right side only removes energy from the error. It is zero
  where the reference is followed. (sot-torque-control#6 has the same result.)
* A reference at rest needs no friction torque: the friction of the joint helps to hold it, and the
  error that remains is below f / Kp (impedance) or f / (M Kp) (computed torque).

Mode gravity has no reference, hence no friction torque: a hand may move the arm.
"""

from collections.abc import Callable

import numpy as np

from dynamics_node.control.gains import Gains
from dynamics_node.control.spline import MotionSample
from dynamics_node.control.task_laws import task_space
from dynamics_node.control.torque_terms import TorqueTerms


def gravity(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample,
            gains: Gains) -> np.ndarray:
    """Return the torque that balances gravity: no stiffness, no reference."""
    return terms.gravity(q)


def feedforward(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample,
                gains: Gains) -> np.ndarray:
    """Return the torque of the reference motion, for drivers with their own feedback loop."""
    return terms.motion_torque(motion.q, motion.v, motion.a) + terms.friction(motion.v)


def computed_torque(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample,
                    gains: Gains) -> np.ndarray:
    """Return the torque with which each joint's error obeys e'' + Kd e' + Kp e = 0.

    It is the inverse dynamics of the commanded acceleration; M is not computed.

    Hutter 2017, eq. 3.75 to 3.77.
    """
    a = motion.a + gains.kp * terms.error(q, motion.q) + gains.kd * (motion.v - v)
    return terms.motion_torque(q, v, a) + terms.friction(motion.v)


def given_acceleration(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample,
                       gains: Gains) -> np.ndarray:
    """Return the torque of the acceleration motion.a at the measured state, without friction."""
    return terms.motion_torque(q, v, motion.a)


def impedance(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample,
              gains: Gains) -> np.ndarray:
    """Return the torque of springs and dampers plus gravity (Hutter 2017, eq. 3.74)."""
    return _springs(terms, q, v, motion, gains) + terms.gravity(q) + terms.friction(motion.v)


def impedance_with_bias(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample,
                        gains: Gains) -> np.ndarray:
    """Return the torque of impedance plus Coriolis and centrifugal torques."""
    return _springs(terms, q, v, motion, gains) + terms.bias(q, v) + terms.friction(motion.v)


def _springs(terms: TorqueTerms, q: np.ndarray, v: np.ndarray, motion: MotionSample, gains: Gains
             ) -> np.ndarray:
    return gains.kp * terms.error(q, motion.q) + gains.kd * (motion.v - v)


JOINT_MODES: dict[str, Callable[..., np.ndarray]] = {
    'gravity': gravity,
    'feedforward': feedforward,
    'computed_torque': computed_torque,
    'impedance': impedance,
    'impedance_with_bias': impedance_with_bias,
}
WITH_REFERENCE = frozenset(JOINT_MODES) - {'gravity'}   # modes with a reference of joints
WITH_GAINS = WITH_REFERENCE - {'feedforward'}
TASK_SPACE = 'task_space'
MODES = {**JOINT_MODES, TASK_SPACE: task_space}
