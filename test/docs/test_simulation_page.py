"""Test docs/simulation.md: its code runs, its assertions hold, its list of methods is complete."""

import re

import numpy as np
from support.paths import DOCS

from dynamics_node.robot.simulation import METHODS

PAGE = (DOCS / 'simulation.md').read_text()


def test_the_examples_run_one_after_the_other(compiler_on):
    """Each uses the results of those before it."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert len(blocks) == 7
    goal = names['goal']
    near, far = (np.linalg.norm(names['motion'].q[k] - goal) for k in (-1, 0))
    assert near < far
    assert np.abs(names['pushed'].q - names['motions'].q[0]).max() > 1e-3


def test_every_method_is_on_the_page():
    assert [name for name in METHODS if not re.search(rf'^\| `{name}`', PAGE, flags=re.M)] == []
