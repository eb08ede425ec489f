"""Add the argument `out` to those methods of a Robot that a kernel computes alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_type_hints, overload

import numpy as np

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.spec import ROBOT, KernelSpec
from dynamics_node.kernels.table import ALL_KERNELS
from dynamics_node.robot.delegate import Delegate

P = ParamSpec('P')
R = TypeVar('R')
Out = np.ndarray | tuple[np.ndarray, ...] | None
OUT = inspect.Parameter('out', inspect.Parameter.KEYWORD_ONLY, default=None,
                        annotation='np.ndarray | tuple[np.ndarray, ...] | None')


class MethodWithOut(Protocol[P, R]):
    """A method with its own arguments, and `out`."""

    @overload
    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R: ...

    @overload
    def __call__(self, *arguments: Any, out: R | tuple[np.ndarray, ...] | None,
                 **named: Any) -> R: ...


def takes_out(spec: KernelSpec) -> bool:
    """Return whether a Robot method takes `out`: it does nothing but call its kernel."""
    return spec.direct and spec.subject == ROBOT


class KernelMethod(Delegate[P, R]):
    """A Delegate that also takes `out`: an array, or a tuple of arrays, for its results.

    With it, the results are written there, and returned; their memory is not allocated anew. The
    arguments are then those of the kernel: the arrays of its KernelSpec, and wrenches.
    """

    def __init__(self, part: str, method: Callable[Concatenate[Any, P], R]) -> None:
        """Take the attribute that holds the part, and the method of the part's class."""
        super().__init__(part, method)
        self._spec = ALL_KERNELS[method.__name__]
        assert takes_out(self._spec), f'{self._spec.name} is not computed by its kernel alone'
        own, *others = inspect.signature(method).parameters.values()
        self._signature = inspect.signature(method).replace(parameters=others)
        self._with_out = self._signature.replace(parameters=[*others, OUT])

        @wraps(method)
        def function(owner: Any, *arguments: Any, **named: Any) -> R:
            return self._bound(owner)(*arguments, **named)
        vars(function)['__signature__'] = self._with_out.replace(parameters=[own, *others, OUT])
        del vars(function)['__wrapped__']   # its source has no `out`: Sphinx reads defaults there
        function.__annotations__ = {**get_type_hints(method), 'out': Out}
        self._function = function

    def _bound(self, owner: Any) -> Any:
        spec, signature = self._spec, self._signature
        without, dispatcher = super()._bound(owner), owner._dispatcher

        @wraps(without)
        def method(*arguments: Any, out: Any = None, **named: Any) -> R:
            if out is None:
                return without(*arguments, **named)
            given = signature.bind(*arguments, **named).arguments
            return dispatcher.call(spec.name, out=out, **_of_kernel(spec, signature, given))
        vars(method)['__signature__'] = self._with_out
        return method

    @overload
    def __get__(self, owner: None, kind: type) -> Callable[Concatenate[Any, P], R]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> MethodWithOut[P, R]: ...

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Return the function of the class, or the method of an object."""
        return super().__get__(owner, kind)


def _of_kernel(spec: KernelSpec, signature: inspect.Signature, given: Mapping[str, Any]
               ) -> dict[str, Any]:
    """Return the arguments of the kernel; refuse options that only the method has."""
    kernel = {*spec.inputs, *spec.wrenches}
    others = [name for name, value in given.items()
              if name not in kernel and value is not signature.parameters[name].default]
    if others:
        raise DynamicsError(f'out is given with {", ".join(others)}; expected only '
                            f'{", ".join((*spec.inputs, *spec.wrenches))} with it')
    return {name: value for name, value in given.items() if name in kernel}
