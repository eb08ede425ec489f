"""Load the bundled mechanisms for a test."""

from typing import NamedTuple

import numpy as np

from dynamics_node import Robot
from dynamics_node.constrained.assembly import project_configuration, project_velocity
from dynamics_node.constrained.read_loops import read_loops
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.model.configuration import integrate, neutral
from dynamics_node.model.model import Model


class Loaded(NamedTuple):
    """A mechanism: the tree, its loops, the joints without a motor."""

    name: str
    model: Model
    constraints: tuple
    passive: tuple

    @property
    def active(self):
        """Where there is a motor, (nv,) booleans."""
        return np.concatenate([[joint.name not in self.passive] * (joint.v.stop - joint.v.start)
                               for joint in self.model.joints])


def load(name, **settings):
    """Return the Loaded mechanism of that name; settings are those of Robot.from_urdf."""
    urdf, loops = MECHANISMS[name]
    model = Robot.from_urdf(urdf, compile=False, **settings).model
    return Loaded(name, model, *read_loops(loops.read_text()))


SPAN = 0.2  # how far the joints of a random state are from the neutral one [rad or m]


def standing(model, constraints, seed):
    """Return a random state (q, v, tau) that keeps the constraints."""
    rng = np.random.default_rng(seed)
    q = integrate(model, neutral(model), rng.uniform(-SPAN, SPAN, model.nv))
    q = project_configuration(model, q, constraints)
    v = project_velocity(model, q, rng.normal(size=model.nv), constraints)
    return q, v, rng.normal(size=model.nv)
