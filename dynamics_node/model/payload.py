"""Add payloads to a model and remove them.

The bodies keep their own inertia; the sum with the payloads is computed anew from it each time. So
removing a payload restores the model exactly, to the last bit.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.checks import at_least_zero, finite
from dynamics_node.errors import ModelError, UnknownName, shown
from dynamics_node.model.model import Model, Payload
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial.inertia import Inertia

WRITTEN_DIGITS = 1e-6  # relative: data sheets are written with six digits or fewer


def with_payload(model: Model, name: str, frame: str, mass: float, com: ArrayLike = (0.0, 0.0, 0.0),
                 inertia: ArrayLike | None = None) -> Model:
    """Return the model with a payload; one of the same name is replaced.

    :param frame: link that the payload is fixed to.
    :param mass: [kg], zero or positive.
    :param com: centre of mass in that frame [m].
    :param inertia: 3 x 3 about the load's centre of mass, in the frame's axes [kg m^2];
        None is a point mass.
    """
    return with_carried(model, {**model.payloads,
                                **dict([_checked(model, name, frame, mass, com, inertia)])})


def with_payloads(model: Model, loads: Mapping[str, tuple]) -> Model:
    """Return the model with several payloads, {name: (frame, mass, com, inertia)}."""
    if not isinstance(loads, Mapping) or not all(
            isinstance(load, (tuple, list)) and len(load) == 4 for load in loads.values()):
        raise ModelError(f'loads is {shown(loads)}; expected a dict {{name: (frame, mass, com, '
                         'inertia)}')
    checked = dict(_checked(model, name, *load) for name, load in loads.items())
    return with_carried(model, {**model.payloads, **checked})


def _checked(model: Model, name: str, frame: str, mass: float, com: ArrayLike,
             inertia: ArrayLike | None) -> tuple[str, Payload]:
    """Return (name, Payload) of the arguments of with_payload, checked."""
    if not isinstance(name, str):
        raise ModelError(f'the name of a payload is {shown(name)}; expected a string')
    name = str.__str__(name)  # a subclass of str may not be hashable
    model.frame(frame)
    where = f"payload '{name}': "
    mass = at_least_zero(where + 'mass', mass)
    com = finite(where + 'com', com, (3,))
    tensor = np.zeros((3, 3)) if inertia is None else finite(where + 'inertia', inertia, (3, 3))
    check_tensor(where, tensor)
    return name, Payload(frame, mass, tuple(com.tolist()), tuple(map(tuple, tensor.tolist())))


def without_payload(model: Model, name: str) -> Model:
    """Return the model without that payload."""
    if not isinstance(name, str) or name not in list(model.payloads):
        raise UnknownName('payload', name, model.payloads)
    return with_carried(model, {key: load for key, load in model.payloads.items() if key != name})


def check_tensor(where: str, tensor: np.ndarray) -> None:
    """Raise a ModelError unless some body has this inertia about its centre of mass, (3, 3)."""
    scale = np.abs(tensor).max()
    if np.abs(tensor - tensor.T).max() > 1e-9 * scale:
        raise ModelError(f'{where}inertia must be symmetric, got {tensor.tolist()}')
    low, middle, high = np.linalg.eigvalsh(tensor)
    if low < -1e-9 * scale:
        raise ModelError(f'{where}inertia must not have a negative principal moment: they are '
                         f'{low:.6g}, {middle:.6g}, {high:.6g}')
    if low + middle < (1.0 - WRITTEN_DIGITS) * high:
        raise ModelError(f'{where}inertia violates the triangle inequality, no mass distribution '
                         f'has it: principal moments {low:.6g}, {middle:.6g}, {high:.6g}')


def with_carried(model: Model, payloads: Mapping[str, Payload]) -> Model:
    """Return the model with these payloads, and no others."""
    model = model.with_(payloads=dict(payloads))
    return model.with_(inertias=tuple(
        own + load for own, load in zip(model.bare_inertias, carried_inertias(model))))


def carried_inertias(model: Model) -> list[Inertia]:
    """Return the sum of the payloads' Inertia on each body, in its frame; the world's is last."""
    carried = [inertias.ZERO] * (len(model.bodies) + 1)
    for _, load in sorted(model.payloads.items()):
        frame = model.frames[load.frame]
        inertia = inertias.from_com(load.mass, load.com, load.inertia)
        carried[frame.body] = carried[frame.body] + inertia.seen_from(frame.pose)
    return carried
