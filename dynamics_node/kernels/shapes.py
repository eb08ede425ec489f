"""Give the shapes of inputs and results of kernels, and the values of uniform inputs.

State inputs come per state (q, v, a, tau, given, wrenches, ...). Uniform inputs are numbers of
the robot and its contacts that may change without a compilation: gravity, armature, damping,
friction, payload, anchors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dynamics_node.algorithms.inertial_parameters import ten_numbers
from dynamics_node.constrained.anchors import SIZE as ANCHOR
from dynamics_node.constrained.anchors import anchors_of, has_anchor
from dynamics_node.constrained.constraint import Constraint, size
from dynamics_node.kernels.spec import COORDINATES, TARGETS, WHOLE_BODY
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import Model
from dynamics_node.model.payload import carried_inertias
from dynamics_node.task_space.newton_step import goal_size
from dynamics_node.task_space.torque_space import number_count, row_count

if TYPE_CHECKING:  # keys.py imports every spec, and some of them this module
    from dynamics_node.kernels.keys import KernelKey

Shape = tuple[int, ...]


def input_shape(model: Model, name: str, constraints: Sequence[Constraint] = (),
                arguments: tuple = ()) -> Shape:
    """Return the shape of an input that comes per state."""
    bodies = len(model.bodies)
    if name == 'restitution':
        return (sum(map(size, constraints)),)
    if name == 'goal':
        return (goal_size(*arguments),)
    if name == 'numbers':
        parts, _, limited = arguments
        return (sum(map(number_count, parts)) + (4 * len(limited[0]) + 1 if limited else 0),)
    shapes: dict[str, Shape] = {
        'q': (model.nq,), 'wrenches': (bodies, 6), 'dwrenches': (bodies, 6),
        'dinertias': (bodies, 10), 'dorigins': (bodies, 6), 'daxes': (bodies, 6),
        'dgravity': (3,), 'stabilisation': (2,), 'caution': (1,),
        'limits': (2 * model.nq,), 'branch': (4,)}
    return shapes.get(name, (model.nv,))


def state_shapes(model: Model, key: KernelKey) -> dict[str, Shape]:
    """Return {name: shape} of the inputs that come per state."""
    spec = key.spec
    names = [*spec.inputs, *(spec.wrenches if key.with_wrenches else ())]
    return {name: input_shape(model, name, key.constraints, key.arguments) for name in names}


def result_shapes(model: Model, key: KernelKey) -> list[Shape]:
    """Return the shapes of the results of one state."""
    listed = len(key.arguments[0]) if key.spec.subject in (TARGETS, COORDINATES) else 0
    sizes = {'nq': model.nq, 'nv': model.nv, 'bodies': len(model.bodies),
             'parameters': 10 * len(model.bodies), 'rows': sum(map(size, key.constraints)),
             'targets': listed, 'coordinates': listed}
    if key.spec.subject == WHOLE_BODY:
        parts, actuated, limited = key.arguments
        sizes.update({
            'unknowns and tasks': model.nv + sizes['rows'] + sum(map(row_count, parts)),
            'actuated and 1': len(actuated) + 1, 'limited': len(limited[0]) if limited else 1})
    return [tuple(n if isinstance(n, int) else sizes[n] for n in shape)
            for shape in key.spec.shapes]


def uniform_shapes(model: Model, key: KernelKey) -> dict[str, Shape]:
    """Return {name: shape} of the robot's numbers that the kernel takes as inputs."""
    shapes: dict[str, Shape] = {'gravity': (3,), 'armature': (model.nv,)}
    if key.with_friction:
        shapes.update(damping=(model.nv,), friction=(model.nv,))
    if key.with_friction_terms:
        shapes.update(dict.fromkeys(FrictionTerms._fields, (model.nv,)))
    if key.with_payload:
        shapes['payload'] = (len(model.bodies) + 1, 10)
    if any(map(has_anchor, key.constraints)):
        shapes['anchors'] = (ANCHOR * sum(map(has_anchor, key.constraints)),)
    return shapes


def uniform_values(model: Model, key: KernelKey) -> tuple[np.ndarray, ...]:
    """Return the arrays of a robot, in the order of uniform_shapes."""
    values = {'gravity': model.gravity, 'armature': model.armature, 'damping': model.damping,
              'friction': model.friction, 'anchors': anchors_of(key.constraints)}
    if model.friction_terms is not None:
        values.update(model.friction_terms._asdict())
    if key.with_payload:
        values['payload'] = np.array([ten_numbers(load) for load in carried_inertias(model)])
    return tuple(np.ascontiguousarray(values[name], dtype=float)
                 for name in uniform_shapes(model, key))
