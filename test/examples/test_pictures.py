"""Test that pictures are written, with and without OpenGL."""

import camera
import numpy as np
import pytest
import renderer
from pictures import Phase, plot_errors, plot_torques, save_film, save_strip
from PIL import Image
from stick_camera import StickCamera

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7


@pytest.fixture
def phases():
    t = np.linspace(0.0, 2.0, 40)
    target = np.outer(np.sin(t), np.linspace(0.2, 0.8, 7))
    return [Phase('one', t, target + 1e-2, target, 50.0 * target, bar=0.1),
            Phase('two', t, target, target, 50.0 * target, loaded=t > 1.0)]


def test_rms_is_over_samples_and_joints(phases):
    assert phases[0].rms == pytest.approx(1e-2)


def test_plots_are_written(phases, tmp_path):
    plot_errors(tmp_path / 'errors.png', phases)
    plot_torques(tmp_path / 'torques.png', phases, list('abcdefg'), [*[80.0] * 6, np.nan])
    for name in ('errors.png', 'torques.png'):
        with Image.open(tmp_path / name) as plot:
            assert np.asarray(plot).std() > 5.0


def test_strip_and_film_are_written(phases, tmp_path):
    save_strip(tmp_path / 'strip.png', ARM7, phases, columns=3, size=(100, 120))
    with Image.open(tmp_path / 'strip.png') as strip:
        assert strip.size == (300, 240)
    save_film(tmp_path / 'arm.gif', ARM7, phases, seconds=1.0, fps=8, size=(100, 100))
    with Image.open(tmp_path / 'arm.gif') as film:
        assert film.n_frames == 8


def test_without_opengl_there_is_a_stick_figure(phases, tmp_path, monkeypatch):
    def fail(width, height):
        raise AttributeError("'NoneType' object has no attribute 'eglQueryString'")
    monkeypatch.setattr(renderer, '_context', fail)
    view = camera.open_camera(ARM7, (160, 160))
    assert isinstance(view, StickCamera)
    q = phases[0].q[20]
    image = view.picture(q, ghost=q + 0.1, loaded=True, path=[view.tip(q), view.tip(q + 0.1)])
    assert image.shape == (160, 160, 3)
    assert image.std() > 5.0


def test_the_tip_is_where_robot_says():
    robot = Robot.from_urdf(ARM7)
    q = robot.random_configuration(1)
    view = StickCamera(ARM7, (50, 50), tip='tool0')
    np.testing.assert_allclose(view.tip(q), robot.frame_pose(q, 'tool0')[:3, 3], atol=1e-12)
