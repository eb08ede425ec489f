"""Test docs/links.md: its code runs, and its assertions hold."""

import re

from support.paths import DOCS

from dynamics_node.robot.links import LinkQuantities

PAGE = (DOCS / 'links.md').read_text()


def test_the_examples_run_one_after_the_other():
    """Each uses the results of those before it."""
    names = {}
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert len(blocks) == 5
    assert names['mass'] > 0.0


def test_every_public_method_is_on_the_page():
    """New ones too."""
    methods = {name for name in vars(LinkQuantities) if not name.startswith('_')}
    assert [name for name in sorted(methods) if name not in PAGE] == []
