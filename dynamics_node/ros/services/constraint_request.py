"""Read the constraints of a request, and fill the report about them in its reply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dynamics_node import msg
from dynamics_node.constrained.constraint import Constraint, row_names, validate
from dynamics_node.constrained.read_loops import read_loops
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.robot.robot import Robot
from dynamics_node.ros import convert
from dynamics_node.ros.services.request_state import RequestState

Constraints = tuple[Constraint, ...]


def constraints_of(state: RequestState, request: Any) -> Constraints:
    """Return all constraints of a request, checked: loops of the robot, and its own YAML."""
    loops = loops_named(state.robot, request.constraint_names, request.ignore_loops)
    constraints = loops + constraints_in('constraints_yaml', request.constraints_yaml)
    check_constraints(state, constraints)
    return constraints


def check_constraints(state: RequestState, constraints: Constraints) -> None:
    """Refuse too many constraints, and those that do not fit the robot."""
    state.caps.check('service.max_constraints', len(constraints), 'constraints')
    validate(state.robot.model, constraints)


@lru_cache(maxsize=32)
def constraints_in(field: str, text: str) -> Constraints:
    """Return the constraints of a YAML text, none of an empty one.

    Cached, since clients often send the same text: reading four feet takes 1.3 ms.

    :param text: a list, or a mapping with a list under `constraints:`.
    """
    if not text.strip():
        return ()
    try:
        found = read_loops(with_key('constraints', text))
    except DynamicsError as error:
        raise DynamicsError(f'{field}: {error}') from None
    if found.passive:
        raise DynamicsError(f'{field} has passive: {", ".join(found.passive)}; expected '
                            'constraints alone')
    return found.constraints


def with_key(key: str, text: str) -> str:
    """Return a YAML text with a list under a key; a text that is the list alone gets the key."""
    if re.match(r'\s*- ', text):
        return f'{key}:\n{text}'
    return f'{key}: {text.lstrip()}' if re.match(r'\s*\[', text) else text


def loops_named(robot: Robot, names: Sequence[str], ignore: bool) -> Constraints:
    """Return the loops of the robot that a request names, all if it names none."""
    loops = {constraint.name: constraint for constraint in robot.loops.constraints}
    if ignore:
        if len(names):
            raise DynamicsError('constraint_names has loops that ignore_loops leaves out; give one '
                                'of the two')
        return ()
    for name in names:
        if name not in loops:
            raise UnknownName('loop', name, loops)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DynamicsError(f"constraint_names has '{twice}' twice; name each once")
    return tuple([loops[name] for name in names]) if names else robot.loops.constraints


def passive_joints(robot: Robot, names: Sequence[str], all_active: bool = False) -> tuple[str, ...]:
    """Return the names of the joints that are not actuated, without floating joints."""
    for name in names:
        robot.model.joint(name)
    if not all_active:
        return tuple(names) or robot.loops.passive
    if len(names):
        raise DynamicsError('passive_joints has joints that all_active declares actuated; give one '
                            'of the two')
    return ()


def stabilisation(request: Any) -> tuple[float, ...] | None:
    """Return (alpha, beta) of a request [1/s], None where it has none."""
    rates = list(request.stabilisation)
    if rates and (len(rates) != 2 or not all(np.isfinite(x) and x >= 0.0 for x in rates)):
        raise DynamicsError(f'stabilisation is {rates}; expected alpha and beta, finite and not '
                            'negative [1/s], or nothing')
    return tuple(rates) or None


def without_compilation(state: RequestState) -> RequestState:
    """Return the state with a robot that compiles nothing.

    A kernel is compiled for one set of constraints. The constraints of a request may never be used
    again, and a client that sends another pose each time would keep the compiler busy for ever.
    """
    robot = state.robot
    return state._replace(robot=type(robot)(robot.model, compile=False))


def weights(state: RequestState, request: Any,
            rows: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return weights of efforts (nv,) and of multipliers (m,), each None where not given.

    :param rows: m.
    """
    force = np.array(request.force_weights)
    if force.size not in (0, rows):
        raise DynamicsError(f'force_weights has {force.size} entries; expected {rows}, one per '
                            'constraint row, or none')
    effort = state.entries('effort_weights', request.effort_weights, np.ones(state.robot.nv))
    for field, values in (('effort_weights', effort), ('force_weights', force)):
        if not (np.isfinite(values).all() and (values >= 0.0).all()):
            raise DynamicsError(f'{field} is {values.tolist()}; expected finite numbers, none '
                                'below zero')
    return effort if len(request.effort_weights) else None, force if force.size else None


def fill_report(response: Any, constraints: Constraints, multipliers: np.ndarray,
                report: Any) -> None:
    """Fill rows, multipliers and the ConstraintReport."""
    response.row_names = row_names(constraints)
    response.multipliers = convert.floats(np.asarray(multipliers, dtype=float))
    response.report = msg.ConstraintReport(
        rank=report.rank, redundant_rows=list(report.redundant), freedom=report.freedom,
        kind=report.passive.kind, driven_kind=report.driven.kind, actuated=report.actuated,
        redundant_motors=report.redundant_actuation, loose_joints=list(report.loose),
        clearance=float(report.clearance), singular=bool(report.singular),
        failure=report.failure, text=str(report))
