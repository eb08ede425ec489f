"""Test the simulated driver: checked commands, and sensors with delay, noise and dropouts."""

import numpy as np
import pytest
from arm import SimulatedArm
from driver import START, Driver
from sensor import Reading, Sensor

from dynamics_node.example_robots import ARM7


def readings(number, n=7):
    rng = np.random.default_rng(0)
    return [Reading(k, *rng.normal(size=(3, n))) for k in range(number)]


# Sensors -----------------------------------------------------------------------------------------

def test_a_perfect_sensor_shows_the_true_state():
    sensor = Sensor()
    assert all(sensor(reading) == reading for reading in readings(5, n=0))


def test_noise_has_the_given_deviation():
    sensor, true = Sensor(position_noise=0.01, velocity_noise=0.2, seed=3), readings(2000)
    seen = [sensor(reading) for reading in true]
    for field, deviation in (('q', 0.01), ('v', 0.2)):
        noise = np.array([getattr(s, field) - getattr(t, field) for s, t in zip(seen, true)])
        assert np.std(noise) == pytest.approx(deviation, rel=0.03)
        assert abs(np.mean(noise)) < 4.0 * deviation / np.sqrt(noise.size)
    assert all(s.effort is t.effort and s.stamp == t.stamp for s, t in zip(seen, true))


def test_efforts_are_noisy_by_joint_and_positions_are_steps():
    deviation = np.array([0.5, 0.0])
    sensor, true = Sensor(effort_noise=deviation, resolution=0.25), [
        Reading(k, np.array([0.1 * k, 0.0]), np.zeros(2), np.ones(2)) for k in range(2000)]
    seen = [sensor(reading) for reading in true]
    efforts = np.array([reading.effort for reading in seen])
    np.testing.assert_allclose(efforts.std(axis=0), deviation, rtol=0.1)
    off = np.array([got.q - was.q for got, was in zip(seen, true)])
    assert np.abs(off).max() <= 0.125 + 1e-9 and off.std(axis=0)[0] > 0.05
    assert not any((reading.q / 0.25 % 1.0).any() for reading in seen)


def test_a_late_reading_keeps_its_stamp():
    sensor = Sensor(delay=3)
    seen = [sensor(reading) for reading in readings(10)]
    assert seen[:3] == [None] * 3
    assert [reading.stamp for reading in seen[3:]] == list(range(7))


def test_readings_are_lost_with_the_given_probability():
    sensor = Sensor(drop=0.1, seed=5)
    seen = [sensor(reading) for reading in readings(5000)]
    assert seen.count(None) == sensor.lost
    assert sensor.lost / 5000 == pytest.approx(0.1, abs=0.02)


def test_the_same_seed_gives_the_same_readings():
    """Dropouts do not depend on the noise."""
    def spoilt(**kwargs):
        return [sensor(reading) for sensor in [Sensor(**kwargs)] for reading in readings(200)]

    def q(seen):
        return [None if reading is None else reading.q.tolist() for reading in seen]
    noisy = {'position_noise': 0.1, 'delay': 1, 'drop': 0.3}
    assert q(spoilt(**noisy, seed=1)) == q(spoilt(**noisy, seed=1))
    assert q(spoilt(**noisy, seed=1)) != q(spoilt(**noisy, seed=2))
    lost = [reading is None for reading in spoilt(delay=1, drop=0.3, seed=1)]
    assert lost == [reading is None for reading in spoilt(**noisy, seed=1)]


def test_the_noise_restarts_when_the_brakes_open():
    """For any time at rest before: a run in lockstep can be repeated to the last bit."""
    def seen(standing):
        driver = Driver(SimulatedArm(ARM7), Sensor(0.1, 0.1, delay=2, drop=0.3, seed=1))
        for _ in range(standing):
            driver.read()
        driver.release()
        readings = [driver.read() for _ in range(50)]
        return [None if reading is None else reading.q.tolist() for reading in readings]
    assert seen(3) == seen(8)


@pytest.mark.parametrize('wrong', [{'drop': 1.0}, {'delay': -1}, {'position_noise': -0.1},
                                   {'velocity_noise': np.nan}])
def test_invalid_sensor_settings_are_refused(wrong):
    with pytest.raises(ValueError, match='must not be negative'):
        Sensor(**wrong)


# Commands ----------------------------------------------------------------------------------------

@pytest.fixture
def arm():
    return SimulatedArm(ARM7)


def test_the_brakes_hold_until_released_and_time_goes_on(arm):
    driver = Driver(arm)
    driver.advance(10)
    assert arm.braked
    assert driver.now == START + 10_000_000
    assert driver.moving_for == 0.0
    assert driver.take_command(np.ones(7))
    driver.release()
    driver.advance(5)
    assert arm.v.any()
    assert driver.moving_for == pytest.approx(0.005)


def test_a_command_is_in_the_commanded_order(arm):
    driver = Driver(arm, commanded=arm.joint_names[::-1])
    assert driver.take_command(np.arange(7.0))
    np.testing.assert_array_equal(driver.torque, np.arange(7.0)[::-1])
    names = ['other', *arm.joint_names[3:], *arm.joint_names[:3]]
    assert driver.take_named(names, [9.0, 3.0, 4.0, 5.0, 6.0, 0.0, 1.0, 2.0])
    np.testing.assert_array_equal(driver.torque, np.arange(7.0))


def test_a_wrong_command_is_counted_and_the_last_one_kept(arm):
    driver = Driver(arm)
    good = np.arange(7.0)
    driver.take_command(good)
    assert not driver.take_command(np.ones(6))
    assert not driver.take_command([])
    assert not driver.take_command([*np.ones(6), np.inf])
    assert not driver.take_named(arm.joint_names[1:], np.ones(6))
    assert not driver.take_named(arm.joint_names, np.ones(6))
    np.testing.assert_array_equal(driver.torque, good)
    assert driver.counts == {'commands': 1, 'refused: size': 2, 'refused: not finite': 1,
                             'refused: names': 2}


def test_brakes_close_when_commands_stop(arm):
    driver = Driver(arm, timeout=0.02)
    driver.release()
    for _ in range(5):
        driver.advance(10)
    assert arm.braked
    assert driver.counts['timeouts'] == 1
    assert not arm.v.any()


def test_the_load_is_attached_at_its_time(arm):
    driver = Driver(arm)
    driver.plan = 0.1, 'tool0', 1.0, (0.0, 0.0, 0.0)
    driver.advance(500)     # brakes closed: the time does not count
    driver.release()
    driver.advance(99)
    driver.advance(1)
    assert arm.loads == ()
    driver.advance(1)
    assert arm.loads == ('payload',)
    driver.detach()
    assert arm.loads == ()


def test_reset_restores_everything_but_the_time(arm):
    driver = Driver(arm, brake=False)
    driver.take_command(np.ones(7))
    driver.advance(100)
    driver.reset(np.full(7, 0.1))
    assert not driver.torque.any()
    np.testing.assert_array_equal(driver.read().q, np.full(7, 0.1))
    assert driver.now == START + 100_000_000
