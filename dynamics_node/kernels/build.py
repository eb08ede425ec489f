"""From a key to machine code: trace, choose the cheapest program, lower, compile, test, keep."""

import gc
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from dynamics_node.compiler import cache, target
from dynamics_node.compiler.ctypes_call import functions as functions_at
from dynamics_node.compiler.ctypes_call import pointers
from dynamics_node.compiler.lower import instructions, lower
from dynamics_node.compiler.trace import check, evaluate, trace
from dynamics_node.constrained.constraint import size
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import functions, state_shapes, uniform_shapes
from dynamics_node.model.configuration import random_configuration
from dynamics_node.model.regrouped_inertia import regrouped

LARGE = 1500  # instructions
AGREEMENT = 1e-12  # of a loaded kernel with the interpreter, relative to the largest number
# The same where constraints are solved for: at a random state their rows may be nearly dependent.
# Margins let through sines of 1e-5, whose square takes ten digits; a wrong line costs them all.
HELD_AGREEMENT = 1e-6


class Kernel(NamedTuple):
    """Machine code that answers one key."""

    code: object     # target.Loaded: keeps the code in memory
    lanes: int
    inputs: tuple    # sizes of the state inputs
    outputs: tuple   # shapes of the answers
    operations: int  # floating-point instructions of the program


def program_of(model, key):
    """Return the cheapest Program for a key, over all ways to answer it.

    Regrouped inertias have more zeros, but can lose those a link had by itself: both are tried, by
    the first way; the others are tried with the better of the two.
    """
    shapes = {**state_shapes(model, key), **uniform_shapes(model, key)}
    bare = model.with_(inertias=model.bare_inertias)
    ways = [functions(form, key) for form in (bare, regrouped(bare))]
    with np.errstate(all='ignore'):  # what is not finite is met, and refused, at run time
        programs = [trace(first, shapes) for first, *_ in ways]
        best = min((0, 1), key=lambda form: instructions(programs[form]))
        programs = [programs[best], *(trace(other, shapes) for other in ways[best][1:])]
    return min(programs, key=instructions)


def build_kernel(model, key):
    """Return the Kernel of a key: from the cache if it is there and right, else compiled."""
    name = name_of(model, key)
    found = cache.read(name)
    if found is not None:
        kernel = _load(*found)
        if kernel is not None:
            return kernel
    program = checked_program(model, key)
    kernel = _kernel_of(model, key, program, name)
    if kernel is None:
        raise DynamicsError(f'the compiled {key.question} does not agree with its program')
    return kernel


def _kernel_of(model, key, program, name):
    """Return the Kernel of a program, and cache it; None where the code is wrong.

    Packing only saves time. If it fails, or its code is wrong, the kernel is made without packs.
    """
    for packed in (True, False):
        try:
            about, code = compile_program(model, key, program, packed)
        except Exception:
            if packed:
                continue
            raise
        kernel = _load(about, code)
        if kernel is not None:
            cache.write(name, about, code)
            return kernel
    return None


def compile_kernel(model, key):
    """Return (about, object code) of a key."""
    return compile_program(model, key, checked_program(model, key))


def checked_program(model, key):
    with _no_garbage_collection():
        program = program_of(model, key)
        check(program)
    return program


def compile_program(model, key, program, packed=True):
    """Return (about, object code); `about` is plain data and says how to call and to test it."""
    _, lanes, fma = target.host()
    uniform = tuple(uniform_shapes(model, key))
    with _no_garbage_collection():
        text = lower(program, lanes, uniform, fma, margins=1, packed=packed)
    code = target.compile_ir(text, large=instructions(program) > LARGE)
    sample = _sample(model, key)
    with np.errstate(all='ignore'):  # as in program_of
        expected = evaluate(program, np.concatenate([np.ravel(part) for part in sample]))
    about = {
        'lanes': lanes, 'operations': instructions(program),
        'inputs': [int(np.prod(shape)) for shape in state_shapes(model, key).values()],
        'outputs': [list(shape) for shape in program.shapes[:-1]],
        'sample': [np.ravel(part).tolist() for part in sample],
        'expected': [np.ravel(part).tolist() for part in expected[:-1]],
        'refused': not bool(np.all(expected[-1] > 0.0)),
        'agreement': HELD_AGREEMENT if key.constraints else AGREEMENT,
    }
    return about, code


@contextmanager
def _no_garbage_collection():
    """Look for no garbage among symbols: there is none, and it takes a third of the time.

    One thread compiles at a time, and Python is not forked meanwhile (see engine.py).
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _sample(model, key):
    """Return one state and uniform numbers to test a kernel with."""
    rng = np.random.default_rng(0)
    values = {'q': random_configuration(model, rng), 'gravity': rng.normal(size=3),
              'given': _some(rng, model.nv, model.nv - sum(map(size, key.constraints)))}
    for name in ('armature', 'damping', 'friction'):
        values[name] = rng.uniform(0.1, 1.0, model.nv)
    if key.loaded:  # any positive inertia will do
        values['payload'] = np.tile([1.0, 0.1, 0.2, 0.3, 2, 0, 0, 2, 0, 2.0],
                                    (len(model.bodies) + 1, 1))
    shapes = {**state_shapes(model, key), **uniform_shapes(model, key)}
    return [values.get(name, rng.normal(size=shape)) for name, shape in shapes.items()]


def _some(rng, n, most):
    """Return n numbers 0 or 1, about half of them 1, but no more than `most`."""
    some = (rng.random(n) < 0.5).astype(float)
    return some * (np.cumsum(some) <= most)


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
    if about['refused'] or not np.isfinite(np.concatenate(about['expected'])).all():
        return all(bad)  # no answer, as the centre of mass of nothing: the code has to say so
    return not any(bad) and all(
        _agree(part, want, about['agreement'])
        for got, all_rows, want in zip(one, many, map(np.array, about['expected']))
        for part in (got[:len(want)], all_rows[:len(want)],
                     all_rows[(rows - 1) * len(want):rows * len(want)]))


def _agree(got, want, agreement):
    return np.abs(got - want).max(initial=0.0) <= agreement * np.abs(want).max(initial=1.0)
