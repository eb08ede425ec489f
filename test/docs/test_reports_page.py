"""Test docs/reports.md: its code runs, and it names every option."""

import argparse
import re

from support.paths import DOCS

from dynamics_node.commands.report import add_parser

PAGE = (DOCS / 'reports.md').read_text()


def test_the_example_runs():
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    for block in blocks:
        exec(block, {})  # noqa: S102
    assert len(blocks) == 1


def test_every_option_is_on_the_page():
    """Of each kind of report."""
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    add_parser(subparsers)
    kinds = next(action for action in subparsers.choices['report']._actions
                 if isinstance(action, argparse._SubParsersAction)).choices
    assert set(kinds) == {'model', 'trajectory', 'identification'}
    for kind, its in kinds.items():
        assert f'report {kind} ' in PAGE
        for action in its._actions:
            for option in action.option_strings:
                assert option in ('-h', '--help') or option in PAGE, option


def test_its_pictures_exist_and_are_small():
    for name in re.findall(r'\]\((pictures/[^)]+)\)', PAGE):
        assert (DOCS / name).stat().st_size < 150_000
