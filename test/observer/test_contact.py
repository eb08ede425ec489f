"""Test the contact flag: thresholds per joint, hysteresis, and delays."""

import numpy as np
import pytest

from dynamics_node import DynamicsError
from dynamics_node.observer.contact import ContactFlag

DT = 0.001


def flag(**options):
    return ContactFlag(2, **{'thresholds': (1.0, 4.0), 'hysteresis': 0.5, 'set_time': 0.005,
                             'clear_time': 0.02, **options})


def run(flag, torque, seconds, dt=DT):
    """Hold a torque for a while; return the flags."""
    return [flag.step(np.array(torque), dt) for _ in range(round(seconds / dt))]


def test_the_flag_is_set_after_set_time():
    seen = flag()
    assert run(seen, (1.1, 0.0), 0.01) == [False] * 4 + [True] * 6
    assert seen.joints.tolist() == [True, False]


@pytest.mark.parametrize('torque', [(0.99, 3.99), (-0.99, -3.99)])
def test_each_joint_has_its_threshold(torque):
    assert not any(run(flag(), torque, 1.0))


@pytest.mark.parametrize('torque', [(-1.01, 0.0), (0.0, -4.01), (0.0, 4.01)])
def test_either_sign_of_any_joint_counts(torque):
    assert run(flag(), torque, 0.01)[-1]


def test_spikes_shorter_than_set_time_are_ignored():
    seen = flag()
    for _ in range(100):
        assert not any(run(seen, (9.0, 9.0), 0.004) + run(seen, (0.0, 0.0), 0.001))


def test_the_flag_stays_until_all_joints_are_within_hysteresis():
    seen = flag()
    run(seen, (2.0, 0.0), 0.01)
    assert all(run(seen, (0.51, 0.0), 1.0))
    assert all(run(seen, (0.0, 2.1), 1.0))       # another joint holds it
    assert run(seen, (0.49, 1.9), 0.03) == [True] * 19 + [False] * 11


def test_a_dip_shorter_than_clear_time_is_ignored():
    seen = flag()
    run(seen, (2.0, 0.0), 0.01)
    for _ in range(20):
        assert all(run(seen, (0.0, 0.0), 0.019) + run(seen, (0.6, 0.0), 0.001))


def test_set_time_does_not_depend_on_the_sample_rate():
    """Whatever the steps are, it takes set_time."""
    for dt in (0.0005, 0.001, 0.0025):
        count = run(flag(), (2.0, 0.0), 0.02, dt).index(True) + 1
        assert abs(count * dt - 0.005) <= dt


def test_a_threshold_of_zero_disables_the_joint():
    seen = flag(thresholds=(0.0, 4.0))
    assert not any(run(seen, (1e9, 0.0), 0.1))
    assert run(seen, (1e9, 5.0), 0.1)[-1]


def test_a_torque_that_is_not_finite_is_a_contact():
    """The safe side."""
    assert run(flag(), (np.nan, 0.0), 0.01)[-1]


def test_a_disabled_joint_does_not_keep_the_flag():
    """For any hysteresis."""
    seen = flag(thresholds=(0.0, 4.0), hysteresis=0.0)
    assert run(seen, (9.0, 5.0), 0.1)[-1]
    assert not run(seen, (9.0, 0.0), 0.1)[-1]


def test_the_flag_does_not_chatter_at_the_threshold():
    """Noise about the threshold: one contact, not hundreds."""
    rng, seen = np.random.default_rng(0), flag(set_time=0.0)
    flags = [seen.step(np.array([torque, 0.0]), DT) for torque in rng.normal(1.0, 0.1, 5000)]
    assert np.count_nonzero(np.diff([False, *flags])) == 1


def test_reset_clears_the_flag():
    seen = flag()
    run(seen, (2.0, 0.0), 0.01)
    seen.reset()
    assert not seen.contact and not seen.joints.any()
    assert run(seen, (1.1, 0.0), 0.004) == [False] * 4


@pytest.mark.parametrize(('options', 'message'), [
    ({'thresholds': (1.0, -1.0)}, 'thresholds has -1'),
    ({'thresholds': (1.0, 1.0, 1.0)}, 'thresholds is .* expected 2 finite numbers'),
    ({'thresholds': np.nan}, 'thresholds is'),
    ({'hysteresis': 1.1}, 'hysteresis is 1.1; expected 0 to 1'),
    ({'hysteresis': np.nan}, 'hysteresis is nan'),
    ({'set_time': -0.1}, 'set_time is -0.1'),
    ({'clear_time': np.inf}, 'clear_time is inf'),
])
def test_invalid_settings_are_refused(options, message):
    with pytest.raises(DynamicsError, match=message):
        flag(**options)
