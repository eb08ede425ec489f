"""Dispatch a call: check the arguments, then run the kernel if it is ready, else NumPy."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dynamics_node import checks
from dynamics_node.algorithms.wrenches import body_wrenches
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.errors import DynamicsError, NotFinite
from dynamics_node.kernels.keys import KernelKey, has_kernel, key_of
from dynamics_node.kernels.robot_kernels import RobotKernels, enabled
from dynamics_node.kernels.shapes import input_shape, result_shapes, state_shapes, uniform_values
from dynamics_node.kernels.spec import FRAME
from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.model import configuration
from dynamics_node.model.model import Model
from dynamics_node.robot.argument_types import Wrenches
from dynamics_node.robot.arguments import check_configuration, check_wrenches
from dynamics_node.robot.out_arrays import check_out, written

try:
    from dynamics_node.compiler.extension import Caller
except ImportError:  # not built, or from other sources: slower, same results
    from dynamics_node.compiler.ctypes_call import Caller

if TYPE_CHECKING:  # it imports llvmlite, which may be missing
    from dynamics_node.compiler.kernel import Kernel

# Two threads compute a batch of at least this many operations, three from 1.5 times as many on, and
# so on. This is 0.2 ms of work, with which two cores are 1.3 times as fast as one; with half of it
# they are 1.1 times as fast, with a quarter they are slower (Panda, TALOS).
TWO_THREADS_FROM = 4_000_000
# A batch of at least this many states waits for its kernel, since compiling and calling it takes
# less time than NumPy. For a 7-axis arm, NumPy takes 0.5 ms per state and the compilation 0.12 s
# (inverse dynamics), or 12 ms and 0.8 s (derivatives of forward dynamics).
WORTH_WAITING = 200
# Result: an array, or several in a NamedTuple. Out: arrays to write results to; None: new ones.
Result = np.ndarray | tuple[np.ndarray, ...]
Out = Result | None
MOST_CALLERS = 1024  # of kernels, kept by a robot


class Dispatcher:
    """The calls of one robot; its kernels are shared with robots of the same structure.

    :ivar model: of the robot.
    :ivar kernels: RobotKernels; None where compilation is switched off.
    """

    def __init__(self, model: Model, kernels: RobotKernels | None = None, compile: bool = True,
                 install: Callable = lambda name, bind: None) -> None:
        """Take install(name, bind), called when the kernel of a Robot method is ready.

        bind(fallback) returns the kernel as a function that can replace the method; it calls
        fallback with arguments that the kernel does not accept.
        """
        self.model = model
        if kernels is None and compile and enabled() and model.nv:
            kernels = RobotKernels(model)
        self.kernels = kernels
        self._install = install
        self._threads = most_threads()
        self._checked: dict[KernelKey, Caller] = {}  # for checked arrays
        # (name, arguments, id of the constraints) -> Caller for unchecked arguments
        self._ready: dict[tuple[str, tuple, int], Caller] = {}

    # Kernels ---------------------------------------------------------------------------------

    def compile(self, keys: Sequence[KernelKey], wait: bool) -> None:
        """Request kernels, and wait for them if `wait` is set."""
        if self.kernels is None:
            raise DynamicsError('compilation is switched off for this robot: by compile=False, by '
                                'DYNAMICS_NODE_COMPILE=0, or because it has no joints that move')
        if wait:
            self.kernels.wait(keys)
        for key in keys:
            self.kernels.request(key)

    def is_compiled(self, keys: Sequence[KernelKey]) -> bool:
        """Return whether all these kernels are ready."""
        return self.kernels is not None and all(self.kernels.is_ready(key) for key in keys)

    def await_kernel(self, name: str, with_wrenches: bool = False,
                     constraints: tuple[Constraint, ...] = ()) -> None:
        """Wait for a kernel before many calls; if it cannot be made, these are in NumPy."""
        if has_kernel(self.model, name, constraints):
            self._awaited(key_of(self.model, name, (), with_wrenches, constraints))

    def caller(self, key: KernelKey) -> Caller | None:
        """Return the Caller of a key for checked arrays if its kernel is ready; else request it."""
        return self._caller(key) if has_kernel(self.model, key.kernel, key.constraints) else None

    def wrenches(self, wrenches: Mapping[str, ArrayLike]) -> np.ndarray:
        """Return the wrenches on all bodies of one state, checked, (6 bodies,)."""
        forces = check_wrenches(self.model, wrenches, 'wrenches')
        if any(force.ndim != 1 for force in forces.values()):
            raise DynamicsError('wrenches must be those of one state, (6,) each')
        return _flat_wrenches(self.model, forces, None)

    def _caller(self, key: KernelKey) -> Caller | None:
        """Return the Caller of a key if its kernel is ready."""
        if self.kernels is None:
            return None
        caller = self._checked.get(key)
        if caller is None:
            kernel = self.kernels.kernel(key)
            if kernel is None:
                return None
            if len(self._checked) >= MOST_CALLERS:  # anchors that move give a new key at each step
                self._checked.clear()
                self._ready.clear()
            caller = self._checked[key] = self._bind(
                kernel, key, lambda *checked, out=None: self._refused(key, checked, out))
            if not key.with_wrenches:
                self._publish(kernel, key)
        return caller

    def _publish(self, kernel: Kernel, key: KernelKey) -> None:
        """Let a kernel be called without the checks of `call`: by positional(), or as the method.

        The id of the constraints stays theirs: the fallback of the Caller keeps them alive.
        """
        place = key.kernel, key.arguments, id(key.constraints)
        self._ready[place] = self._bind(kernel, key, partial(self._call_positional, key.kernel,
                                                             key.arguments, key.constraints))
        if key.spec.direct and not key.arguments and key.constraints in ((), self.model.loops[0]):
            self._install(key.kernel, lambda fallback: self._bind(kernel, key, fallback))

    def _bind(self, kernel: Kernel, key: KernelKey, fallback: Callable) -> Caller:
        return Caller(kernel.code.single, kernel.code.block, kernel.lanes, kernel.inputs,
                      kernel.outputs, kernel.columns, uniform_values(self.model, key), fallback,
                      _two_threads_from(kernel), self._threads, kernel.code, key.spec.result)

    def _refused(self, key: KernelKey, states: Sequence[np.ndarray], out: Out = None) -> Result:
        """Compute in NumPy the states that a kernel refused.

        A kernel refuses a batch if one of its states is singular, which is not an error with
        constraints, or has a number that is too large. The batch is halved until only such states
        are computed in NumPy.
        """
        half = len(states[0]) // 2
        if states[0].ndim == 1 or half == 0:
            return written(self._in_numpy(key, states), out)
        caller = self._caller(key)   # another thread may have cleared the callers
        assert caller is not None
        halves = [caller(*(np.ascontiguousarray(part[rows]) for part in states))
                  for rows in (slice(half), slice(half, None))]
        if not isinstance(halves[0], tuple):
            return written(np.concatenate(halves), out)
        return written(tuple.__new__(key.spec.result, [
            np.concatenate(parts) for parts in zip(*halves)]), out)

    # Calls -----------------------------------------------------------------------------------

    def positional(self, name: str, arguments: tuple = (),
                   constraints: tuple[Constraint, ...] = ()) -> Callable:
        """Return f(*inputs) of a kernel: the compiled one if it is ready, else a checked call."""
        try:
            ready = self._ready.get((name, arguments, id(constraints)))
        except TypeError:  # a frame that is not hashable: refused by the call
            ready = None
        return ready or partial(self._call_positional, name, arguments, constraints)

    def _call_positional(self, name: str, arguments: tuple, constraints: tuple[Constraint, ...],
                         *inputs: ArrayLike) -> Any:
        named: dict[str, Any] = dict(zip(ALL_KERNELS[name].inputs, inputs))
        return self.call(name, None, arguments, constraints=constraints, **named)

    def call(self, name: str, wrenches: Wrenches = None, arguments: tuple = (),
             dwrenches: Wrenches = None, constraints: tuple[Constraint, ...] = (),
             out: np.ndarray | tuple[np.ndarray, ...] | None = None, **inputs: ArrayLike) -> Any:
        """Check the inputs, then compute.

        :param name: name of the kernel.
        :param wrenches: {frame: wrench}, for kernels that take external wrenches.
        :param arguments: (frame,) or (frame, local), (parts,) of targets, or (entries of v,).
        :param dwrenches: rates of the wrenches, for kernels that take them.
        :param constraints: the valid set of the kernel.
        :param out: arrays for the results, one or a tuple; None allocates them.
        :param inputs: the arrays by name, in the order of the spec.
        """
        spec = ALL_KERNELS[name]
        if spec.subject == FRAME:
            self.model.frame(arguments[0])
        external = {'wrenches': wrenches, 'dwrenches': dwrenches}
        states, n, with_wrenches = self._checked_states(
            inputs, {each: external[each] for each in spec.wrenches}, constraints, arguments)
        key = key_of(self.model, name, arguments, with_wrenches, constraints)
        if out is not None:
            out = check_out(out, result_shapes(self.model, key), n,
                            dict(zip(spec.inputs, states)))
        if n != 0 and has_kernel(self.model, name, constraints):
            caller = self._caller(key)
            if caller is None and (n or 0) >= WORTH_WAITING:
                caller = self._awaited(key)
            if caller is not None:
                return caller(*states) if out is None else caller(*states, out=out)
        return written(self._in_numpy(key, states), out)

    def _awaited(self, key: KernelKey) -> Caller | None:
        """Return the Caller of a key when its kernel has been made; None if it cannot be."""
        if self.kernels is not None:
            with suppress(DynamicsError):
                self.kernels.wait([key])
        return self._caller(key)

    def call_numpy(self, algorithm: Callable, wrenches: Wrenches = None, **inputs: ArrayLike
                   ) -> Any:
        """Check the inputs, then compute in NumPy a quantity that has no kernel."""
        states, _, with_wrenches = self._checked_states(inputs, {'wrenches': wrenches})
        shapes = [*((-1,) for _ in inputs), *([(-1, 6)] if with_wrenches else [])]
        return self._row_by_row(algorithm, states, shapes)

    def rows(self, algorithm: Callable, **inputs: np.ndarray) -> Any:
        """Compute in NumPy a quantity that has no kernel; the inputs are checked already."""
        n = checks.batch_size(inputs)
        return self._row_by_row(algorithm, [_rows_of(array, n) for array in inputs.values()],
                                [(-1,) for _ in inputs])

    def _checked_states(self, inputs: Mapping[str, ArrayLike], external: Mapping[str, Wrenches],
                        constraints: tuple[Constraint, ...] = (), arguments: tuple = ()
                        ) -> tuple[list[np.ndarray], int | None, bool]:
        """Return (states, number of states or None, whether wrenches are the last of them)."""
        arrays = {name: check_configuration(self.model, value) if name == 'q'
                  else checks.check_array(name, value, math.prod(
                      input_shape(self.model, name, constraints, arguments)))
                  for name, value in inputs.items()}
        forces = {name: {} if wrenches is None
                  else check_wrenches(self.model, wrenches, name)
                  for name, wrenches in external.items()}
        n = checks.batch_size(arrays, **forces)
        states = [_rows_of(array, n) for array in arrays.values()]
        with_wrenches = any(forces.values())
        if with_wrenches:
            states += [_flat_wrenches(self.model, each, n) for each in forces.values()]
        return states, n, with_wrenches

    # The NumPy path --------------------------------------------------------------------------

    def _in_numpy(self, key: KernelKey, states: Sequence[np.ndarray]) -> Result:
        """Compute what the kernel of a key computes."""
        spec = key.spec
        if states[0].ndim == 2 and len(states[0]) == 0:  # an empty batch
            empty = tuple(np.empty((0, *shape)) for shape in result_shapes(self.model, key))
            return empty[0] if len(empty) == 1 else tuple.__new__(spec.result, empty)
        algorithm = spec.numpy_algorithm
        if spec.constrained:
            def constrained(model: Model, *state: Any) -> Result:
                return spec.numpy_algorithm(model, key.constraints, *state)
            algorithm = constrained
        found = self._row_by_row(algorithm, states,
                                 state_shapes(self.model, key).values(), key.arguments)
        return tuple.__new__(spec.result, found) if isinstance(found, tuple) else found

    def _row_by_row(self, algorithm: Callable, states: Sequence[np.ndarray],
                    shapes: Iterable[tuple[int, ...]], arguments: tuple = ()) -> Result:
        """Call the algorithm state by state; each part of a state is flat."""
        def one(*state: np.ndarray) -> Result:
            shaped = (part.reshape(shape) for part, shape in zip(state, shapes))
            return algorithm(self.model, *shaped, *arguments)
        with np.errstate(all='ignore'):  # results that are not finite are refused below
            if states[0].ndim == 1:
                return _finite(one(*states))
            if len(states[0]) == 0:  # an empty batch: any state gives the shapes of the results
                some = one(*(self._some_values(state.shape[1]) for state in states))
                return _map(lambda part: np.empty((0, *np.shape(part))), some)
            found = [one(*row) for row in zip(*states)]
        if isinstance(found[0], tuple):
            return tuple(_finite_array(np.stack(parts)) for parts in zip(*found))
        return _finite_array(np.stack(found))

    def _some_values(self, size: int) -> np.ndarray:
        neutral = configuration.neutral(self.model)
        return neutral if size == len(neutral) else np.zeros(size)


def most_threads() -> int:
    """Return the greatest number of threads of a batch: DYNAMICS_NODE_THREADS, else all cores."""
    text = os.environ.get('DYNAMICS_NODE_THREADS', '')
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else (
            os.cpu_count() or 1)
    if not text.isdecimal() or int(text) < 1:
        raise DynamicsError(f"DYNAMICS_NODE_THREADS is '{text}'; expected at least 1, or nothing "
                            'for all cores')
    return int(text)


def _two_threads_from(kernel: Kernel) -> int:
    """Return the number of states from which on a batch uses two threads."""
    return TWO_THREADS_FROM // max(1, kernel.operations) + 2 * kernel.lanes


def _map(function: Callable[[np.ndarray], np.ndarray], result: Result) -> Result:
    return tuple(map(function, result)) if isinstance(result, tuple) else function(result)


def _finite(result: Result) -> Result:
    return _map(_finite_array, result)


def _finite_array(array: ArrayLike) -> np.ndarray:
    array = np.asarray(array, dtype=float, order='C')
    if not np.isfinite(array).all():
        raise NotFinite('the result is not finite: the values are too large')
    return array


def _rows_of(array: np.ndarray, n: int | None) -> np.ndarray:
    """Return the array contiguous, a single state repeated for each of n."""
    if n is not None and array.ndim == 1:
        array = np.broadcast_to(array, (n, len(array)))
    return np.ascontiguousarray(array)


def _flat_wrenches(model: Model, forces: Mapping[str, np.ndarray], n: int | None) -> np.ndarray:
    """Return the wrenches on all bodies, (6 bodies,) or (n, 6 bodies)."""
    forces = {name: _rows_of(F, n) for name, F in forces.items()}
    if n is None:
        return body_wrenches(model, forces).ravel()
    if n == 0:
        return np.zeros((0, 6 * len(model.bodies)))
    columns = body_wrenches(model, {name: F.T for name, F in forces.items()}, shape=(6, n))
    return np.ascontiguousarray(columns.reshape(-1, n).T)
