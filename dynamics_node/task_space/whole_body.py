r"""Solve the whole-body problem: accelerations, contact forces and torques of tasks within bounds.

M a + h = S' tau + A' f gives the torques of the actuated joints, tau = S (M a + h - A' f): they are
linear in the unknowns x = (a, f), not unknowns themselves. With torques as unknowns the QP of a
quadruped takes 52 us instead of 41. The equations of motion that remain are the unactuated rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.constrained.stabilisation import Stabilisation, stabilised_gamma
from dynamics_node.errors import DynamicsError, shown
from dynamics_node.task_space.bounds import Bound, BoundRows, bound_rows
from dynamics_node.task_space.conflicts import RowGroup, conflicting
from dynamics_node.task_space.fast_terms import definiteness
from dynamics_node.task_space.qp import QpSolution, Status, gaps_of, solve_qp
from dynamics_node.task_space.qp_hierarchy import Level, hierarchical_qp
from dynamics_node.task_space.robot_methods import RobotWithDynamics
from dynamics_node.task_space.tasks import Task, TaskEquations, task_rows
from dynamics_node.task_space.whole_body_setting import Setting

# P = A' A of the tasks counts as definite if each pivot exceeds this share of its diagonal entry.
# The rule does not depend on units or sizes of links: a light wrist beside a heavy hip is accepted.
DEFINITE = 1e-9
TOUCHED = 1e-7  # distance at which a bound is active, relative to 1 + |value|


class WholeBody(NamedTuple):
    """The solution of the whole-body problem; the arrays are None unless 'solved'."""

    status: Status                   # infeasible: see conflict
    acceleration: np.ndarray | None  # (nv,)
    torque: np.ndarray | None        # (nv,) zero where not actuated [N m or N]
    forces: dict[str, np.ndarray]    # constraint -> (m,) on the robot, row by row [N, N m]
    errors: dict[str, np.ndarray]    # task -> (rows,) residual A x - b
    active: tuple[str, ...]          # names of the active bounds
    conflict: tuple[str, ...] = ()   # names of tasks, contacts and bounds that contradict


class WholeBodyProblem(NamedTuple):
    """A robot in a state with its constraints: the input of tasks and bounds."""

    robot: RobotWithDynamics
    q: np.ndarray               # (nq,)
    v: np.ndarray               # (nv,)
    setting: Setting
    torque: np.ndarray          # (k, nv + m) actuated torques = torque x + torque_at_rest
    torque_at_rest: np.ndarray  # (k,)
    laws: Level                 # the unactuated equations of motion, then A a + gamma = 0


def whole_body(robot: RobotWithDynamics, q: np.ndarray, v: np.ndarray, tasks: Sequence[Task],
               setting: Setting, bounds: Sequence[Bound],
               wrenches: Mapping[str, ArrayLike] | None = None,
               stabilisation: Stabilisation = None) -> WholeBody:
    r"""Return the WholeBody of a state.

    Level 0 holds exactly: the equations of motion, the constraints, and all tasks and bounds of
    level 0. Tasks of one level are weighted, those of the next do not disturb them. A single level
    that determines x is one QP; else there is one for each level, and one for the shortest x
    (qp_hierarchy.py).

    :param q, v: configuration (nq,) and velocity (nv,), checked.
    :param tasks, bounds: Task and Bound records, after `check`; setting: the Setting.
    :param wrenches, stabilisation: as for Robot.constrained_forward_dynamics.

    Hutter 2017, section 3.10.4. F_c there acts on the environment, f here on the robot, hence -A' f
    in eq. 3.109.
    """
    problem = _problem(robot, q, v, setting, wrenches, stabilisation)
    rows = [task_rows(task, problem) for task in tasks]
    blocks = [bound_rows(bound, problem) for bound in bounds]
    stacks = _stacks(bounds, blocks)
    strict = _strict_level(problem, tasks, rows, stacks)
    x, status = _best(_levels(setting.size, tasks, rows, stacks), strict)
    if status != 'solved':
        return WholeBody(status, None, None, {}, {}, (),
                         _conflict(problem, tasks, rows, bounds, blocks))
    torque = np.zeros(len(v))
    torque[setting.actuated] = problem.torque @ x + problem.torque_at_rest
    return WholeBody('solved', x[:len(v)], torque,
                     {name: x[place] for name, place in setting.force_slices.items()},
                     {task.name: A @ x - b for task, (A, b) in zip(tasks, rows)},
                     tuple(dict.fromkeys(name for stack in stacks.values()
                                         for name in _touched(stack, x))))


def check(tasks: Sequence[Task], bounds: Sequence[Bound]) -> None:
    """Raise a DynamicsError for entries that are not a Task or a Bound, and for duplicate names."""
    names = set()
    for task in tasks:
        if not isinstance(task, Task):
            raise DynamicsError(f'tasks: {shown(task)} is not a Task')
        if task.name in names:
            raise DynamicsError(f"two tasks are called '{task.name}'; each needs a name of its own")
        names.add(task.name)
    for bound in bounds:
        if not isinstance(bound, Bound):
            raise DynamicsError(f'bounds: {shown(bound)} is not a Bound')


def _problem(robot: RobotWithDynamics, q: np.ndarray, v: np.ndarray, setting: Setting,
             wrenches: Mapping[str, ArrayLike] | None,
             stabilisation: Stabilisation) -> WholeBodyProblem:
    n = len(v)
    M = robot.mass_matrix(q)
    external = () if wrenches is None else (wrenches,)  # omitted, the kernel is called directly
    h = robot.inverse_dynamics(q, v, np.zeros(n), *external)
    driven, free = setting.actuated, setting.unactuated
    if not setting.constraints:
        return WholeBodyProblem(robot, q, v, setting, M[driven], h[driven], Level(M[free],
                                                                                  -h[free]))
    found = robot.constraint_rows(q, v, setting.constraints)
    motion = np.concatenate([M, -found.A.T], axis=1)
    laws = np.zeros((len(free) + len(found.A), setting.size))
    laws[:len(free)] = motion[free]
    laws[len(free):, :n] = found.A
    strict = Level(laws, -np.concatenate([h[free], stabilised_gamma(found, v, stabilisation)]))
    return WholeBodyProblem(robot, q, v, setting, motion[driven], h[driven], strict)


def _stacks(bounds: Sequence[Bound], blocks: Sequence[BoundRows]) -> dict[int, BoundRows]:
    """Return {level: the BoundRows of all its bounds}."""
    stacks: dict[int, list[BoundRows]] = {}
    for bound, block in zip(bounds, blocks):
        stacks.setdefault(bound.level, []).append(block)
    return {level: own[0] if len(own) == 1 else BoundRows(
        [name for block in own for name in block.names],
        *(np.concatenate(parts) for parts in list(zip(*own))[1:]))
            for level, own in stacks.items()}


def _strict_level(problem: WholeBodyProblem, tasks: Sequence[Task], rows: Sequence[TaskEquations],
                  stacks: Mapping[int, BoundRows]) -> Level:
    """Return the Level of priority 0, the strict one."""
    own: list[Level | TaskEquations] = [
        problem.laws, *(row for task, row in zip(tasks, rows) if not task.level)]
    return _level(own, stacks.get(0))


def _levels(n: int, tasks: Sequence[Task], rows: Sequence[TaskEquations],
            stacks: Mapping[int, BoundRows]) -> list[Level]:
    """Return the Levels of priority 1 and lower that have tasks or bounds; at least one."""
    no_rows = TaskEquations(np.zeros((0, n)), np.zeros(0))
    result = []
    for level in sorted({*stacks, *(task.level for task in tasks)} - {0}) or [1]:
        own = [row if task.weight == 1.0 else row.times(math.sqrt(task.weight))
               for task, row in zip(tasks, rows) if task.level == level]
        result.append(_level(own or [no_rows], stacks.get(level)))
    return result


def _level(own: Sequence[Level | TaskEquations], stack: BoundRows | None) -> Level:
    """Return the Level of all rows A x = b, and of the BoundRows of all bounds, or None."""
    A, b = ((own[0].A, own[0].b) if len(own) == 1 else
            (np.concatenate([row.A for row in own]), np.concatenate([row.b for row in own])))
    return Level(A, b) if stack is None else Level(A, b, stack.G, stack.lower, stack.upper)


def _best(levels: Sequence[Level], strict: Level) -> tuple[np.ndarray, Status]:
    """Return (x, status): by one QP if a single level determines x."""
    found = best_by_one_qp(levels, strict)
    return hierarchical_qp(levels, strict) if found is None else found


def best_by_one_qp(levels: Sequence[Level], strict: Level) -> tuple[np.ndarray, Status] | None:
    """Return (x, status) of a single level that determines x, by one QP.

    None for several levels, or where the QP is not definite enough: the caller then uses
    hierarchical_qp.
    """
    if len(levels) == 1 and levels[0].C is None:
        A, b = levels[0].A, levels[0].b
        found = definite_minimum(A.T @ A, -(A.T @ b), strict)
        return None if found is None else (found.x, found.status)
    return None


def definite_minimum(P: np.ndarray, q: np.ndarray, strict: Level) -> QpSolution | None:
    """Return the QpSolution of min x' P x / 2 + q' x within `strict`; None as best_by_one_qp."""
    if not definiteness(P) > DEFINITE:
        return None
    found = solve_qp(P, q, strict.C, strict.lower, strict.upper, A=strict.A, b=strict.b)
    return None if found.status == 'failed' else found


def _touched(block: BoundRows, x: np.ndarray) -> list[str]:
    """Return the names of the rows of a BoundRows that are active at x."""
    gaps = gaps_of(block.G, block.lower, block.upper, x)
    return [block.names[k] for k in (gaps <= TOUCHED).nonzero()[0]]


def _conflict(problem: WholeBodyProblem, tasks: Sequence[Task], rows: Sequence[TaskEquations],
              bounds: Sequence[Bound], blocks: Sequence[BoundRows]) -> tuple[str, ...]:
    """Return the names of conflicting tasks, contacts and bounds of level 0; () if none."""
    groups = []
    for bound, block in zip(bounds, blocks):
        if not bound.level:
            for name in dict.fromkeys(block.names):
                own = [k for k, other in enumerate(block.names) if other == name]
                groups.append(RowGroup(name, block.G[own], block.lower[own], block.upper[own]))
    (A, b, *_), free = problem.laws, len(problem.setting.unactuated)
    for name, place in problem.setting.force_slices.items():
        rows_of = slice(free - len(problem.v) + place.start, free - len(problem.v) + place.stop)
        groups.append(RowGroup(f"contact '{name}'", A[rows_of], b[rows_of], b[rows_of]))
    groups += [RowGroup(f"task '{task.name}'", A, b, b) for task, (A, b) in zip(tasks, rows)
               if not task.level]
    return conflicting(groups, problem.laws.A[:free], problem.laws.b[:free])
