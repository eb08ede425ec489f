"""Test which kernels a control law requests; none is compiled here."""

import numpy as np
import pytest

from dynamics_node import Robot
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains
from dynamics_node.control.reference import Reference
from dynamics_node.control.reference_limits import ReferenceLimits
from dynamics_node.example_robots import ARM7
from dynamics_node.kernels.robot_kernels import RobotKernels
from dynamics_node.ros.torque.law_kernels import request_kernels, same_kernels

JOINTS = [f'joint_{k}' for k in range(1, 8)]


@pytest.fixture
def requested(monkeypatch):
    """The keys that are requested; their kernels are never ready."""
    monkeypatch.setenv('DYNAMICS_NODE_COMPILE', '1')
    keys = set()
    monkeypatch.setattr(RobotKernels, 'kernel', lambda self, key: keys.add(key))
    return keys


@pytest.fixture
def robots(requested):
    """{name: Robot}, the same one with other friction, payload, gravity."""
    bare = Robot.from_urdf(ARM7).with_friction(dict.fromkeys(JOINTS, 0.0),
                                               dict.fromkeys(JOINTS, 0.0))
    friction = bare.with_friction({'joint_3': 1.0})
    payload = bare.with_payload('box', 'tool0', 1.0)
    return {'bare': bare, 'friction': friction, 'payload': payload,
            'two payloads': payload.with_payload('cup', 'tool0', 0.1),
            'gravity': bare.with_gravity([0.0, 1.0, -9.0]),
            'both': friction.with_payload('box', 'tool0', 1.0)}


def keys_of(requested, robot, mode):
    requested.clear()
    gains = None if mode == 'gravity' else Gains.per_joint(7, 50.0, 5.0)
    controller = Controller(robot, mode, gains)
    q = np.full(7, 0.1)
    request_kernels(controller, q, lambda: Reference.hold(
        q, 0.0, ReferenceLimits.of(robot)).at(0.0))
    return set(requested)


@pytest.mark.parametrize('mode', ['gravity', 'impedance', 'computed_torque'])
def test_same_kernels_is_true_where_a_change_needs_no_other_kernel(requested, robots, mode):
    """Otherwise torques would be computed in NumPy after the change."""
    keys = {name: keys_of(requested, robot, mode) for name, robot in robots.items()}
    assert keys['friction'] != keys['bare'] and keys['bare']
    for a in robots:
        for b in robots:
            same = same_kernels(robots[a], robots[b])
            assert same is (('friction' in a or a == 'both') == ('friction' in b or b == 'both'))
            assert not same or keys[a] == keys[b], (a, b)


def test_kernels_with_and_without_payload_are_requested_together(requested, robots):
    for name in ('bare', 'payload', 'two payloads'):
        keys = keys_of(requested, robots[name], 'gravity')
        assert {key.with_payload for key in keys if key.spec.payload} == {False, True}
