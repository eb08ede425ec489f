"""Test docs/constraints.md: its code runs, its assertions hold, its list is complete."""

import re

from support.paths import DOCS

from dynamics_node import Robot
from dynamics_node.constrained.constraint import FIELDS, KINDS
from dynamics_node.constrained.read_loops import read_loops
from dynamics_node.robot.constrained import CHOICES, ConstrainedDynamics

PAGE = (DOCS / 'constraints.md').read_text()


def test_the_examples_run_one_after_the_other(capsys):
    """Each uses the results of those before it."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert len(blocks) == 15
    assert isinstance(names['floating'], Robot)
    assert '2 constraint rows of rank 2' in capsys.readouterr().out


def test_the_yaml_list_can_be_read():
    """As printed on the page."""
    text, = re.findall(r'```yaml\n(.*?)```', PAGE, flags=re.S)
    found = read_loops(text)
    assert [each.kind for each in found.constraints] == ['revolute', 'coupling']
    assert found.passive == ('ankle',)


def test_every_kind_field_choice_and_method_is_on_the_page():
    """With the number of rows."""
    for kind, rows in KINDS.items():
        line, = re.findall(rf'^\| `{kind}` \| (\d) \|.*\|$', PAGE, flags=re.M)
        assert int(line) == rows
    fields = {field for each in FIELDS.values() for field in each}
    assert [field for field in sorted(fields) if field not in PAGE] == []
    assert [choice for choice in CHOICES if f'`{choice}`' not in PAGE] == []
    methods = {name for name in vars(ConstrainedDynamics) if not name.startswith('_')}
    assert [name for name in sorted(methods) if name not in PAGE] == []
