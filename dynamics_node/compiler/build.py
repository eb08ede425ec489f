"""From a key to machine code: trace, choose the cheapest program, lower, compile, test, keep."""

from typing import NamedTuple

import numpy as np

from dynamics_node.compiler import cache, target
from dynamics_node.compiler.ctypes_call import functions as functions_at
from dynamics_node.compiler.ctypes_call import pointers
from dynamics_node.compiler.lower import instructions, lower
from dynamics_node.compiler.questions import functions, state_shapes, uniform_shapes
from dynamics_node.compiler.trace import check, evaluate, trace
from dynamics_node.errors import DynamicsError
from dynamics_node.model.configuration import random_configuration
from dynamics_node.model.regroup import regrouped

LARGE = 1500  # instructions
AGREEMENT = 1e-12  # of a loaded kernel with the interpreter, relative to the largest number


class Kernel(NamedTuple):
    """Machine code that answers one key."""

    code: object     # target.Loaded: keeps the code in memory
    lanes: int
    inputs: tuple    # sizes of the state inputs
    outputs: tuple   # shapes of the answers
    operations: int  # floating-point instructions of the program


def program_of(model, key):
    """Return the cheapest Program for a key, over all ways to answer it.

    Regrouped inertias have more zeros, but can lose those a link had by itself: both are tried.
    """
    shapes = {**state_shapes(model, key), **uniform_shapes(model, key)}
    bare = model.with_(inertias=model.bare_inertias)
    with np.errstate(all='ignore'):  # what is not finite is met, and refused, at run time
        programs = [trace(function, shapes) for form in (bare, regrouped(bare))
                    for function in functions(form, key)]
    return min(programs, key=instructions)


def build_kernel(model, key):
    """Return the Kernel of a key: from the cache if it is there and right, else compiled."""
    name = cache.name_of(model, key)
    found = cache.read(name)
    if found is not None:
        kernel = _load(*found)
        if kernel is not None:
            return kernel
    about, code = compile_kernel(model, key)
    kernel = _load(about, code)
    if kernel is None:
        raise DynamicsError(f'the compiled {key.question} does not agree with its program')
    cache.write(name, about, code)
    return kernel


def compile_kernel(model, key):
    """Return (about, object code); `about` is plain data and says how to call and to test it."""
    program = program_of(model, key)
    check(program)
    _, lanes, fma = target.host()
    uniform = tuple(uniform_shapes(model, key))
    code = target.compile_ir(lower(program, lanes, uniform, fma, margins=1),
                             large=instructions(program) > LARGE)
    sample = _sample(model, key)
    expected = evaluate(program, np.concatenate([np.ravel(part) for part in sample]))
    about = {
        'lanes': lanes, 'operations': instructions(program),
        'inputs': [int(np.prod(shape)) for shape in state_shapes(model, key).values()],
        'outputs': [list(shape) for shape in program.shapes[:-1]],
        'sample': [np.ravel(part).tolist() for part in sample],
        'expected': [np.ravel(part).tolist() for part in expected[:-1]],
    }
    return about, code


def _sample(model, key):
    """Return one state and uniform numbers to test a kernel with."""
    rng = np.random.default_rng(0)
    values = {'q': random_configuration(model, rng), 'gravity': rng.normal(size=3),
              'given': (rng.random(model.nv) < 0.5).astype(float)}
    for name in ('armature', 'damping', 'friction'):
        values[name] = rng.uniform(0.1, 1.0, model.nv)
    if key.loaded:  # any positive inertia will do
        values['payload'] = np.tile([1.0, 0.1, 0.2, 0.3, 2, 0, 0, 2, 0, 2.0],
                                    (len(model.bodies) + 1, 1))
    shapes = {**state_shapes(model, key), **uniform_shapes(model, key)}
    return [values.get(name, rng.normal(size=shape)) for name, shape in shapes.items()]


def _load(about, code):
    """Return the Kernel, or None where the code does not do what it should."""
    try:
        loaded = target.Loaded(code)
        kernel = Kernel(loaded, about['lanes'], tuple(about['inputs']),
                        tuple(map(tuple, about['outputs'])), about['operations'])
        return kernel if _passes_self_test(loaded, about) else None
    except (RuntimeError, LookupError, TypeError, ValueError):
        return None  # no object code (LLVM says RuntimeError), or not described as ours is


def _passes_self_test(loaded, about):
    sample = [np.array(part) for part in about['sample']]
    states = len(about['inputs'])
    rows = about['lanes']
    single, batch = functions_at(loaded.single, loaded.batch)
    one = [np.empty(max(1, len(part))) for part in about['expected']]
    many = [np.empty((rows + 1) * len(part) + rows) for part in about['expected']]
    batches = [np.concatenate([np.tile(part, rows + 1), np.zeros(rows)])
               for part in sample[:states]]
    bad = [single(pointers(sample), pointers(one)) != 0,
           batch(pointers([*batches, *sample[states:]]), pointers(many), 1) != 0]
    if not np.isfinite(np.concatenate(about['expected'])).all():
        return all(bad)  # no answer, as the centre of mass of nothing: the code has to say so
    return not any(bad) and all(
        _agree(got[:len(want)], want) and _agree(all_rows[:len(want)], want)
        and _agree(all_rows[(rows - 1) * len(want):rows * len(want)], want)
        for got, all_rows, want in zip(one, many, map(np.array, about['expected'])))


def _agree(got, want):
    return np.abs(got - want).max(initial=0.0) <= AGREEMENT * np.abs(want).max(initial=1.0)
