"""Test references of the torque pipeline, without ROS: followed, replaced, refused, timed out."""

import math

import numpy as np
import pytest
from support.pipeline_rig import IMPEDANCE, Rig, to
from support.tiny_robots import TWO_JOINTS

from dynamics_node import DynamicsError
from dynamics_node.control.controller import Controller
from dynamics_node.control.gains import Gains


def test_a_reference_is_followed_by_torques():
    """Impedance: springs to the present point of the reference."""
    rig = Rig(TWO_JOINTS, **IMPEDANCE, blend_time=0.1).enabled()
    controller = Controller(rig.robot, 'impedance', Gains.per_joint(2, 30.0, 4.0))
    held = rig.step()
    assert held == pytest.approx(rig.robot.gravity_torque(rig.q))
    rig.pipeline.follow(*to([0.5, 0.0]))
    rig.run(0.5)
    halfway = rig.pipeline._reference.at(rig.pipeline.now())
    assert halfway.q == pytest.approx([0.35, 0.1], abs=0.01) and halfway.v[0] > 0.1
    assert rig.releases[-1][0].effort == pytest.approx(controller.torque(rig.q, rig.v, halfway))
    rig.run(1.0)
    end = rig.robot.gravity_torque(rig.q) + 30.0 * np.array([0.3, -0.2])
    assert rig.step() == pytest.approx(end)


def test_a_reference_replaces_the_one_before_smoothly():
    """Torques are continuous: every step keeps the slew limit by far."""
    rig = Rig(TWO_JOINTS, **IMPEDANCE, blend_time=0.1).enabled()
    rig.pipeline.follow(*to([0.5, 0.0]))
    rig.run(0.5)
    rig.pipeline.follow(*to([0.2, 0.2]))
    before = rig.releases[-1][0].effort
    for _ in range(150):
        after = rig.step()
        assert np.abs(after - before).max() < 2.0
        before = after
    assert rig.step() == pytest.approx(rig.robot.gravity_torque(rig.q))


def test_a_reference_of_some_joints_leaves_the_others_where_they_are():
    rig = Rig(TWO_JOINTS, **IMPEDANCE).enabled()
    rig.pipeline.follow(*to([0.3], names=['elbow']))
    rig.run(1.5)
    expected = rig.robot.gravity_torque(rig.q) + 30.0 * np.array([0.0, 0.1])
    assert rig.step() == pytest.approx(expected)


def test_a_reference_may_begin_later():
    rig = Rig(TWO_JOINTS, **IMPEDANCE).enabled()
    start = rig.node_state.clocks.now + 1_000_000_000
    rig.pipeline.follow(*to([0.3, 0.2], 0.5, start=start))
    rig.run(1.8)
    assert rig.pipeline._reference.at(rig.pipeline.now()).q == pytest.approx([0.3, 0.2])


@pytest.mark.parametrize('wrong, expected', [
    (to([0.3, 0.2], names=['shoulder', 'knee']), "'knee'"),
    (to([0.3, 0.2], names=['elbow', 'elbow']), "'elbow' twice"),
    (to([0.3]), r'positions must have shape \(N, 2\)'),
    (to([math.nan, 0.2]), 'finite'),
    (to([9.0, 0.2]), "'shoulder' would be at"),
    (to([1.9, 0.2], 0.05), "'shoulder' would start"),
    (to([0.3, 0.2], start=1_600_000_000_000_000_000), 'was over')],
    ids=['unknown joint', 'joint twice', 'sizes', 'nan', 'beyond limit', 'far off', 'long ago'])
def test_a_malformed_reference_is_refused_and_the_old_one_goes_on(wrong, expected):
    rig = Rig(TWO_JOINTS, **IMPEDANCE).enabled()
    rig.pipeline.follow(*to([0.3, 0.1]))
    rig.run(2.0)
    before = rig.step()
    with pytest.raises(DynamicsError, match=expected):
        rig.pipeline.follow(*wrong)
    assert rig.step() == pytest.approx(before) and rig.state == 'enabled'


def test_a_reference_is_refused_in_modes_that_follow_none():
    rig = Rig(TWO_JOINTS, **IMPEDANCE)
    with pytest.raises(DynamicsError, match='torques are disabled: enable them first'):
        rig.pipeline.follow(*to([0.3, 0.2]))
    rig = Rig(TWO_JOINTS).enabled()
    with pytest.raises(DynamicsError, match="torque.mode is 'gravity', which follows no"):
        rig.pipeline.follow(*to([0.3, 0.2]))
    assert rig.state == 'enabled'


def test_a_reference_that_ends_is_held_or_a_fault():
    """As hold_reference says. Without a reference there is no timeout."""
    patient, strict = Rig(TWO_JOINTS, **IMPEDANCE), Rig(TWO_JOINTS, **IMPEDANCE,
                                                       hold_reference=False)
    for rig in (patient, strict):
        rig.enabled().run(1.0)
        assert rig.state == 'enabled'
        rig.pipeline.follow(*to([0.25, 0.2], 0.5))
        rig.run(0.95)
        assert rig.state == 'enabled'
        rig.run(0.1)
    assert patient.state == 'enabled'
    assert strict.state == 'fault' and 'max_reference_age' in strict.reason


def test_a_floating_base_cannot_follow_references():
    """Its gravity can still be held."""
    rig = Rig(TWO_JOINTS, node={'base': 'floating'}, mode='feedforward')
    state = rig.node_state.measured_state
    state.take_joint(rig.node_state.clocks.now, 'floating_base', np.array([0, 0, 0, 0, 0, 0, 1.0]),
                     np.zeros(6))
    state.take(rig.node_state.clocks.now, ['shoulder', 'elbow'], [0.1, 0.2])
    with pytest.raises(DynamicsError, match='floating joint'):
        rig.pipeline.enable(rig.node_state.snapshot())
    assert rig.state == 'disabled'
