"""Test that a kernel can be compiled before others, and its end is announced."""

import threading

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.keys import key_of
from dynamics_node.robot.urgent_kernel import compile_urgently


def test_the_end_is_announced_once_the_kernel_is_ready(fast_arm):
    """Also where it was ready before."""
    key = key_of(fast_arm.model, 'gravity_torque')
    for _ in range(2):
        ended = threading.Event()
        compile_urgently(fast_arm, key, ended.set)
        assert ended.wait(60)
        assert fast_arm._dispatcher.kernels.is_ready(key)
    assert fast_arm.compiling == 0
    assert fast_arm.compile_failures == []


def test_a_request_that_waits_in_the_queue_is_announced_too(fast_arm):
    fast_arm.compile()
    key = key_of(fast_arm.model, 'gravity_torque')
    ended = threading.Event()
    compile_urgently(fast_arm, key, ended.set)
    assert ended.wait(60)
    assert fast_arm._dispatcher.kernels.is_ready(key)


def test_without_compilation_the_end_is_announced_at_once():
    robot, ended = Robot.from_urdf(ARM7, compile=False), threading.Event()
    compile_urgently(robot, key_of(robot.model, 'gravity_torque'), ended.set)
    assert ended.is_set()
    assert robot.compiling == 0
