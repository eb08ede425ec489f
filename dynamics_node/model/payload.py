"""What the robot carries: loads at frames, added to the bodies and taken off again.

The bodies keep their own inertia; the carried sum is made anew from it each time. So taking a
payload off gives back exactly, to the last bit, the robot as it was.
"""

import numpy as np

from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.model.model import Payload
from dynamics_node.spatial import inertia as inertias


def with_payload(model, name, frame, mass, com=(0.0, 0.0, 0.0), inertia=None):
    """Return the model with a payload set; one of the same name is replaced.

    :param frame: link it is fixed to.
    :param mass: [kg], zero or positive.
    :param com: centre of mass in that frame [m].
    :param inertia: 3 x 3 about the load's centre of mass, in the frame's axes [kg m^2];
        None is a point mass.
    """
    model.frame(frame)
    inertia = np.zeros((3, 3)) if inertia is None else np.array(inertia, dtype=float)
    com = np.array(com, dtype=float)
    if not (np.isfinite(mass) and mass >= 0.0):
        raise DynamicsError(f"payload '{name}': mass is {mass}; expected zero or more [kg]")
    if com.shape != (3,) or not np.isfinite(com).all():
        raise DynamicsError(f"payload '{name}': com is {com}; expected three finite numbers [m]")
    _check_tensor(name, inertia)
    load = Payload(frame, float(mass), tuple(com.tolist()), tuple(map(tuple, inertia.tolist())))
    return _loaded(model, {**model.payloads, name: load})


def without_payload(model, name):
    """Return the model without that payload."""
    if name not in model.payloads:
        raise UnknownName('payload', name, model.payloads)
    return _loaded(model, {key: load for key, load in model.payloads.items() if key != name})


def _check_tensor(name, tensor):
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise DynamicsError(f"payload '{name}': inertia must be 3 x 3 and finite")
    scale = np.abs(tensor).max()
    if np.abs(tensor - tensor.T).max() > 1e-9 * scale:
        raise DynamicsError(f"payload '{name}': inertia must be symmetric")
    if np.linalg.eigvalsh(tensor).min() < -1e-9 * scale:
        raise DynamicsError(f"payload '{name}': inertia must not have a negative principal moment")


def _loaded(model, payloads):
    carried = [*(body.inertia for body in model.bodies), model.base_inertia]  # [WORLD] is the last
    for _, load in sorted(payloads.items()):
        frame = model.frames[load.frame]
        inertia = inertias.from_com(load.mass, load.com, load.inertia)
        carried[frame.body] = carried[frame.body] + inertia.seen_from(frame.pose)
    return model.with_(payloads=payloads, inertias=tuple(carried))
