"""Name the file of a cached kernel: a digest of everything that its code depends on.

These are the numbers of the model, the key, the sources of algorithms and compiler, LLVM, the CPU.
"""

import hashlib
import pickle
from functools import cache
from pathlib import Path

from dynamics_node.compiler import target
from dynamics_node.constrained.constraint import coordinates_of
from dynamics_node.kernels.keys import KernelKey, frames_of
from dynamics_node.model.configuration import coordinate_places
from dynamics_node.model.model import Model

PACKAGE = Path(__file__).resolve().parent.parent


def name_of(model: Model, key: KernelKey) -> str:
    """Return the file name of a kernel."""
    structure = pickle.dumps((
        [(body.joint, body.parent, body.placement, body.q, body.v, body.ratio, body.offset)
         for body in model.bodies], model.bare_inertias, model.friction_speed,
        [(joint.kind, joint.q, joint.v) for joint in model.joints],
        [model.frames[name] for name in frames_of(key)], _constrained_places(model, key),
        _springs(model),
        repr(key)), protocol=4)
    parts = hashlib.sha256(structure)
    parts.update(repr((sources(), target.fingerprint())).encode())
    return parts.hexdigest() + '.kernel'


def _constrained_places(model: Model, key: KernelKey) -> list[tuple]:
    """Return the frames and joints of the model that the constraints name."""
    return [(model.frames.get(each.frame), model.frames.get(each.to),
             coordinates_of(model, each)) for each in key.constraints]


def _springs(model: Model) -> list[tuple]:
    """Return the springs, constants of every program, with their frames and coordinates."""
    return [(spring, model.frames.get(spring.frame), model.frames.get(spring.to),
             coordinate_places(model).get(spring.joint)) for spring in model.springs]


@cache
def sources() -> str:
    """Return a digest of the sources of algorithms and compiler."""
    digest = hashlib.sha256()
    for room in ('spatial', 'model', 'algorithms', 'constrained', 'task_space', 'compiler',
                 'kernels'):
        for path in sorted((PACKAGE / room).glob('*.py')):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
