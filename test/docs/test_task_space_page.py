"""Test docs/task_space.md: its code runs, its assertions hold, its tables are complete."""

import re

from support.paths import DOCS

from dynamics_node import Robot
from dynamics_node.robot.task_space import TaskSpace
from dynamics_node.spatial.positions import POSITIONS
from dynamics_node.spatial.rotations import SIZES
from dynamics_node.task_space.bounds import KINDS
from dynamics_node.task_space.inverse_kinematics import REASONS
from dynamics_node.task_space.tasks import FIELDS

PAGE = (DOCS / 'task_space.md').read_text()


def test_the_examples_run_one_after_the_other():
    """Each uses the results of those before it."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {}
    for block in blocks:
        if 'dynamics_node.ros' not in block:  # that one needs ROS: test/ros/test_task_services.py
            exec(block, names)  # noqa: S102
    assert len(blocks) == 10
    assert isinstance(names['robot'], Robot)
    assert names['weak'].status == 'infeasible'


def test_every_method_kind_and_reason_is_on_the_page():
    """New ones too."""
    methods = {name for name in vars(TaskSpace) if hasattr(Robot, name) and name[0] != '_'}
    words = {*methods, *KINDS, *FIELDS, *REASONS, *SIZES, *POSITIONS}
    assert [word for word in sorted(words) if f'`{word}' not in PAGE] == []
