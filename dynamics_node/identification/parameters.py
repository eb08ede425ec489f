"""Which numbers of a robot can be identified, and in which order?

One vector: ten inertial parameters per moving body, in the order and meaning of
`algorithms.inertial_parameters`, then four per degree of freedom:

    tau_k = (Y pi)_k + armature a + viscous v + coulomb s(v) + offset (+ stribeck s(v) e^-(v/v_S)^2)

with the node's own smoothed sign s(v) = v / sqrt(v^2 + friction_speed^2). The model of a Robot has
no offset and no Stribeck term: a prediction adds them, see `torque_beyond_the_model`.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dynamics_node.algorithms.inertial_parameters import TEN, inertia_of, ten_numbers
from dynamics_node.model import payload
from dynamics_node.model.joints import Prismatic
from dynamics_node.robot import Robot

PER_JOINT = ('armature', 'viscous', 'coulomb', 'offset')
NOT_NEGATIVE = ('armature', 'viscous', 'coulomb')
TEN_UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
UNITS = {  # of a turn, of a slide
    'armature': ('kg m^2', 'kg'), 'viscous': ('N m s/rad', 'N s/m'), 'coulomb': ('N m', 'N'),
    'offset': ('N m', 'N'), 'stribeck': ('N m', 'N')}


class Layout(NamedTuple):
    """Where each parameter of a robot is in the vector."""

    bodies: tuple              # names of the moving links
    joints: tuple              # names of the degrees of freedom
    slides: tuple              # per degree of freedom, whether it is a prismatic joint
    friction_speed: float      # over which s(v) changes its sign [rad/s or m/s]
    stribeck_speed: float | None = None   # v_S [rad/s or m/s]; None leaves Stribeck's term out

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
    def names(self):
        """'link_3.mcx', 'joint_2.viscous' and so on."""
        return (*(f'{body}.{name}' for body in self.bodies for name in TEN),
                *(f'{joint}.{kind}' for joint in self.joints for kind in self.per_joint))

    @property
    def units(self):
        return (*TEN_UNITS * len(self.bodies),
                *(UNITS[kind][slide] for slide in self.slides for kind in self.per_joint))


def layout_of(robot, stribeck_speed=None):
    """Return the Layout of a robot's parameters."""
    slides = np.zeros(robot.nv, dtype=bool)
    for body in robot.model.bodies:
        slides[body.v] |= body.ratio == 1.0 and isinstance(body.joint, Prismatic)
    return Layout(tuple(body.name for body in robot.model.bodies), robot.dof_names,
                  tuple(slides.tolist()), robot.model.friction_speed, stribeck_speed)


def values_of(robot, layout):
    """Return the parameters that a robot has, its payloads not counted, (size,)."""
    values = np.zeros(layout.size)
    tens = [ten_numbers(body.inertia) for body in robot.model.bodies]
    values[:layout.inertial] = np.ravel(tens)
    values[layout.each('armature')] = robot.model.armature
    values[layout.each('viscous')] = robot.model.damping
    values[layout.each('coulomb')] = robot.model.friction
    return values


def robot_of(robot, layout, values):
    """Return the robot with those parameters, carrying what it carried.

    Offsets and Stribeck's terms have no place in it.
    """
    model = robot.model
    bodies = tuple(replace(body, inertia=inertia_of(values[layout.of_body(i)]))
                   for i, body in enumerate(model.bodies))
    model = model.with_(bodies=bodies, damping=values[layout.each('viscous')].copy(),
                        friction=values[layout.each('coulomb')].copy(),
                        armature=values[layout.each('armature')].copy())
    model = model.with_(inertias=tuple(
        own + load for own, load in zip(model.bare_inertias, payload.carried_inertias(model))))
    return Robot(model, compile=robot._answerer.engine is not None)


def carried(robot, layout):
    """Return the parameters of what the robot carries: known, hence not identified, (size,)."""
    loads = payload.carried_inertias(robot.model)[:len(robot.model.bodies)]
    values = np.zeros(layout.size)
    values[:layout.inertial] = np.ravel([ten_numbers(load) for load in loads])
    return values


def regressor(robot, layout, q, v, a):
    """Return Y with torque = Y (values + carried), (N, nv, size), for batches of states."""
    Y = np.zeros((*np.shape(v), layout.size))
    Y[..., :layout.inertial] = robot.regressor(q, v, a)
    for k in range(len(layout.joints)):
        Y[:, k, layout.of_joint(k)] = joint_columns(layout, v[:, k], a[:, k])
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


def torque_beyond_the_model(layout, values, v):
    """Return what a prediction adds to inverse_dynamics: offsets and Stribeck's terms, (N, nv)."""
    torque = np.broadcast_to(values[layout.each('offset')], np.shape(v)).copy()
    if layout.stribeck_speed is not None:
        torque += (values[layout.each('stribeck')] * smoothed_sign(layout, v)
                   * np.exp(-(v / layout.stribeck_speed) ** 2))
    return torque
