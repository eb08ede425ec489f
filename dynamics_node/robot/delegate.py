"""Forward methods of a Robot to its parts."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

P = ParamSpec('P')
R = TypeVar('R')


class Delegate(Generic[P, R]):
    """A method of a part, as a method of the object that has the part.

    On the class it is a function of the object, with the signature and docstring of the part's
    method. On an object it is the method bound to the part; the first lookup keeps it in the
    object's dictionary, so that later lookups are as fast as those of any attribute.
    """

    def __init__(self, part: str, method: Callable[Concatenate[Any, P], R]) -> None:
        """Take the attribute that holds the part, and the method of the part's class."""
        @wraps(method)
        def function(owner: Any, *arguments: P.args, **named: P.kwargs) -> R:
            return method(getattr(owner, part), *arguments, **named)
        self._part, self._method, self._name = part, method, ''
        self._function: Callable[..., R] = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        # A part cannot import the class that has it: the class is written as a string there.
        for function in (self._method, self._function):
            function.__annotations__ = {
                key: owner if hint == owner.__name__ else hint
                for key, hint in function.__annotations__.items()}

    @overload
    def __get__(self, owner: None, kind: type) -> Callable[Concatenate[Any, P], R]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Callable[P, R]: ...

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """Return the function of the class, or the method of an object."""
        if owner is None:
            return self._function
        bound = self._bound(owner)
        if getattr(kind, self._name) is self._function:  # not called by a subclass through super()
            vars(owner)[self._name] = bound
        return bound

    def _bound(self, owner: Any) -> Any:
        return self._method.__get__(getattr(owner, self._part))
