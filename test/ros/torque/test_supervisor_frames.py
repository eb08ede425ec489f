"""Test the reply of the serving process to a reference whose frame is not a link; no process."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from support import tf2_stand_in  # noqa: E402
from support.node_states import node_state_of  # noqa: E402
from support.tiny_robots import TWO_JOINTS  # noqa: E402

from dynamics_node.ros.torque.records import FrameWanted  # noqa: E402
from dynamics_node.ros.torque.supervisor import TorqueSupervisor  # noqa: E402

WANTED = FrameWanted(1, 'pose', 'left/camera', 0, b'')


class Process:
    """A torque process that wants the pose of one frame; `commands` are those it was sent."""

    failure, watchdog = '', SimpleNamespace(failure='')

    def __init__(self):
        self.commands = []

    def log_lines(self):
        return []

    wanted_kernels = log_lines

    def wanted_frames(self):
        return [WANTED]

    def call(self, *command):
        self.commands.append(command)


def replied(monkeypatch, node_state):
    """Return the commands to the process, and the warnings of the node."""
    monkeypatch.setitem(sys.modules, 'tf2_ros', tf2_stand_in)
    process, warnings = Process(), []
    supervisor = TorqueSupervisor(
        SimpleNamespace(node_state=node_state, log=SimpleNamespace(warning=warnings.append)),
        [], lambda: None)
    monkeypatch.setattr(supervisor, '_process', process)
    supervisor.read_messages()
    return process.commands, warnings


def test_the_pose_is_sent_back_with_the_reference(monkeypatch):
    """That of the frame with the prefix, which differs from the one without."""
    (command,), warnings = replied(monkeypatch, node_state_of(TWO_JOINTS, frame_prefix='left/'))
    name, wanted, pose, refusal = command
    assert (name, wanted, refusal, warnings) == ('follow_seen_from', WANTED, '', [])
    np.testing.assert_allclose(pose[:3, 3], tf2_stand_in.FRAMES['left/camera'][0])


def test_without_a_robot_the_reference_is_refused(monkeypatch):
    assert replied(monkeypatch, None) == ([], [
        "a reference in frame 'left/camera' was refused: there is no robot any more"])
