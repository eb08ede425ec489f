"""Call a kernel through ctypes, as call.c does, where that extension was not built."""

import ctypes
from collections.abc import Callable, Sequence

import numpy as np


class Caller:
    """A kernel that can be called with NumPy arrays; see call.c for the arguments."""

    def __init__(self, single: int, batch: int, lanes: int, inputs: tuple[int, ...],
                 outputs: tuple[tuple[int, ...], ...], uniforms: tuple[np.ndarray, ...],
                 fallback: Callable, threshold: int, threads: int, owner: object,
                 kind: type = tuple):
        self._single, self._batch = functions(single, batch)
        self._lanes, self._inputs, self._outputs = lanes, inputs, outputs
        self._kind = kind
        self._uniforms, self._fallback, self._owner = uniforms, fallback, owner
        for name in ('__doc__', '__name__', '__qualname__', '__module__'):
            if hasattr(fallback, name):
                setattr(self, name, getattr(fallback, name))
        self.__wrapped__ = fallback  # inspect.signature follows it

    def __get__(self, owner, kind=None):
        """Make a Caller a routine for help(); Python does not call it for an attribute."""
        return self

    def __call__(self, *args, **named):
        if named or not self._plain(args):
            return self._fallback(*args, **named)
        if args[0].ndim == 1:
            results = [np.empty(shape) for shape in self._outputs]
            bad = self._single(pointers([*args, *self._uniforms]), pointers(results))
        else:
            bad, results = self._many(args, len(args[0]))
        if bad:
            return self._fallback(*args)
        return results[0] if len(results) == 1 else tuple.__new__(self._kind, results)

    def _many(self, args, n):
        """Run whole blocks on padded copies: the kernel reads and writes beyond the last row."""
        blocks = -(-n // self._lanes)
        rows = blocks * self._lanes
        padded = [np.concatenate([arg, np.repeat(arg[-1:], rows - n + self._lanes, axis=0)])
                  for arg in args]
        results = [np.empty((rows + self._lanes, *shape)) for shape in self._outputs]
        bad = self._batch(pointers([*padded, *self._uniforms]), pointers(results), blocks)
        return bad, [result[:n].copy() for result in results]

    def _plain(self, args):
        """Return whether the kernel takes the arguments as they are."""
        return (len(args) == len(self._inputs)
                and all(type(arg) is np.ndarray and arg.dtype == np.float64
                        and arg.flags.c_contiguous and arg.flags.aligned
                        and arg.ndim in (1, 2) and arg.shape[-1] == size
                        for arg, size in zip(args, self._inputs))
                and len({arg.shape[:-1] for arg in args}) == 1 and args[0].size > 0)


def functions(single: int, batch: int) -> tuple[Callable, Callable]:
    """Return the two functions of a kernel from their addresses (see lower.py)."""
    types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    return (ctypes.CFUNCTYPE(*types)(single),
            ctypes.CFUNCTYPE(*types, ctypes.c_int64)(batch))


def pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array:
    """Return the array of pointers to blocks that a kernel takes."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
