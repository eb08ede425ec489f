"""Test `dynamics_node compile`: kernels are in the cache afterwards; refusals in one line."""

import pytest

from dynamics_node import Robot
from dynamics_node.commands.main import main
from dynamics_node.compiler import cache
from dynamics_node.example_robots import MECHANISMS
from dynamics_node.kernels import compile_ahead
from dynamics_node.kernels.cache_name import name_of
from dynamics_node.kernels.keys import all_keys

FOUR_BAR = MECHANISMS['four_bar'].urdf


@pytest.fixture
def folder(tmp_path, monkeypatch, compiler_on):
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path))
    return tmp_path


def compile_command(*words):
    return main(('compile', *map(str, words)))


def test_kernels_are_in_the_cache(folder, capsys):
    """Those of the robot, and of the frames that are named."""
    robot = Robot.from_urdf(FOUR_BAR, compile=False)
    frame = robot.frame_names[-1]
    assert compile_command(FOUR_BAR, '--frame', frame, '--jobs', 2) == 0
    keys = all_keys(robot.model, (frame,))
    assert all(cache.read(name_of(robot.model, key)) for key in keys)
    written = capsys.readouterr()
    assert written.out.startswith(f'{len(keys)} kernels in ')
    assert '100%' in written.err


def test_a_kernel_that_cannot_be_made_is_named(folder, capsys, monkeypatch):
    failed = compile_ahead.Compiled(all_keys(Robot.from_urdf(FOUR_BAR, compile=False).model)[0],
                                    0.1, 'out of luck')
    monkeypatch.setattr(compile_ahead, 'compile_ahead', lambda *arguments: iter([failed]))
    assert compile_command(FOUR_BAR) == 1
    assert 'inverse_dynamics: out of luck' in capsys.readouterr().err


@pytest.mark.parametrize(('words', 'message'), [
    (('--jobs', 0), '--jobs is 0'), (('--frame', 'elbow'), "'elbow'")])
def test_refusals_are_one_line(words, message, folder, capsys):
    assert compile_command(FOUR_BAR, *words) == 2
    error = capsys.readouterr().err
    assert message in error and error.count('\n') == 1


def test_switched_off(folder, capsys, monkeypatch):
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '0')
    assert compile_command(FOUR_BAR) == 2
    assert 'DYNAMICS_NODE_COMPILE' in capsys.readouterr().err
