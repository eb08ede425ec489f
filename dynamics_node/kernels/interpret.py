"""Answer by a program, line by line, what has no algorithm of its own: slow, and always there."""

from functools import lru_cache

import numpy as np

from dynamics_node.compiler.trace import evaluate, trace
from dynamics_node.kernels.keys import ALL_KERNELS, state_shape


def interpreted(question):
    """Return f(model, *states) for a single state, as an algorithm in NumPy would be."""
    def algorithm(model, *states):
        flat = np.concatenate([np.ravel(state) for state in states])
        return tuple(evaluate(_program(model, question), flat))
    return algorithm


@lru_cache(maxsize=8)
def _program(model, question):
    """Return the Program for one robot, its numbers being constants."""
    asked = ALL_KERNELS[question]
    return trace(lambda *states: asked.answers[0](model, *states),
                 {name: state_shape(model, name) for name in asked.states})
