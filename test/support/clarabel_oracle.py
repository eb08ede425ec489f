"""Find the nearest point of a ConsistentSet by Clarabel, an independent conic solver."""

import numpy as np
import pytest
from scipy import sparse

from dynamics_node.identification.pseudo_inertia import pseudo_inertia

# Clarabel stacks the upper triangle by columns, entries off the diagonal times sqrt(2).
COLUMNS = [(i, j) for j in range(4) for i in range(j + 1)]


def nearest_by_clarabel(within, target):
    """Return (w, |w - target|^2): min |w - target|^2 / 2, b - A w in the cones."""
    clarabel = pytest.importorskip('clarabel', reason='oracle of requirements/test.txt')
    by = within.by_body.swapaxes(-1, -2)      # (n, k, 10)
    A = np.vstack([-_triangle(pseudo_inertia(body)).T for body in by] + [-within.by_joint])
    b = np.concatenate([*map(_triangle, pseudo_inertia(within.bodies)), within.joints])
    cones = [clarabel.PSDTriangleConeT(4)] * len(by)
    cones += [clarabel.NonnegativeConeT(len(within.joints))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    k = len(target)
    found = clarabel.DefaultSolver(sparse.eye(k, format='csc'), -target, sparse.csc_matrix(A), b,
                                   cones, settings).solve()
    assert str(found.status) == 'Solved'
    w = np.array(found.x)
    return w, np.sum((w - target) ** 2)


def _triangle(P):
    return np.stack([P[..., i, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in COLUMNS], -1)
