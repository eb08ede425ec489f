"""Test that the watchdog computes with kernels from the cache, and compiles none."""

import time

import numpy as np
import pytest
from support.watched_arm import ARM

from dynamics_node import Robot
from dynamics_node.control.controller import Controller
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels import build, delegated_compilation
from dynamics_node.ros.torque import watchdog_kernels
from dynamics_node.ros.torque.law_kernels import request_stop_kernels
from dynamics_node.ros.torque.predicted_state import without_kernels
from dynamics_node.ros.torque.watchdog_kernels import WatchdogKernels

Q, V = np.full(7, 0.3), np.full(7, 0.2)
EFFORT = np.full(7, 100.0)


@pytest.fixture
def other_process(compiler_on, monkeypatch):
    """A process that must not compile: the kernels of the arm are in the cache."""
    robot = Robot.from_urdf(ARM7, friction=False)
    for each in (robot, robot.with_payload('', 'tool0', 0.0)):
        for _ in range(2):   # the first one requests them
            request_stop_kernels(Controller(each), robot.neutral())
            each.compile(wait=True)
    monkeypatch.setattr(delegated_compilation, '_compile', None)   # set back after the test
    monkeypatch.setattr(build, 'checked_program', lambda *_: pytest.fail('it compiles'))


def loaded(robot):
    """Return the WatchdogKernels after they were loaded for a robot."""
    kernels = WatchdogKernels()
    kernels.load(without_kernels(Controller(robot)))
    deadline = time.monotonic() + 60.0
    while kernels._loaded[0].unfinished() and time.monotonic() < deadline:
        time.sleep(0.01)
    return kernels


def computed(controller):
    return np.array([controller.holding_torque(Q), controller.coasting_torque(Q, V),
                     controller.braking_torque(Q, V, EFFORT, 100.0)])


@pytest.mark.parametrize('robot', [ARM, ARM.with_payload('box', 'tool0', 2.0),
                                   ARM.with_gravity([0.0, 1.0, -9.0])],
                         ids=['bare', 'payload', 'gravity'])
def test_torques_with_kernels_are_those_of_numpy(other_process, robot):
    """Also of a robot whose payload or gravity has changed since they were loaded."""
    kernels = loaded(ARM)
    in_numpy = without_kernels(Controller(robot))
    found = kernels.used_by(in_numpy)
    assert found is not in_numpy
    np.testing.assert_allclose(computed(found), computed(in_numpy), rtol=0.0, atol=1e-10)
    assert found.robot.compiling == 0 and not found.robot.compile_failures


def test_numpy_is_used_until_the_kernels_are_loaded(other_process):
    controller = without_kernels(Controller(ARM))
    assert WatchdogKernels().used_by(controller) is controller


def test_numpy_is_used_without_llvmlite(other_process, monkeypatch):
    """And no exception ends the thread that loads."""
    monkeypatch.setattr(watchdog_kernels, 'find_spec', lambda name: None)
    kernels, controller = WatchdogKernels(), without_kernels(Controller(ARM))
    kernels.load(controller)
    assert kernels.used_by(controller) is controller


def test_kernels_of_another_robot_are_not_used(other_process):
    """They would give torques of another arm."""
    kernels = loaded(ARM)
    other = without_kernels(Controller(Robot.from_urdf(
        ARM7, friction=False, compile=False, locked={'joint_7': 0.1})))
    assert kernels.used_by(other) is other


def test_numpy_is_used_where_a_kernel_is_not_in_the_cache(other_process, monkeypatch, tmp_path):
    monkeypatch.setenv('DYNAMICS_NODE_CACHE', str(tmp_path / 'empty'))
    kernels = loaded(ARM)
    controller = without_kernels(Controller(ARM))
    assert kernels.used_by(controller) is controller
    assert 'the watchdog compiles none' in kernels._loaded[0].failures()[0]


def test_a_robot_with_many_joints_needs_kernels(other_process):
    text = ''.join(
        f'<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>' for k in range(14)) + ''.join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="1"/></joint>'
        for k in range(13))
    many = Robot.from_urdf(f'<robot name="many">{text}</robot>', compile=False)
    assert loaded(ARM).used_by(without_kernels(Controller(many))) is None
