r"""How does a robot with closed loops move when some of its joints are moved?

A v = 0 holds for every motion that keeps the loops, with the constraint matrix A of
`Robot.constraint_rows`. As many joints as the mechanism has freedoms are independent (I), the
others are dependent (D) and follow:

    v = N v_I,    N_I = 1,    N_D = -A_D^+ A_I,    a_D = N_D a_I - A_D^+ (dA/dt) v.

Motors are independent wherever possible (see independent_joints.py), so that N' tau is the torque
of a motor plus the share of the dependent joints, in its unit.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from dynamics_node.constrained import assembly
from dynamics_node.constrained.actuation import actuated_dofs
from dynamics_node.constrained.rows import ConstraintRows
from dynamics_node.errors import DynamicsError
from dynamics_node.identification.independent_joints import MULTI_AXIS, independent_joints
from dynamics_node.model.configuration import integrate

DEPENDENT = 1e-6     # of the largest singular value of A_D, rows at unit length: less is none
SINGULAR = 1e3       # entries of N beyond which motors have no hold on the mechanism
STEP = 0.3           # [rad or m] that any joint moves at most between two solutions
SMALLEST = STEP / 200  # below, a step is given up
BRANCH = 0.3         # share of a step that its correction may be: more may be another branch
CLOSED = 1e-12       # [m or rad] residual of a closed loop; coarser where coordinates are large
NEWTON = 12          # iterations
TRIES = 4            # other configurations near the first, in case that one is singular
NEAR = 0.05          # [rad or m] how far these are from it
REGULAR = 10.0       # times the entries of N at home: random states have no greater ones
WALKERS, WALK = 10, 30   # random states: so many walks from home, of so many steps or more
FEWEST = 20          # configurations that these must find
FREE_RANGE = {'prismatic': 1.0}   # [m] of a slide without limits, to each side; others pi


class Transmission(NamedTuple):
    """How dependent joints follow, state by state."""

    N: np.ndarray         # (n, nv, k) v = N v_I
    inverse: np.ndarray   # (n, d, m) A_D^+
    clear: np.ndarray     # (n,) False where the configuration is singular


class LoopMotionSamples(NamedTuple):
    """States that keep the loops."""

    q: np.ndarray         # (n, nq)
    v: np.ndarray         # (n, nv)
    a: np.ndarray         # (n, nv)
    N: np.ndarray         # (n, nv, k)
    clear: np.ndarray     # (n,) False where the configuration is singular


class LoopMotion:
    """The motions of a robot with loops or passive joints. Immutable.

    :ivar active: (nv,) booleans, False where there is no motor.
    :ivar independent, dependent: entries of v.
    :ivar places: entries of q of the independent coordinates, each a joint of one axis.
    :ivar names: of the independent joints.
    :ivar home: (nq,) a configuration that keeps the loops.
    """

    def __init__(self, robot, near=None):
        """Take `near` (nq,), a configuration near which the loops can be closed; None: neutral."""
        self.robot, self.model = robot, robot.model
        self.constraints = robot.loops.constraints
        loose = [constraint.name for constraint in self.constraints if constraint.is_unanchored]
        if loose:
            raise DynamicsError(f'the contacts {loose} of the loops have no to_pose, so that they '
                                'do not say where the robot is; identification needs it')
        self.active = actuated_dofs(self.model, robot.loops.passive)
        wide = [joint.name for joint in self.model.joints
                if joint.kind == 'planar' and self.active[joint.v].any()]
        if wide:
            raise DynamicsError(f'joints of more than one axis with motors, {wide}: identification '
                                'takes one-axis joints; lock them, or call them passive')
        self._flat = all(joint.kind != 'floating' for joint in self.model.joints)
        self.home = self._assembled(robot.neutral() if near is None else near)
        near = self._near_home()
        self.independent, self.dependent = independent_joints(
            self.model, self.active, self._rows(near, np.zeros((len(near), self.model.nv))).A)
        if not len(self.independent):
            raise DynamicsError('the loops leave the robot no freedom: nothing can be identified')
        self.home = self._regular_home(near)
        one_axis = {joint.v.start: joint for joint in self.model.joints
                    if joint.kind not in MULTI_AXIS}
        joints = [one_axis[k] for k in self.independent]
        self.places = np.array([joint.q.start for joint in joints], dtype=int)
        self.names = tuple(joint.name for joint in joints)

    def _assembled(self, q):
        return assembly.project_configuration(self.model, q, self.constraints, limits=False)

    def _near_home(self):
        """Return the home configuration and some near it, in case that it is singular."""
        rng, found = np.random.default_rng(0), [self.home]
        for _ in range(TRIES if self.constraints else 0):
            step = NEAR * rng.normal(size=(1, self.model.nv))
            with suppress(DynamicsError):
                found.append(self._assembled(self._moved(self.home[None], step)[0]))
        return np.array(found)

    def _regular_home(self, near):
        """Return the first of some configurations, or if that is singular the least singular."""
        found = self.transmission(near)
        if not found.clear.any():
            raise DynamicsError('the motors have no hold on the mechanism in or near the '
                                'configuration in which its loops were closed: it is singular')
        sizes = np.where(found.clear, strength(found.N), np.inf)
        return near[0] if found.clear[0] else near[sizes.argmin()]

    # Rates -----------------------------------------------------------------------------------

    def transmission(self, q):
        """Return the Transmission at closed configurations (n, nq)."""
        return self._transmission(self._rows(q, np.zeros((len(q), self.model.nv))).A)

    def _transmission(self, A):
        n, k, d = len(A), len(self.independent), len(self.dependent)
        N = np.zeros((n, self.model.nv, k))
        N[:, self.independent, np.arange(k)] = 1.0
        if not d:
            return Transmission(N, np.zeros((n, 0, A.shape[1])), np.ones(n, dtype=bool))
        length = np.linalg.norm(A, axis=2)
        length = np.where(length > 0.0, length, 1.0)
        U, s, Vt = np.linalg.svd(A[:, :, self.dependent] / length[..., None], full_matrices=False)
        clear = s[:, -1] > DEPENDENT * s[:, 0]
        s = np.where(clear[:, None], s, np.inf)
        inverse = (Vt.swapaxes(1, 2) / s[:, None]) @ (U.swapaxes(1, 2) / length[:, None])
        N[:, self.dependent] = -inverse @ A[:, :, self.independent]
        clear &= strength(N) < SINGULAR
        return Transmission(N, inverse, clear)

    def motion(self, q, v, a):
        """Return the Motion with velocities and accelerations (n, k) of the independent joints.

        :param q: (n, nq), closed.
        """
        N, inverse, clear = self.transmission(q)
        v = np.einsum('nik,nk->ni', N, v)
        a = np.einsum('nik,nk->ni', N, a)
        a[:, self.dependent] -= np.einsum('ndm,nm->nd', inverse, self._rows(q, v).gamma)
        return LoopMotionSamples(q, v, a, N, clear)

    # Positions -------------------------------------------------------------------------------

    def gap(self, q):
        """Return by how much the loops are open at configurations (n, nq), (n,) [m or rad]."""
        rows = self._rows(q, np.zeros((len(q), self.model.nv)))
        return np.abs(rows.residual).max(axis=1, initial=0.0)

    def corrected(self, q):
        """Return (q, converged (n,), how far dependent joints were moved (n,)): loops closed.

        Newton's method; independent joints stay.
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
            step[:, self.dependent] = -np.einsum(
                'ndm,nm->nd', self._transmission(rows.A).inverse, rows.residual)
            size = np.abs(step).max(axis=1, initial=0.0)
            going = size < 1.0   # [rad or m] further the rows do not tell the way
            open_ones, step = open_ones[going], step[going]
            q[open_ones] = self._moved(q[open_ones], step)
            moved[open_ones] += size[going]
        return q, converged, moved

    def towards(self, q, target, N, most=SINGULAR):
        """Return (q, N, arrived (n,), moved (n,)): one step of each state towards its target.

        The step is as long as all joints move by STEP at most and the loops close on the same
        branch; where none does, the state stays.

        :param q: (n, nq), closed; target: (n, k) positions of the independent joints.
        :param N: of the Transmission at q.
        :param most: greatest entry of N that is permitted: beyond, it is too near to singular.
        """
        way = target - q[:, self.places]
        size = np.abs(np.einsum('nik,nk->ni', N, way)).max(axis=1, initial=0.0)
        share = STEP / np.maximum(size, STEP)
        result, there = q.copy(), N.copy()
        arrived, moved = np.zeros((2, len(q)), dtype=bool)
        todo = np.arange(len(q))
        while len(todo):
            part = share[todo, None] * way[todo]
            new, fine, matrices = self._on_branch(q[todo], part, N[todo], most)
            good = todo[fine]
            result[good], there[good] = new[fine], matrices
            moved[good], arrived[good] = True, share[good] == 1.0
            todo = todo[~fine]
            share[todo] /= 2.0
            todo = todo[share[todo] * size[todo] > SMALLEST]
        return result, there, arrived, moved

    def _on_branch(self, q, part, N, most=SINGULAR):
        """Return (q, fine (n,), N of these): independent joints moved by `part`, others follow."""
        step = np.einsum('nik,nk->ni', N, part)
        size = np.abs(step).max(axis=1, initial=0.0)
        guess = self._moved(q, step)
        guess[:, self.places] = q[:, self.places] + part
        new, converged, corrected = self.corrected(guess)
        fine = converged & (corrected <= BRANCH * size + 1e-6)
        there = self.transmission(new[fine])
        regular = there.clear & (strength(there.N) < most)
        fine[fine] = regular
        return new, fine, there.N[regular]

    def walked(self, q, target):
        """Return (the configuration at the target (k,), N): reached from q (nq,) without a jump.

        :raise DynamicsError: the loops cannot be followed so far.
        """
        q = q[None]
        N = self.transmission(q).N
        while True:
            q, N, arrived, moved = self.towards(q, target[None], N)
            if arrived[0]:
                return q[0], N[0]
            if not moved[0]:
                words = ', '.join(f'{name} {x:.4g}' for name, x in zip(self.names, target))
                raise DynamicsError(
                    f'the loops cannot be followed to {words}: there they cannot be closed, or a '
                    'singular configuration lies on the way')

    def followed(self, where, start):
        """Return the configurations (N, nq) of a sequence of independent positions (N, k).

        :param start: (nq,), closed: from there on, without a jump.
        """
        q, at, first = np.empty((len(where), self.model.nq)), start, 0
        while first < len(where):
            at, N = self.walked(at, where[first])
            ahead = where[first:first + 1000]
            size = np.abs((ahead - at[self.places]) @ N.T).max(axis=1, initial=0.0)
            near = int(np.argmax(size > STEP)) or len(ahead)   # 0: none is further, see walked
            part = ahead[:near] - at[self.places]
            new, fine, _ = self._on_branch(np.repeat(at[None], near, axis=0), part,
                                           np.repeat(N[None], near, axis=0))
            near = near if fine.all() else max(1, int(np.argmin(fine)))
            new[0] = at
            q[first:first + near], at, first = new[:near], new[near - 1], first + near
        return q

    # Random states ---------------------------------------------------------------------------

    def random_states(self, rng, count, speed=None, acceleration=None, ranges=None):
        """Return the Motion of random states, reached from the home configuration within limits.

        :param speed, acceleration: (k,) greatest of the independent joints; None draws from a
            normal distribution of 1.
        :param ranges: (lower, upper) of the independent joints, (k,) each; None: their limits.
        :raise DynamicsError: no such state is found.
        """
        lower, upper = self.ranges() if ranges is None else ranges
        q = np.repeat(self.home[None], WALKERS, axis=0)
        target = rng.uniform(lower, upper, (WALKERS, len(lower)))
        found, N = [self.home[None]], self.transmission(q).N
        first = N[0]
        most = REGULAR * strength(N)[0]
        for _ in range(max(WALK, 2 * count // WALKERS)):
            new, matrices, arrived, moved = self.towards(q, target, N, most)
            inside = moved & self.within_limits(new)
            q[inside], N[inside] = new[inside], matrices[inside]
            found.append(q[inside])
            turn = arrived | ~inside     # another direction, or back to the beginning
            target[turn] = rng.uniform(lower, upper, (int(turn.sum()), len(lower)))
            back = ~inside & (rng.random(WALKERS) < 0.5)
            q[back], N[back] = self.home, first
        every = np.concatenate(found)
        if len(every) < FEWEST:
            raise DynamicsError('the mechanism can hardly be moved from where its loops were '
                                'closed: joint limits or singular configurations are all around')
        where = every[:, self.places]
        every = every[((where >= lower) & (where <= upper)).all(axis=1)]
        if not len(every):
            raise DynamicsError('none of the configurations that the loops can be followed to is '
                                f'within the ranges of {", ".join(self.names)}')
        q = every[rng.choice(len(every), count, replace=len(every) < count)]
        shape = count, len(lower)
        v, a = (rng.normal(size=shape) if most is None else rng.uniform(-most, most, shape)
                for most in (speed, acceleration))
        return self.motion(q, v, a)

    def ranges(self):
        """Return (lower, upper) positions of the independent joints, (k,) each."""
        joints = [self.model.joint(name) for name in self.names]
        here = self.home[self.places]
        free = np.array([FREE_RANGE.get(joint.kind, np.pi) for joint in joints])
        lower, upper = (np.array([getattr(joint, end) for joint in joints])
                        for end in ('lower', 'upper'))
        return (np.where(np.isfinite(lower), lower, here - free),
                np.where(np.isfinite(upper), upper, here + free))

    def within_limits(self, q):
        """Return whether no joint is farther beyond its limits than at home, (n,)."""
        inside = np.ones(len(q), dtype=bool)
        for joint in self.model.joints:
            if joint.kind != 'floating':
                here = self.home[joint.q]
                lower, upper = np.minimum(joint.lower, here), np.maximum(joint.upper, here)
                inside &= ((q[:, joint.q] >= lower) & (q[:, joint.q] <= upper)).all(axis=1)
        return inside

    # What it stands on -----------------------------------------------------------------------

    def _rows(self, q, v):
        """Return the Rows of states, (n, m) (n, m, nv) (n, m)."""
        n = len(q)
        if not self.constraints or not n:
            m = sum(map(assembly.size, self.constraints))
            return ConstraintRows(np.zeros((n, m)), np.zeros((n, m, self.model.nv)), np.zeros((n,
                                                                                               m)))
        return self.robot.constraint_rows(q, v)

    def _moved(self, q, v):
        """Return the configurations reached by unit time at v, (n, nq)."""
        if self._flat:
            return q + v
        return np.array([integrate(self.model, *state) for state in zip(q, v)]).reshape(q.shape)


def strength(N):
    """Return by how much some joint moves, for an independent one that moves by 1, (n,)."""
    return np.abs(N).max(axis=(1, 2), initial=0.0)
