"""List the quantities that can be added to a data set, and compute them for rows of it.

| name | unit | computed from |
|---|---|---|
| `gravity` | N m or N | recorded positions |
| `pose:FRAME` | m, quaternion x y z w | recorded positions |
| `potential_energy` | J | recorded positions |
| `velocity`, `acceleration` | rad/s, rad/s^2 (m of a slide) | filtered positions |
| `inverse_dynamics` | N m or N | filtered positions and their derivatives |
| `power` | W | inverse dynamics times velocity, of each joint |
| `kinetic_energy` | J | filtered positions, velocities |
| `twist:FRAME` | m/s, rad/s | filtered positions, velocities: linear, angular, world axes |
| `inverse_dynamics_dq`, `_dv`, `_da` | N m per rad ... | as inverse dynamics: derivatives |
| `external_torque` | N m or N | inverse dynamics minus the measured torque |
| `forward_dynamics` | rad/s^2 (m of a slide) | filtered positions, velocities, measured torque |
| `forward_dynamics_dq`, `_dv`, `_dtau` | 1/s^2 ... | as forward dynamics: derivatives |

Derivatives are matrices, (nv, nv), row after row; that by the acceleration is the mass matrix.
The external torque is that of the environment on the robot, as `observer` defines it. Unlike the
momentum observer, which runs while the robot moves, it has no delay: the filter of the positions is
run forwards and backwards. The measured torque is not filtered, as in identification.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dynamics_node.algorithms.inverse_dynamics_derivatives import InverseDerivatives
from dynamics_node.data.quaternions import poses
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.kernels.result_types import ForwardDynamicsDerivatives
from dynamics_node.observer.effort_meaning import Meaning
from dynamics_node.robot.robot import Robot

NONE = np.empty((0, 0))   # of quantities that are not needed


class RowQuantities:
    """Quantities of N states of a robot; results that others need are computed once."""

    def __init__(self, robot: Robot, recorded: np.ndarray, q: np.ndarray = NONE,
                 v: np.ndarray = NONE, a: np.ndarray = NONE, effort: np.ndarray = NONE,
                 meaning: Meaning | None = None):
        """Take finite states.

        :param recorded: positions as recorded, (N, nq).
        :param q, v, a: filtered positions and their derivatives, (N, nv).
        :param effort: measured effort (N, nv), of that meaning.
        """
        self.robot, self.recorded, self.q, self.v, self.a = robot, recorded, q, v, a
        self.effort, self.meaning = effort, meaning

    @cached_property
    def gravity(self) -> np.ndarray:
        """Gravity torque of the recorded positions."""
        return self.robot.gravity_torque(self.recorded)

    @cached_property
    def inverse_dynamics(self) -> np.ndarray:
        """Torque that the motion needs without external torques."""
        return self.robot.inverse_dynamics(self.q, self.v, self.a)

    @cached_property
    def inverse_derivatives(self) -> InverseDerivatives:
        """Derivatives of the inverse dynamics."""
        return self.robot.inverse_dynamics_derivatives(self.q, self.v, self.a)

    @cached_property
    def measured_torque(self) -> np.ndarray:
        """Torque of the motors, or behind gear and rotor: where it is measured."""
        meaning = self.meaning
        if meaning is None:
            raise DynamicsError('meaning is None; expected the meaning of the measured effort, by '
                                'which the measured torque is computed')
        given = meaning.scale * self.effort
        if meaning.without_gravity:
            given += meaning.driven * self.robot.gravity_torque(self.q)
        return given

    @cached_property
    def external_torque(self) -> np.ndarray:
        """Torque of the environment: what the motion needs minus what the motors give."""
        given, needed = self.measured_torque, self.inverse_dynamics
        if self.meaning is not None and not self.meaning.motor_side:   # behind gear and rotor
            needed = (needed - self.robot.friction_torque(self.v)
                      - self.robot.model.armature * self.a)
        return needed - given

    @cached_property
    def forward_dynamics(self) -> np.ndarray:
        """Acceleration that the torque of the motors causes without external torques."""
        return self.robot.forward_dynamics(self.q, self.v, self.measured_torque)

    @cached_property
    def forward_derivatives(self) -> ForwardDynamicsDerivatives:
        """Derivatives of the forward dynamics."""
        return self.robot.forward_dynamics_derivatives(self.q, self.v, self.measured_torque)


class Quantity(NamedTuple):
    """A quantity that can be added."""

    unit: str
    compute: Callable[..., np.ndarray]   # f(RowQuantities) or f(RowQuantities, frame)
    size: int | None = None              # values per row; None: one per joint
    of_frame: bool = False               # named `quantity:frame`
    filtered: bool = True                # needs derivatives, and so the time of each row
    effort: bool = False                 # needs the measured effort
    motor: bool = False                  # that of the motors, not one behind gear and rotor
    matrix: bool = False                 # one value per pair of joints


QUANTITIES = {
    'gravity': Quantity('N m or N', lambda rows: rows.gravity, filtered=False),
    'pose': Quantity('m m m and quaternion x y z w',
                     lambda rows, frame: poses(rows.robot.frame_pose(rows.recorded, frame)),
                     7, of_frame=True, filtered=False),
    'potential_energy': Quantity('J', lambda rows: rows.robot.potential_energy(rows.recorded),
                                 1, filtered=False),
    'velocity': Quantity('rad/s or m/s', lambda rows: rows.v),
    'acceleration': Quantity('rad/s^2 or m/s^2', lambda rows: rows.a),
    'inverse_dynamics': Quantity('N m or N', lambda rows: rows.inverse_dynamics),
    'power': Quantity('W', lambda rows: rows.inverse_dynamics * rows.v),
    'kinetic_energy': Quantity('J', lambda rows: rows.robot.kinetic_energy(rows.q, rows.v), 1),
    'twist': Quantity('m/s and rad/s',
                      lambda rows, frame: rows.robot.frame_twist(rows.q, rows.v, frame), 6,
                      of_frame=True),
    'inverse_dynamics_dq': Quantity('N m/rad, N/m, N m/m or N/rad',
                                    lambda rows: rows.inverse_derivatives.dq, matrix=True),
    'inverse_dynamics_dv': Quantity('N m s/rad, N s/m, N m s/m or N s/rad',
                                    lambda rows: rows.inverse_derivatives.dv, matrix=True),
    'inverse_dynamics_da': Quantity('kg m^2, kg or kg m',
                                    lambda rows: rows.inverse_derivatives.da, matrix=True),
    'external_torque': Quantity('N m or N', lambda rows: rows.external_torque, effort=True),
    'forward_dynamics': Quantity('rad/s^2 or m/s^2', lambda rows: rows.forward_dynamics,
                                 effort=True, motor=True),
    'forward_dynamics_dq': Quantity('1/s^2, rad/(m s^2) or m/(rad s^2)',
                                    lambda rows: rows.forward_derivatives.dq,
                                    effort=True, motor=True, matrix=True),
    'forward_dynamics_dv': Quantity('1/s, rad/(m s) or m/(rad s)',
                                    lambda rows: rows.forward_derivatives.dv,
                                    effort=True, motor=True, matrix=True),
    'forward_dynamics_dtau': Quantity('1/(kg m^2), 1/kg or 1/(kg m)',
                                      lambda rows: rows.forward_derivatives.dtau,
                                      effort=True, motor=True, matrix=True),
}
VALID = ', '.join(f'{name}:FRAME' if each.of_frame else name for name, each in QUANTITIES.items())


class AddedColumn(NamedTuple):
    """A column that is added to a data set."""

    name: str         # as asked for: 'gravity', 'pose:tool0'
    kind: str         # key of QUANTITIES
    frame: str | None
    size: int         # values per row

    @property
    def quantity(self) -> Quantity:
        """The Quantity of the column."""
        return QUANTITIES[self.kind]

    def values(self, rows: RowQuantities) -> np.ndarray:
        """Return the values of all rows, (N, size)."""
        frame = () if self.frame is None else (self.frame,)
        return self.quantity.compute(rows, *frame).reshape(-1, self.size)


def added_columns(robot: Robot, names: Sequence[str]) -> tuple[AddedColumn, ...]:
    """Return the AddedColumn of each name.

    :raise DynamicsError: a name is not a quantity, its frame is unknown, or it is given twice.
    """
    if isinstance(names, str) or not names:
        raise DynamicsError(f'columns is {shown(names)}; expected a list of some of: {VALID}')
    found = tuple(_column(robot, name) for name in names)
    for column in found:
        if found.count(column) > 1:
            raise DynamicsError(f"columns has '{column.name}' twice")
    return found


def _column(robot: Robot, name: Any) -> AddedColumn:
    kind, colon, frame = name.partition(':') if isinstance(name, str) else ('', '', '')
    quantity = QUANTITIES.get(kind)
    if quantity is None or bool(colon) != quantity.of_frame:
        raise DynamicsError(f'columns has {shown(name)}; expected some of: {VALID}')
    if quantity.of_frame:
        robot.model.frame(frame)   # raises UnknownName
    size = robot.nv ** (2 if quantity.matrix else 1) if quantity.size is None else quantity.size
    return AddedColumn(name, kind, frame if quantity.of_frame else None, size)
