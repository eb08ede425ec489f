"""What is held in a request: loops, contacts, passive joints; and what the reply says of that."""

import re
from functools import lru_cache

import numpy as np

from dynamics_node.constrained.constraint import row_names, validate
from dynamics_node.constrained.read_loops import read_loops
from dynamics_node.errors import DynamicsError, UnknownName
from dynamics_node.ros import convert


def held_in(robot, request):
    """Return all that is held in a request: loops that count, and what its YAML adds; valid."""
    loops = loops_named(robot, request.constraint_names, request.ignore_loops)
    held = loops + constraints_in('constraints_yaml', request.constraints_yaml)
    validate(robot.model, held)
    return held


@lru_cache(maxsize=32)
def constraints_in(field, text):
    """Return the constraints of a YAML text, none of an empty one.

    Who asks often asks with the same text: to read the four feet of a quadruped takes 1.3 ms.

    :param text: a list, or what has one under `constraints:`.
    """
    if not text.strip():
        return ()
    if re.match(r'\s*- ', text):
        text = f'constraints:\n{text}'
    elif re.match(r'\s*\[', text):
        text = f'constraints: {text.lstrip()}'
    try:
        found = read_loops(text)
    except DynamicsError as error:
        raise DynamicsError(f'{field}: {error}') from None
    if found.passive:
        raise DynamicsError(f'{field} has passive: {", ".join(found.passive)}; expected '
                            'constraints alone')
    return found.constraints


def loops_named(robot, names, ignore):
    """Return those of the robot's loops that count."""
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


def passive_joints(robot, names, all_active=False):
    """Return the names of the joints without a motor, floating ones apart."""
    for name in names:
        robot.model.joint(name)
    if not all_active:
        return tuple(names) or robot.loops.passive
    if len(names):
        raise DynamicsError('passive_joints has joints that all_active says have a motor; give one '
                            'of the two')
    return ()


def stabilisation(request):
    """Return (alpha, beta) of a request, None where it has none."""
    rates = list(request.stabilisation)
    if rates and (len(rates) != 2 or not all(np.isfinite(x) and x >= 0.0 for x in rates)):
        raise DynamicsError(f'stabilisation is {rates}; expected alpha and beta, finite and not '
                            'negative [1/s], or nothing')
    return tuple(rates) or None


def for_once(case):
    """Return the case with a robot that compiles nothing.

    A kernel is made for a set of constraints; one that a request brings may never come again, and
    who sends a new anchor each time would keep the compiler busy for ever.
    """
    robot = case.robot
    return case._replace(robot=type(robot)(robot.model, compile=False))


def refuse_unread(request, question, readers):
    """Refuse a field that is given but that the question does not read.

    :param readers: {field: the questions that read it}.
    """
    for field, questions in readers.items():
        value = getattr(request, field)
        if question not in questions and (len(value) if hasattr(value, '__len__') else value):
            raise DynamicsError(f"{field} is given, but '{question}' does not read it; "
                                f"{' and '.join(questions)} would")


def weights(case, request, rows):
    """Return (of efforts (nv,), of multipliers (m,)) of a request, each None where not given.

    :param rows: m.
    """
    force = np.array(request.force_weights)
    if force.size not in (0, rows):
        raise DynamicsError(f'force_weights has {force.size} entries; expected {rows}, one per row '
                            'that is held, or none')
    effort = case.entries('effort_weights', request.effort_weights, np.ones(case.robot.nv))
    for field, values in (('effort_weights', effort), ('force_weights', force)):
        if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0.0).all()):
            raise DynamicsError(f'{field} is {values.tolist()}; expected one row of finite '
                                'numbers, none below zero')
    return effort if len(request.effort_weights) else None, force if force.size else None


def fill_report(response, held, multipliers, report):
    """Fill rows, multipliers and the ConstraintReport of what is held."""
    response.row_names = row_names(held)
    response.multipliers = convert.floats(np.asarray(multipliers, dtype=float))
    response.rank = report.rank
    response.redundant_rows = list(report.redundant)
    response.freedom = report.freedom
    response.kind, response.driven_kind = report.passive.kind, report.driven.kind
    response.actuated = report.actuated
    response.redundant_motors = report.redundant_actuation
    response.loose_joints = list(report.loose)
    response.clearance, response.singular = float(report.clearance), bool(report.singular)
    response.failure, response.report = report.failure, str(report)
