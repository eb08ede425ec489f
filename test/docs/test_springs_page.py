"""Test docs/springs.md: its code runs and its assertions hold."""

import re

from support.paths import DOCS

PAGE = (DOCS / 'springs.md').read_text()


def test_the_examples_run_one_after_the_other():
    """Each uses the results of those before it."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)
    names = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    assert len(blocks) == 2
    assert len(names['robot'].springs) == 3


def test_the_yaml_has_the_springs_of_the_first_example(arm):
    """And its cylinder."""
    text, = re.findall(r'```yaml\n(.*?)```', PAGE, flags=re.S)
    names = {}
    exec(re.findall(r'```python\n(.*?)```', PAGE, flags=re.S)[0], names)  # noqa: S102
    robot = arm.with_springs(text)
    assert robot.springs == names['robot'].springs[:2]
    assert [actuator.name for actuator in robot.actuators] == ['cylinder']
