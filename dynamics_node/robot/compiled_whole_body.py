"""Solve the whole-body problem of a robot by its kernel, where that is ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node.kernels.keys import key_of
from dynamics_node.robot.argument_types import Wrenches
from dynamics_node.robot.dispatch import Dispatcher
from dynamics_node.task_space.bounds import Bound
from dynamics_node.task_space.tasks import Task
from dynamics_node.task_space.torque_space import DependentRows
from dynamics_node.task_space.whole_body import WholeBody
from dynamics_node.task_space.whole_body_plan import WholeBodyPlan, plan_of
from dynamics_node.task_space.whole_body_setting import Setting

_NO_RATES = np.zeros(2)
_PLAIN = (list, tuple)
MOST_CALLERS = 64


class CompiledWholeBody:
    """The kernels of a robot's whole-body problems, by plan."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._callers: dict[tuple[WholeBodyPlan, bool], Callable] = {}

    def solved(self, setting: Setting, q: ArrayLike, v: ArrayLike, tasks: Sequence[Task],
               bounds: Sequence[Bound], wrenches: Wrenches, rates: np.ndarray | None
               ) -> WholeBody | None:
        """Return the WholeBody; q, v, tasks and bounds need not be checked.

        None where the kernel is not ready or refuses an argument, the constraint rows are
        dependent, or there is no solution: the caller then uses whole_body.py.
        """
        at, moving = _vector(q, setting.model.nq), _vector(v, setting.model.nv)
        if (at is None or moving is None or type(tasks) not in _PLAIN or type(bounds) not in _PLAIN
                or not all([isinstance(task, Task) for task in tasks])
                or not all([isinstance(bound, Bound) for bound in bounds])):
            return None
        plan = plan_of(setting, tuple([task.structure for task in tasks]), tuple(bounds))
        if plan is None:
            return None
        caller = self._callers.get((plan, wrenches is None)) or self._caller(plan, wrenches is None)
        if caller is None:
            return None
        external = () if wrenches is None else (self._dispatcher.wrenches(wrenches),)
        try:
            space = caller(at, moving, plan.numbers(tasks, at),
                           _NO_RATES if rates is None else rates, *external)
        except DependentRows:
            return None
        return plan.solved(space, tasks)

    def _caller(self, plan: WholeBodyPlan, without_wrenches: bool) -> Callable | None:
        key = key_of(self._dispatcher.model, 'torque_space', plan.arguments, not without_wrenches,
                     plan.setting.constraints)
        caller = self._dispatcher.caller(key)
        if caller is not None:
            if len(self._callers) >= MOST_CALLERS:
                self._callers.clear()
            self._callers[plan, without_wrenches] = caller
        return caller


def _vector(values: ArrayLike, size: int) -> np.ndarray | None:
    """Return the values as an array (size,) for the kernel; None if they are something else."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in 'fiub':  # strings and complex numbers are refused, see checks
            return None
        array = np.ascontiguousarray(given, dtype=float)
    except Exception:  # an object may raise anything when NumPy reads it
        return None
    return array if array.shape == (size,) else None
