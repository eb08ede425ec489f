"""Test docs/friction.md: its code runs, its assertions hold, and its table is complete."""

import re

from support.paths import DOCS

from dynamics_node.example_robots import ARM7
from dynamics_node.model.friction_terms import FrictionTerms

PAGE = (DOCS / 'friction.md').read_text()


def test_the_example_runs():
    """With the bundled arm."""
    block, = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {'URDF': ARM7}
    exec(block, names)  # noqa: S102
    assert names['rough'].model.friction_terms.stribeck[1] == 1.2


def test_the_table_has_every_term():
    rows = re.findall(r'^\| `(\w+)` \| `\w+` \| ', PAGE, flags=re.M)
    assert rows == ['damping', 'friction', *FrictionTerms._fields]
