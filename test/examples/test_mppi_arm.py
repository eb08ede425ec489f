"""Test examples/mppi_arm.py: sampled motions bring the arm around the wall, and not by chance."""

import sys

import numpy as np
import pytest
from support.paths import EXAMPLES

pytest.importorskip('matplotlib', reason='it draws a picture')
from PIL import Image  # noqa: E402


@pytest.fixture
def mppi_arm(monkeypatch, compiler_on):
    """The example as a module."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import mppi_arm
    yield mppi_arm
    sys.modules.pop('mppi_arm')


def test_the_arm_arrives_and_is_drawn(mppi_arm, tmp_path, capsys):
    """With fewer samples than by default."""
    picture = tmp_path / 'new' / 'mppi.png'
    code = mppi_arm.main(['--save', str(picture), '--samples', '300', '--seconds', '2.4'])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert 'rollouts per second' in printed and str(picture) in printed
    pixels = np.asarray(Image.open(picture).convert('L'))
    height, width = pixels.shape
    assert height > 300 and width > 600 and (pixels < 200).mean() > 0.005


def test_without_time_it_does_not_arrive(mppi_arm, tmp_path, capsys):
    """The exit code is for scripts."""
    assert mppi_arm.main(['--save', str(tmp_path / 'mppi.png'), '--samples', '20',
                          '--seconds', '0.2']) == 1
    assert 'NOT arrived' in capsys.readouterr().out


def test_the_straight_way_leads_through_the_wall(mppi_arm):
    """Else the wall would be no obstacle."""
    from dynamics_node import Robot
    from dynamics_node.example_robots import ARM7
    task = mppi_arm.Task(Robot.from_urdf(ARM7, friction=False, compile=False))
    straight = np.linspace(mppi_arm.START, mppi_arm.GOAL_POSE, 50)
    assert task.inside(task.tool(straight)).any()
    assert not task.inside(np.array([task.start, task.goal])).any()
