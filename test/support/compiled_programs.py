"""Compile small functions of arrays to kernels, for tests of the compiler."""

import ctypes
import itertools

import numpy as np

from dynamics_node import Robot
from dynamics_node.compiler import ctypes_call, target
from dynamics_node.compiler._call import Caller
from dynamics_node.compiler.lower import columns_of, lower
from dynamics_node.compiler.trace import check, trace
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.keys import key_of
from dynamics_node.kernels.shapes import state_shapes, uniform_shapes, uniform_values
from dynamics_node.kernels.traced_functions import functions

CALLERS = {'call.c': Caller, 'ctypes': ctypes_call.Caller}
LANES = (2, 4, 8)   # LLVM makes several registers of one that this CPU does not have
FMA = (True, False) if target.host()[2] else (False,)
# (lanes, fma, whether LLVM compiles as it does long programs)
TARGETS = (*itertools.product(LANES, FMA, (False,)), *((lanes, FMA[0], True) for lanes in LANES))
NEVER = 1 << 60     # threads from this many states on
FROM_FALLBACK = object()
G = np.array([10.0, 20.0, 30.0])    # the uniform of `three_results`


def three_results(x, y, g):
    """Two states of different sizes, a uniform; results of shapes (3,), (2, 3) and ()."""
    return x + g, np.outer(y, x), x @ x


def fallback(*args, **named):
    """Stand for the NumPy path."""
    return FROM_FALLBACK


class Kernel:
    """A function compiled for one width; `caller` makes a callable of it.

    :param large: see target.compile_ir.
    """

    def __init__(self, function, shapes, lanes=4, fma=None, uniform=None, margins=0, large=False):
        self.program = trace(function, shapes)
        check(self.program)
        self.lanes = lanes
        self.uniform = {name: np.asarray(value, dtype=float)
                        for name, value in (uniform or {}).items()}
        fma = target.host()[2] if fma is None else fma
        self.text = lower(self.program, lanes, tuple(self.uniform), fma, margins)
        self.code = target.Loaded(target.compile_ir(self.text, large))
        self.inputs = tuple(size for name, size in self.program.inputs
                            if name not in self.uniform)
        self.outputs = self.program.shapes[:len(self.program.shapes) - margins]
        self.columns = columns_of(self.program, lanes, tuple(self.uniform), margins)

    def caller(self, kind='call.c', fallback=fallback, threshold=NEVER, owner=None, threads=2):
        """Return a Caller of one of the two kinds."""
        return CALLERS[kind](self.code.single, self.code.block, self.lanes, self.inputs,
                             self.outputs, self.columns, tuple(self.uniform.values()), fallback,
                             threshold, threads, owner or self.code)

    def single(self, inputs, outputs):
        """Run on one state, straight on the arrays; return what the code returns."""
        call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
        return call(self.code.single)(*map(pointers, (inputs, outputs)))

    def batch(self, inputs, outputs, blocks):
        """Run on blocks of states, straight on the arrays; return what the code returns."""
        call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        status = 0
        for row in range(0, blocks * self.lanes, self.lanes):
            status |= call(self.code.block)(*map(pointers, (inputs, outputs)), row)
        return status


def kernel_of_arm(kernel, target, large=False):
    """Return the Kernel of the bundled arm by name, for a target (lanes, fma)."""
    robot = Robot.from_urdf(ARM7, compile=False)
    key = key_of(robot.model, kernel)
    shapes = {**state_shapes(robot.model, key), **uniform_shapes(robot.model, key)}
    values = {'gravity': robot.gravity, 'armature': np.linspace(0.1, 0.7, 7),
              'damping': robot.model.damping, 'friction': robot.model.friction}
    return Kernel(functions(robot.model, key)[0], shapes, *target, values, margins=1,
                  large=large)


def caller_of(kernel, model, key):
    """Return the Caller of a Kernel as build.py makes them."""
    return Caller(kernel.code.single, kernel.code.block, kernel.lanes, kernel.inputs,
                  kernel.outputs, kernel.columns, uniform_values(model, key), fallback, NEVER, 1,
                  kernel.code)


def pointers(arrays):
    """Return the C array of the arrays' addresses."""
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
