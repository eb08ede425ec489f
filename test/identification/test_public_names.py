"""Test the public names of `dynamics_node.identification` and `dynamics_node.reports`."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from dynamics_node import identification, reports


@pytest.mark.parametrize('package', [identification, reports], ids=lambda it: it.__name__)
def test_every_public_name_can_be_imported_and_has_a_docstring(package):
    """Also where a submodule of another name was imported before."""
    for name in package.__all__:
        assert name in dir(package)
        value = getattr(package, name)
        assert value.__doc__ and value.__name__ == name
        assert value.__module__.startswith(package.__name__)


@pytest.mark.parametrize('package', [identification, reports], ids=lambda it: it.__name__)
def test_editors_see_the_names_that_are_imported_lazily(package):
    """The imports under TYPE_CHECKING, __all__ and the table of modules agree."""
    tree = ast.parse(Path(package.__file__).read_text())
    seen = {(node.module, alias.name) for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module.startswith(package.__name__)
            for alias in node.names}
    assert seen == {(f'{package.__name__}.{module}', name)
                    for module, names in package._MODULES.items() for name in names}
    assert sorted(package.__all__) == sorted(name for _, name in seen)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match='identify_everything'):
        _ = identification.identify_everything


def test_the_tables_of_contents_import_nothing_heavy():
    """Only what is used is imported."""
    code = ('import sys, dynamics_node\nbefore = set(sys.modules)\n'
            'import dynamics_node.identification, dynamics_node.reports\n'
            'print(*set(sys.modules) - before)')
    new = subprocess.run([sys.executable, '-c', code], check=True, capture_output=True, text=True)
    assert set(new.stdout.split()) == {'dynamics_node.identification', 'dynamics_node.reports'}
