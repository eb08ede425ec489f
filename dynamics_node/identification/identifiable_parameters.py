"""Find the base parameters: the combinations of parameters that joint torques depend on.

Columns of the regressor that are linearly dependent in every motion belong to parameters that no
measurement can separate. With Y_b the independent columns, Y = Y_b G, so that tau = Y values =
Y_b (G values) for every motion; G values are the base parameters.

The torques of a robot with loops are those of its independent joints, and its states satisfy the
loop constraints: see loop_equations.py.

A QR factorisation of the regressors of random states reveals the rank. Columns are visited in the
order of the vector and kept if they are not in the span of those before (Gautier 1991), so that
a combination is named after the body nearest to the base, as in Khalil and Dombre 2002.
"""

from typing import NamedTuple

import numpy as np

from dynamics_node import linalg
from dynamics_node.algorithms.inertial_parameters import TEN
from dynamics_node.constrained.loop_motion import LoopMotion
from dynamics_node.identification.loop_equations import loop_motion_of, row_regressor
from dynamics_node.identification.parameters import ParameterLayout
from dynamics_node.identification.r_factor import r_factor
from dynamics_node.robot.robot import Robot

# A column is dependent if less than this is left of it, orthogonal to the columns before. For 13
# fixed robots of example-robot-data dependent columns leave 1e-9 at most, others 3e-6 at least. In
# between are columns that are independent only because a URDF gives right angles with six digits:
# they are kept, so that Y = Y_b G is exact, and get large standard deviations.
DEPENDENT = 1e-8
ZERO_COLUMN = 1e-10    # of the largest column: a smaller column is rounding
ZERO_COEFFICIENT = 1e-7   # a smaller coefficient of a combination is rounding
INERTIAL_TEXT = dict(zip(TEN, ('mass', 'first moment x', 'first moment y', 'first moment z',
                               'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')))
FRICTION_TEXT = {'viscous': 'viscous friction', 'coulomb': 'coulomb friction',
                 'stribeck': 'stribeck friction', 'load': 'friction per load',
                 'coulomb_asymmetry': 'asymmetry of coulomb friction',
                 'viscous_asymmetry': 'asymmetry of viscous friction'}
ALONE, COMBINED, NEVER = 'alone', 'only in combination', 'not at all'


class BaseParameters(NamedTuple):
    """The combinations of parameters that torques depend on."""

    layout: ParameterLayout
    kept: np.ndarray        # (b,) indices of the columns of Y that are Y_b
    grouping: np.ndarray    # (b, size) G: base values = G values
    null: np.ndarray        # (size, size - b) orthonormal directions that leave torques unchanged
    depends: np.ndarray     # (rows, b) whether the torque of a row depends on a column; a row is a
    #                         degree of freedom, with loops an independent joint
    loops: LoopMotion | None = None   # None without loops
    measured: np.ndarray | None = None   # indices of the joints with an equation; None: all

    @property
    def size(self) -> int:
        """Number b of base parameters."""
        return len(self.kept)

    @property
    def rows(self) -> slice | np.ndarray:
        """Index of the entries of v, a and tau that have an equation."""
        if self.loops is not None:
            return self.loops.independent
        return slice(None) if self.measured is None else self.measured

    def values(self, full: np.ndarray) -> np.ndarray:
        """Return the base parameters (b,) of a vector of all parameters (size,)."""
        return self.grouping @ full

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kept parameters, with a + where others are added to them."""
        names = self.layout.names
        return tuple(names[k] + ('' if _is_alone(row) else ' +')
                     for k, row in zip(self.kept, self.grouping))

    @property
    def kinds(self) -> tuple[str, ...]:
        """For every parameter: 'alone', 'only in combination' or 'not at all'."""
        spread = np.abs(self.null).max(axis=1, initial=0.0)
        share = np.abs(self.grouping).max(axis=0, initial=0.0)
        return tuple(NEVER if not s else ALONE if n < ZERO_COEFFICIENT else COMBINED
                     for n, s in zip(spread, share))

    def meanings(self) -> tuple[str, ...]:
        """Return a text for each base parameter: its sum of parameters."""
        texts = [parameter_text(self.layout, k) for k in range(self.layout.size)]
        return tuple(_sum_text(texts, k, row) for k, row in zip(self.kept, self.grouping))

    def __str__(self) -> str:
        lines = [f'{self.size} base parameters of {self.layout.size}:']
        lines += [f'  {k + 1:3d}  {text}' for k, text in enumerate(self.meanings())]
        for kind in (ALONE, NEVER):
            names = [n for n, own in zip(self.layout.names, self.kinds) if own == kind]
            lines.append(f'identifiable {kind}: {", ".join(names) or "none"}')
        return '\n'.join(lines)


def base_parameters(robot: Robot, layout: ParameterLayout,
                    rng: np.random.Generator | int | None = None,
                    loops: LoopMotion | None = None,
                    measured: np.ndarray | None = None) -> BaseParameters:
    """Return the BaseParameters of a robot, from random states within its limits.

    :param rng: a numpy Generator, or a seed.
    :param loops: LoopMotion of a robot with loops; None starts at its neutral configuration.
    :param measured: indices of the joints whose torques are measured; None: all. Not with loops.
    """
    generator = np.random.default_rng(0 if rng is None else rng)
    loops = loop_motion_of(robot) if loops is None else loops
    Y = random_regressors(robot, layout, generator, loops)
    Y = Y if loops is not None or measured is None else Y[:, measured]
    Y[..., layout.known] = 0.0
    R = r_factor(Y.reshape(-1, layout.size))
    scale = np.linalg.norm(R, axis=0)
    R = np.where(scale > ZERO_COLUMN * scale.max(initial=0.0), R, 0.0)
    R = R / np.where(scale > 0, scale, 1.0)
    kept, Q = _independent(R)
    grouping = _grouping(R, kept, Q) * scale / scale[kept, None]
    largest = np.abs(Y[..., kept]).max(axis=0, initial=0.0)
    depends = largest > ZERO_COLUMN * largest.max(axis=0, initial=0.0)
    return BaseParameters(layout, kept, grouping, _null_space(grouping), depends, loops,
                          None if loops is not None else measured)


def random_regressors(robot: Robot, layout: ParameterLayout, rng: np.random.Generator,
                      loops: LoopMotion | None = None) -> np.ndarray:
    """Return the regressors of enough random states, (N, rows, size)."""
    if loops is not None:
        count = 2 * layout.size // len(loops.independent) + 20
        return row_regressor(robot, layout, loops, *loops.random_states(rng, count)[:3])
    states = 2 * layout.size // robot.nv + 20
    q = np.array([robot.random_configuration(rng) for _ in range(states)])
    v, a = rng.normal(size=(2, states, robot.nv))
    return row_regressor(robot, layout, None, q, v, a)


def _independent(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices of the columns kept, their orthonormal basis); columns have norm 1 or 0."""
    Q = np.empty((len(R), 0))
    kept = []
    for k in range(R.shape[1]):
        left = R[:, k]
        for _ in range(2):  # the second pass removes the rounding errors of the first
            left = left - Q @ (Q.T @ left)
        if np.linalg.norm(left) > DEPENDENT:
            kept.append(k)
            Q = np.column_stack([Q, left / np.linalg.norm(left)])
    return np.array(kept, dtype=int), Q


def _grouping(R: np.ndarray, kept: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return G with R = R[:, kept] G, with exact zeros and ones."""
    G = linalg.solve_triangular(Q.T @ R[:, kept], Q.T @ R)
    G[np.abs(G) < ZERO_COEFFICIENT] = 0.0
    G[:, kept] = np.eye(len(kept))
    return G


def _null_space(G: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of all x with G x = 0."""
    rows = np.linalg.norm(G, axis=1, keepdims=True)
    _, _, Vt = np.linalg.svd(G / np.where(rows > 0.0, rows, 1.0))
    return Vt[len(G):].T


# Text ----------------------------------------------------------------------------------------

def parameter_text(layout: ParameterLayout, k: int) -> str:
    """Return the meaning of parameter k: 'mass of link_5', 'viscous friction of joint_2'."""
    owner, _, name = layout.names[k].rpartition('.')
    if k < layout.inertial:
        return f'{INERTIAL_TEXT[name]} of {owner}'
    if k >= layout.of_motors.start:
        owner, name = f'motor {owner}', name.removeprefix('motor_')
    return f'{FRICTION_TEXT.get(name, name)} of {owner}'


def _is_alone(row: np.ndarray) -> bool:
    return np.count_nonzero(row) == 1


def _sum_text(texts: list[str], k: int, row: np.ndarray) -> str:
    others = [j for j in np.flatnonzero(row) if j != k]
    parts = [f'{"-" if row[j] < 0 else "+"} {_factor(abs(row[j]))}{texts[j]}' for j in others]
    return ' '.join([texts[k], *parts]) if parts else f'{texts[k]}, alone'


def _factor(x: float) -> str:
    return '' if abs(x - 1.0) < ZERO_COEFFICIENT else f'{x:.4g} x '
