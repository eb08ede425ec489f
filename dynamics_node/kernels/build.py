"""Build the kernel of a key: trace, select the program with fewest instructions, compile, cache."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np

from dynamics_node.compiler import cache
from dynamics_node.compiler.graph import TooManySymbols
from dynamics_node.compiler.kernel import Kernel, load, machine_code
from dynamics_node.compiler.operation_counts import instructions
from dynamics_node.compiler.row_loops import MIN_COLUMNS, fits_memory
from dynamics_node.compiler.trace import Program, check, trace
from dynamics_node.constrained.anchors import has_anchor
from dynamics_node.constrained.constraint import size
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels import delegated_compilation
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import KernelKey, key_of
from dynamics_node.kernels.shapes import state_shapes, uniform_shapes
from dynamics_node.kernels.traced_functions import functions
from dynamics_node.model.configuration import random_configuration
from dynamics_node.model.friction_terms import FrictionTerms
from dynamics_node.model.model import Model
from dynamics_node.model.regrouped_inertia import regrouped
from dynamics_node.spatial import so3

# A kernel that solves for matrices uses loops if instructions x columns exceed this. Measured with
# the derivatives of forward dynamics of TALOS (65,000 x 38): single states take half the time of
# straight-line code, batches nine tenths, the compilation a quarter. Batches of solo12
# (12,500 x 18) would take 1.3 times as long.
IN_LOOPS = 400_000
# The trace of an alternative algorithm is stopped when it has more than this times the symbols of
# the first. On 13 robots, alternatives with a shorter program had at most 0.81 times as many.
MORE_SYMBOLS = 1.0
# With more degrees of freedom the last algorithm is traced first, since its length grows least; the
# others only if they may be shorter. All kernels are traced with one form of the inertias, see
# _forms.
LONG_CHAIN = 50
ONE_FORM = 20   # the same for derivatives
# Greatest difference of a loaded kernel from trace.evaluate, relative to the largest number.
AGREEMENT = 1e-12
# The same with constraints, whose rows may be nearly dependent at a random state. Margins permit a
# sine of 1e-5 between rows; its square costs ten digits, a wrong instruction would cost all.
CONSTRAINED_AGREEMENT = 1e-6


def build_kernel(model: Model, key: KernelKey) -> Kernel:
    """Return the Kernel of a key: from the cache if it is there and valid, else compiled."""
    key = key.program
    name = name_of(model, key)
    kernel = _cached(name)
    if kernel is None and delegated_compilation.compile_key(key):
        kernel = _cached(name)
    if kernel is not None:
        return kernel
    kernel = _compiled(model, key, name)
    if kernel is None:
        raise DynamicsError(f'the machine code of {key.kernel} gives other results than its '
                            'program')
    return kernel


def _cached(name: str) -> Kernel | None:
    found = cache.read(name)
    return None if found is None else load(*found)


def _compiled(model: Model, key: KernelKey, name: str) -> Kernel | None:
    """Return the Kernel of a key, and cache it; None where the code fails its test.

    If packing fails, or the packed code fails its test, the kernel is compiled without packing.
    """
    for packed in (True, False):
        try:
            description, code = compile_kernel(model, key, packed)
        except Exception:
            if packed:
                continue
            raise
        kernel = load(description, code)
        if kernel is not None:
            cache.write(name, description, code)
            return kernel
    return None


def compile_kernel(model: Model, key: KernelKey, packed: bool = True) -> tuple[dict, bytes]:
    """Return (description, object code) of a key.

    :param packed: False compiles without SLP packing.
    """
    agreement = CONSTRAINED_AGREEMENT if key.constraints else AGREEMENT
    return machine_code(lambda: checked_program(model, key), tuple(uniform_shapes(model, key)),
                        _sample(model, key), agreement, packed)


def checked_program(model: Model, key: KernelKey) -> Program:
    """Return the Program of a key with the fewest instructions, checked."""
    program = program_of(model, key)
    check(program)
    return program


def program_of(model: Model, key: KernelKey) -> Program:
    """Return the Program with the fewest instructions, over all algorithms of a key.

    The first algorithm (of long chains the last, see LONG_CHAIN) is traced with each form of the
    inertias, the others with the better form. A long program that solves for matrices does so in
    loops, by the first algorithm only, see IN_LOOPS.
    """
    shapes = _shapes(model, key)
    with np.errstate(all='ignore'):  # values that are not finite are refused at run time
        forms = _forms(model, key)
        if key.spec.solves and model.nv >= MIN_COLUMNS:
            looped = trace(functions(forms[-1], key, in_loops=True)[0], shapes)
            if instructions(looped) * model.nv > IN_LOOPS and fits_memory(looped):
                others = [trace(functions(form, key, in_loops=True)[0], shapes)
                          for form in forms[:-1]]
                return _shortest([looped, *others])
        candidates = [functions(form, key)[::-1 if model.nv > LONG_CHAIN else 1] for form in forms]
        programs = [trace(first, shapes) for first, *_ in candidates]
        best = _shortest(programs)
        if model.nv > LONG_CHAIN and key.spec.least(model) > instructions(best):
            return best
        further = candidates[[program is best for program in programs].index(True)][1:]
        most = MORE_SYMBOLS * max((symbol.number for symbol in best.outputs), default=0)
        programs = [best]
        for other in further:
            with suppress(TooManySymbols):
                programs.append(trace(other, shapes, most))
    return _shortest(programs)


def _shortest(programs: Sequence[Program]) -> Program:
    return programs[0] if len(programs) == 1 else min(programs, key=instructions)


def _forms(model: Model, key: KernelKey) -> tuple[Model, ...]:
    """Return the model with each form of the inertias to trace: as written, and regrouped.

    Regrouped inertias have more zeros, but may lack zeros that a link has as written. Where tracing
    takes long, only the form with the shorter inverse dynamics is returned.
    """
    if not (key.spec.regroup and key.spec.payload):    # without payload: depends on no inertia
        return (model.with_(inertias=model.bare_inertias),)
    if model.nv > (ONE_FORM if key.spec.derivative else LONG_CHAIN):
        return (_shorter_form(model, key.with_payload),)
    return _both_forms(model)


def _both_forms(model: Model) -> tuple[Model, Model]:
    bare = model.with_(inertias=model.bare_inertias)
    return bare, regrouped(bare)


@lru_cache(maxsize=1)   # of the robot that is compiled now, for all its derivatives
def _shorter_form(model: Model, with_payload: bool) -> Model:
    plain = key_of(model, 'inverse_dynamics')._replace(with_payload=with_payload)
    shapes = _shapes(model, plain)
    return min(_both_forms(model),
               key=lambda form: instructions(trace(functions(form, plain)[0], shapes)))


def _shapes(model: Model, key: KernelKey) -> dict[str, tuple[int, ...]]:
    return {**state_shapes(model, key), **uniform_shapes(model, key)}


def _sample(model: Model, key: KernelKey) -> list[np.ndarray]:
    """Return a state and uniform inputs to test a kernel with."""
    rng = np.random.default_rng(0)
    values = {'q': random_configuration(model, rng), 'gravity': rng.normal(size=3),
              'given': _mask(rng, model.nv, model.nv - sum(map(size, key.constraints)))}
    turned = so3.from_quaternion(np.array([0.5, 0.1, -0.1, 0.85]) / np.sqrt(0.9925))
    values['anchors'] = np.tile([*turned.ravel(), 0.1, 0.2, 0.3],
                                sum(map(has_anchor, key.constraints)))
    for name in ('armature', 'damping', 'friction', *FrictionTerms._fields):
        values[name] = rng.uniform(0.1, 1.0, model.nv)
    if key.with_payload:  # any positive inertia
        values['payload'] = np.tile([1.0, 0.1, 0.2, 0.3, 2, 0, 2, 0, 0, 2.0],
                                    (len(model.bodies) + 1, 1))
    return [values.get(name, rng.normal(size=shape))
            for name, shape in _shapes(model, key).items()]


def _mask(rng: np.random.Generator, n: int, most: int) -> np.ndarray:
    """Return n numbers 0 or 1, about half of them 1, but no more than `most`."""
    mask = (rng.random(n) < 0.5).astype(float)
    return mask * (np.cumsum(mask) <= most)
