"""Test that published torques carry the springs of the robot."""

import numpy as np
import pytest
from support.pipeline_rig import IMPEDANCE, Rig, to
from support.tiny_robots import TWO_JOINTS

SPRINGS = """springs:
- {name: coil, stiffness: 4, rest: 0.5, joint: elbow}
- {name: rope, stiffness: 6, rest: 0.2, frame: elbow_link, to_point: [0.4, 0.3, 1.0]}
"""
HELD = 1e-9   # rounding


@pytest.mark.parametrize('mode', ['gravity', 'impedance', 'feedforward'])
def test_a_robot_at_rest_is_held_against_its_springs(mode):
    """Gravity and springs; without them the torque would be another one."""
    rig = Rig(TWO_JOINTS, node={'springs': SPRINGS}, **{**IMPEDANCE, 'mode': mode})
    rig.enabled()
    still = np.zeros(2)
    wanted = rig.robot.inverse_dynamics(rig.q, still, still)
    assert np.abs(rig.run(0.1) - wanted).max() < HELD
    assert np.abs(wanted - rig.robot.gravity_torque(rig.q)).min() > 0.5


def test_a_reference_is_followed_with_the_springs_of_its_positions():
    """Feedforward: the torque at the end is that of rest there."""
    rig = Rig(TWO_JOINTS, node={'springs': SPRINGS}, mode='feedforward')
    rig.enabled()
    rig.pipeline.follow(*to([0.3, 0.1]))
    held = rig.run(2.0)
    end, still = np.array([0.3, 0.1]), np.zeros(2)
    assert np.abs(held - rig.robot.inverse_dynamics(end, still, still)).max() < HELD
