"""Test examples/papers: every bar is met, every topic is drawn, and wrong dynamics are noticed."""

import importlib

import numpy as np
import pytest

pytest.importorskip('matplotlib', reason='the studies draw pictures')
from PIL import Image  # noqa: E402

from dynamics_node import Robot  # noqa: E402

# Study -> number of its pictures, a topic of it, and a method of Robot that the topic checks.
STUDIES = {
    'three_link_and_stanford_by_denoc': (3, 'three_links_move', 'denoc'),
    'two_link_arm': (2, 'two_links_mass', 'operational_space'),
    'constraint_matrix_problems': (2, 'arm_by_constraint_matrix', 'universal_form'),
    'robot_dynamics_notes': (5, 'impact', 'impact'),
    'kim': (3, 'derivatives', 'inverse_dynamics_directional_derivative'),
}


@pytest.mark.parametrize('study', STUDIES)
def test_a_study_meets_its_bars_and_draws(study, tmp_path, capsys):
    """The exit code is 0 and no picture is empty."""
    code = importlib.import_module(study).main([str(tmp_path / 'new')])
    text = capsys.readouterr().out
    assert code == 0, text
    pictures = list((tmp_path / 'new').glob('*.png'))
    assert len(pictures) == STUDIES[study][0]
    for picture in pictures:
        assert str(picture) in text
        assert np.asarray(Image.open(picture).convert('L')).std() > 5.0


@pytest.mark.parametrize('study', STUDIES)
def test_a_method_that_is_wrong_by_one_percent_is_noticed(study, monkeypatch):
    """The bars compare Robot with the paper, not with itself."""
    _, topic, method = STUDIES[study]
    right = getattr(Robot, method)
    monkeypatch.setattr(Robot, method, lambda self, *args, **options: spoiled(
        right(self, *args, **options)))
    bars, _ = getattr(importlib.import_module(study), topic)()
    assert not all(bar.met for bar in bars)


def spoiled(result):
    """Return a result of Robot with every number one percent larger."""
    if isinstance(result, tuple):
        parts = [spoiled(part) for part in result]
        return type(result)(*parts) if hasattr(result, '_fields') else tuple(parts)
    return 1.01 * result
