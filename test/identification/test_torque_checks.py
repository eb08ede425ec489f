"""Test the checks of torques: wrong units and conventions are refused, joint by joint."""

import numpy as np
import pytest
from support.heavier_arm import other_values, recorded

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.parameters import parameter_layout
from dynamics_node.identification.torque_checks import check_torques

GEARS = np.array([160.0, 160.0, 100.0, 100.0, 80.0, 80.0, 50.0])
CONSTANTS = np.array([20.0, 20.0, 12.0, 12.0, 15.0, 15.0, 14.0])   # [N m/A] on the joint side
RATED = np.array([90.0, 90.0, 50.0, 50.0, 12.0, 12.0, 6.0])        # [N m]
DRY, STRIBECK = 2.0, 0.5    # of the RMS of a torque: friction dominates


@pytest.fixture(scope='module')
def arm(kernels):
    """The bundled arm of seven axes, compiled."""
    return Robot.from_urdf(ARM7)


@pytest.fixture(scope='module', params=[0.0, DRY], ids=['little friction', 'much friction'])
def right(request, arm):
    """A recording of an arm unlike its URDF, whose friction the model has only in part."""
    layout = parameter_layout(arm)
    recording = recorded(arm, layout, other_values(arm, layout, seed=1), 2000, 2, 0.1)
    size = np.sqrt(np.mean(recording.tau ** 2, axis=0))
    dry = np.sign(recording.v) * (1.0 + STRIBECK * np.exp(-np.abs(recording.v) / 0.1))
    return recording._replace(tau=recording.tau + request.param * size * dry)


def column(recording, name, k, change):
    """Return the recording with one column of an array changed."""
    array = getattr(recording, name).copy()
    array[:, k] = change(array[:, k])
    return recording._replace(**{name: array})


def swapped(recording, *names):
    """Return the recording with columns 1 and 3 of some arrays swapped."""
    order = [0, 3, 2, 1, 4, 5, 6]
    return recording._replace(**{name: getattr(recording, name)[:, order] for name in names})


def inverted(recording):
    for name in ('q', 'v', 'a', 'tau'):
        recording = column(recording, name, 1, np.negative)
    return recording


UNITS = {
    'motor side': (lambda r: r._replace(tau=r.tau / GEARS), 'joint_2 0.00.*before the gear'),
    'current': (lambda r: r._replace(tau=r.tau / CONSTANTS), 'joint_2 0.0.*currents'),
    'per mille of rated': (lambda r: r._replace(tau=1e3 * r.tau / RATED), 'joint_.* [1-9].*rated'),
    'mN m': (lambda r: r._replace(tau=1e3 * r.tau), r'joint_2 .*in mN m \(1000\)'),
    'mN m at one joint': (lambda r: column(r, 'tau', 1, lambda x: 1e3 * x),
                          r'are joint_2 [^,]*: they seem to be in mN m'),
    'sign of the load': (lambda r: r._replace(tau=-r.tau), 'sign is that of the load'),
    'sign': (lambda r: column(r, 'tau', 1, np.negative), "'joint_2' has the opposite sign"),
    'axis': (inverted, "joint 'joint_2' turns the other way"),
    'zero': (lambda r: column(r, 'q', 1, lambda x: x + np.pi / 2),
             "zero of joint 'joint_2' is off by 90 degrees"),
    'zero below': (lambda r: column(r, 'q', 3, lambda x: x - np.pi / 2),
                   "zero of joint 'joint_4' is off by -90 degrees"),
    'names': (lambda r: swapped(r, 'q', 'v', 'a', 'tau'), "joints 'joint_2' and 'joint_4' are sw"),
}


@pytest.mark.parametrize('fault', UNITS)
def test_wrong_units_and_conventions_are_refused(arm, right, fault):
    """Also where friction dominates: by what it cannot explain."""
    spoil, words = UNITS[fault]
    with pytest.raises(DynamicsError, match=words):
        list(check_torques(arm, spoil(right)))


def test_a_right_recording_passes_in_silence(arm, right):
    """Masses off by 30 %, rotors and friction that the URDF does not have."""
    assert list(check_torques(arm, right)) == []
