r"""Compute motions of a robot with closed loops from those of its independent joints.

A v = 0 holds for every motion that satisfies the loop constraints, with the constraint matrix A of
`Robot.constraint_rows`. As many joints as the mechanism has degrees of freedom are independent (I),
the others are dependent (D):

    v = N v_I,    N_I = 1,    N_D = -A_D^+ A_I,    a_D = N_D a_I - A_D^+ (dA/dt) v.

Motors are independent wherever possible (see independent_joints.py), so that N' tau is the torque
of a motor plus the share of the dependent joints, in its unit.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol

import numpy as np

from dynamics_node.constrained import assembly
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.independent_joints import MULTI_AXIS, independent_joints
from dynamics_node.constrained.rows import ConstraintRows
from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import integrate, neutral
from dynamics_node.model.model import Model

DEPENDENT = 1e-6     # of the largest singular value of A_D, rows at unit length: less is zero
SINGULAR = 1e3       # entries of N above which a configuration counts as singular
STEP = 0.3           # [rad or m] greatest motion of any joint between two solutions
SMALLEST = STEP / 200  # smaller steps are not tried
BRANCH = 0.3         # greatest correction, as a share of the step: more may be another branch
CLOSED = 1e-12       # [m or rad] residual of a closed loop; coarser where coordinates are large
NEWTON = 12          # iterations
TRIES = 4            # more configurations near the first, in case that one is singular
NEAR = 0.05          # [rad or m] standard deviation of their distance from it
REGULAR = 10.0       # times the entries of N at home: limit for random states
WALKERS, WALK = 10, 30   # random states: number of walks from home, least steps of each
FEWEST = 20          # configurations that these must reach
FREE_RANGE = {'prismatic': 1.0}   # [m] of a slide without limits, to each side; others pi


class RobotWithLoops(Protocol):
    """The members of a Robot that are used here; robot/ imports this folder, not the reverse."""

    @property
    def model(self) -> Model:
        """The Model, with its loops."""

    @property
    def constraint_rows(self) -> Callable[..., ConstraintRows]:
        """Robot.constraint_rows, of a batch: compiled if the robot is."""


class LoopTransmission(NamedTuple):
    """The velocity transmission from the independent joints to all joints."""

    N: np.ndarray         # (n, nv, k) v = N v_I
    inverse: np.ndarray   # (n, d, m) A_D^+
    regular: np.ndarray   # (n,) False where the configuration is singular


class LoopMotionSamples(NamedTuple):
    """States that satisfy the loop constraints."""

    q: np.ndarray         # (n, nq)
    v: np.ndarray         # (n, nv)
    a: np.ndarray         # (n, nv)
    N: np.ndarray         # (n, nv, k)
    regular: np.ndarray   # (n,) False where the configuration is singular


class LoopMotion:
    """The motions of a robot with loops or passive joints. Immutable.

    :ivar active: (nv,) booleans, False at passive joints.
    :ivar independent, dependent: entries of v.
    :ivar q_indices: entries of q of the independent coordinates, each a joint of one axis.
    :ivar names: of the independent joints.
    :ivar home: (nq,) a configuration that satisfies the loop constraints.
    """

    def __init__(self, robot: RobotWithLoops, near: np.ndarray | None = None) -> None:
        """Close the loops near a configuration `near` (nq,); None: the neutral configuration."""
        self._robot, self.model = robot, robot.model
        self.constraints, passive = robot.model.loops
        floating = [constraint.name for constraint in self.constraints if constraint.is_unanchored]
        if floating:
            raise DynamicsError(f'the contacts {floating} of the loops have no to_pose, so that '
                                'they do not fix a position; give them one')
        self.active = actuated_dofs(self.model, passive)
        driven = [joint.name for joint in self.model.joints
                  if joint.kind == 'planar' and self.active[joint.v].any()]
        if driven:
            raise DynamicsError(f'{driven} have more than one axis and motors: motors must have '
                                'one axis; lock them, or declare them as passive')
        self._is_vector_space = all(joint.kind != 'floating' for joint in self.model.joints)
        self.home = self._assembled(neutral(self.model) if near is None else near)
        near = self._near_home()
        self.independent, self.dependent = independent_joints(
            self.model, self.active, self._rows(near, np.zeros((len(near), self.model.nv))).A)
        if not len(self.independent):
            raise DynamicsError('the loops leave no degree of freedom: nothing can move')
        self.home = self._regular_home(near)
        one_axis = {joint.v.start: joint for joint in self.model.joints
                    if joint.kind not in MULTI_AXIS}
        joints = [one_axis[k] for k in self.independent]
        self.q_indices = np.array([joint.q.start for joint in joints], dtype=int)
        self.names = tuple(joint.name for joint in joints)

    def _assembled(self, q: np.ndarray) -> np.ndarray:
        return assembly.project_configuration(self.model, q, self.constraints, limits=False)

    def _near_home(self) -> np.ndarray:
        """Return the home configuration and some near it, in case it is singular."""
        rng, found = np.random.default_rng(0), [self.home]
        for _ in range(TRIES if self.constraints else 0):
            step = NEAR * rng.normal(size=(1, self.model.nv))
            with suppress(DynamicsError):
                found.append(self._assembled(self._moved(self.home[None], step)[0]))
        return np.array(found)

    def _regular_home(self, near: np.ndarray) -> np.ndarray:
        """Return the first configuration; if that is singular, the least singular one."""
        found = self.transmission(near)
        if not found.regular.any():
            raise DynamicsError('the configuration in which the loops were closed is singular, and '
                                'so are those near it: the motors cannot move the mechanism')
        gains = np.where(found.regular, transmission_gain(found.N), np.inf)
        return near[0] if found.regular[0] else near[gains.argmin()]

    # Rates -----------------------------------------------------------------------------------

    def transmission(self, q: np.ndarray) -> LoopTransmission:
        """Return the LoopTransmission at closed configurations (n, nq)."""
        return self._transmission(self._rows(q, np.zeros((len(q), self.model.nv))).A)

    def _transmission(self, A: np.ndarray) -> LoopTransmission:
        n, k = len(A), len(self.independent)
        N = np.zeros((n, self.model.nv, k))
        N[:, self.independent, np.arange(k)] = 1.0
        inverse, regular = self._inverse(A)
        if len(self.dependent):
            N[:, self.dependent] = -inverse @ A[:, :, self.independent]
            regular &= transmission_gain(N) < SINGULAR
        return LoopTransmission(N, inverse, regular)

    def _inverse(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (inverse of the dependent columns (n, d, m), regular (n,)) of rows (n, m, nv)."""
        if not len(self.dependent):
            return np.zeros((len(A), 0, A.shape[1])), np.ones(len(A), dtype=bool)
        length = np.linalg.norm(A, axis=2)
        length = np.where(length > 0.0, length, 1.0)
        U, s, Vt = np.linalg.svd(A[:, :, self.dependent] / length[..., None], full_matrices=False)
        regular = s[:, -1] > DEPENDENT * s[:, 0]
        s = np.where(regular[:, None], s, np.inf)
        inverse = (Vt.swapaxes(1, 2) / s[:, None]) @ (U.swapaxes(1, 2) / length[:, None])
        return inverse, regular

    def motion(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> LoopMotionSamples:
        """Return all joints' motion from velocities and accelerations (n, k) of the independent.

        :param q: (n, nq), closed.
        """
        N, inverse, regular = self.transmission(q)
        v = np.einsum('nik,nk->ni', N, v)
        a = np.einsum('nik,nk->ni', N, a)
        a[:, self.dependent] -= np.einsum('ndm,nm->nd', inverse, self._rows(q, v).gamma)
        return LoopMotionSamples(q, v, a, N, regular)

    # Positions -------------------------------------------------------------------------------

    def gap(self, q: np.ndarray) -> np.ndarray:
        """Return the greatest loop residual at configurations (n, nq), (n,) [m or rad]."""
        rows = self._rows(q, np.zeros((len(q), self.model.nv)))
        return np.abs(rows.residual).max(axis=1, initial=0.0)

    def close_loops(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (q with loops closed, converged (n,), motion of dependent joints (n,)).

        Newton's method; independent joints are not moved.
        """
        q = np.array(q, dtype=float)
        moved, converged = np.zeros(len(q)), np.zeros(len(q), dtype=bool)
        open_ones = np.arange(len(q))
        for _ in range(NEWTON):
            rows = self._rows(q[open_ones], np.zeros((len(open_ones), self.model.nv)))
            gap = np.abs(rows.residual).max(axis=1, initial=0.0)
            done = gap <= CLOSED * np.maximum(1.0, np.abs(q[open_ones]).max(axis=1, initial=0.0))
            converged[open_ones[done]] = True
            open_ones, rows = open_ones[~done], ConstraintRows(*(part[~done] for part in rows))
            if not len(open_ones):
                break
            step = np.zeros((len(open_ones), self.model.nv))
            inverse, _ = self._inverse(rows.A)
            step[:, self.dependent] = -np.einsum('ndm,nm->nd', inverse, rows.residual)
            size = np.abs(step).max(axis=1, initial=0.0)
            going = size < 1.0   # [rad or m] the linearisation is not valid farther away
            open_ones, step = open_ones[going], step[going]
            q[open_ones] = self._moved(q[open_ones], step)
            moved[open_ones] += size[going]
        return q, converged, moved

    def step_towards(self, q: np.ndarray, target: np.ndarray, N: np.ndarray, most: float = SINGULAR
                     ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (q, N, arrived (n,), moved (n,)): one step of each state towards its target.

        It is the longest step in which no joint moves by more than STEP and the loops close on the
        same branch. A state for which there is no such step is not moved.

        :param q: (n, nq), closed.
        :param target: (n, k) positions of the independent joints.
        :param N: of the LoopTransmission at q.
        :param most: greatest permitted entry of N: with a greater one, q is too near to singular.
        """
        path = target - q[:, self.q_indices]
        size = np.abs(np.einsum('nik,nk->ni', N, path)).max(axis=1, initial=0.0)
        share = STEP / np.maximum(size, STEP)
        result, result_N = q.copy(), N.copy()
        arrived, moved = np.zeros((2, len(q)), dtype=bool)
        todo = np.arange(len(q))
        while len(todo):
            part = share[todo, None] * path[todo]
            new, reached, matrices = self._on_branch(q[todo], part, N[todo], most)
            good = todo[reached]
            result[good], result_N[good] = new[reached], matrices
            moved[good], arrived[good] = True, share[good] == 1.0
            todo = todo[~reached]
            share[todo] /= 2.0
            todo = todo[share[todo] * size[todo] > SMALLEST]
        return result, result_N, arrived, moved

    def _on_branch(self, q: np.ndarray, part: np.ndarray, N: np.ndarray, most: float = SINGULAR
                   ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (q, reached (n,), N where reached) after a motion `part` of independent joints.

        Reached: the loops close on the same branch, away from singular configurations.
        """
        step = np.einsum('nik,nk->ni', N, part)
        size = np.abs(step).max(axis=1, initial=0.0)
        guess = self._moved(q, step)
        guess[:, self.q_indices] = q[:, self.q_indices] + part
        new, converged, corrected = self.close_loops(guess)
        reached = converged & (corrected <= BRANCH * size + 1e-6)
        transmission = self.transmission(new[reached])
        regular = transmission.regular & (transmission_gain(transmission.N) < most)
        reached[reached] = regular
        return new, reached, transmission.N[regular]

    def walk_to(self, q: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (configuration at the target (k,), N), reached continuously from q (nq,).

        :raise DynamicsError: the loops cannot be closed on the way.
        """
        q = q[None]
        N = self.transmission(q).N
        while True:
            q, N, arrived, moved = self.step_towards(q, target[None], N)
            if arrived[0]:
                return q[0], N[0]
            if not moved[0]:
                goal = ', '.join(f'{name} {x:.4g}' for name, x in zip(self.names, target))
                raise DynamicsError(
                    f'the loops cannot be followed to {goal}: they cannot be closed there, or a '
                    'singular configuration lies on the way')

    def follow(self, positions: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Return the configurations (N, nq) of a sequence of independent positions (N, k).

        :param start: (nq,), closed; the sequence is reached continuously from it.
        """
        q, at, first = np.empty((len(positions), self.model.nq)), start, 0
        N = self.transmission(start[None]).N[0]
        while first < len(positions):
            part = positions[first:first + 1000] - at[self.q_indices]
            far = np.append(np.abs(part @ N.T).max(axis=1, initial=0.0) > STEP, True)
            part = part[:far.argmax()]   # those within a step
            new, reached, matrices = self._on_branch(np.repeat(at[None], len(part), axis=0), part,
                                                     np.repeat(N[None], len(part), axis=0))
            count = int(np.append(reached, False).argmin())
            if count:
                q[first:first + count], at, N = new[:count], new[count - 1], matrices[count - 1]
            else:
                at, N = self.walk_to(at, positions[first])
                q[first], count = at, 1
            first += count
        return q

    # Random states ---------------------------------------------------------------------------

    def random_states(self, rng: np.random.Generator, count: int, speed: np.ndarray | None = None,
                      acceleration: np.ndarray | None = None,
                      ranges: tuple[np.ndarray, np.ndarray] | None = None) -> LoopMotionSamples:
        """Return random states within limits, reached from the home configuration.

        :param speed, acceleration: (k,) limits of the independent joints; None draws from a
            standard normal distribution.
        :param ranges: (lower, upper) of the independent joints, (k,) each; None: their limits.
        :raise DynamicsError: no such state is found.
        """
        lower, upper = self.ranges() if ranges is None else ranges
        q = np.repeat(self.home[None], WALKERS, axis=0)
        target = rng.uniform(lower, upper, (WALKERS, len(lower)))
        found, N = [self.home[None]], self.transmission(q).N
        first = N[0]
        most = REGULAR * transmission_gain(N)[0]
        for _ in range(max(WALK, 2 * count // WALKERS)):
            new, matrices, arrived, moved = self.step_towards(q, target, N, most)
            inside = moved & self.within_limits(new)
            q[inside], N[inside] = new[inside], matrices[inside]
            found.append(q[inside])
            redirected = arrived | ~inside     # to a new target, perhaps from home
            target[redirected] = rng.uniform(lower, upper, (int(redirected.sum()), len(lower)))
            back = ~inside & (rng.random(WALKERS) < 0.5)
            q[back], N[back] = self.home, first
        reached = np.concatenate(found)
        if len(reached) < FEWEST:
            raise DynamicsError('the mechanism can hardly move from the configuration in which its '
                                'loops were closed: joint limits or singular configurations '
                                'surround it')
        position = reached[:, self.q_indices]
        reached = reached[((position >= lower) & (position <= upper)).all(axis=1)]
        if not len(reached):
            raise DynamicsError('none of the configurations that the loops can be followed to is '
                                f'within the ranges of {", ".join(self.names)}')
        q = reached[rng.choice(len(reached), count, replace=len(reached) < count)]
        shape = count, len(lower)
        v, a = (rng.normal(size=shape) if most is None else rng.uniform(-most, most, shape)
                for most in (speed, acceleration))
        return self.motion(q, v, a)

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (lower, upper) positions of the independent joints, (k,) each."""
        joints = [self.model.joint(name) for name in self.names]
        home = self.home[self.q_indices]
        free = np.array([FREE_RANGE.get(joint.kind, np.pi) for joint in joints])
        lower, upper = (np.array([getattr(joint, end) for joint in joints])
                        for end in ('lower', 'upper'))
        return (np.where(np.isfinite(lower), lower, home - free),
                np.where(np.isfinite(upper), upper, home + free))

    def within_limits(self, q: np.ndarray) -> np.ndarray:
        """Return whether no joint exceeds its limits by more than at home, (n,)."""
        inside = np.ones(len(q), dtype=bool)
        for joint in self.model.joints:
            if joint.kind != 'floating':
                home = self.home[joint.q]
                lower, upper = np.minimum(joint.lower, home), np.maximum(joint.upper, home)
                inside &= ((q[:, joint.q] >= lower) & (q[:, joint.q] <= upper)).all(axis=1)
        return inside

    # Constraint rows, integration -------------------------------------------------------------

    def _rows(self, q: np.ndarray, v: np.ndarray) -> ConstraintRows:
        """Return the ConstraintRows of states, (n, m) (n, m, nv) (n, m)."""
        n = len(q)
        if not self.constraints or not n:
            m = sum(map(assembly.size, self.constraints))
            return ConstraintRows(np.zeros((n, m)), np.zeros((n, m, self.model.nv)),
                                  np.zeros((n, m)))
        return self._robot.constraint_rows(q, v)

    def _moved(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the configurations after unit time at v, (n, nq)."""
        if self._is_vector_space:
            return q + v
        return np.array([integrate(self.model, *state) for state in zip(q, v)]).reshape(q.shape)


def transmission_gain(N: np.ndarray) -> np.ndarray:
    """Return the greatest motion of any joint per unit motion of an independent one, (n,)."""
    return np.abs(N).max(axis=(1, 2), initial=0.0)
