"""Convert a recording of drives to positions and torques of joints.

* Efforts in other units, such as currents or percent of a rated torque, are multiplied by a scale:
  the torque per ampere or per percent. A negative scale inverts the sign of the effort alone.
* Motor-side positions and torques are converted by gear ratios, q = motor / r and tau = r x motor
  torque, or by a `Transmission` where motors and joints are coupled. A ratio of -1 inverts the sign
  of position and effort.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import check_kind, finite, mapping
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.identification.recording import RawRecording, named_joints
from dynamics_node.identification.transmission import Transmission
from dynamics_node.robot.robot import Robot


class Drives(NamedTuple):
    """How drives recorded positions and efforts: the last arguments of `joint_side`."""

    effort_scale: Mapping[str, float] = {}
    gear_ratio: Mapping[str, float] = {}
    transmission: Transmission | None = None


def joint_side(robot: Robot, raw: RawRecording, effort_scale: Mapping[str, float] | None = None,
               gear_ratio: Mapping[str, float] | None = None,
               transmission: Transmission | None = None) -> RawRecording:
    """Return the recording with the positions and torques of joints in SI units.

    :param raw: as a driver recorded it; numbered columns are the joints of the robot in its order.
    :param effort_scale: {joint or motor: torque [N m or N] per recorded unit of effort}; NaN: not
        known, the effort is not used.
    :param gear_ratio: {joint: motor position / joint position}: the columns of these joints are
        those of their motors.
    :param transmission: between motors, the columns of `raw`, and joints; instead of gear_ratio.
    :raise DynamicsError: a name is not in the recording, or a number is zero or not finite.
    """
    raw = named_joints(robot, check_kind('raw', raw, RawRecording))
    scales = _factors('effort_scale', effort_scale, raw, unknown=True)
    ratios = _factors('gear_ratio', gear_ratio, raw)
    raw = raw._replace(tau=raw.tau * scales, currents=tuple(
        name for name in raw.currents if name not in (effort_scale or {})))
    if transmission is None:
        v = None if raw.v is None else raw.v / ratios
        return raw._replace(q=raw.q / ratios, v=v, tau=raw.tau * ratios)
    if gear_ratio:
        raise DynamicsError('gear_ratio and transmission are given; expected one of them')
    return _through(check_kind('transmission', transmission, Transmission), raw)


def check_no_currents(raw: RawRecording) -> None:
    """Refuse a recording with currents: identification needs torques."""
    if raw.currents:
        raise DynamicsError(
            f'the effort of {", ".join(raw.currents)} is a current; give the torque per ampere of '
            'each joint (torque constant x gear ratio), with joint_side or --effort-scale joint=K')


def _factors(name: str, given: Mapping[str, float] | None, raw: RawRecording, unknown: bool = False
             ) -> np.ndarray:
    """Return a factor for each column of the recording, (joints,); 1 where none is given.

    :param unknown: whether NaN is permitted.
    """
    factors = np.ones(len(raw.joint_names))
    for joint, value in mapping(name, given or {}, "{'joint_1': 0.5}").items():
        if joint not in raw.joint_names:
            raise DynamicsError(f'{name} names {shown(joint)}; the recording has '
                                f'{", ".join(raw.joint_names)}')
        if unknown and isinstance(value, float) and np.isnan(value):
            factors[raw.joint_names.index(joint)] = np.nan
            continue
        number = float(finite(f'{name} of {joint}', value, ()))
        if number == 0.0:
            raise DynamicsError(f'{name} of {joint} is 0; expected a number that is not zero')
        factors[raw.joint_names.index(joint)] = number
    return factors


def _through(transmission: Transmission, raw: RawRecording) -> RawRecording:
    """Return the recording with the joints of a transmission in place of its motors."""
    missing = [name for name in transmission.motors if name not in raw.joint_names]
    if missing:
        raise DynamicsError(f'the recording lacks the motors {missing} of the transmission; it has '
                            f'{list(raw.joint_names)}')
    motors = raw.joints(transmission.motors)
    check_no_currents(motors)
    inverse = np.linalg.inv(transmission.matrix).T
    v = None if motors.v is None else motors.v @ inverse
    joints = motors._replace(
        joint_names=transmission.joints, q=motors.q @ inverse + transmission.zeros, v=v,
        tau=_joint_efforts(motors.tau, transmission.matrix))
    others = raw.joints([name for name in raw.joint_names if name not in transmission.motors])
    return joints._replace(
        joint_names=joints.joint_names + others.joint_names, currents=others.currents,
        q=np.hstack([joints.q, others.q]), tau=np.hstack([joints.tau, others.tau]),
        v=None if joints.v is None or others.v is None else np.hstack([joints.v, others.v]))


def _joint_efforts(tau: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return R' tau; NaN only at joints that a motor without an effort drives."""
    missing = np.isnan(tau)
    joints = np.where(missing, 0.0, tau) @ matrix
    joints[missing.astype(float) @ (matrix != 0.0) > 0.0] = np.nan
    return joints
