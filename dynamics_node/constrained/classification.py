"""Classify mechanisms by the rank of their constraints: under-, exactly or over-constrained.

Classes and failure conditions of Pan's lecture on the equations of dynamics (Shanghai Jiao Tong
University). There C' has one row per constraint, joints and actuators included, and six columns per
body: n rows, m columns. The classes are the same over joint coordinates, where the joints of the
tree are satisfied by construction: then m is nv, and the rows are those of the loops and of the
actuated joints.
"""

from typing import NamedTuple

OVER, UNDER, EXACTLY = 'over-constrained', 'under-constrained', 'exactly constrained'

FAILURES = {
    0: '',
    1: "failure condition 1, rank(C') < rank([C' c_a]): the constraints contradict each other, "
       'the mechanism is stuck',
    2: "failure condition 2, rank(C') = rank([C' c_a]) but the whole system has no solution: a "
       'force acts on a motion without inertia',
}


class Classification(NamedTuple):
    """Numbers of constraint rows and coordinates, and the rank of the rows."""

    rows: int         # n, of all constraints
    rank: int         # of C
    coordinates: int  # m

    @property
    def kind(self) -> str:
        """Class of the mechanism. Over: rank = m < n; exactly: rank = m = n; under: rank < m.

        A mechanism that can move is under-constrained, even if some rows are redundant.
        """
        if self.rank < self.coordinates:
            return UNDER
        return OVER if self.rows > self.rank else EXACTLY

    @property
    def free(self) -> int:
        """Number of degrees of freedom left."""
        return self.coordinates - self.rank

    @property
    def redundant(self) -> int:
        """Number of rows that depend on others."""
        return self.rows - self.rank

    @property
    def grounded(self) -> bool:
        """Whether fewer than six motions are free.

        Pan calls a system with rank(C) <= m - 6, like a legged robot, groundless.
        """
        return self.free < 6
