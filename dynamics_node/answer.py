"""How a question is answered: by a kernel where one is ready, else by the algorithm in NumPy."""

import os

import numpy as np

from dynamics_node import door
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.compiler.engine import Engine, enabled
from dynamics_node.compiler.questions import key_of, uniform_values
from dynamics_node.errors import DynamicsError
from dynamics_node.model import configuration

try:
    from dynamics_node.compiler._call import Caller
except ImportError:  # the extension was not built: the same, slower
    from dynamics_node.compiler.ctypes_call import Caller

# From this many operations on a second thread takes half of a batch: 0.2 ms of work, where two
# cores are 1.3 times faster; at half of that 1.1 times, at a quarter slower (Panda and TALOS).
WORK_FOR_TWO = 4_000_000
NEVER = 2 ** 62


class Answerer:
    """Answers for one robot; its kernels are shared with robots of the same structure."""

    def __init__(self, model, engine=None, compile=True, swap_in=lambda key, bind: None):
        """Take swap_in(key, bind), called when a kernel is ready; bind(fallback) makes a Caller."""
        self.model = model
        if engine is None and compile and enabled() and model.nv:
            engine = Engine(model)
        self.engine = engine
        self._swap_in = swap_in
        self._checked = {}  # Key -> Caller that takes checked arrays

    # Kernels ---------------------------------------------------------------------------------

    def compile(self, keys, wait):
        """Ask for kernels, and wait for them if told to."""
        if self.engine is None:
            raise DynamicsError('compilation is switched off for this robot: by compile=False, by '
                                'DYNAMICS_NODE_COMPILE=0, or because nothing moves')
        if wait:
            self.engine.wait(keys)
        for key in keys:
            self.engine.request(key)

    def is_compiled(self, keys):
        return self.engine is not None and all(self.engine.is_ready(key) for key in keys)

    def _caller(self, key, algorithm):
        """Return the Caller of a key if its kernel is ready; the first time, swap it in."""
        if self.engine is None:
            return None
        caller = self._checked.get(key)
        if caller is None:
            kernel = self.engine.kernel(key)
            if kernel is None:
                return None
            caller = self._checked[key] = self._bind(
                kernel, key,
                lambda *checked: self._in_numpy(algorithm, checked, key.pushed, key.frame))
            if not key.pushed:
                self._swap_in(key, lambda fallback: self._bind(kernel, key, fallback))
        return caller

    def _bind(self, kernel, key, fallback):
        return Caller(kernel.code.single, kernel.code.batch, kernel.lanes, kernel.inputs,
                      kernel.outputs, uniform_values(self.model, key), fallback,
                      _threads_from(kernel), kernel.code)

    # Answers ---------------------------------------------------------------------------------

    def ask(self, question, algorithm, wrenches=None, frame=(), **arrays):
        """Check the arguments, then answer.

        :param algorithm: f(model, *states[, body wrenches], *frame) of single states, in NumPy.
        :param frame: () or (frame,) or (frame, local).
        :param arrays: the states by name, in the order of the question.
        """
        states, n, pushed = self._checked_states(wrenches, arrays)
        if n != 0:
            key = key_of(self.model, question, frame, pushed)
            caller = self._caller(key, algorithm)
            if caller is not None:
                return caller(*states)
        return self._in_numpy(algorithm, states, pushed, frame)

    def ask_numpy(self, algorithm, wrenches=None, **arrays):
        """Check the arguments, then answer in NumPy a question that has no kernel."""
        states, _, pushed = self._checked_states(wrenches, arrays)
        return self._in_numpy(algorithm, states, pushed)

    def rows(self, algorithm, **arrays):
        """Answer in NumPy a question that has no kernel; arrays are checked."""
        n = door.batch_size(arrays)
        return self._in_numpy(algorithm, [_rows_of(array, n) for array in arrays.values()])

    def _checked_states(self, wrenches, arrays):
        """Return (states, number of states or None, whether wrenches are the last of them)."""
        arrays = {name: door.check_configuration(self.model, value) if name == 'q'
                  else door.check_array(name, value, self.model.nv)
                  for name, value in arrays.items()}
        forces = {} if wrenches is None else door.check_wrenches(self.model, wrenches)
        n = door.batch_size(arrays, forces)
        states = [_rows_of(array, n) for array in arrays.values()]
        if forces:
            forces = {name: _rows_of(F, n) for name, F in forces.items()}
            states.append(_flat_wrenches(self.model, forces, n))
        return states, n, bool(forces)

    def _in_numpy(self, algorithm, states, pushed=False, frame=()):
        """Ask the algorithm state by state; the last of the states may be wrenches, flat."""
        def one(*state):
            if pushed:
                state = (*state[:-1], state[-1].reshape(-1, 6))
            return algorithm(self.model, *state, *frame)
        with np.errstate(all='ignore'):  # what is not finite is refused below
            if states[0].ndim == 1:
                return _finite(one(*states))
            if len(states[0]) == 0:  # the shape of an answer, without an answer
                shape = one(*(self._anything(state.shape[1]) for state in states))
                return _map(lambda part: np.empty((0, *np.shape(part))), shape)
            answers = [one(*row) for row in zip(*states)]
        if isinstance(answers[0], tuple):
            return tuple(_finite(np.stack(parts)) for parts in zip(*answers))
        return _finite(np.stack(answers))

    def _anything(self, size):
        """Return some valid numbers, to learn the shape of an answer."""
        neutral = configuration.neutral(self.model)
        return neutral if size == len(neutral) else np.zeros(size)


def _threads_from(kernel):
    """Return how many states make a batch worth two threads."""
    if os.environ.get('DYNAMICS_NODE_THREADS') == '1':
        return NEVER
    return WORK_FOR_TWO // max(1, kernel.operations) + 2 * kernel.lanes


def _map(function, answer):
    return tuple(map(function, answer)) if isinstance(answer, tuple) else function(answer)


def _finite(answer):
    def check(part):
        part = np.asarray(part, dtype=float)
        if not np.isfinite(part).all():
            raise DynamicsError('the result is not finite: the values are too large')
        return part
    return _map(check, answer)


def _rows_of(array, n):
    """Return the array contiguous, a single state repeated for each of n."""
    if n is not None and array.ndim == 1:
        array = np.broadcast_to(array, (n, len(array)))
    return np.ascontiguousarray(array)


def _flat_wrenches(model, forces, n):
    """Return the wrenches on all bodies, (6 bodies,) or (n, 6 bodies)."""
    if n is None:
        return body_wrenches(model, forces).ravel()
    if n == 0:
        return np.zeros((0, 6 * len(model.bodies)))
    columns = body_wrenches(model, {name: F.T for name, F in forces.items()}, shape=(6, n))
    return np.ascontiguousarray(columns.reshape(-1, n).T)
