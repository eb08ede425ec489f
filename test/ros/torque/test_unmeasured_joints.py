"""Test that a refusal to enable torques names the joints, on the pipeline."""

import numpy as np
import pytest
from support.pipeline_rig import Rig
from support.tiny_robots import TWO_JOINTS, chain

from dynamics_node import DynamicsError

GRIPPER = chain(('shoulder', 'revolute'), ('elbow', 'revolute'), ('finger', 'prismatic'))


def enable(rig):
    rig.pipeline.enable(rig.node_state.snapshot())


def test_a_joint_that_was_never_measured_is_named():
    rig = Rig(GRIPPER)
    rig.measured(['shoulder', 'elbow'])
    with pytest.raises(DynamicsError, match='no joint state has been measured of: finger$'):
        enable(rig)


def test_a_driven_joint_of_a_slow_publisher_is_named_with_its_age():
    """Undriven, it does not matter."""
    rig = Rig(GRIPPER)
    rig.measured(['finger'], age=0.5)
    rig.measured(['shoulder', 'elbow'])
    with pytest.raises(DynamicsError, match=r"too long ago: 'finger' 0\.5 s ago; at most 0\.05 s "
                                            r'\(safety.max_state_age\).*torque.joints'):
        enable(rig)
    arm = Rig(GRIPPER, joints=('shoulder', 'elbow'))
    arm.measured(['finger'], age=0.5)
    arm.measured(['shoulder', 'elbow'])
    enable(arm)
    assert arm.state == 'ramping in'


def test_a_joint_without_velocity_is_named():
    rig = Rig(TWO_JOINTS, node={'missing_velocity': 'fault'})
    rig.v = np.array([0.0, np.nan])
    rig.measured()
    with pytest.raises(DynamicsError, match='no velocity is known of: elbow; .*missing_velocity'):
        enable(rig)
