"""Test docs/derivatives.md: its code runs, and its assertions hold."""

import re

import numpy as np
from support.paths import DOCS

from dynamics_node import Robot
from dynamics_node.robot.derivatives import Derivatives

PAGE = (DOCS / 'derivatives.md').read_text()


def test_the_examples_run_one_after_the_other():
    """Each uses the results of those before it."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert len(blocks) == 5
    assert isinstance(names['robot'], Robot)
    assert np.shape(names['A']) == (14, 14)


def test_every_public_method_is_on_the_page():
    """New ones too."""
    methods = {name for name in vars(Derivatives) if not name.startswith('_')}
    short = {name for name in methods if name.endswith('_directional_derivative')}
    short -= {'inverse_dynamics_directional_derivative'}
    assert [name for name in sorted(methods - short) if name not in PAGE] == []
    assert short == {'forward_dynamics_directional_derivative',
                     'hybrid_dynamics_directional_derivative'}  # forward_... on the page
