"""Map the joint names of a request to places in q and v, and to the order of its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.model.model import Model


class JointSelection(NamedTuple):
    """The joints that a request names, and the order of joints in its reply."""

    names: list[str]            # all joints: the named ones first, then the others
    named: tuple[int, ...]      # indices of the named joints
    others: np.ndarray          # indices of the other joints
    q: np.ndarray               # places in q of the entries of a position
    v: np.ndarray               # places in v of the entries of a velocity, acceleration or effort
    order: np.ndarray | None    # degrees of freedom of `names`; None: the order of the model
    whole: bool                 # all joints are named in the order of the model: no copy is needed
    floating: bool              # a named joint is floating: a position contains a quaternion
    nq: int                     # entries of position of all joints
    nv: int                     # entries of velocity of all joints


def select_joints(model: Model, names: Sequence[str]) -> JointSelection:
    """Return the selection of some joints of a model; no names select all joints."""
    place = {joint.name: k for k, joint in enumerate(model.joints)}
    for name in names:
        if name not in place:
            raise UnknownName('moving joint', name, place)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DynamicsError(f"joint_names has '{twice}' twice; name each joint once")
    joints = model.joints
    named = tuple(place[name] for name in names) or tuple(range(len(joints)))
    others = [k for k in range(len(joints)) if k not in set(named)]
    order = _entries([joints[k].v for k in (*named, *others)])
    in_order = np.array_equal(order, np.arange(model.nv))
    return JointSelection(
        [joints[k].name for k in (*named, *others)], named, np.array(others, dtype=int),
        _entries([joints[k].q for k in named]), _entries([joints[k].v for k in named]),
        None if in_order else order, in_order and not others,
        any(joints[k].kind == 'floating' for k in named), model.nq, model.nv)


def _entries(places: list[slice]) -> np.ndarray:
    return np.array([k for place in places for k in range(place.start, place.stop)], dtype=int)
