"""Override the joint friction of the URDF."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from dynamics_node.checks import at_least_zero, finite, mapping, positive
from dynamics_node.errors import DynamicsError
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import Model

Given: TypeAlias = Mapping[str, float] | None

ASYMMETRIES = {'friction_asymmetry': 'friction', 'damping_asymmetry': 'damping'}


def with_friction(model: Model, damping: Given = None, friction: Given = None,
                  stribeck: Given = None, stribeck_speed: Given = None,
                  friction_asymmetry: Given = None, damping_asymmetry: Given = None,
                  friction_speed: Given = None) -> Model:
    """Return the model with other friction at some joints, {joint: value} of each kind.

    A value holds for each degree of freedom of its joint.

    :param damping, friction, stribeck: zero or positive.
    :param stribeck_speed, friction_speed: positive.
    :param friction_asymmetry, damping_asymmetry: at most as large as friction and damping, so that
        friction never drives a joint.
    """
    plain = {'damping': damping, 'friction': friction}
    further = {'stribeck': stribeck, 'stribeck_speed': stribeck_speed,
               'friction_asymmetry': friction_asymmetry, 'damping_asymmetry': damping_asymmetry,
               'friction_speed': friction_speed}
    own = model.friction_terms or FrictionTerms.none(model.nv, model.friction_speed)
    values = {key: _changed(model, key, given, getattr(model, key))
              for key, given in plain.items()}
    terms = {key: _changed(model, key, given, getattr(own, key)) for key, given in further.items()}
    _check_asymmetries(model, {**values, **terms})
    none = model.friction_terms is None and all(given is None for given in further.values())
    return model.with_(**values, friction_terms=None if none else FrictionTerms(**terms))


def _changed(model: Model, key: str, given: Given, values: np.ndarray) -> np.ndarray:
    """Return the values of one kind of friction with those that are given, (nv,)."""
    values = values.copy()
    for name, value in mapping(key, {} if given is None else given, "{'joint': 0.1}").items():
        values[model.joint(name).v] = _checked(key, f"{key}['{name}']", value)
    return values


def _checked(key: str, name: str, value: float) -> float:
    if key in ASYMMETRIES:
        return float(finite(name, value, ()))
    return positive(name, value) if key.endswith('_speed') else at_least_zero(name, value)


def _check_asymmetries(model: Model, values: Mapping[str, np.ndarray]) -> None:
    for key, of in ASYMMETRIES.items():
        for joint in model.joints:
            value, most = values[key][joint.v][0], values[of][joint.v][0]
            if np.abs(value) > most:
                raise DynamicsError(
                    f"{key}['{joint.name}'] is {value:g}; expected {-most:g} to {most:g}, the "
                    f'{of} of this joint: friction would drive it in one direction')
