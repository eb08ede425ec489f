"""Test docs/papers.md: every file, method, service and test in its tables exists."""

import re

import pytest
from support.paths import DOCS, EXAMPLES, ROOT

from dynamics_node import Robot

ROWS = [[cell.strip() for cell in line.strip('|').split('|')]
        for line in (DOCS / 'papers.md').read_text().splitlines() if line.startswith('|')]
RESULTS = [row for row in ROWS if len(row) == 5 and row[1].startswith('`')]
SERVICES = {re.sub(r'(?<!^)([A-Z])', r'_\1', path.stem).lower()
            for path in (ROOT / 'srv').glob('*.srv')}


def test_the_tables_were_found():
    assert len(RESULTS) > 60


@pytest.mark.parametrize(('folder', 'column'), [('dynamics_node', 1), ('test', 4)])
def test_the_files_exist(folder, column):
    named = [row[column].strip('`') for row in RESULTS]
    assert [name for name in named if not (ROOT / folder / name).is_file()] == []


def test_the_methods_exist():
    named = [row[2].strip('`').removeprefix('Robot.') for row in RESULTS if row[2]]
    assert [name for name in named if not callable(getattr(Robot, name, None))] == []


def test_the_services_exist():
    """Torque modes are named beside them."""
    named = [row[3].strip('`').removeprefix('~/') for row in RESULTS if row[3].startswith('`')]
    assert [name for name in named if name not in SERVICES] == []


def test_every_study_is_listed():
    """A study is a file of examples/papers with a main program."""
    studies = {path.name for path in (EXAMPLES / 'papers').glob('*.py')
               if '__main__' in path.read_text()}
    assert {row[1].strip('`') for row in ROWS if len(row) == 2} & studies == studies
