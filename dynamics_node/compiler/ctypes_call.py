"""Call a kernel through ctypes: what `call.c` does, where the extension was not built."""

import ctypes

import numpy as np


class Caller:
    """A kernel that can be called with NumPy arrays; see call.c for the arguments."""

    def __init__(self, single, batch, lanes, inputs, outputs, uniforms, fallback, threshold, owner,
                 kind=tuple):
        self._single, self._batch = functions(single, batch)
        self._lanes, self._inputs, self._outputs = lanes, inputs, outputs
        self._kind = kind
        self._uniforms, self._fallback, self._owner = uniforms, fallback, owner
        for name in ('__doc__', '__name__', '__qualname__', '__module__'):
            if hasattr(fallback, name):
                setattr(self, name, getattr(fallback, name))
        self.__wrapped__ = fallback  # inspect.signature follows it

    def __get__(self, owner, kind=None):
        """Let help() take a Caller for a routine; on an object it is not used."""
        return self

    def __call__(self, *args, **named):
        if named or not self._plain(args):
            return self._fallback(*args, **named)
        if args[0].ndim == 1:
            answers = [np.empty(shape) for shape in self._outputs]
            bad = self._single(pointers([*args, *self._uniforms]), pointers(answers))
        else:
            bad, answers = self._many(args, len(args[0]))
        if bad:
            return self._fallback(*args)
        return answers[0] if len(answers) == 1 else tuple.__new__(self._kind, answers)

    def _many(self, args, n):
        """Run whole blocks on padded copies: the kernel reads and writes beyond the last row."""
        blocks = -(-n // self._lanes)
        rows = blocks * self._lanes
        padded = [np.concatenate([arg, np.repeat(arg[-1:], rows - n + self._lanes, axis=0)])
                  for arg in args]
        answers = [np.empty((rows + self._lanes, *shape)) for shape in self._outputs]
        bad = self._batch(pointers([*padded, *self._uniforms]), pointers(answers), blocks)
        return bad, [answer[:n].copy() for answer in answers]

    def _plain(self, args):
        return (len(args) == len(self._inputs)
                and all(type(arg) is np.ndarray and arg.dtype == np.float64
                        and arg.flags.c_contiguous and arg.flags.aligned
                        and arg.ndim in (1, 2) and arg.shape[-1] == size
                        for arg, size in zip(args, self._inputs))
                and len({arg.shape[:-1] for arg in args}) == 1 and args[0].size > 0)


def functions(single, batch):
    """Return a kernel's two functions, given their addresses (see lower.py)."""
    types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    return (ctypes.CFUNCTYPE(*types)(single),
            ctypes.CFUNCTYPE(*types, ctypes.c_int64)(batch))


def pointers(arrays):
    """Return the array of pointers that a kernel takes for its blocks."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
