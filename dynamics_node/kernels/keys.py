"""Identify the kernels of a robot: the spec, and the constants of the program."""

from collections.abc import Sequence
from typing import NamedTuple

from dynamics_node.constrained.anchors import without_anchors
from dynamics_node.constrained.constraint import Constraint
from dynamics_node.kernels.spec import (
    CONSTRAINTS,
    COORDINATES,
    FRAME,
    ROBOT,
    TARGETS,
    WHOLE_BODY,
    KernelSpec,
)
from dynamics_node.kernels.table import ALL_KERNELS, specs_of
from dynamics_node.model.model import Model


class KernelKey(NamedTuple):
    """Identifies a kernel of a robot."""

    kernel: str                  # name of its spec
    arguments: tuple = ()        # (frame,) or (frame, local), (((frame, kind), ...),) of targets,
    #                              (entries of v,) of coordinates, or (parts, actuated entries
    #                              of v, limited joints) of a whole-body problem
    with_friction: bool = False  # damping and friction are inputs, else zero
    with_payload: bool = False   # payloads are inputs, else none
    with_wrenches: bool = False  # external wrenches are inputs, else none
    constraints: tuple[Constraint, ...] = ()
    with_friction_terms: bool = False   # further terms of friction are inputs, else none

    @property
    def program(self) -> 'KernelKey':
        """The key of the kernel: the places of contacts in the world are its inputs."""
        return self._replace(constraints=without_anchors(self.constraints)) if (
            self.constraints) else self

    @property
    def spec(self) -> KernelSpec:
        """The KernelSpec."""
        return ALL_KERNELS[self.kernel]


def key_of(model: Model, kernel: str, arguments: tuple = (), with_wrenches: bool = False,
           constraints: tuple[Constraint, ...] = ()) -> KernelKey:
    """Return the key of a kernel for the friction and payloads that a model has."""
    spec = ALL_KERNELS[kernel]
    with_friction = spec.friction and bool(model.has_friction.any())
    with_terms = with_friction and model.friction_terms is not None
    with_payload = spec.payload and bool(model.payloads)
    return KernelKey(kernel, tuple(arguments), with_friction, with_payload, with_wrenches,
                     constraints, with_terms)


def has_kernel(model: Model, kernel: str, constraints: tuple[Constraint, ...] = ()) -> bool:
    """Return whether a kernel is compiled for the model; not where its program is too large."""
    spec = ALL_KERNELS[kernel]
    if spec.constrained and not constraints and spec.subject != WHOLE_BODY:
        return False  # the kernel without constraints is used instead
    if any(callable(each.expression) for each in constraints):
        return False  # a Python function cannot be recognised in the cache on disk
    return spec.fits(model, constraints)


def all_keys(model: Model, frames: Sequence[str] = (), wrenches: bool = False,
             payloads: bool = False, derivatives: bool = False,
             constraints: tuple[Constraint, ...] = ()) -> list[KernelKey]:
    """Return the keys of all kernels of a robot, also of some frames and a set of constraints."""
    specs = [spec for spec in (*specs_of(ROBOT, derivatives),
                               *(specs_of(CONSTRAINTS, derivatives) if constraints else ()))
             if has_kernel(model, spec.name, constraints)]

    def key_for(spec: KernelSpec, with_wrenches: bool = False) -> KernelKey:
        return key_of(model, spec.name, (), with_wrenches,
                      constraints if spec.subject == CONSTRAINTS else ())
    keys = [key_for(spec) for spec in specs]
    if wrenches:
        keys += [key_for(spec, True) for spec in specs if spec.wrenches]
    if payloads:
        keys += [key._replace(with_payload=True) for key in keys if key.spec.payload]
    for frame in frames:
        keys += [key_of(model, spec.name, (frame, *axes)) for spec in specs_of(FRAME, derivatives)
                 for axes in ([(False,), (True,)] if spec.local else [()])]
    return list(dict.fromkeys(keys))


def frames_of(key: KernelKey) -> list[str]:
    """Return the names of the frames of a key."""
    if key.spec.subject == TARGETS:
        return [frame for frame, _ in key.arguments[0]]
    if key.spec.subject == WHOLE_BODY:
        return [part[1] for part in key.arguments[0] if part[0] == 'frame']
    return [] if key.spec.subject == COORDINATES else list(key.arguments[:1])
