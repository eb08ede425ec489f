"""Make the functions of a key to be traced: numbers of the model that may change are inputs."""

from collections.abc import Callable

import numpy as np

from dynamics_node.compiler.row_statements import Rows
from dynamics_node.constrained.anchors import at_anchors
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.kernels.shapes import state_shapes, uniform_shapes
from dynamics_node.kernels.symbolic_model import symbolic_model
from dynamics_node.model.configuration import UNIT_QUATERNION
from dynamics_node.model.model import Model


def functions(model: Model, key: KernelKey, in_loops: bool = False) -> list[Callable]:
    """Return the functions of a key that are traced, one per algorithm.

    Each takes the state inputs and the uniform inputs, and returns the results and the margins,
    which must all be positive where the kernel is valid.

    :param model: without payloads in its `inertias`.
    :param in_loops: solve for the columns of the results in loops; the spec must have `solves`.
    """
    spec = key.spec
    shapes = state_shapes(model, key)
    names = [*shapes, *uniform_shapes(model, key)]

    def function_of(algorithm: Callable) -> Callable:
        def function(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
            given = dict(zip(names, arrays))
            states = {name: given[name] for name in shapes}
            margin: list = []
            if 'q' in states:
                states['q'], margin = _normalised(model, states['q'])
            constraints = key.constraints
            if 'anchors' in given:
                constraints = tuple(at_anchors(constraints, given['anchors']))
            own = (constraints,) if spec.constrained else ()
            loops = {'as_rows': Rows(arrays[0].flat[0].graph).hold} if in_loops else {}
            result = algorithm(symbolic_model(model, key, given), *own, *states.values(),
                               *key.arguments, **loops)
            result = result if isinstance(result, tuple) else (result,)
            if spec.margins:
                result, margin = result[:-1], [*margin, *result[-1]]
            return (*result, np.array(margin, dtype=object))
        return function
    # articulated bodies cannot share a coordinate: see algorithms/hybrid_dynamics.py
    algorithms = spec.algorithms[:1] if model.has_mimic else spec.algorithms
    return [function_of(algorithm) for algorithm in algorithms]


def _normalised(model: Model, q: np.ndarray) -> tuple[np.ndarray, list]:
    """Return q with unit quaternions, and margins: positive where the norms were nearly 1."""
    q, margin = q.copy(), []
    for joint in model.joints:
        if joint.kind == 'floating':
            part = slice(joint.q.start + 3, joint.q.stop)
            square = q[part] @ q[part]
            margin += [square - (1.0 - UNIT_QUATERNION) ** 2, (1.0 + UNIT_QUATERNION) ** 2 - square]
            q[part] = q[part] / np.sqrt(square)
    return q, margin
