"""Make random stacks of tasks, of any rank, empty ones included."""

import numpy as np

from dynamics_node.task_space.qp_hierarchy import Level


def random_stack(seed):
    """Return pairs (A, b), one to four, of three to sixteen unknowns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 17))
    tasks = []
    for _ in range(rng.integers(1, 5)):
        m = int(rng.integers(1 if not tasks else 0, 7))
        rank = int(rng.integers(0, m + 1))
        A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
        if tasks and rng.random() < 0.3 and len(tasks[0][0]) >= m:  # partly said before
            A[:m // 2] = tasks[0][0][:m // 2]
        tasks.append((A, rng.normal(size=m)))
    return tasks


def random_levels(seed):
    """Return (must, levels) with inequalities that can all be kept, and some that cannot."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    levels = []
    for _ in range(3):
        m, k = int(rng.integers(1, 5)), int(rng.integers(0, 4))
        rank = int(rng.integers(1, m + 1))
        A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
        lower = rng.normal(size=k)
        levels.append(Level(A, 3.0 * rng.normal(size=m), rng.normal(size=(k, n)), lower,
                            lower + rng.uniform(0.0, 1.0, size=k)))
    one = np.ones(8)
    return Level(rng.normal(size=(1, n)), np.zeros(1), rng.normal(size=(8, n)), -one, one), levels


def missed(level, x):
    """Return by how much each row of a level is missed."""
    where = level.C @ x
    return np.concatenate([level.A @ x - level.b, np.maximum(where - level.upper, 0.0)
                           + np.maximum(level.lower - where, 0.0)])
