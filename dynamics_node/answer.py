"""How a question is answered: by a kernel where one is ready, else by the algorithm in NumPy."""

import numpy as np

from dynamics_node import door
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.compiler.engine import Engine, enabled
from dynamics_node.compiler.questions import QUESTIONS, key_of, uniform_values
from dynamics_node.errors import DynamicsError
from dynamics_node.model import configuration

try:
    from dynamics_node.compiler._call import Caller
except ImportError:  # the extension was not built: the same, slower
    from dynamics_node.compiler.ctypes_call import Caller

# From this many states on a second thread takes half of a batch: about 1 ms of work (measured).
THREADS_FROM = 16384


class Answerer:
    """Answers for one robot; its kernels are shared with robots of the same structure."""

    def __init__(self, model, engine=None, compile=True):
        self.model = model
        if engine is None and compile and enabled() and model.nv:
            engine = Engine(model)
        self.engine = engine
        self.fast = {}      # name of the question -> Caller for the user's arrays as they are
        self._checked = {}  # Key -> Caller that takes checked arrays

    # Kernels ---------------------------------------------------------------------------------

    def keys(self):
        """Return the keys of all questions that are not about a frame."""
        return [key_of(self.model, question) for question in QUESTIONS]

    def compile(self, keys, wait):
        """Ask for kernels, and wait for them if told to."""
        if self.engine is None:
            raise DynamicsError('compilation is switched off for this robot: by compile=False, by '
                                'DYNAMICS_NODE_COMPILE=0, or because nothing moves')
        for key in keys:
            self.engine.request(key)
        if wait:
            self.engine.wait(keys)

    def is_compiled(self, keys):
        return self.engine is not None and all(self.engine.is_ready(key) for key in keys)

    def _caller(self, key, algorithm, arrays):
        """Return the Caller of a key if its kernel is ready; the first time, make the fast path."""
        if self.engine is None:
            return None
        caller = self._checked.get(key)
        if caller is None:
            kernel = self.engine.kernel(key)
            if kernel is None:
                return None
            names = list(arrays)

            def in_numpy(*checked):
                forces = checked[len(names):]
                return self._rows(algorithm, dict(zip(names, checked)), *forces)

            def from_user(*raw):
                return self.ask(key.question, algorithm, None, key.frame, key.local,
                                **dict(zip(names, raw)))
            caller = self._checked[key] = self._bind(kernel, key, in_numpy)
            if not key.pushed and 'given' not in names:
                self.fast[_fast_name(key)] = self._bind(kernel, key, from_user)
        return caller

    def _bind(self, kernel, key, fallback):
        return Caller(kernel.code.single, kernel.code.batch, kernel.lanes, kernel.inputs,
                      kernel.outputs, uniform_values(self.model, key), fallback, THREADS_FROM,
                      kernel.code)

    # Answers ---------------------------------------------------------------------------------

    def ask(self, question, algorithm, wrenches=None, frame='', local=False, **arrays):
        """Check the arguments, then answer.

        :param algorithm: f(model, *states[, body wrenches]) of single states, in NumPy.
        :param arrays: the states by name, in the order of the question.
        """
        states, n = self._checked_states(wrenches, arrays)
        if n != 0:
            key = key_of(self.model, question, frame, local, pushed='wrenches' in states)
            caller = self._caller(key, algorithm, arrays)
            if caller is not None:
                return caller(*states.values())
        return self._rows(algorithm, states, n=n)

    def ask_numpy(self, algorithm, wrenches=None, **arrays):
        """Check the arguments, then answer in NumPy a question that has no kernel."""
        states, n = self._checked_states(wrenches, arrays)
        return self._rows(algorithm, states, n=n)

    def rows(self, algorithm, **arrays):
        """Answer in NumPy a question that has no kernel; arrays are checked."""
        n = door.batch_size(arrays)
        return self._rows(algorithm, {name: _rows_of(array, n) for name, array in arrays.items()},
                          n=n)

    def _checked_states(self, wrenches, arrays):
        """Return ({name: rows}, number of states or None), wrenches among them if there are any."""
        arrays = {name: door.check_configuration(self.model, value) if name == 'q'
                  else door.check_array(name, value, self.model.nv)
                  for name, value in arrays.items()}
        forces = {} if wrenches is None else door.check_wrenches(self.model, wrenches)
        n = door.batch_size(arrays, forces)
        states = {name: _rows_of(array, n) for name, array in arrays.items()}
        if forces:
            forces = {name: _rows_of(F, n) for name, F in forces.items()}
            states['wrenches'] = _flat_wrenches(self.model, forces, n)
        return states, n

    def _rows(self, algorithm, states, *forces, n=-1):
        """Ask the algorithm state by state."""
        if forces:
            states = {**states, 'wrenches': forces[0]}
        arrays = list(states.values())
        if n == -1:
            n = None if arrays[0].ndim == 1 else len(arrays[0])

        def one(*state):
            if 'wrenches' in states:
                state = (*state[:-1], state[-1].reshape(-1, 6))
            return algorithm(self.model, *state)
        with np.errstate(all='ignore'):  # what is not finite is refused below
            if n is None:
                return _finite(one(*arrays))
            if n == 0:  # the shape of an answer, without an answer
                shape = one(*(_anything(self.model, name) for name in states))
                return _map(lambda part: np.empty((0, *np.shape(part))), shape)
            answers = [one(*(array[row] for array in arrays)) for row in range(n)]
        if isinstance(answers[0], tuple):
            return tuple(_finite(np.stack(parts)) for parts in zip(*answers))
        return _finite(np.stack(answers))


def _fast_name(key):
    return (key.question, key.frame, key.local) if key.frame else key.question


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


def _anything(model, name):
    """Return some valid state, to learn the shape of an answer."""
    if name == 'wrenches':
        return np.zeros(6 * len(model.bodies))
    return configuration.neutral(model) if name.startswith('q') else np.zeros(model.nv)


def _flat_wrenches(model, forces, n):
    """Return the wrenches on all bodies, (6 bodies,) or (n, 6 bodies)."""
    if n is None:
        return body_wrenches(model, forces).ravel()
    if n == 0:
        return np.zeros((0, 6 * len(model.bodies)))
    columns = body_wrenches(model, {name: F.T for name, F in forces.items()}, shape=(6, n))
    return np.ascontiguousarray(columns.reshape(-1, n).T)
