"""Make recordings of an arm with known parameters that differ from its URDF."""

import numpy as np

from dynamics_node.identification.parameters import (
    offset_torque,
    parameter_values,
    robot_with_parameters,
)
from dynamics_node.identification.recording import Recording
from support.other_bodies import other_body

PERIOD = 0.01  # [s]


def motion(n, samples, seed, speed=1.2, harmonics=5):
    """Return (time, q, v, a) of a random Fourier motion of n joints; v and a are exact."""
    rng = np.random.default_rng(seed)
    t = PERIOD * np.arange(samples)
    q, v, a = np.zeros((3, samples, n))
    for k in range(1, harmonics + 1):
        w = 2 * np.pi * k * rng.uniform(0.08, 0.12, n)
        amplitude = speed / np.sqrt(harmonics) * rng.normal(size=n)
        angle = w * t[:, None] + rng.uniform(0, 2 * np.pi, n)
        q += amplitude / w * np.sin(angle)
        v += amplitude * np.cos(angle)
        a -= amplitude * w * np.sin(angle)
    return t, q, v, a


def other_values(robot, layout, seed, spread=0.3):
    """Return parameters of a robot like this one: masses off by up to 30 %, rotors, friction."""
    rng = np.random.default_rng(seed)
    values = parameter_values(robot, layout)
    for i in range(len(layout.bodies)):
        values[layout.of_body(i)] = other_body(values[layout.of_body(i)], rng, spread, 0.01)
    for kind, low, high in (('armature', 0.05, 0.3), ('viscous', 0.2, 1.0), ('coulomb', 0.3, 1.0),
                            ('offset', -0.3, 0.3)):
        values[layout.each(kind)] = rng.uniform(low, high, len(layout.joints))
    return values


def recorded(robot, layout, values, samples, seed, noise=0.0, colour=None):
    """Return the Recording of a robot with these parameters, measured with noise [N m].

    :param colour: f(white noise) -> coloured noise.
    """
    t, q, v, a = motion(robot.nv, samples, seed)
    tau = (robot_with_parameters(robot, layout, values).inverse_dynamics(q, v, a)
           + offset_torque(layout, values, v))
    white = noise * np.random.default_rng(seed + 1000).normal(size=tau.shape)
    return Recording(robot.joint_names, t, q, v, a, tau + (white if colour is None
                                                           else colour(white)))
