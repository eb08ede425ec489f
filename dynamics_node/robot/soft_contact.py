"""Compute the forces of soft contacts on a robot."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.constrained.soft_contact import SoftContact, SoftForce, soft_force
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.robot.dispatch import Dispatcher


class SoftContactForces(NamedTuple):
    """Forces of k soft contacts; of a batch with N rows."""

    force: np.ndarray     # (k, 3) on the robot, in world axes [N]
    depth: np.ndarray     # (k,) below the plane, negative above it [m]
    touch: np.ndarray     # (k, 3) touch points, for the next state; nan without contact
    wrenches: dict        # {frame: wrench} for `wrenches` of other methods


class SoftContacts:
    """The method of a Robot for soft contacts."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    def soft_contact_forces(self, q: ArrayLike, v: ArrayLike, contacts: Sequence[SoftContact],
                            touch: ArrayLike | None = None) -> SoftContactForces:
        """Return the SoftContactForces: spring, damper and friction where points are below planes.

        :param touch: where the points touched first, (k, 3), as the result of the state before;
            nan, or None for all, without contact before.
        """
        contacts = checks.check_sequence('contacts', contacts)
        for contact in contacts:
            checks.check_kind('contacts', contact, SoftContact)
            if contact.frame not in self._dispatcher.model.frames:
                unknown = UnknownName('frame', contact.frame, self._dispatcher.model.frames)
                raise DynamicsError(f"soft contact '{contact.name}': frame: {unknown}")
        found: list[SoftForce] = []
        wrenches: dict[str, np.ndarray] = {}
        for k, contact in enumerate(contacts):
            T = self._dispatcher.positional('frame_pose', (contact.frame,))(q)
            twist = self._dispatcher.positional('frame_twist', (contact.frame,))(q, v)
            T = np.broadcast_to(T, (*twist.shape[:-1], 4, 4))
            R, point = T[..., :3, :3], np.array(contact.point)
            arm = R @ point
            before = _touch_points(touch, (*twist.shape[:-1], len(contacts), 3))[..., k, :]
            one = soft_force(contact, T[..., :3, 3] + arm,
                             twist[..., :3] + np.cross(twist[..., 3:], arm), before)
            local = (one.force[..., None, :] @ R)[..., 0, :]
            wrench = np.concatenate([local, np.cross(point, local)], axis=-1)
            wrenches[contact.frame] = wrenches.get(contact.frame, 0.0) + wrench
            found.append(one)
        if not found:
            raise DynamicsError('contacts is empty; expected at least one SoftContact')
        force, depth, after = zip(*found)
        return SoftContactForces(np.stack(force, axis=-2), np.stack(depth, axis=-1),
                                 np.stack(after, axis=-2), wrenches)


def _touch_points(touch: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return the touch points of all contacts and states; nan where there are none."""
    if touch is None:
        return np.full(shape, np.nan)
    try:
        points = np.asarray(touch)
        valid = points.dtype.kind in 'fiu' and points.shape in (shape, shape[-2:])
    except Exception:  # an object may raise anything when NumPy reads it
        valid = False
    if not valid or np.isinf(points).any():
        raise DynamicsError(f'touch must have shape {shape}, of numbers or nan')
    return np.broadcast_to(points.astype(float), shape)
