"""Import the public names of a package when they are first used (PEP 562)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]
               ) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions __getattr__ and __dir__ of a package.

        __getattr__, __dir__ = lazy_names(__name__, {'fourier': ('Fourier',)})

    Type checkers and editors need the imports under TYPE_CHECKING, and __all__, as well.

    :param package: its __name__.
    :param modules: {module of the package: public names in it}.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        value = getattr(import_module(f'{package}.{module_of[name]}'), name)
        setattr(sys.modules[package], name, value)   # next time found without this function
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return get, names
