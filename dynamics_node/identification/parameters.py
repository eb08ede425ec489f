"""Which numbers of a robot can be identified, and in which order?

One vector: ten inertial parameters per moving body, in the order and meaning of
`algorithms.inertial_parameters`, then four per degree of freedom:

    tau_k = (Y pi)_k + armature a + viscous v + coulomb s(v) + offset (+ stribeck s(v) e^-(v/v_S)^2)

with the node's own smoothed sign s(v) = v / sqrt(v^2 + friction_speed^2). The model of a Robot has
no offset and no Stribeck term: a prediction adds them, see `offset_and_stribeck_torque`.

In a robot with loops, joints without a motor have friction, but neither a rotor nor a torque sensor
that could be off: their armature and offset are in the vector, and are not identified. Joints of
several axes, such as the platform of a Stewart platform, have no parameters of their own there.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inertial_parameters import TEN, inertia_of, ten_numbers
from dynamics_node.model import payload
from dynamics_node.model.joints import Prismatic
from dynamics_node.robot.robot import Robot

PER_JOINT = ('armature', 'viscous', 'coulomb', 'offset')
NOT_NEGATIVE = ('armature', 'viscous', 'coulomb')
OF_MOTORS = ('armature', 'offset')   # that joints without a motor have not
TEN_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
FIELDS = {'armature': 'armature', 'viscous': 'damping', 'coulomb': 'friction'}  # of a Model
UNITS = {  # of a turn, of a slide
    'armature': ('kg m^2', 'kg'), 'viscous': ('N m s/rad', 'N s/m'), 'coulomb': ('N m', 'N'),
    'offset': ('N m', 'N'), 'stribeck': ('N m', 'N')}


class ParameterLayout(NamedTuple):
    """Where each parameter of a robot is in the vector."""

    bodies: tuple              # names of the moving links
    joints: tuple              # names of the degrees of freedom that have parameters of their own
    slides: tuple              # of each of them, whether it is a prismatic joint
    friction_speed: float      # over which s(v) changes its sign [rad/s or m/s]
    stribeck_speed: float | None   # v_S [rad/s or m/s]; None leaves Stribeck's term out
    dofs: tuple                # of each of them, its entry in v
    passive: tuple             # of each of them, whether it is known to have no motor

    @property
    def per_joint(self):
        """What each degree of freedom has."""
        return PER_JOINT if self.stribeck_speed is None else (*PER_JOINT, 'stribeck')

    @property
    def inertial(self):
        """How many of the parameters are inertial; they come first."""
        return 10 * len(self.bodies)

    @property
    def size(self):
        return self.inertial + len(self.per_joint) * len(self.joints)

    def of_body(self, i):
        """Return where the ten of a body are."""
        return slice(10 * i, 10 * i + 10)

    def of_joint(self, k):
        """Return where those of a degree of freedom are."""
        start = self.inertial + len(self.per_joint) * k
        return slice(start, start + len(self.per_joint))

    def each(self, kind):
        """Return where a kind such as 'viscous' is for every degree of freedom, a slice."""
        return slice(self.inertial + self.per_joint.index(kind), None, len(self.per_joint))

    @property
    def known(self):
        """Which parameters are not identified: of motors, at joints without one, (size,)."""
        known = np.zeros(self.size, dtype=bool)
        for kind in OF_MOTORS:
            known[self.each(kind)] = self.passive
        return known

    @property
    def names(self):
        """'link_3.mcx', 'joint_2.viscous' and so on."""
        return (*(f'{body}.{name}' for body in self.bodies for name in TEN),
                *(f'{joint}.{kind}' for joint in self.joints for kind in self.per_joint))

    @property
    def units(self):
        return (*TEN_UNITS * len(self.bodies),
                *(UNITS[kind][slide] for slide in self.slides for kind in self.per_joint))


def parameter_layout(robot, stribeck_speed=None):
    """Return the Layout of a robot's parameters."""
    slides = np.zeros(robot.nv, dtype=bool)
    for body in robot.model.bodies:
        slides[body.v] |= body.ratio == 1.0 and isinstance(body.joint, Prismatic)
    constraints, passive = robot.loops
    dofs = [k for joint in robot.model.joints for k in range(joint.v.start, joint.v.stop)
            if not (constraints or passive) or joint.kind not in ('floating', 'planar')]
    return ParameterLayout(tuple(body.name for body in robot.model.bodies),
                  tuple(robot.dof_names[k] for k in dofs), tuple(slides[dofs].tolist()),
                  robot.model.friction_speed, stribeck_speed, tuple(dofs),
                  tuple(robot.dof_names[k] in passive for k in dofs))


def parameter_values(robot, layout):
    """Return the parameters that a robot has, its payloads not counted, (size,)."""
    values = np.zeros(layout.size)
    tens = [ten_numbers(body.inertia) for body in robot.model.bodies]
    values[:layout.inertial] = np.ravel(tens)
    for kind, field in FIELDS.items():
        values[layout.each(kind)] = getattr(robot.model, field)[list(layout.dofs)]
    return values


def robot_with_parameters(robot, layout, values):
    """Return the robot with those parameters, carrying what it carried.

    Offsets and Stribeck's terms have no place in it.
    """
    model = robot.model
    bodies = tuple(replace(body, inertia=inertia_of(values[layout.of_body(i)]))
                   for i, body in enumerate(model.bodies))
    own = {field: getattr(model, field).copy() for field in FIELDS.values()}
    for kind, field in FIELDS.items():
        own[field][list(layout.dofs)] = values[layout.each(kind)]
    model = model.with_(bodies=bodies, **own)
    model = model.with_(inertias=tuple(
        own + load for own, load in zip(model.bare_inertias, payload.carried_inertias(model))))
    return Robot(model, compile=robot.compilation_enabled)


def payload_parameters(robot, layout):
    """Return the parameters of what the robot carries: known, hence not identified, (size,)."""
    loads = payload.carried_inertias(robot.model)[:len(robot.model.bodies)]
    values = np.zeros(layout.size)
    values[:layout.inertial] = np.ravel([ten_numbers(load) for load in loads])
    return values


def parameter_regressor(robot, layout, q, v, a):
    """Return Y with torque = Y (values + carried), (N, nv, size), for batches of states."""
    Y = np.zeros((*np.shape(v), layout.size))
    Y[..., :layout.inertial] = robot.regressor(q, v, a)
    for k, dof in enumerate(layout.dofs):
        Y[:, dof, layout.of_joint(k)] = joint_columns(layout, v[:, dof], a[:, dof])
    return Y


def joint_columns(layout, v, a):
    """Return the columns of one degree of freedom's own parameters, (N, 4 or 5)."""
    sign = smoothed_sign(layout, v)
    columns = [a, v, sign, np.ones_like(v)]
    if layout.stribeck_speed is not None:
        columns.append(sign * np.exp(-(v / layout.stribeck_speed) ** 2))
    return np.stack(columns, axis=-1)


def smoothed_sign(layout, v):
    """Return s(v), as in `algorithms.friction.friction_torque`."""
    return v / np.sqrt(v * v + layout.friction_speed ** 2)


def offset_and_stribeck_torque(layout, values, v):
    """Return what a prediction adds to inverse_dynamics: offsets and Stribeck's terms, (N, nv)."""
    own = v[..., list(layout.dofs)]
    torque = np.zeros(np.shape(v))
    torque[..., list(layout.dofs)] = values[layout.each('offset')]
    if layout.stribeck_speed is not None:
        torque[..., list(layout.dofs)] += (
            values[layout.each('stribeck')] * smoothed_sign(layout, own)
            * np.exp(-(own / layout.stribeck_speed) ** 2))
    return torque
