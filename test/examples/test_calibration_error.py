"""Test examples/calibration_error.py: the true errors are found, and wrong ones are a failure."""

import numpy as np
import pytest
from support.paths import EXAMPLES

pytest.importorskip('matplotlib', reason='it draws a picture')
from PIL import Image  # noqa: E402


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import calibration_error
    return calibration_error


def test_the_true_errors_are_found_and_drawn(example, tmp_path, capsys):
    """Both by name, one step each, and a last step that finds no further error."""
    picture = tmp_path / 'new' / 'errors.png'
    assert example.main(['--save', str(picture)]) == 0
    text = capsys.readouterr().out
    assert text.count('errors fitted') == 3
    assert 'encoder of joint_2' in text and 'length of the upper arm' in text
    pixels = np.asarray(Image.open(picture).convert('L'))
    assert pixels.shape > (400, 800) and (pixels < 200).mean() > 0.005


def test_errors_that_noise_hides_are_a_failure(example, tmp_path, capsys):
    """The exit code is for scripts."""
    assert example.main(['--noise', '100', '--save', str(tmp_path / 'errors.png')]) == 1
    assert 'NOT the true errors' in capsys.readouterr().out


def test_a_geometry_that_is_not_differentiated_is_a_failure(example, monkeypatch, tmp_path):
    """Without the rates of link lengths only an encoder could explain the torques."""
    from dynamics_node import Robot
    right = Robot.inverse_dynamics_directional_derivative

    def wrong(self, *state, dorigins=None, **rates):
        return right(self, *state, **rates)
    monkeypatch.setattr(Robot, 'inverse_dynamics_directional_derivative', wrong)
    assert example.main(['--save', str(tmp_path / 'errors.png')]) == 1
