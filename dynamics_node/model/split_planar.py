"""Split planar joints into chains of prismatic and revolute joints.

A planar joint is a translation along x, one along y and a rotation, in this order and with the same
coordinates and velocities. In such a chain of joints with massless bodies between them, each motion
subspace is constant in the body that it moves, so that derivatives need no special case.
"""

from dataclasses import replace

import numpy as np

from dynamics_node.model.joints import Joint, Planar, Prismatic, Revolute
from dynamics_node.model.model import WORLD, Body, Model
from dynamics_node.spatial import inertia as inertias
from dynamics_node.spatial import se3


def split_planar_joints(model: Model) -> Model:
    """Return the model with constant joint subspaces; q, v, torques and frames are unchanged."""
    if not _has_planar(model):
        return model
    last = _last_of_chain(model)
    bodies: list[Body] = []
    masses: list[inertias.Inertia] = []
    for body, inertia in zip(model.bodies, model.inertias):
        links = _chain(body, body.joint) if isinstance(body.joint, Planar) else [body]
        parent = last[body.parent]
        for k, link in enumerate(links):
            parent = parent if k == 0 else len(bodies) - 1
            bodies.append(replace(link, parent=parent))
            masses.append(inertia if k == len(links) - 1 else inertias.ZERO)
    frames = {name: frame._replace(body=last[frame.body]) for name, frame in model.frames.items()}
    return model.with_(bodies=tuple(bodies), inertias=(*masses, model.inertias[-1]), frames=frames)


def split_planar_wrenches(model: Model, wrenches: np.ndarray | None) -> np.ndarray | None:
    """Return the wrenches on the bodies of `split_planar_joints(model)`; None for none."""
    if wrenches is None or not _has_planar(model):
        return wrenches
    last = _last_of_chain(model)
    rows = [np.zeros(6)] * (last[len(model.bodies) - 1] + 1)
    for i, wrench in enumerate(wrenches):
        rows[last[i]] = wrench
    return np.array(rows)


def _has_planar(model: Model) -> bool:
    return any(isinstance(body.joint, Planar) for body in model.bodies)


def _last_of_chain(model: Model) -> dict[int, int]:
    """Return {body: its index after the split}, with the world."""
    last, count = {WORLD: WORLD}, 0
    for i, body in enumerate(model.bodies):
        count += 3 if isinstance(body.joint, Planar) else 1
        last[i] = count - 1
    return last


def _chain(body: Body, planar: Planar) -> list[Body]:
    """Return the three bodies of a planar joint: translated along x, then y, then rotated."""
    x, y = planar.plane().T
    joints: tuple[Joint, ...] = (Prismatic(x), Prismatic(y), Revolute(planar.axis))
    return [replace(body, joint=joint, inertia=body.inertia if k == 2 else inertias.ZERO,
                    placement=body.placement if k == 0 else se3.IDENTITY,
                    q=slice(body.q.start + k, body.q.start + k + 1),
                    v=slice(body.v.start + k, body.v.start + k + 1))
            for k, joint in enumerate(joints)]
