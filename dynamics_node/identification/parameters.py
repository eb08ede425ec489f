"""Define the vector of parameters that are identified, and its regressor.

The vector has ten inertial parameters per moving body, in the order and meaning of
`algorithms.inertial_parameters`, then four per degree of freedom:

    tau_k = (Y pi)_k + armature a + viscous v + coulomb s(v) + offset

with the smoothed sign of the friction model, s(v) = v / sqrt(v^2 + friction_speed^2). The model of
a Robot has no offset: a prediction adds it, see `offset_torque`. Further terms of friction are
those of algorithms/friction.py:

    stribeck s / (1 + (v / stribeck_speed)^2) + coulomb_asymmetry s^2 + viscous_asymmetry v s

and friction in proportion to the load: joint_load.py. A joint has those of its FrictionLaw. With
asymmetric friction it has no offset: while a joint moves, the two can hardly be distinguished.
Motors that move with several joints have three more parameters each, see coupled_motors.py.

In a robot with loops, passive joints have friction, but neither a rotor nor a torque sensor: their
armature and offset are in the vector, but are not identified. Joints of several axes, such as the
platform of a Stewart platform, have no joint parameters there.
"""

from collections.abc import Sequence
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
from dynamics_node.identification.friction_law import (
    FrictionLaw,
    smoothed_sign,
    stribeck_column,
)
from dynamics_node.identification.joint_load import JointLoad, joint_load
from dynamics_node.identification.transmission import Transmission
from dynamics_node.model import payload
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.joints import Prismatic
from dynamics_node.model.model import Model
from dynamics_node.robot.robot import Robot

PER_JOINT = ('armature', 'viscous', 'coulomb', 'offset')
STRIBECK, ASYMMETRIC, LOAD = ('stribeck',), ('coulomb_asymmetry', 'viscous_asymmetry'), ('load',)
NOT_NEGATIVE = ('armature', 'viscous', 'coulomb', *STRIBECK, *LOAD)
OF_MOTORS = ('armature', 'offset')   # not identified at passive joints
TEN_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
FIELDS = {'armature': 'armature', 'viscous': 'damping', 'coulomb': 'friction'}  # of a Model
TERMS = {'stribeck': 'stribeck', 'coulomb_asymmetry': 'friction_asymmetry',     # of FrictionTerms
         'viscous_asymmetry': 'damping_asymmetry'}
UNITS = {  # of a revolute, of a prismatic joint
    'armature': ('kg m^2', 'kg'), 'viscous': ('N m s/rad', 'N s/m'), 'coulomb': ('N m', 'N'),
    'offset': ('N m', 'N'), 'stribeck': ('N m', 'N'), 'coulomb_asymmetry': ('N m', 'N'),
    'viscous_asymmetry': ('N m s/rad', 'N s/m'), 'load': ('1', '1')}


class ParameterLayout(NamedTuple):
    """The place of each parameter of a robot in the vector."""

    bodies: tuple[str, ...]        # names of the moving links
    joints: tuple[str, ...]        # names of the degrees of freedom with joint parameters
    prismatic: tuple[bool, ...]    # for each of them
    friction_speed: float          # of the robot, and of coupled motors [rad/s or m/s]
    laws: tuple[FrictionLaw, ...]  # of each of `joints`
    dofs: tuple[int, ...]          # entries of `joints` in v
    passive: tuple[bool, ...]      # whether each of `joints` has no motor
    motors: tuple[CoupledMotor, ...] = ()   # that move with several joints; their parameters last
    load: JointLoad | None = None  # to which friction is in proportion; None: no such term

    @property
    def per_joint(self) -> tuple[str, ...]:
        """Kinds of joint parameters."""
        return (*PER_JOINT, *(STRIBECK if self.with_stribeck.any() else ()),
                *(ASYMMETRIC if self.with_asymmetry.any() else ()), *(LOAD if self.load else ()))

    @property
    def with_stribeck(self) -> np.ndarray:
        """(joints,) booleans: joints with Stribeck friction."""
        return np.array([law.stribeck_speed is not None for law in self.laws], dtype=bool)

    @property
    def with_asymmetry(self) -> np.ndarray:
        """(joints,) booleans: joints with asymmetric friction."""
        return np.array([law.asymmetric for law in self.laws], dtype=bool)

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

    @property
    def approximated(self) -> bool:
        """Whether it has parameters that the model of a Robot lacks: see `applied_values`."""
        return bool(self.motors) or self.load is not None

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
        return np.concatenate([*(every[self.each(kind)] for kind in NOT_NEGATIVE
                                 if kind in self.per_joint), every[self.of_motors]])

    @property
    def asymmetries(self) -> np.ndarray:
        """(pairs, 2) indices: a parameter, and its asymmetry, which is at most as large."""
        every = np.arange(self.size)
        return np.concatenate([np.zeros((0, 2), dtype=int), *(
            np.stack([every[self.each(kind)], every[self.each(f'{kind}_asymmetry')]], axis=-1)
            for kind in ('coulomb', 'viscous') if self.with_asymmetry.any())])

    @property
    def known(self) -> np.ndarray:
        """(size,) booleans: parameters that are not identified.

        Those of motors at passive joints, of terms that the law of a joint lacks, and offsets
        beside asymmetric friction.
        """
        known = np.zeros(self.size, dtype=bool)
        for kind in OF_MOTORS:
            known[self.each(kind)] = self.passive
        known[self.each('offset')] |= self.with_asymmetry
        for kind in TERMS:
            if kind in self.per_joint:
                known[self.each(kind)] = ~self._has(kind)
        return known

    def _has(self, kind: str) -> np.ndarray:
        """Return whether each joint has a further term of friction, (joints,)."""
        return self.with_stribeck if kind in STRIBECK else self.with_asymmetry

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
                     transmission: Transmission | None = None,
                     laws: Sequence[FrictionLaw] | None = None,
                     load: JointLoad | None = None) -> ParameterLayout:
    """Return the ParameterLayout of a robot.

    :param stribeck_speed: used for all joints where no laws are given; None: that of the robot.
    :param laws: one per degree of freedom with joint parameters; None: that of the robot, with the
        terms that are not zero.
    """
    prismatic = np.zeros(robot.nv, dtype=bool)
    for body in robot.model.bodies:
        prismatic[body.v] |= body.ratio == 1.0 and isinstance(body.joint, Prismatic)
    constraints, passive = robot.loops
    dofs = [k for joint in robot.model.joints for k in range(joint.v.start, joint.v.stop)
            if not (constraints or passive) or joint.kind not in ('floating', 'planar')]
    if laws is None:
        laws = [_law(robot.model, k, stribeck_speed) for k in dofs]
    return ParameterLayout(tuple(body.name for body in robot.model.bodies),
                           tuple(robot.dof_names[k] for k in dofs),
                           tuple(prismatic[dofs].tolist()), robot.model.friction_speed,
                           tuple(laws), tuple(dofs),
                           tuple(robot.dof_names[k] in passive for k in dofs),
                           coupled_motors(robot, transmission), load)


def _law(model: Model, k: int, stribeck_speed: float | None) -> FrictionLaw:
    """Return the FrictionLaw of a degree of freedom.

    :param stribeck_speed: for Stribeck friction; None: that of the model, if it has such friction.
    """
    terms = model.friction_terms
    if terms is None:
        return FrictionLaw(float(model.friction_speed), stribeck_speed)
    if stribeck_speed is None and terms.stribeck[k]:
        stribeck_speed = float(terms.stribeck_speed[k])
    return FrictionLaw(float(terms.friction_speed[k]), stribeck_speed,
                       bool(terms.friction_asymmetry[k] or terms.damping_asymmetry[k]))


def parameter_values(robot: Robot, layout: ParameterLayout) -> np.ndarray:
    """Return the parameters of a robot without its payloads, (size,)."""
    values = np.zeros(layout.size)
    tens = [ten_numbers(body.inertia) for body in robot.model.bodies]
    values[:layout.inertial] = np.ravel(tens)
    for kind, field in FIELDS.items():
        values[layout.each(kind)] = getattr(robot.model, field)[list(layout.dofs)]
    if robot.model.friction_terms is not None:
        for kind, field in TERMS.items():
            if kind in layout.per_joint:
                own = getattr(robot.model.friction_terms, field)[list(layout.dofs)]
                values[layout.each(kind)] = np.where(layout._has(kind), own, 0.0)
    return values


def robot_with_parameters(robot: Robot, layout: ParameterLayout, values: np.ndarray) -> Robot:
    """Return the robot with other parameters and the same payloads.

    Its model has no offsets: these values are not used. Coupled motors and friction in proportion
    to the load are those of `applied_values`. Terms of friction that the layout lacks are zero.
    """
    model, values = robot.model, applied_values(layout, values)
    bodies = tuple(replace(body, inertia=inertia_of(values[layout.of_body(i)]))
                   for i, body in enumerate(model.bodies))
    own = {field: getattr(model, field).copy() for field in FIELDS.values()}
    for kind, field in FIELDS.items():
        own[field][list(layout.dofs)] = values[layout.each(kind)]
    model = model.with_(bodies=bodies, **own,
                        friction_terms=_friction_terms(model, layout, values))
    model = model.with_(inertias=tuple(
        own + load for own, load in zip(model.bare_inertias, payload.carried_inertias(model))))
    return Robot(model, compile=robot.compilation_enabled)


def _friction_terms(model: Model, layout: ParameterLayout, values: np.ndarray
                    ) -> FrictionTerms | None:
    """Return the FrictionTerms of a model with the laws of a layout; None if it needs none."""
    if set(layout.laws) <= {FrictionLaw(model.friction_speed)}:
        return None
    terms = FrictionTerms.none(model.nv, model.friction_speed)
    for kind in TERMS:
        if kind in layout.per_joint:
            getattr(terms, TERMS[kind])[list(layout.dofs)] = values[layout.each(kind)]
    for dof, law in zip(layout.dofs, layout.laws):
        terms.friction_speed[dof] = law.friction_speed
        if law.stribeck_speed is not None:
            terms.stribeck_speed[dof] = law.stribeck_speed
    return terms


def applied_values(layout: ParameterLayout, values: np.ndarray) -> np.ndarray:
    """Return parameters that the model of a Robot can have, approximately the same, (size,).

    The model has friction and armature of joints alone. Added to those of each joint are the parts
    of coupled motors while the other joints rest (rho^2 of armature and viscous, |rho| of coulomb),
    and the friction in proportion to its load, at the mean load.
    """
    applied, dofs = values.copy(), list(layout.dofs)
    each = values[layout.of_motors].reshape(-1, len(PER_MOTOR))
    for motor, own in zip(layout.motors, each):
        rho = np.abs(motor.ratios[dofs])
        for kind, value, factor in zip(PER_MOTOR, own, (rho ** 2, rho ** 2, rho)):
            applied[layout.each(kind)] += factor * value
    applied[layout.of_motors] = 0.0
    if layout.load is not None:
        applied[layout.each('coulomb')] += values[layout.each('load')] * layout.load.mean[dofs]
        applied[layout.each('load')] = 0.0
    return applied


def lacking_torque(robot: Robot, layout: ParameterLayout, values: np.ndarray, q: np.ndarray,
                   v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the torque of coupled motors and load beyond that of `applied_values`, (N, nv)."""
    torque = motor_columns(layout.motors, layout.friction_speed, v, a) @ values[layout.of_motors]
    if not layout.approximated:
        return torque
    moved = applied_values(layout, values) - values
    load = joint_load(layout.load, robot.regressor(q, v, a)) if layout.load else None
    for k, dof in enumerate(layout.dofs):
        torque[:, dof] -= joint_columns(layout, k, v[:, dof], a[:, dof], _of_dof(load, dof)
                                        ) @ moved[layout.of_joint(k)]
    return torque


def _of_dof(load: np.ndarray | None, dof: int) -> np.ndarray | None:
    return None if load is None else load[:, dof]


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
    load = joint_load(layout.load, Y[..., :layout.inertial]) if layout.load else None
    for k, dof in enumerate(layout.dofs):
        Y[:, dof, layout.of_joint(k)] = joint_columns(layout, k, v[:, dof], a[:, dof],
                                                      _of_dof(load, dof))
    Y[..., layout.of_motors] = motor_columns(layout.motors, layout.friction_speed, v, a)
    return Y


def joint_columns(layout: ParameterLayout, k: int, v: np.ndarray, a: np.ndarray,
                  load: np.ndarray | None = None) -> np.ndarray:
    """Return the columns of the parameters of joint k of the layout, (N, 4 or more).

    Those of terms that its law lacks are zero.

    :param load: |torque behind the gear| of this joint, (N,), where the layout has a load.
    """
    law, kinds = layout.laws[k], layout.per_joint
    sign = smoothed_sign(law.friction_speed, v)
    columns = {'armature': a, 'viscous': v, 'coulomb': sign, 'offset': np.ones_like(v)}
    if law.stribeck_speed is not None:
        columns['stribeck'] = stribeck_column(sign, v, law.stribeck_speed)
    if law.asymmetric:
        columns.update(coulomb_asymmetry=sign * sign, viscous_asymmetry=v * sign)
    if load is not None:
        columns['load'] = load * sign
    zero = np.zeros_like(v)
    return np.stack([columns.get(kind, zero) for kind in kinds], axis=-1)


def offset_torque(layout: ParameterLayout, values: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the torque beyond inverse_dynamics: offsets, (N, nv)."""
    torque = np.zeros(np.shape(v))
    torque[..., list(layout.dofs)] = values[layout.each('offset')]
    return torque
