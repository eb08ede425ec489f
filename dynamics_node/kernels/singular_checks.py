"""Refuse results that are not defined: no inertia in the direction of a joint, or no mass."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dynamics_node.algorithms.energy import total_mass
from dynamics_node.errors import DynamicsError, SingularModel
from dynamics_node.model.model import Model

Result = TypeVar('Result', bound=Any)


def regular(model: Model, result: Result) -> Result:
    """Return the result if its margins are positive.

    :param result: has a field `margin`, (nv,), positive where the joint moves some inertia.
    :raise SingularModel: names a joint that moves links without inertia in its direction.
    """
    singular = ~(result.margin > 0.0)
    if singular.any():
        k = int(np.flatnonzero(singular)[-1])
        joint = next(j for j in model.joints if j.v.start <= k < j.v.stop)
        raise SingularModel(
            f"joint '{joint.name}' moves links that have no inertia in its direction: its "
            'acceleration is not defined. Give the links mass and inertia, the joint an '
            'armature, or lock it')
    return result


def with_mass(algorithm: Callable) -> Callable:
    """Return f(model, ...) that refuses a robot without mass, then calls the algorithm."""
    def checked(model: Model, *state: np.ndarray) -> Any:
        if total_mass(model) == 0.0:
            raise DynamicsError('the robot has no mass, hence no centre of mass')
        return algorithm(model, *state)
    return checked
