"""Compute the load of joints, to which a part of their friction is in proportion.

    tau = ... + load_coefficient |load| s(v)

The load is the torque behind the gear, of links and payloads without rotor and friction (Hamon,
Gautier and Garrec 2010; Bittencourt and Gunnarsson 2012). Since it depends on the acceleration, the
model of a Robot lacks this term: its forward dynamics would become implicit. It is identified and
reported, and the model gets it at the mean load of the recording: `parameters.applied_values`.
The load is that of parameters known before, so that the torque stays linear in the parameters.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node.identification.recording import Recording
from dynamics_node.robot.robot import Robot

SAMPLES = 5000   # at most, for the mean load


class JointLoad(NamedTuple):
    """The load of each degree of freedom as a function of the motion."""

    parameters: np.ndarray   # (inertial,) of links and payloads, from an earlier fit
    mean: np.ndarray         # (nv,) mean |load| of the recording [N m or N]


def joint_load(load: JointLoad, Y: np.ndarray) -> np.ndarray:
    """Return |load|, (N, nv) [N m or N].

    :param Y: regressor of the links, (N, nv, inertial).
    """
    return np.abs(Y @ load.parameters)


def recorded_load(robot: Robot, parameters: np.ndarray, recording: Recording) -> JointLoad:
    """Return the JointLoad with the mean load of a recording.

    :param parameters: (inertial,) of links and payloads.
    """
    some = recording.rows(slice(None, None, 1 + len(recording.time) // SAMPLES))
    load = np.abs(robot.regressor(some.q, some.v, some.a) @ parameters)
    return JointLoad(parameters, load.mean(axis=0))
