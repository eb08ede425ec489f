"""Define the vector of parameters that are identified, and its regressor.

The vector has ten inertial parameters per moving body, in the order and meaning of
`algorithms.inertial_parameters`, then four per degree of freedom:

    tau_k = (Y pi)_k + armature a + viscous v + coulomb s(v) + offset (+ stribeck s(v) e^-(v/v_S)^2)

with the smoothed sign of the friction model, s(v) = v / sqrt(v^2 + friction_speed^2). The model of
a Robot has no offset and no Stribeck term: a prediction adds them, see
`offset_and_stribeck_torque`. Motors that move with several joints have three more parameters each,
see coupled_motors.py.

In a robot with loops, passive joints have friction, but neither a rotor nor a torque sensor: their
armature and offset are in the vector, but are not identified. Joints of several axes, such as the
platform of a Stewart platform, have no joint parameters there.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inertial_parameters import TEN, inertia_of, ten_numbers
from dynamics_node.identification.coupled_motors import (
    PER_MOTOR,
    CoupledMotor,
    coupled_motors,
    motor_columns,
)
from dynamics_node.identification.transmission import Transmission
from dynamics_node.model import payload
from dynamics_node.model.joints import Prismatic
from dynamics_node.robot.robot import Robot

PER_JOINT = ('armature', 'viscous', 'coulomb', 'offset')
NOT_NEGATIVE = ('armature', 'viscous', 'coulomb')
OF_MOTORS = ('armature', 'offset')   # not identified at passive joints
TEN_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
FIELDS = {'armature': 'armature', 'viscous': 'damping', 'coulomb': 'friction'}  # of a Model
UNITS = {  # of a revolute, of a prismatic joint
    'armature': ('kg m^2', 'kg'), 'viscous': ('N m s/rad', 'N s/m'), 'coulomb': ('N m', 'N'),
    'offset': ('N m', 'N'), 'stribeck': ('N m', 'N')}


class ParameterLayout(NamedTuple):
    """The place of each parameter of a robot in the vector."""

    bodies: tuple[str, ...]        # names of the moving links
    joints: tuple[str, ...]        # names of the degrees of freedom with joint parameters
    prismatic: tuple[bool, ...]    # for each of them
    friction_speed: float          # over which s(v) changes its sign [rad/s or m/s]
    stribeck_speed: float | None   # v_S [rad/s or m/s]; None: no Stribeck term
    dofs: tuple[int, ...]          # entries of `joints` in v
    passive: tuple[bool, ...]      # whether each of `joints` has no motor
    motors: tuple[CoupledMotor, ...] = ()   # that move with several joints; their parameters last

    @property
    def per_joint(self) -> tuple[str, ...]:
        """Kinds of joint parameters."""
        return PER_JOINT if self.stribeck_speed is None else (*PER_JOINT, 'stribeck')

    @property
    def inertial(self) -> int:
        """Number of inertial parameters; they come first."""
        return 10 * len(self.bodies)

    @property
    def size(self) -> int:
        """Length of the vector."""
        return self.of_motors.stop

    def of_body(self, i: int) -> slice:
        """Return the slice of the ten parameters of a body."""
        return slice(10 * i, 10 * i + 10)

    def of_joint(self, k: int) -> slice:
        """Return the slice of the parameters of a degree of freedom."""
        start = self.inertial + len(self.per_joint) * k
        return slice(start, start + len(self.per_joint))

    def each(self, kind: str) -> slice:
        """Return the slice of one kind, such as 'viscous', for all degrees of freedom."""
        return slice(self.inertial + self.per_joint.index(kind), self.of_motors.start,
                     len(self.per_joint))

    @property
    def of_motors(self) -> slice:
        """Slice of the parameters of coupled motors."""
        start = self.inertial + len(self.per_joint) * len(self.joints)
        return slice(start, start + len(PER_MOTOR) * len(self.motors))

    @property
    def not_negative(self) -> np.ndarray:
        """Indices of the parameters that are not negative, beside those of bodies."""
        every = np.arange(self.size)
        return np.concatenate([*(every[self.each(kind)] for kind in NOT_NEGATIVE),
                               every[self.of_motors]])

    @property
    def known(self) -> np.ndarray:
        """(size,) booleans: parameters that are not identified, of motors at passive joints."""
        known = np.zeros(self.size, dtype=bool)
        for kind in OF_MOTORS:
            known[self.each(kind)] = self.passive
        return known

    @property
    def names(self) -> tuple[str, ...]:
        """'link_3.mcx', 'joint_2.viscous' and so on."""
        return (*(f'{body}.{name}' for body in self.bodies for name in TEN),
                *(f'{joint}.{kind}' for joint in self.joints for kind in self.per_joint),
                *(f'{motor.name}.motor_{kind}' for motor in self.motors for kind in PER_MOTOR))

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each parameter."""
        return (*TEN_UNITS * len(self.bodies),
                *(UNITS[kind][prismatic] for prismatic in self.prismatic
                  for kind in self.per_joint),
                *(UNITS[kind][motor.prismatic] for motor in self.motors for kind in PER_MOTOR))


def parameter_layout(robot: Robot, stribeck_speed: float | None = None,
                     transmission: Transmission | None = None) -> ParameterLayout:
    """Return the ParameterLayout of a robot."""
    prismatic = np.zeros(robot.nv, dtype=bool)
    for body in robot.model.bodies:
        prismatic[body.v] |= body.ratio == 1.0 and isinstance(body.joint, Prismatic)
    constraints, passive = robot.loops
    dofs = [k for joint in robot.model.joints for k in range(joint.v.start, joint.v.stop)
            if not (constraints or passive) or joint.kind not in ('floating', 'planar')]
    return ParameterLayout(tuple(body.name for body in robot.model.bodies),
                           tuple(robot.dof_names[k] for k in dofs),
                           tuple(prismatic[dofs].tolist()), robot.model.friction_speed,
                           stribeck_speed, tuple(dofs),
                           tuple(robot.dof_names[k] in passive for k in dofs),
                           coupled_motors(robot, transmission))


def parameter_values(robot: Robot, layout: ParameterLayout) -> np.ndarray:
    """Return the parameters of a robot without its payloads, (size,)."""
    values = np.zeros(layout.size)
    tens = [ten_numbers(body.inertia) for body in robot.model.bodies]
    values[:layout.inertial] = np.ravel(tens)
    for kind, field in FIELDS.items():
        values[layout.each(kind)] = getattr(robot.model, field)[list(layout.dofs)]
    return values


def robot_with_parameters(robot: Robot, layout: ParameterLayout, values: np.ndarray) -> Robot:
    """Return the robot with other parameters and the same payloads.

    Its model has no offsets and no Stribeck terms: these values are not used. Coupled motors are
    those of `applied_values`.
    """
    model, values = robot.model, applied_values(layout, values)
    bodies = tuple(replace(body, inertia=inertia_of(values[layout.of_body(i)]))
                   for i, body in enumerate(model.bodies))
    own = {field: getattr(model, field).copy() for field in FIELDS.values()}
    for kind, field in FIELDS.items():
        own[field][list(layout.dofs)] = values[layout.each(kind)]
    model = model.with_(bodies=bodies, **own)
    model = model.with_(inertias=tuple(
        own + load for own, load in zip(model.bare_inertias, payload.carried_inertias(model))))
    return Robot(model, compile=robot.compilation_enabled)


def applied_values(layout: ParameterLayout, values: np.ndarray) -> np.ndarray:
    """Return the parameters with those of coupled motors moved to the joints, (size,).

    The model of a Robot has friction and armature of joints alone. Each joint gets what the motor
    does to it when the other joints rest: rho^2 of armature and viscous, |rho| of coulomb.
    """
    applied, dofs = values.copy(), list(layout.dofs)
    each = values[layout.of_motors].reshape(-1, len(PER_MOTOR))
    for motor, own in zip(layout.motors, each):
        rho = np.abs(motor.ratios[dofs])
        for kind, value, factor in zip(PER_MOTOR, own, (rho ** 2, rho ** 2, rho)):
            applied[layout.each(kind)] += factor * value
    applied[layout.of_motors] = 0.0
    return applied


def coupled_motor_torque(layout: ParameterLayout, values: np.ndarray, v: np.ndarray,
                         a: np.ndarray) -> np.ndarray:
    """Return the torque of coupled motors beyond that of `applied_values`, (N, nv)."""
    torque = motor_columns(layout.motors, layout.friction_speed, v, a) @ values[layout.of_motors]
    moved = applied_values(layout, values) - values
    for k, dof in enumerate(layout.dofs if layout.motors else ()):
        torque[:, dof] -= joint_columns(layout, v[:, dof], a[:, dof]) @ moved[layout.of_joint(k)]
    return torque


def payload_parameters(robot: Robot, layout: ParameterLayout) -> np.ndarray:
    """Return the parameters of the payloads, which are known, (size,)."""
    loads = payload.carried_inertias(robot.model)[:len(robot.model.bodies)]
    values = np.zeros(layout.size)
    values[:layout.inertial] = np.ravel([ten_numbers(load) for load in loads])
    return values


def parameter_regressor(robot: Robot, layout: ParameterLayout, q: np.ndarray, v: np.ndarray,
                        a: np.ndarray) -> np.ndarray:
    """Return Y with torque = Y (values + payload parameters), (N, nv, size), of batches."""
    Y = np.zeros((*np.shape(v), layout.size))
    Y[..., :layout.inertial] = robot.regressor(q, v, a)
    for k, dof in enumerate(layout.dofs):
        Y[:, dof, layout.of_joint(k)] = joint_columns(layout, v[:, dof], a[:, dof])
    Y[..., layout.of_motors] = motor_columns(layout.motors, layout.friction_speed, v, a)
    return Y


def joint_columns(layout: ParameterLayout, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the columns of the joint parameters of one degree of freedom, (N, 4 or 5)."""
    sign = smoothed_sign(layout, v)
    columns = [a, v, sign, np.ones_like(v)]
    if layout.stribeck_speed is not None:
        columns.append(sign * np.exp(-(v / layout.stribeck_speed) ** 2))
    return np.stack(columns, axis=-1)


def smoothed_sign(layout: ParameterLayout, v: np.ndarray) -> np.ndarray:
    """Return s(v), as in `algorithms.friction.friction_torque`."""
    return v / np.sqrt(v * v + layout.friction_speed ** 2)


def offset_and_stribeck_torque(layout: ParameterLayout, values: np.ndarray,
                               v: np.ndarray) -> np.ndarray:
    """Return the torque beyond inverse_dynamics: offsets and Stribeck terms, (N, nv)."""
    own = v[..., list(layout.dofs)]
    torque = np.zeros(np.shape(v))
    torque[..., list(layout.dofs)] = values[layout.each('offset')]
    if layout.stribeck_speed is not None:
        torque[..., list(layout.dofs)] += (
            values[layout.each('stribeck')] * smoothed_sign(layout, own)
            * np.exp(-(own / layout.stribeck_speed) ** 2))
    return torque
