"""Test examples/lqr.py: A and B stabilise an arm in another engine, and the limits are checked."""

import subprocess
import sys

import numpy as np
import pytest
from support.paths import EXAMPLES

pytest.importorskip('mujoco', reason='the arm is simulated by mujoco (requirements/test.txt)')
pytest.importorskip('matplotlib', reason='it draws a picture')
from PIL import Image  # noqa: E402

EXAMPLE = EXAMPLES / 'lqr.py'


def run(*words):
    """Return the finished process."""
    return subprocess.run([sys.executable, EXAMPLE, *map(str, words)], capture_output=True,
                          text=True, timeout=120)


def test_the_arm_settles_as_predicted_and_is_drawn(tmp_path):
    """Acceptance limits are printed, a line per joint, and the picture is not empty."""
    picture = tmp_path / 'new' / 'lqr.png'
    done = run('--save', picture)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(' met\n') == 2 + 1   # two bars, and all
    assert 'NOT met' not in done.stdout
    assert [f'joint_{k}' in done.stdout for k in range(1, 8)] == [True] * 7
    assert str(picture) in done.stdout
    pixels = np.asarray(Image.open(picture).convert('L'))
    assert pixels.shape > (400, 800) and (pixels < 128).mean() > 0.005


def test_an_arm_that_has_not_arrived_is_a_failure(tmp_path):
    """The exit code is for scripts."""
    done = run('--seconds', 0.1, '--save', tmp_path / 'lqr.png')
    assert (done.returncode, done.stderr) == (1, '')
    assert 'NOT all bars met' in done.stdout


def test_wrong_matrices_do_not_meet_the_limits(monkeypatch, tmp_path, capsys):
    """Torques with a threefold effect give another cost than predicted."""
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    import lqr

    from dynamics_node import Robot
    right = Robot.linearize

    def wrong(self, *state):
        linear = right(self, *state)
        return linear._replace(B=3.0 * linear.B)
    monkeypatch.setattr(Robot, 'linearize', wrong)
    assert lqr.main(['--save', str(tmp_path / 'lqr.png')]) == 1
    assert 'cost against prediction' in capsys.readouterr().out


def test_help_fits_one_screen():
    """At most one screen of text."""
    done = run('--help')
    assert done.returncode == 0
    assert '--save' in done.stdout
