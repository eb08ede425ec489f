"""Compute forces, impacts and heights of a robot on rigid contacts, for simulations."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.constrained.pushing_contacts import Pushed, without_pull
from dynamics_node.constrained.rigid_contact import RigidContact, normal_rows
from dynamics_node.errors import DynamicsError
from dynamics_node.robot.constraint_sets import ConstraintSets
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.simulation.output_times import Contacts
from dynamics_node.simulation.rigid_steps import NEAR, Heights

# f(constraints) -> f(t, q, v) -> a, or the ConstrainedMotion if there are constraints
MotionOf = Callable[[tuple[Constraint, ...]], Callable[[float, np.ndarray, np.ndarray], Any]]


class RigidGround:
    """The equations of one robot on k rigid contacts; it keeps the other constraints."""

    def __init__(self, dispatcher: Dispatcher, sets: ConstraintSets,
                 constraints: tuple[Constraint, ...], contacts: Sequence[RigidContact],
                 motion_of: MotionOf) -> None:
        self._dispatcher, self._sets, self._motion_of = dispatcher, sets, motion_of
        self._constraints, self._contacts = constraints, tuple(contacts)
        self._heights = sets.of((), tuple(contact.height_row for contact in contacts))
        self._known: dict[tuple[int, ...], tuple[Constraint, ...]] = {}
        self.restitution = np.array([contact.restitution for contact in contacts])

    def constraints(self, closed: tuple[int, ...]) -> tuple[Constraint, ...]:
        """Return the constraints of the robot and of the closed contacts."""
        if closed not in self._known:
            self._known[closed] = self._sets.of(
                self._constraints, tuple(self._contacts[k].closed for k in closed))
        return self._known[closed]

    def check_start(self, q: np.ndarray, v: np.ndarray) -> None:
        """Raise if a point is below the ground in the initial state."""
        gap = self.heights(q, v).gap
        lowest = int(np.argmin(gap))
        if gap[lowest] < -NEAR:
            raise DynamicsError(
                f"contacts: the point of '{self._contacts[lowest].name}' is {-gap[lowest]:.3g} m "
                'below the ground at the start; expected a configuration above it')

    def heights(self, q: np.ndarray, v: np.ndarray) -> Heights:
        """Return the Heights of all points."""
        residual, A, _ = self._dispatcher.positional('constraint_rows', (), self._heights)(q, v)
        return Heights(residual, A @ v)

    def pushed(self, t: float, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...]) -> Pushed:
        """Return forces [N] and accelerations [m/s^2] of all contacts."""
        a, force = self._motion(t, q, v, closed)
        _, A, gamma = self._dispatcher.positional('constraint_rows', (), self._heights)(q, v)
        return Pushed(force[:, 2], A @ a + gamma)

    def impact(self, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...],
               restitution: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity after an impact (nv,) and the normal impulses of all contacts.

        Restitution is along the normal; a point that sticks stops sideways.
        """
        valid = self.constraints(closed)
        if not valid:
            return v, np.zeros(len(self._contacts))
        rows = np.zeros(sum(map(size, valid)))
        rows[self._first_row + np.array(self._normals(closed), dtype=int)] = restitution[
            list(closed)]
        found = self._dispatcher.positional('impact', (), valid)(q, v, rows)
        return found.v, self._by_contact(q, v, closed, found.impulse)[:, 2]

    def contacts(self, t: float, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...]
                 ) -> Contacts:
        """Return forces and places of the closed contacts, zero and nan of the others."""
        touch = np.full((len(self._contacts), 3), np.nan)
        for k in closed:
            T = self._dispatcher.positional('frame_pose', (self._contacts[k].frame,))(q)
            touch[k] = T[:3, :3] @ np.array(self._contacts[k].point) + T[:3, 3]
        return Contacts(self._motion(t, q, v, closed)[1], touch)

    def _motion(self, t: float, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...]
                ) -> tuple[np.ndarray, np.ndarray]:
        """Return (acceleration (nv,), forces of all contacts (k, 3))."""
        valid = self.constraints(closed)
        found = self._motion_of(valid)(t, q, v)
        if not valid:
            return found, np.zeros((len(self._contacts), 3))
        return found.a, self._by_contact(q, v, closed, found.multipliers)

    def _by_contact(self, q: np.ndarray, v: np.ndarray, closed: tuple[int, ...],
                    multipliers: np.ndarray) -> np.ndarray:
        """Return the forces or impulses of all contacts in world axes, (k, 3)."""
        force = np.zeros((len(self._contacts), 3))
        if not closed:
            return force
        valid, first = self.constraints(closed), self._first_row
        normals = [first + row for row in self._normals(closed)]
        if (multipliers[normals] < 0.0).any():
            A = self._dispatcher.positional('constraint_rows', (), valid)(q, v).A
            multipliers = without_pull(A, multipliers, normals)
        for k, row in zip(closed, normals):
            sideways = 2 if self._contacts[k].sticks else 0
            force[k, 2 - sideways:] = multipliers[row - sideways:row + 1]
        return force

    @property
    def _first_row(self) -> int:
        return sum(map(size, self._constraints))

    def _normals(self, closed: tuple[int, ...]) -> list[int]:
        return normal_rows([self._contacts[k] for k in closed])
