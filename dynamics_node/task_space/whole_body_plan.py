"""Solve the whole-body problem by the kernel of its tasks and QPs of the torques.

What does not depend on the state is kept from call to call: the program of the tasks, the places
of their rows and levels, and the rows of the bounds.
"""

from collections.abc import Mapping, Sequence
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
from dynamics_node.task_space.fast_terms import affine, normal_equations, rows_of_torques
from dynamics_node.task_space.qp import gaps_of
from dynamics_node.task_space.qp_hierarchy import Level, hierarchical_qp
from dynamics_node.task_space.task_numbers import (
    endless_places,
    limit_numbers,
    numbers_of,
    part_of,
)
from dynamics_node.task_space.tasks import TURN, Task, one_axis_joints
from dynamics_node.task_space.torque_space import TorqueSpace, number_count, row_count
from dynamics_node.task_space.whole_body import TOUCHED, WholeBody, check, definite_minimum
from dynamics_node.task_space.whole_body_setting import Setting

MOST_PLANS = 64  # kept, over all robots
_NONE = slice(0, 0)


class WholeBodyPlan:
    """The whole-body problem of a setting, kinds of tasks, and bounds: all but their numbers.

    :ivar arguments: (parts, actuated entries of v, limited joints) of the kernel torque_space.
    """

    def __init__(self, setting: Setting, structures: Sequence[tuple], bounds: Sequence[Bound]
                 ) -> None:
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
        self._roots: dict = {}  # weights of the tasks -> those of the rows, and their roots
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
        # A single level with tasks alone may be one QP.
        self._is_single = (len(self._lower) == 1 and self._lower[0] in self._of_level
                           and self._lower[0] not in self._stacks)
        self._actuated = _as_slice(setting.actuated)
        n = setting.size
        self._force_places = tuple(setting.force_slices.items())
        self._error_places = tuple((name, slice(n + rows.start, n + rows.stop))
                                   for name, rows in zip(self._names, self._rows))

    def _all_rows(self, level: int) -> slice | np.ndarray:
        """Return the rows of all tasks of a level: a slice where they are in one piece."""
        own = [rows for rows, each in zip(self._rows, self._levels) if each == level]
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
        rows, limits = space
        n, nv = self.setting.size, self.setting.model.nv
        of_x, of_tasks = rows[:n], rows[n:]
        stacks = {level: stack.rows(of_x, limits) for level, stack in self._stacks.items()}
        weights, root = self._weights(tasks)
        strict = self._level(of_tasks, 0, stacks)
        found = None
        if self._is_single:
            P, q = normal_equations(of_tasks, weights)
            found = definite_minimum(P, q, strict)
        if found is not None:
            u, status = found.x, found.status
        else:
            weighted = of_tasks if root is None else of_tasks * root
            levels = [self._level(weighted, level, stacks) for level in self._lower]
            u, status = hierarchical_qp(levels, strict, Level(of_x[:, :-1], -of_x[:, -1]))
        if status != 'solved':
            return None
        values = affine(rows, u)
        torque = np.zeros(nv)
        torque[self._actuated] = u
        if found is not None:
            active = self._stacks[0].touched(found.gaps) if 0 in self._stacks else ()
        else:
            active = [name for level, (G, lower, upper) in stacks.items()
                      for name in self._stacks[level].touched(gaps_of(G, lower, upper, u))]
        return WholeBody('solved', values[:nv], torque,
                         {name: values[place] for name, place in self._force_places},
                         {name: values[place] for name, place in self._error_places},
                         tuple(dict.fromkeys(active)))

    def _weights(self, tasks: Sequence[Task]) -> tuple[np.ndarray, np.ndarray | None]:
        """Return (weights of the rows of the lower levels (rows,), their roots (rows, 1)).

        The roots are None if all are 1.
        """
        weights = tuple([task.weight for task in tasks])
        if weights not in self._roots:
            if len(self._roots) >= MOST_PLANS:
                self._roots.clear()
            each = np.repeat(weights, self._counts)
            self._roots[weights] = (each * np.repeat(self._levels, self._counts).astype(bool),
                                    None if set(weights) == {1.0} else np.sqrt(each)[:, None])
        return self._roots[weights]

    def _level(self, rows: np.ndarray, level: int, stacks: Mapping[int, tuple[np.ndarray, ...]]
               ) -> Level:
        own = rows[self._of_level.get(level, _NONE)]
        A, b = own[:, :-1], -own[:, -1]
        return Level(A, b, *stacks[level]) if level in stacks else Level(A, b)


class _Stack:
    """The bounds of one level as rows of the torques."""

    def __init__(self, bounds: Sequence[Bound], setting: Setting) -> None:
        order = sorted(range(len(bounds)), key=lambda k: bounds[k].kind != 'torque')
        bounds = [bounds[k] for k in order]   # rows of u, then of x
        blocks = [_block(bound, setting) for bound in bounds]
        self._given = np.repeat(order, [len(block.names) for block in blocks])   # their bounds
        self._names = [name for block in blocks for name in block.names]
        self._limits = np.array([np.concatenate(parts) for parts in list(zip(*blocks))[2:]])
        places = _slices([len(block.names) for block in blocks])
        self._limited = [place for place, bound in zip(places, bounds)
                         if bound.kind == 'joint_limits']
        of_u = sum(bound.kind == 'torque' for bound in bounds)
        self._G, G_x = (np.concatenate([np.zeros((0, size)), *(block.G for block in some)])
                        for size, some in ((len(setting.actuated), blocks[:of_u]),
                                           (setting.size, blocks[of_u:])))
        # of x, only what the rows read: the forces, for friction alone
        read = G_x.any(axis=0).nonzero()[0]
        self._read = slice(int(read[0]), int(read[-1]) + 1) if len(read) else _NONE
        self._G_x = np.ascontiguousarray(G_x[:, self._read])

    def rows(self, of_x: np.ndarray, limits: np.ndarray
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (G, lower, upper) with lower <= G u <= upper; of_x: (X, x0) of x = X u + x0."""
        both = self._limits
        if self._limited:
            both = both.copy()
            for place in self._limited:
                both[:, place] = limits
        return rows_of_torques(self._G, both, self._G_x, of_x[self._read])

    def touched(self, gaps: np.ndarray) -> Sequence[str]:
        """Return the names of the rows whose gaps, as in QpSolution, are about zero.

        In the order of the bounds as they were given.
        """
        at = (gaps <= TOUCHED).nonzero()[0]
        if not at.size:
            return ()
        in_order = at[self._given[at].argsort(kind='stable')]
        return [self._names[k] for k in in_order.tolist()]


def _block(bound: Bound, setting: Setting) -> BoundRows:
    """Return the BoundRows of a bound: rows of u if of torques, else of x; no limits yet of q."""
    if bound.kind == 'torque':
        names, limit = torque_limits(bound, setting)
        return BoundRows(names, np.eye(len(limit)), -limit, limit)
    if bound.kind == 'joint_limits':
        names, G, _ = joint_limit_rows(bound, setting)
        return BoundRows(names, G, np.zeros(len(G)), np.zeros(len(G)))
    return constant_rows(bound, setting)


def _as_slice(places: np.ndarray) -> slice | np.ndarray:
    """Return an array of indices as a slice, if it is one: NumPy is faster with that."""
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _slices(counts: Sequence[int]) -> list[slice]:
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
