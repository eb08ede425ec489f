"""Define a transmission: how the positions and torques of motors and joints are related.

    motor = R (q - zeros),    joint velocity = R^-1 motor velocity,    tau = R' motor torque

R has a gear ratio per joint on its diagonal. Other entries couple joints: with R[6, 5] = 32 the
motor of joint 6 also turns when joint 5 moves, and its torque also acts on joint 5. In YAML, each
motor has a map of joints; a motor may have the name of a joint:

    motors:
      joint_5: {joint_5: 45.0}
      joint_6: {joint_5: 32.0, joint_6: 32.0}
    zeros: {joint_5: 1.5708}     # positions of joints where the motors are at zero; default 0
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dynamics_node.checks import check_array, finite
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.yaml_text import load_yaml

MAX_VALUES = 10_000     # of a YAML text
EXAMPLE = 'motors: {motor_1: {joint_1: 100.0}}'
SINGULAR = 1e-9         # determinant of R, its rows scaled to norm 1


class Transmission(NamedTuple):
    """Motors, joints and the matrix R between them."""

    motors: tuple[str, ...]
    joints: tuple[str, ...]
    matrix: np.ndarray    # (n, n) R: a row per motor, a column per joint [rad/rad or rad/m]
    zeros: np.ndarray     # (n,) positions of the joints where all motors are at zero [rad or m]

    def joint_positions(self, motor: np.ndarray) -> np.ndarray:
        """Return the joint positions q for positions of the motors, (n,) or (N, n)."""
        return self.joint_velocities(motor) + self.zeros

    def joint_velocities(self, motor: np.ndarray) -> np.ndarray:
        """Return the joint velocities v for velocities of the motors, (n,) or (N, n)."""
        motor = check_array('motor', motor, len(self.motors))
        return np.linalg.solve(self.matrix, motor.T).T

    def joint_torques(self, motor: np.ndarray) -> np.ndarray:
        """Return the joint torques for torques of the motors, (n,) or (N, n)."""
        return check_array('motor', motor, len(self.motors)) @ self.matrix

    @property
    def coupled(self) -> tuple[str, ...]:
        """Names of the motors that move with more than one joint."""
        several = np.count_nonzero(self.matrix, axis=1) > 1
        return tuple(name for name, is_coupled in zip(self.motors, several) if is_coupled)


def read_transmission(source: str | Mapping) -> Transmission:
    """Return the Transmission of a YAML text or a dict.

    :param source: {'motors': {motor: {joint: ratio}}, 'zeros': {joint: position}}.
    :raise DynamicsError: names the entry and what would be valid.
    """
    loaded = load_yaml(source, MAX_VALUES) if isinstance(source, str) else source
    found = _mapping('the transmission', loaded, EXAMPLE)
    rows = _names_to(found, 'motors')
    unknown = set(found) - {'motors', 'zeros'}
    if unknown:
        raise DynamicsError(f'the transmission has the unknown key {shown(sorted(unknown)[0])}; '
                            'expected motors and zeros')
    ratios = {motor: _mapping(f'motor {shown(motor)}', row, '{joint_1: 100.0}')
              for motor, row in rows.items()}
    joints = tuple(dict.fromkeys(joint for row in ratios.values() for joint in row))
    if len(joints) != len(ratios) or not joints:
        raise DynamicsError(f'the transmission has {len(ratios)} motors and {len(joints)} joints; '
                            'expected one motor per joint')
    matrix = np.array([[_number(f'the ratio of {motor} to {joint}', row.get(joint, 0.0))
                        for joint in joints] for motor, row in ratios.items()])
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not norms.all() or abs(np.linalg.det(matrix / norms)) < SINGULAR:
        raise DynamicsError('the matrix of the transmission is singular: the motors do not '
                            'determine the positions of all joints')
    given = _names_to(found, 'zeros') if 'zeros' in found else {}
    others = set(given) - set(joints)
    if others:
        raise DynamicsError(f'zeros names the joint {shown(sorted(others)[0])}; expected one of '
                            f'{", ".join(joints)}')
    zeros = [_number(f'the zero of {joint}', given.get(joint, 0.0)) for joint in joints]
    return Transmission(tuple(ratios), joints, matrix, np.array(zeros))


def _names_to(found: Mapping, key: str) -> Mapping:
    return _mapping(f'{key} of the transmission', found.get(key), EXAMPLE)


def _mapping(name: str, value: object, example: str) -> Mapping:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise DynamicsError(f'{name} is {shown(value, 200)}; expected a map such as {example}')
    return value


def _number(name: str, value: object) -> float:
    return float(finite(name, value, ()))
