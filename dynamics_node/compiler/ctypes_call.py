"""Call a kernel through ctypes, where the extension call.c was not built.

On one thread, on copies of the arguments, and without stores past the caches.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ALIGNMENT = 64   # [bytes] of columns
MEMORY = 1 << 17   # numbers of scratch memory; at least one block

# (size of the memory of a block in numbers, place of every number of the results in it)
Columns = tuple[int, np.ndarray]


class Caller:
    """A kernel that can be called with NumPy arrays; see call.c for the arguments."""

    def __init__(self, single: int, block: int, lanes: int, inputs: tuple[int, ...],
                 outputs: tuple[tuple[int, ...], ...], columns: Columns | None,
                 uniforms: tuple[np.ndarray, ...], fallback: Callable, threshold: int,
                 threads: int, owner: object, kind: type = tuple):
        self._single, self._block = functions(single, block)
        self._lanes, self._inputs, self._outputs = lanes, inputs, outputs
        self._columns, self._kind = columns, kind
        self._uniforms, self._fallback, self._owner = uniforms, fallback, owner
        for name in ('__doc__', '__name__', '__qualname__', '__module__'):
            if hasattr(fallback, name):
                setattr(self, name, getattr(fallback, name))
        self.__wrapped__ = fallback  # inspect.signature follows it

    def __get__(self, owner: object, kind: type | None = None) -> 'Caller':
        """Make a Caller a routine for help().

        Python does not call it for an attribute of an object.
        """
        return self

    def __call__(self, *args: Any, out: Any = None, **named: Any) -> Any:
        if named or not self._plain(args) or (out is not None and not self._fits(out, args)):
            return self._fallback(*args, **named, **({} if out is None else {'out': out}))
        if args[0].ndim == 1:
            results = self._arrays(out) or [np.empty(shape) for shape in self._outputs]
            bad = self._single(pointers([*args, *self._uniforms]), pointers(results))
        else:
            bad, results = self._many(args, len(args[0]), self._arrays(out))
        if bad:
            return self._fallback(*args, **({} if out is None else {'out': out}))
        return results[0] if len(results) == 1 else tuple.__new__(self._kind, results)

    def _arrays(self, out: Any) -> list[np.ndarray] | None:
        """Return the given arrays as a list; None where none are given."""
        return None if out is None else [out] if len(self._outputs) == 1 else list(out)

    def _fits(self, out: Any, args: Sequence[np.ndarray]) -> bool:
        """Return whether results can be written to `out` directly."""
        if len(self._outputs) != 1 and not (isinstance(out, tuple)
                                            and len(out) == len(self._outputs)):
            return False
        arrays, rows = self._arrays(out) or [], args[0].shape[:-1]
        return all(isinstance(array, np.ndarray) and array.dtype == np.float64
                   and array.flags.carray and array.shape == (*rows, *shape)
                   and not any(np.may_share_memory(array, other)
                               for other in (*args, *arrays[:k]))
                   for k, (array, shape) in enumerate(zip(arrays, self._outputs)))

    def _many(self, args: Sequence[np.ndarray], n: int, out: list[np.ndarray] | None
              ) -> tuple[int, list[np.ndarray]]:
        """Run whole blocks on padded copies: the kernel reads and writes beyond the last row."""
        blocks = -(-n // self._lanes)
        rows = blocks * self._lanes
        padded = [np.concatenate([arg, np.repeat(arg[-1:], rows - n + self._lanes, axis=0)])
                  for arg in args]
        bad, results = run_blocks(self._block, [*padded, *self._uniforms], self._outputs,
                                  self._lanes, blocks, self._columns)
        if out is None or bad:
            return bad, [result[:n].copy() for result in results]
        for array, result in zip(out, results):
            np.copyto(array, result[:n])
        return bad, out

    def _plain(self, args: Sequence[Any]) -> bool:
        """Return whether the kernel takes the arguments as they are."""
        return (len(args) == len(self._inputs)
                and all(type(arg) is np.ndarray and arg.dtype == np.float64
                        and arg.flags.c_contiguous and arg.flags.aligned
                        and arg.ndim in (1, 2) and arg.shape[-1] == size
                        for arg, size in zip(args, self._inputs))
                and len({arg.shape[:-1] for arg in args}) == 1 and args[0].size > 0)


def run_blocks(block: Callable, inputs: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]],
               lanes: int, blocks: int, columns: Columns | None
               ) -> tuple[int, list[np.ndarray]]:
    """Run a kernel on blocks of states; return (status, results).

    :param inputs: of blocks x lanes states and at least `lanes` numbers more, which the kernel
        may read.
    :param shapes: of the results of one state.
    :param columns: where the results are in the memory of a block, see call.c; None: in rows.
    """
    given, status = pointers(inputs), 0
    results = [np.empty(((blocks + 1) * lanes, *shape)) for shape in shapes]
    if columns is None:
        places = pointers(results)
        for first in range(0, blocks * lanes, lanes):
            status |= block(given, places, first)
        return status, results
    size, offsets = columns
    line = ALIGNMENT // 8
    size = -(-size // line) * line
    several = max(1, min(blocks, MEMORY // size))
    memory: np.ndarray = np.zeros(several * size + line)   # the kernel never writes column 0
    memory = memory[-memory.ctypes.data % ALIGNMENT // 8:]
    goals = [pointers([memory[k * size:]]) for k in range(several)]
    at = (np.arange(several)[:, None, None] * size + np.arange(lanes)[:, None] + offsets
          ).reshape(several * lanes, -1)
    ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in shapes])
    for first in range(0, blocks * lanes, several * lanes):
        states = range(first, min(first + several * lanes, blocks * lanes))
        for goal, state in zip(goals, states[::lanes]):
            status |= block(given, goal, state)
        rows = memory[at[:len(states)]]
        for result, part in zip(results, np.split(rows, ends[:-1], axis=1)):
            result[states.start:states.stop] = part.reshape(len(states), *result.shape[1:])
    return status, results


def functions(single: int, block: int) -> tuple[Callable, Callable]:
    """Return the two functions of a kernel from their addresses (see lower.py)."""
    types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    return (ctypes.CFUNCTYPE(*types)(single),
            ctypes.CFUNCTYPE(*types, ctypes.c_int64)(block))


def pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array:
    """Return the array of pointers to blocks that a kernel takes."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
