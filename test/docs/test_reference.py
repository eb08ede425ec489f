"""Test `make docs`: it builds without a warning and has every method, field and parameter."""

import html
import importlib
import re
import subprocess
import sys

import pytest
from support.paths import DOCS, ROOT

from dynamics_node import Robot
from dynamics_node.kernels.result_types import HybridDynamicsDerivatives
from dynamics_node.ros.parameters.declared import DECLARED

pytest.importorskip('sphinx')
pytest.importorskip('myst_parser')


# The trees of all pages stay until the end: the garbage collector would take a third of the time.
SPHINX = 'import gc, sys; gc.disable(); from sphinx.cmd.build import main; sys.exit(main())'


@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    """Build the documentation; return {page of docs/reference: its text}."""
    folder = tmp_path_factory.mktemp('docs')
    done = subprocess.run(
        [sys.executable, '-c', SPHINX, '-W', '--keep-going', '-q', '-b', 'html', '-d',
         folder / 'doctrees', DOCS, folder / 'html'], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {path.stem: html.unescape(re.sub('<[^>]+>', '', path.read_text()))
            for path in (folder / 'html' / 'reference').glob('*.html')}


def test_the_python_page_has_every_method_of_the_robot(pages):
    methods = [name for name in dir(Robot)
               if not name.startswith('_') and getattr(Robot, name).__doc__]
    assert len(methods) > 50
    assert [name for name in methods if name not in pages['python']] == []
    assert 'Bases:' not in pages['python']


def test_the_python_page_has_the_results(pages):
    """With the comments of their fields."""
    _, _, results = pages['python'].partition('Results')
    for name in ('ConstraintReport', 'ForwardDynamicsDerivatives', 'OperationalSpace'):
        assert f'.{name}(' in results
    assert 'dtau: (nv, nv) the inverse of the mass matrix' in results


def test_the_interfaces_page_has_every_field(pages):
    """Of services, messages and actions."""
    paths = [path for kind in ('srv', 'msg', 'action') for path in (ROOT / kind).iterdir()]
    assert len(paths) > 20
    for path in paths:
        for line in path.read_text().splitlines():
            assert line.strip() == '---' or line.strip() in pages['interfaces'], (path.name, line)


def test_the_parameters_page_has_every_parameter(pages):
    assert [name for name in DECLARED if name not in pages['parameters']] == []


@pytest.mark.parametrize('page', ['identification', 'observer', 'data', 'reports', 'client',
                                  'overview', 'contributing'])
def test_no_page_is_empty(page, pages):
    assert len(pages[page]) > 2000


@pytest.fixture
def docstrings(monkeypatch):
    """Return the module docs/docstrings.py."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module('docstrings')


def test_markup_in_a_docstring_is_text(docstrings):
    """Only `code`, lists, fields and indented equations are markup."""
    lines = ['Return |x| * b_, as `q_`.', '', '    tau = M a', '', '* one', '  more',
             ':param x: |x|']
    docstrings.to_rst(None, 'function', '', None, None, lines)
    assert lines == [r'Return \|x\| \* b\_, as ``q_``.', '', '::', '', '    tau = M a', '',
                     '* one', '  more', '', r':param x: \|x\|', '']


def test_the_comments_of_fields_are_read(docstrings):
    """Behind the field, and on the lines below it."""
    fields = dict(docstrings.commented_fields(HybridDynamicsDerivatives))
    assert list(fields) == ['dq', 'dv', 'dknown']
    assert fields['dq'] == '(nv, nv) along unit velocities'
