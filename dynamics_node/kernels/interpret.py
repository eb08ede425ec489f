"""Evaluate a traced program symbol by symbol, for kernels that have no algorithm in NumPy."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dynamics_node.compiler.trace import Program, evaluate, trace
from dynamics_node.kernels.shapes import input_shape
from dynamics_node.model.model import Model


def interpreted(algorithm: Callable, inputs: tuple[str, ...]) -> Callable:
    """Return f(model, *inputs) that evaluates the program of an algorithm for a single state.

    :param algorithm: works on symbols only, f(model, *inputs).
    :param inputs: names of its arrays; the last ones may be left out, as wrenches are.
    """
    def evaluated(model: Model, *states: np.ndarray) -> tuple[np.ndarray, ...]:
        flat = np.concatenate([np.ravel(state) for state in states])
        return tuple(evaluate(_program(algorithm, inputs[:len(states)], model), flat))
    return evaluated


@lru_cache(maxsize=8)
def _program(algorithm: Callable, inputs: tuple[str, ...], model: Model) -> Program:
    """Return the Program for one robot, with its numbers as constants."""
    return trace(lambda *states: algorithm(model, *states),
                 {name: input_shape(model, name) for name in inputs})
