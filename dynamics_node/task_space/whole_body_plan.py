"""Solve the whole-body problem by the kernel of its tasks and QPs of the torques.

What does not depend on the state is kept from call to call: the program of the tasks, the places
of their rows and levels, and the rows of the bounds.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.task_space.bounds import (
    Bound,
    BoundRows,
    constant_rows,
    joint_limit_rows,
    torque_limits,
)
from dynamics_node.task_space.qp_hierarchy import Level, hierarchical_qp
from dynamics_node.task_space.task_numbers import (
    endless_places,
    limit_numbers,
    numbers_of,
    part_of,
)
from dynamics_node.task_space.tasks import TURN, Task, one_axis_joints
from dynamics_node.task_space.torque_space import TorqueSpace, number_count, row_count
from dynamics_node.task_space.whole_body import TOUCHED, WholeBody, best_by_one_qp, check
from dynamics_node.task_space.whole_body_setting import Setting

MOST_PLANS = 64  # kept, over all robots


class WholeBodyPlan:
    """The whole-body problem of a setting, kinds of tasks, and bounds: all but their numbers.

    :ivar arguments: (parts, actuated entries of v, limited joints) of the kernel torque_space.
    """

    def __init__(self, setting: Setting, structures: Sequence[tuple], bounds: Sequence[Bound]):
        self.setting = setting
        self._parts = tuple(part_of(structure, setting) for structure in structures)
        self._names = [structure[0] for structure in structures]
        self._levels = [structure[2] for structure in structures]
        self._counts = [row_count(part) for part in self._parts]
        self._rows = _slices(self._counts)
        if not sum(self._counts):
            raise DynamicsError('no task has rows')
        firsts = [0, *accumulate(map(number_count, self._parts))]
        endless = [endless_places(part, setting, first)
                   for part, first in zip(self._parts, firsts)]
        self._endless, self._turning = (np.array(sum(places, []), dtype=int)
                                        for places in zip(*endless))
        self._of_level = {level: self._all_rows(level) for level in set(self._levels)}
        self._lower = sorted({*self._levels, *(int(bound.level) for bound in bounds)} - {0}) or [1]
        self._roots: dict = {}  # weights -> their square roots, row by row (rows, 1)
        limited = [bound for bound in bounds if bound.kind == 'joint_limits']
        if len(limited) > 1:
            raise DynamicsError('two bounds of kind joint_limits')
        self._limit_numbers = [limit_numbers(bound, setting) for bound in limited]
        joints = one_axis_joints(setting.model)
        entries = (tuple(joints.q.tolist()), tuple(joints.v.tolist())) if limited else ()
        self.arguments = self._parts, tuple(setting.actuated.tolist()), entries
        self._stacks = {level: _Stack([bound for bound in bounds if int(bound.level) == level],
                                      setting)
                        for level in dict.fromkeys(int(bound.level) for bound in bounds)}

    def _all_rows(self, level):
        """Return the rows of all tasks of a level: a slice where they are in one piece."""
        own = [rows for rows, its in zip(self._rows, self._levels) if its == level]
        if all(one.stop == next_one.start for one, next_one in zip(own, own[1:])):
            return slice(own[0].start, own[-1].stop)
        return np.concatenate([np.arange(rows.start, rows.stop) for rows in own])

    def numbers(self, tasks: Sequence[Task], q: np.ndarray) -> np.ndarray:
        """Return the numbers of the tasks at a configuration, for the kernel."""
        numbers = np.concatenate([*(numbers_of(task, part, self.setting)
                                    for task, part in zip(tasks, self._parts)),
                                  *self._limit_numbers])
        if self._endless.size:  # continuous joints: the shorter way
            error = numbers[self._endless] - q[self._turning]
            numbers[self._endless] -= TURN * np.round(error / TURN)
        return numbers

    def solved(self, space: TorqueSpace, tasks: Sequence[Task]) -> WholeBody | None:
        """Return the WholeBody; None where there is no solution."""
        A, b, X, x0, limits = space
        nv = self.setting.model.nv
        stacks = {level: stack.rows(X, x0, limits) for level, stack in self._stacks.items()}
        root = self._weights(tasks)
        weighted = (A, b) if root is None else (A * root, b * root[:, 0])
        levels = [self._level(weighted, level, stacks) for level in self._lower]
        must = self._level((A, b), 0, stacks)
        found = best_by_one_qp(levels, must)
        u, status = hierarchical_qp(levels, must, Level(X, -x0)) if found is None else found
        if status != 'solved':
            return None
        x, errors = X @ u + x0, A @ u - b
        torque = np.zeros(nv)
        torque[self.setting.actuated] = u
        active = [name for level, stack in self._stacks.items()
                  for name in stack.touched(stacks[level], u)]
        return WholeBody('solved', x[:nv], torque,
                         {name: x[place] for name, place in self.setting.force_slices.items()},
                         {name: errors[rows] for name, rows in zip(self._names, self._rows)},
                         tuple(dict.fromkeys(active)))

    def _weights(self, tasks):
        """Return the root of each row's weight, (rows, 1), or None if all are 1."""
        weights = tuple([task.weight for task in tasks])
        if weights not in self._roots:
            if len(self._roots) >= MOST_PLANS:
                self._roots.clear()
            each = [math.sqrt(weight) for weight in weights]
            self._roots[weights] = None if set(weights) == {1.0} else np.repeat(
                each, self._counts)[:, None]
        return self._roots[weights]

    def _level(self, rows, level, stacks):
        own, (A, b) = self._of_level.get(level), rows
        A, b = (A[:0], b[:0]) if own is None else (A[own], b[own])
        return Level(A, b, *stacks[level]) if level in stacks else Level(A, b)


class _Stack:
    """The bounds of one level as rows of the torques."""

    def __init__(self, bounds, setting):
        blocks = [_block(bound, setting) for bound in bounds]
        self._names = [name for block in blocks for name in block.names]
        self._lower, self._upper = (np.concatenate(parts) for parts in list(zip(*blocks))[2:])
        places = _slices([len(block.names) for block in blocks])
        # Rows of x become rows of u by X; those of torques are constant.
        of_x = [k for k, bound in enumerate(bounds) if bound.kind != 'torque']
        self._of_x = np.concatenate([np.arange(places[k].start, places[k].stop) for k in of_x]
                                    or [np.zeros(0, dtype=int)])
        n = setting.size
        self._G_x = np.concatenate([np.zeros((0, n)), *(blocks[k].G for k in of_x)])
        k = len(setting.actuated)
        self._G = np.concatenate([np.zeros((len(block.G), k)) if bound.kind != 'torque'
                                  else block.G for bound, block in zip(bounds, blocks)])
        if len(self._of_x) and self._of_x[-1] - self._of_x[0] + 1 == len(self._of_x):
            self._of_x = slice(int(self._of_x[0]), int(self._of_x[-1]) + 1)
        self._limited = [place for place, bound in zip(places, bounds)
                         if bound.kind == 'joint_limits']

    def rows(self, X, x0, limits):
        """Return (G, lower, upper) with lower <= G u <= upper."""
        G, lower, upper = self._G, self._lower, self._upper
        if not len(self._G_x):
            return G, lower, upper
        G, lower, upper = G.copy(), lower.copy(), upper.copy()
        for place in self._limited:
            lower[place], upper[place] = limits
        G[self._of_x] = self._G_x @ X
        at_zero = self._G_x @ x0
        lower[self._of_x] -= at_zero
        upper[self._of_x] -= at_zero
        return G, lower, upper

    def touched(self, rows, u):
        """Return the names of the rows that are active at u."""
        G, lower, upper = rows
        where = G @ u
        at = np.minimum(where - lower, upper - where) <= TOUCHED * (1.0 + np.abs(where))
        return [self._names[k] for k in at.nonzero()[0]] if at.any() else ()


def _block(bound, setting):
    """Return the BoundRows of a bound: rows of u if of torques, else of x; no limits yet of q."""
    if bound.kind == 'torque':
        names, limit = torque_limits(bound, setting)
        return BoundRows(names, np.eye(len(limit)), -limit, limit)
    if bound.kind == 'joint_limits':
        names, G, _ = joint_limit_rows(bound, setting)
        return BoundRows(names, G, np.zeros(len(G)), np.zeros(len(G)))
    return constant_rows(bound, setting)


def _slices(counts):
    ends = [0, *accumulate(counts)]
    return [slice(*ends[k:k + 2]) for k in range(len(counts))]


@lru_cache(maxsize=MOST_PLANS)
def plan_of(setting: Setting, structures: tuple[tuple, ...],
            bounds: tuple[Bound, ...]) -> WholeBodyPlan | None:
    """Return the WholeBodyPlan, one object for equal arguments.

    None where the kernel has nothing to compute, or an argument is wrong: whole_body.py tells why.

    :param structures: Task.structure of each task.
    """
    if not structures or not len(setting.actuated):
        return None
    try:
        check((), bounds)
        if len({name for name, *_ in structures}) < len(structures):
            return None
        return WholeBodyPlan(setting, structures, bounds)
    except DynamicsError:
        return None
