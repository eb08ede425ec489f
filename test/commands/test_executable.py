"""Test what the program `dynamics_node` does before it imports ROS."""

import importlib.util

import pytest

from dynamics_node.commands import executable


@pytest.mark.parametrize('absent', ['dynamics_node.ros', 'rclpy'])
def test_where_there_is_no_ros_nothing_is_forked(monkeypatch, capfd, absent):
    """And the program says what the node needs."""
    def without(name, find=importlib.util.find_spec):
        return None if name == absent else find(name)

    def fail(*_):
        raise executable.DynamicsError('the node needs ROS 2')
    monkeypatch.setattr(executable, 'find_spec', without)
    monkeypatch.setattr(executable, 'import_ros', fail)
    monkeypatch.setattr(executable.signal, 'signal', lambda *_: None)
    monkeypatch.setattr(executable.os, 'fork', lambda: pytest.fail('forked'))
    assert executable.main(['--ros-args']) == executable.REFUSED
    assert 'needs ROS 2' in capfd.readouterr().err


def test_in_a_process_with_rclpy_new_interpreters_are_started():
    """As here: the libraries of rclpy have threads, which a fork does not copy."""
    import rclpy  # noqa: F401
    (start,) = executable.prepared_processes()
    assert start.__self__._waiting == {}
