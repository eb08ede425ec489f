"""Packages whose public names are imported when they are first used."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

INIT = """
from dynamics_node.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {'shapes': ('Circle', 'area'), 'broken': ('lost',)})
"""
SHAPES = """
class Circle:
    pass


def area():
    return 3.0
"""


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[ModuleType]:
    """Yield a package with lazy names, imported; none of its modules is."""
    folder = tmp_path / 'lazy_package'
    folder.mkdir()
    for name, text in {'__init__': INIT, 'shapes': SHAPES, 'broken': ''}.items():
        (folder / f'{name}.py').write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module('lazy_package')
    for name in [name for name in sys.modules if name.split('.')[0] == 'lazy_package']:
        del sys.modules[name]


def test_a_module_is_imported_when_one_of_its_names_is_used(package):
    """Once: afterwards the name is an attribute of the package."""
    assert 'lazy_package.shapes' not in sys.modules
    assert package.area() == 3.0
    assert vars(package)['area'] is sys.modules['lazy_package.shapes'].area
    assert 'Circle' not in vars(package)
    assert 'lazy_package.broken' not in sys.modules


def test_names_can_be_imported_from_the_package(package):
    from lazy_package import Circle
    assert Circle is package.Circle
    assert Circle.__module__ == 'lazy_package.shapes'


def test_dir_lists_all_names_and_imports_nothing(package):
    listed = dir(package)
    assert {'Circle', 'area', 'lost', '__name__'} <= set(listed)
    assert 'lazy_package.shapes' not in sys.modules


def test_an_unknown_name_is_an_attribute_error(package):
    """With the message of Python, also for `hasattr` and `from ... import`."""
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'square'"):
        _ = package.square
    assert not hasattr(package, '__wrapped__')
    with pytest.raises(ImportError, match='square'):
        from lazy_package import square  # noqa: F401


def test_a_name_that_its_module_does_not_have_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match="module 'lazy_package.broken' has no attribute"):
        _ = package.lost
