"""Keep the touch points of a robot on soft contacts, for simulations."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.soft_contact import SoftContact
from dynamics_node.robot import arguments
from dynamics_node.robot.argument_types import Wrenches
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.robot.links import LinkQuantities
from dynamics_node.robot.soft_contact import SoftContactForces, SoftContacts
from dynamics_node.simulation.contact_stiffness import check_contact_stiffness
from dynamics_node.simulation.output_times import Contacts


class SoftGround:
    """Soft contacts of one robot, or of a batch of its states, and their touch points."""

    def __init__(self, dispatcher: Dispatcher, contacts: Sequence[SoftContact],
                 touch: ArrayLike | None, q: np.ndarray, v: np.ndarray) -> None:
        """Take the initial states, and the touch points before them, None where there were none."""
        self._dispatcher, self._contacts = dispatcher, tuple(contacts)
        self._soft = SoftContacts(dispatcher)
        self._touch = self._soft.soft_contact_forces(q, v, self._contacts, touch).touch

    def forces(self, q: np.ndarray, v: np.ndarray) -> SoftContactForces:
        """Return the forces at a state, with the touch points as they are."""
        return self._soft.soft_contact_forces(q, v, self._contacts, self._touch)

    def follow(self, q: np.ndarray, v: np.ndarray) -> None:
        """Move the touch points to those after this state."""
        self._touch = self.forces(q, v).touch

    def contacts(self, t: float, q: np.ndarray, v: np.ndarray) -> Contacts:
        """Return the Contacts at a state."""
        found = self.forces(q, v)
        return Contacts(found.force, found.touch)

    def added_to(self, wrenches: Wrenches | Callable[[float, np.ndarray, np.ndarray], Wrenches]
                 ) -> Callable[[float, np.ndarray, np.ndarray], dict]:
        """Return f(t, q, v): the wrenches of the contacts added to those of the caller."""
        def both(t: float, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
            found = wrenches(t, q, v) if callable(wrenches) else wrenches
            total = {} if found is None else arguments.check_wrenches(self._dispatcher.model, found)
            for frame, wrench in self.forces(q, v).wrenches.items():
                total[frame] = total.get(frame, 0.0) + wrench
            return total
        return both

    def check_step(self, q: np.ndarray, step: float) -> None:
        """Raise if a fixed step is too long for the contacts.

        :raise SingularModel: the mass matrix has no inverse.
        """
        links = LinkQuantities(self._dispatcher)
        points = np.concatenate([links.point_jacobian(q, contact.frame, contact.point)[..., :3, :]
                                 for contact in self._contacts], axis=-2)
        check_contact_stiffness(
            points, self._dispatcher.call('mass_matrix_inverse', q=q),
            np.array([contact.stiffness for contact in self._contacts]),
            np.array([contact.damping for contact in self._contacts]), step)
