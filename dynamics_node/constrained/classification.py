"""Do constraints fix a mechanism, leave it free, or fix it twice? Seed 003's classes and failures.

C' has one row per constraint, joints and motors among them, and six columns per body: n rows, m
columns. Seed 003 writes C as m x n. The classes are the same over joint coordinates, where the
tree's joints, which are independent of each other, are kept by construction: then m is nv, and the
rows are those of the loops and of the motors that hold their joints.
"""

from typing import NamedTuple

OVER, UNDER, EXACTLY = 'over-constrained', 'under-constrained', 'exactly constrained'

FAILURES = {
    0: '',
    1: "failure condition 1, rank(C') < rank([C' c_a]): the constraints contradict each other, "
       'the mechanism is stuck',
    2: "failure condition 2, rank(C') = rank([C' c_a]) but the whole system has no solution: a "
       'force acts on a motion that meets no inertia',
}


class Classification(NamedTuple):
    """How many rows of which rank hold how many coordinates."""

    rows: int         # n, of all constraints
    rank: int         # of C
    coordinates: int  # m

    @property
    def kind(self):
        """Over: rank = m < n; exactly: rank = m = n; under: rank < m.

        A mechanism that is free to move is under-constrained, though some rows may be redundant.
        """
        if self.rank < self.coordinates:
            return UNDER
        return OVER if self.rows > self.rank else EXACTLY

    @property
    def free(self):
        """In how many ways it can still move."""
        return self.coordinates - self.rank

    @property
    def redundant(self):
        """How many rows say nothing new."""
        return self.rows - self.rank

    @property
    def grounded(self):
        """Whether fewer than six motions are free; with every motor held, whether it stands.

        Seed 003 calls a system groundless, like a legged robot, where rank(C) <= m - 6.
        """
        return self.free < 6
