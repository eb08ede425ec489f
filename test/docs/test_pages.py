"""Test the Python code of README.md and docs/*.md: it compiles and imports public names only."""

import ast
import importlib
import importlib.util
import re

import pytest
from support.paths import DOCS, ROOT

PAGES = [ROOT / 'README.md', *sorted(DOCS.glob('*.md'))]
# A module of two words after dynamics_node is inside; the clients are what users import.
PUBLIC_MODULES = re.compile(r'dynamics_node(\.\w+)?|dynamics_node\.ros\.(fleet_)?client')


def imports_of(page):
    """Return [(module, names)] that the page imports from this package."""
    blocks = re.findall(r'```python\n(.*?)```', page.read_text(), flags=re.S)
    return [(node.module, [alias.name for alias in node.names])
            for block in blocks for node in ast.walk(ast.parse(block))
            if isinstance(node, ast.ImportFrom) and node.module.startswith('dynamics_node')]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.name)
def test_a_page_imports_public_names_that_exist(page):
    for module, names in imports_of(page):
        assert PUBLIC_MODULES.fullmatch(module), f'{page.name} imports {module}'
        if not module.startswith('dynamics_node.ros') or importlib.util.find_spec('rclpy'):
            loaded = importlib.import_module(module)
            assert [name for name in names if not hasattr(loaded, name)
                    and not importlib.util.find_spec(f'{module}.{name}')] == []


def test_the_pages_import_something():
    """The search above finds imports."""
    assert sum(len(imports_of(page)) for page in PAGES) > 10
