"""How a question is answered: by a kernel where one is ready, else by the algorithm in NumPy."""

import math
import os
from contextlib import suppress

import numpy as np

from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import (
    ALL_KERNELS,
    has_kernel,
    key_of,
    state_shape,
    state_shapes,
    uniform_values,
)
from dynamics_node.kernels.robot_kernels import RobotKernels, enabled
from dynamics_node.model import configuration
from dynamics_node.robot import arguments

try:
    from dynamics_node.compiler._call import Caller
except ImportError:  # the extension was not built: the same, slower
    from dynamics_node.compiler.ctypes_call import Caller

# From this many operations on a second thread takes half of a batch: 0.2 ms of work, where two
# cores are 1.3 times faster; at half of that 1.1 times, at a quarter slower (Panda and TALOS).
WORK_FOR_TWO = 4_000_000
NEVER = 2 ** 62
# From about this many states on NumPy takes longer than it takes to make the kernel: for a 7-axis
# arm 0.5 ms a state and 0.12 s for inverse dynamics, 12 ms and 0.8 s for forward derivatives.
WORTH_WAITING = 200


class Dispatcher:
    """Answers for one robot; its kernels are shared with robots of the same structure."""

    def __init__(self, model, engine=None, compile=True, swap_in=lambda key, bind: None):
        """Take swap_in(key, bind), called when a kernel is ready; bind(fallback) makes a Caller."""
        self.model = model
        if engine is None and compile and enabled() and model.nv:
            engine = RobotKernels(model)
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
                kernel, key, lambda *checked: self._refused(key, algorithm, checked))
            if not key.pushed:
                self._swap_in(key, lambda fallback: self._bind(kernel, key, fallback))
        return caller

    def _refused(self, key, algorithm, states):
        """Answer what a kernel did not: in NumPy, but of a batch of a held robot only the states.

        There a singular configuration is no error, and may be one in a thousand: halves are asked
        again until it is alone.
        """
        half = len(states[0]) // 2
        if not key.constraints or states[0].ndim == 1 or half == 0:
            return self._in_numpy(algorithm, states, key)
        caller = self._checked[key]
        halves = [caller(*(np.ascontiguousarray(part[rows]) for part in states))
                  for rows in (slice(half), slice(half, None))]
        return tuple.__new__(ALL_KERNELS[key.question].kind,
                             [np.concatenate(parts) for parts in zip(*halves)])

    def _bind(self, kernel, key, fallback):
        return Caller(kernel.code.single, kernel.code.batch, kernel.lanes, kernel.inputs,
                      kernel.outputs, uniform_values(self.model, key), fallback,
                      _threads_from(kernel), kernel.code, ALL_KERNELS[key.question].kind)

    # Answers ---------------------------------------------------------------------------------

    def ask(self, question, algorithm, wrenches=None, frame=(), dwrenches=None, constraints=(),
            **arrays):
        """Check the arguments, then answer.

        :param algorithm: f(model, *states[, body wrenches], *frame) of single states, in NumPy.
        :param frame: () or (frame,) or (frame, local), or (parts,) of task space.
        :param dwrenches: rates of the wrenches, for questions that take them.
        :param constraints: the valid set that the question is about.
        :param arrays: the states by name, in the order of the question.
        """
        pushes = {'wrenches': wrenches, 'dwrenches': dwrenches}
        states, n, pushed = self._checked_states(
            arrays, {name: pushes[name] for name in ALL_KERNELS[question].wrenches}, constraints,
            frame)
        key = key_of(self.model, question, frame, pushed, constraints)
        if n != 0 and has_kernel(self.model, question, constraints):
            caller = self._caller(key, algorithm)
            if caller is None and (n or 0) >= WORTH_WAITING:
                caller = self._awaited(key, algorithm)
            if caller is not None:
                return caller(*states)
        return self._in_numpy(algorithm, states, key)

    def _awaited(self, key, algorithm):
        """Return the Caller of a key when its kernel has been made; None if it cannot be."""
        if self.engine is not None:
            with suppress(DynamicsError):
                self.engine.wait([key])
        return self._caller(key, algorithm)

    def ask_numpy(self, algorithm, wrenches=None, **arrays):
        """Check the arguments, then answer in NumPy a question that has no kernel."""
        states, _, pushed = self._checked_states(arrays, {'wrenches': wrenches})
        shapes = [*((-1,) for _ in arrays), *([(-1, 6)] if pushed else [])]
        return self._row_by_row(algorithm, states, shapes)

    def rows(self, algorithm, **arrays):
        """Answer in NumPy a question that has no kernel; arrays are checked."""
        n = arguments.batch_size(arrays)
        return self._row_by_row(algorithm, [_rows_of(array, n) for array in arrays.values()],
                                [(-1,) for _ in arrays])

    def _checked_states(self, arrays, pushes, constraints=(), frame=()):
        """Return (states, number of states or None, whether wrenches are the last of them)."""
        arrays = {name: arguments.check_configuration(self.model, value) if name == 'q'
                  else arguments.check_array(name, value, math.prod(
                      state_shape(self.model, name, constraints, frame)))
                  for name, value in arrays.items()}
        forces = {name: {} if push is None else arguments.check_wrenches(self.model, push, name)
                  for name, push in pushes.items()}
        n = arguments.batch_size(arrays, **forces)
        states = [_rows_of(array, n) for array in arrays.values()]
        pushed = any(forces.values())
        if pushed:
            states += [_flat_wrenches(self.model, push, n) for push in forces.values()]
        return states, n, pushed

    def _in_numpy(self, algorithm, states, key):
        """Ask the algorithm what a kernel would be asked."""
        answer = self._row_by_row(algorithm, states, state_shapes(self.model, key).values(),
                                  key.frame)
        kind = ALL_KERNELS[key.question].kind
        return tuple.__new__(kind, answer) if isinstance(answer, tuple) else answer

    def _row_by_row(self, algorithm, states, shapes, frame=()):
        """Ask the algorithm state by state; each part of a state is flat."""
        def one(*state):
            state = (part.reshape(shape) for part, shape in zip(state, shapes))
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
    forces = {name: _rows_of(F, n) for name, F in forces.items()}
    if n is None:
        return body_wrenches(model, forces).ravel()
    if n == 0:
        return np.zeros((0, 6 * len(model.bodies)))
    columns = body_wrenches(model, {name: F.T for name, F in forces.items()}, shape=(6, n))
    return np.ascontiguousarray(columns.reshape(-1, n).T)
