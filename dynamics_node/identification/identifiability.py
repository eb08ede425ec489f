"""What can torques tell of the parameters at all: alone, in combination, or never?

Columns of the regressor that depend on others, whatever the motion, belong to parameters that no
measurement can tell apart. The independent ones carry the base parameters: with Y_b the columns
that are kept, Y = Y_b G, so tau = Y values = Y_b (G values) for every motion.

In a robot with loops the torques are those of its independent joints, and states keep the loops:
see loop_equations.py.

A QR factorisation of the regressors of random states reveals the rank. Columns are taken in the
order of the vector and kept where they are not in the span of those before (Gautier 1991), so that
a combination is named after the body nearest to the base, as in Khalil and Dombre 2002.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from dynamics_node.algorithms.inertial_parameters import TEN
from dynamics_node.identification.loop_equations import loop_motion_of, row_regressor
from dynamics_node.identification.loop_motion import LoopMotion
from dynamics_node.identification.parameters import ParameterLayout

# A column counts as dependent if less of it is left, once those before are taken off. Of 13 fixed
# robots of example-robot-data dependent columns leave 1e-9 at most, others 3e-6 at least. Between
# lie those that are independent only since a URDF writes right angles with six digits: they are
# kept, so that Y = Y_b G is exact, and their standard deviations say that nothing tells them.
DEPENDENT = 1e-8
NOTHING = 1e-10        # of the largest column: a column this small is rounding
NO_SHARE = 1e-7        # a coefficient of a combination this small is rounding
WORDS = dict(zip(TEN, ('mass', 'first moment x', 'first moment y', 'first moment z',
                       'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')))
ALONE, COMBINED, NEVER = 'alone', 'only in combination', 'not at all'


class BaseParameters(NamedTuple):
    """The combinations of parameters that torques depend on."""

    layout: ParameterLayout
    kept: np.ndarray        # (b,) which columns of Y are Y_b
    grouping: np.ndarray    # (b, size) G: base values = G values
    null: np.ndarray        # (size, size - b) orthonormal directions that leave torques unchanged
    felt: np.ndarray        # (rows, b) whether the torque of a row depends on a column; a row is a
    #                         degree of freedom, with loops an independent one
    loops: LoopMotion | None = None   # of a robot that has any

    @property
    def size(self):
        return len(self.kept)

    @property
    def rows(self):
        """Which entries of v, a and tau have an equation: an index."""
        return slice(None) if self.loops is None else self.loops.independent

    def values(self, full):
        """Return the base parameters of a vector of all parameters, (b,)."""
        return self.grouping @ full

    def embed(self, base):
        """Return one vector of all parameters with these base parameters, zero where not kept.

        It gives the same torques as the robot, but is no robot's that could be built.
        """
        full = np.zeros(self.layout.size)
        full[self.kept] = base
        return full

    @property
    def names(self):
        """Names of the kept parameters, with a + where others are added to them."""
        names = self.layout.names
        return tuple(names[k] + ('' if _is_alone(row) else ' +')
                     for k, row in zip(self.kept, self.grouping))

    @property
    def kinds(self):
        """For every parameter: 'alone', 'only in combination' or 'not at all'."""
        spread = np.abs(self.null).max(axis=1, initial=0.0)
        share = np.abs(self.grouping).max(axis=0, initial=0.0)
        return tuple(NEVER if not s else ALONE if n < NO_SHARE else COMBINED
                     for n, s in zip(spread, share))

    def meanings(self):
        """Return each base parameter in words, a tuple of texts."""
        said = [in_words(self.layout, k) for k in range(self.layout.size)]
        return tuple(_sum_in_words(said, k, row) for k, row in zip(self.kept, self.grouping))

    def __str__(self):
        lines = [f'{self.size} base parameters of {self.layout.size}:']
        lines += [f'  {k + 1:3d}  {text}' for k, text in enumerate(self.meanings())]
        for kind in (ALONE, NEVER):
            names = [n for n, its in zip(self.layout.names, self.kinds) if its == kind]
            lines.append(f'identifiable {kind}: {", ".join(names) or "none"}')
        return '\n'.join(lines)


def base_parameters(robot, layout, rng=None, loops=None):
    """Return the BaseParameters of a robot, from random motions within its limits.

    :param rng: a numpy Generator, or a seed.
    :param loops: the LoopMotion of a robot with loops; None begins at its neutral configuration.
    """
    rng = np.random.default_rng(0 if rng is None else rng)
    loops = loop_motion_of(robot) if loops is None else loops
    Y = random_regressors(robot, layout, rng, loops)
    Y[..., layout.known] = 0.0
    R = np.linalg.qr(Y.reshape(-1, layout.size), mode='r')
    scale = np.linalg.norm(R, axis=0)
    R = np.where(scale > NOTHING * scale.max(initial=0.0), R, 0.0) / np.where(scale > 0, scale, 1.0)
    kept, Q = _independent(R)
    grouping = _grouping(R, kept, Q) * scale / scale[kept, None]
    largest = np.abs(Y[..., kept]).max(axis=0, initial=0.0)
    felt = largest > NOTHING * largest.max(axis=0, initial=0.0)
    return BaseParameters(layout, kept, grouping, _null_space(grouping), felt, loops)


def random_regressors(robot, layout, rng, loops=None):
    """Return the regressors of enough random states, (N, rows, size)."""
    if loops is not None:
        count = 2 * layout.size // len(loops.independent) + 20
        return row_regressor(robot, layout, loops, *loops.random_states(rng, count)[:3])
    states = 2 * layout.size // robot.nv + 20
    q = np.array([robot.random_configuration(rng) for _ in range(states)])
    v, a = rng.normal(size=(2, states, robot.nv))
    return row_regressor(robot, layout, None, q, v, a)


def _independent(R):
    """Return (indices of the columns kept, their orthonormal basis); columns have norm 1 or 0."""
    Q = np.empty((len(R), 0))
    kept = []
    for k in range(R.shape[1]):
        left = R[:, k]
        for _ in range(2):  # once more, for what rounding left of the first time
            left = left - Q @ (Q.T @ left)
        if np.linalg.norm(left) > DEPENDENT:
            kept.append(k)
            Q = np.column_stack([Q, left / np.linalg.norm(left)])
    return np.array(kept, dtype=int), Q


def _grouping(R, kept, Q):
    """Return G with R = R[:, kept] G, exactly 0 and 1 where it must be."""
    G = solve_triangular(Q.T @ R[:, kept], Q.T @ R)
    G[np.abs(G) < NO_SHARE] = 0.0
    G[:, kept] = np.eye(len(kept))
    return G


def _null_space(G):
    """Return an orthonormal basis of all x with G x = 0."""
    rows = np.linalg.norm(G, axis=1, keepdims=True)
    _, _, Vt = np.linalg.svd(G / np.where(rows > 0.0, rows, 1.0))
    return Vt[len(G):].T


# Words ----------------------------------------------------------------------------------------

def in_words(layout, k):
    """Return what parameter k is: 'mass of link_5', 'viscous friction of joint_2'."""
    place, _, name = layout.names[k].rpartition('.')
    if k < layout.inertial:
        return f'{WORDS[name]} of {place}'
    return f'{name}{" friction" if name in ("viscous", "coulomb", "stribeck") else ""} of {place}'


def _is_alone(row):
    return np.count_nonzero(row) == 1


def _sum_in_words(said, k, row):
    others = [j for j in np.flatnonzero(row) if j != k]
    parts = [f'{"-" if row[j] < 0 else "+"} {_factor(abs(row[j]))}{said[j]}' for j in others]
    return ' '.join([said[k], *parts]) if parts else f'{said[k]}, alone'


def _factor(x):
    return '' if abs(x - 1.0) < NO_SHARE else f'{x:.4g} x '
