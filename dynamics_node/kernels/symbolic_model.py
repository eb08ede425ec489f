"""Put symbols in place of the numbers of a model that are inputs of its kernels."""

from collections.abc import Mapping

import numpy as np

from dynamics_node.algorithms.inertial_parameters import inertia_of
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import Model


def symbolic_model(model: Model, key: KernelKey, given: Mapping[str, np.ndarray]) -> Model:
    """Return the model with the symbols of `given` in place of the numbers that may change."""
    zero = np.zeros(model.nv)
    inertias = model.inertias
    if key.with_payload:
        inertias = tuple(own + inertia_of(load) for own, load in zip(inertias, given['payload']))
    terms = (FrictionTerms(*(given[name] for name in FrictionTerms._fields))
             if key.with_friction_terms else None)
    return model.with_(gravity=given['gravity'], armature=given['armature'],
                       damping=given.get('damping', zero),
                       friction=given.get('friction', zero), inertias=inertias,
                       friction_terms=terms)
