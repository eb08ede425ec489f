"""Test docs/models.md: its code runs, its table has every field."""

import re
from dataclasses import fields

import numpy as np
from support.differences import relative
from support.paths import DOCS
from support.tolerances import EXACT_MATHS

from dynamics_node import RobotLink

PAGE = (DOCS / 'models.md').read_text()


def test_the_examples_run_one_after_the_other():
    """The mass matrix of the planar arm has a closed form: two points in the middle of 1 m."""
    names = {}
    for block in re.findall(r'```python\n(.*?)```', PAGE, flags=re.S):
        exec(block, names)  # noqa: S102
    c = np.cos(0.7)
    M = [[1.5 + c, 0.25 + 0.5 * c], [0.25 + 0.5 * c, 0.25]]
    assert relative(names['planar'].mass_matrix([0.2, 0.7]), M) < EXACT_MATHS
    assert names['pendulum'].joint_names == ('hinge',) and len(names['found'].notes) == 2
    assert names['panda'].nv == 7 and names['again'].name == 'crane'


def test_every_field_is_on_the_page():
    wanted = [each.name for each in fields(RobotLink) if each.init]
    assert [name for name in wanted if not re.search(rf'^\|.*`{name}`.*\|', PAGE, re.M)] == []
