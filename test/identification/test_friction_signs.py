"""Test that friction of the wrong sign is found."""

import numpy as np
import pytest
from support.heavier_arm import motion, other_values, recorded
from support.recorded_arm import THREE_JOINTS

from dynamics_node import DynamicsError, Robot
from dynamics_node.identification.friction_signs import driven_by_friction
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.identification.recording import Recording
from dynamics_node.identification.torque_checks import check_torques


@pytest.fixture(scope='module')
def arm(kernels):
    return Robot.from_urdf(THREE_JOINTS)


def rubbing(arm, size, seed):
    """Return a recording whose friction is `size` times the RMS of each torque."""
    t, q, v, a = motion(arm.nv, 2000, seed)
    tau = arm.inverse_dynamics(q, v, a)
    friction = np.sign(v) * (1.0 + 0.5 * np.exp(-np.abs(v) / 0.1))
    tau = tau + size * np.sqrt(np.mean(tau ** 2, axis=0)) * friction
    return Recording(arm.joint_names, t, q, v, a, tau)


@pytest.mark.parametrize('joint', range(3))
def test_an_inverted_effort_with_much_friction_is_found(arm, joint):
    """Also where the rest of the torque is a tenth of it."""
    recording = rubbing(arm, 10.0, 4)
    sign = np.where(np.arange(3) == joint, -1.0, 1.0)
    inverted = recording._replace(tau=sign * recording.tau)
    assert driven_by_friction(arm, inverted) == (arm.joint_names[joint],)
    with pytest.raises(DynamicsError, match='opposite sign'):
        list(check_torques(arm, inverted))


@pytest.mark.parametrize('seed', range(6))
def test_right_efforts_pass(arm, seed):
    """Of an arm with other masses and some friction, and of one with much of it."""
    layout = parameter_layout(arm)
    some = recorded(arm, layout, other_values(arm, layout, seed), 2000, seed, 0.1)
    assert driven_by_friction(arm, some) == () == driven_by_friction(arm, rubbing(arm, 2.0, seed))
