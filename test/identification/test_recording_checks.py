"""Test the checks of recordings: refusals and warnings, with what to record instead."""

from pathlib import Path

import numpy as np
import pytest
from support.simple_recordings import recorded

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.motion_unit_checks import velocity_unit
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.recording import raw_recording

# Three joints are enough for every fault.
LOCKED = {'joint_3': 0.3, 'joint_5': 0.0, 'joint_6': 0.5, 'joint_7': 0.0}
DEGREES = 180.0 / np.pi


@pytest.fixture(scope='module')
def robot(kernels):
    """The bundled arm with three joints that move, 1, 2 and 4, compiled."""
    return Robot.from_urdf(ARM7, locked=LOCKED)


@pytest.fixture(scope='module')
def good(robot):
    """12 s at 100 Hz with some noise."""
    return recorded(robot, duration=12.0, noise=1e-5, torque_noise=0.05)


def changed(raw, **changes):
    """Return a recording with copies that a test may spoil."""
    raw = raw._replace(**{name: np.array(getattr(raw, name)) for name in ('time', 'q', 'v', 'tau')
                          if getattr(raw, name) is not None})
    return raw._replace(**changes)


def test_a_good_recording_passes_without_warnings(robot, good):
    """No false alarm; everything is of the robot's joints."""
    prepared = prepare(robot, good)
    assert prepared.warnings == ()
    assert prepared.recording.joint_names == robot.joint_names
    assert prepared.cutoff == pytest.approx(5.0)   # 5 x (0.5 Hz + 3 bins of 1/6 Hz)
    assert prepared.factor == 10


def test_a_urdf_that_is_off_by_30_percent_is_not_refused(robot, good):
    """Nor is a payload: identification is for that."""
    heavier = robot.with_payload('box', 'tool0', 3.0)
    assert prepare(robot, recorded(heavier, duration=12.0)).warnings == ()
    assert prepare(robot, changed(good, tau=1.3 * good.tau)).warnings == ()


# Refused -----------------------------------------------------------------------------------------

def spoil(name, raw):
    """Return a recording that is bad in one way."""
    raw = changed(raw)
    n = len(raw.time)
    if name == 'few':
        return raw.rows(slice(50))
    if name == 'short':
        return raw.rows(slice(300))
    if name == 'nan time':
        raw.time[7] = np.nan
    elif name == 'backwards':
        raw.time[500:] -= 3.0
    elif name == 'milliseconds':
        return changed(raw, time=1e3 * raw.time)
    elif name == 'nanoseconds':
        return changed(raw, time=1e9 * raw.time)
    elif name == 'slow':
        return changed(raw, time=10.0 * raw.time)
    elif name == 'arrival':  # in bunches of ten
        return changed(raw, time=raw.time[np.arange(n) // 10 * 10] + 1e-4 * (np.arange(n) % 10))
    elif name == 'same stamp':
        raw.time[7] = raw.time[6]
    elif name == 'still':
        raw.q[:, 1] = 0.5
    elif name == 'all still':
        raw.q[:] = 0.5
    elif name == 'no effort':
        raw.tau[:] = np.nan
    elif name == 'holes':
        raw.q[np.random.default_rng(1).random(n) < 0.6, 0] = np.nan
    elif name == 'short pieces':
        for k in range(10):
            raw.q[k::60] = np.nan
    elif name == 'constant':
        raw.tau[:, 0] = 1.5
    elif name == 'zero':
        raw.tau[:] = 0.0
    elif name == 'degrees':
        return changed(raw, q=DEGREES * raw.q)
    elif name == 'counts':
        return changed(raw, q=np.round(4096 / (2.0 * np.pi) * raw.q))
    elif name == 'offset':
        raw.q[:, 1] += 4.0
    return raw


@pytest.mark.parametrize('fault, words', [
    ('few', '50 samples; expected at least 100'),
    ('short', '2.99 s long; expected 5 s'),
    ('nan time', r'time\[7\] is nan'),
    ('backwards', 'time runs backwards at sample 500'),
    ('milliseconds', 'time seems to be in milliseconds'),
    ('nanoseconds', 'time seems to be in nanoseconds'),
    ('slow', '0.1 s apart; record at 20 Hz or more'),
    ('arrival', 'times of arrival'),
    ('same stamp', 'samples 6 and 7 have the same time, .* different q'),
    ('still', "joint 'joint_2' did not move.*lock"),
    ('all still', r"joints \['joint_1', 'joint_2', 'joint_4'\] did not move"),
    ('no effort', 'no sample has the effort of joints'),
    ('holes', "% of the samples lack .* most of all of 'joint_1'"),
    ('short pieces', 'longest stretch without a gap is 0.49 s'),
    ('constant', "effort of joint 'joint_1' is constant, 1.5"),
    ('zero', 'is constant, 0: the driver does not measure it'),
    ('degrees', 'it seems to be in degrees; expected rad'),
    ('counts', 'it seems to be in encoder counts'),
    ('offset', "joint 'joint_2' goes from .* limits are -2 and 2.* unit and zero")])
def test_bad_recordings_are_refused(robot, good, fault, words):
    """Each says what is wrong, and what to record instead."""
    with pytest.raises(DynamicsError, match=words):
        prepare(robot, spoil(fault, good))


def test_joint_names_that_do_not_match_are_refused(robot, good):
    """The message has the missing and the recorded ones."""
    names = tuple(name.replace('joint', 'axis') for name in good.joint_names)
    with pytest.raises(DynamicsError, match=r"lacks the joints .*'joint_4'.*it has \['axis_1'"):
        prepare(robot, good._replace(joint_names=names))


@pytest.mark.parametrize('factor, words', [
    (1e3, r'they seem to be in mN m \(1000\)'),
    (1e-3, r'in kN m'),
    (100.0, r'in N cm \(100\) or ozf in'),
    (9.5 / 1.2, r'in kgf cm \(10.2\) or lbf in \(8.851\)'),
    (1.0 / 9.81, r'in kgf m \(0.102\), or currents, .*; expected N m'),
    (0.02, 'currents, torques before the gear, or shares'),
    (-1.0, 'sign is that of the load')])
def test_wrong_torque_units_are_detected_by_their_factor(robot, good, factor, words):
    """They are named, also where the URDF is 20 % off."""
    with pytest.raises(DynamicsError, match=words):
        prepare(robot, changed(good, tau=1.2 * factor * good.tau if factor > 0.0 else -good.tau))


def test_a_joint_with_the_wrong_sign_is_named(robot, good):
    """Which one."""
    with pytest.raises(DynamicsError, match="effort of joint 'joint_2' has the opposite sign"):
        prepare(robot, changed(good, tau=good.tau * [1.0, -1.0, 1.0]))


def test_torques_without_gravity_are_detected(robot, good):
    """As reported by drives that compensate for it themselves."""
    with pytest.raises(DynamicsError, match='of the gravity torque.*gravity'):
        prepare(robot, changed(good, tau=good.tau - robot.gravity_torque(good.q)))


def test_degrees_of_a_joint_without_limits_are_detected(robot, good):
    """By its speed."""
    text = Path(ARM7).read_text().replace('"revolute"', '"continuous"')
    with pytest.raises(DynamicsError, match='moves at .* positions seem to be in degrees'):
        prepare(Robot.from_urdf(text, locked=LOCKED), changed(good, q=DEGREES * good.q, v=None))


# Warned of ---------------------------------------------------------------------------------------

def warnings(robot, raw):
    return ' | '.join(prepare(robot, raw).warnings)


def test_samples_recorded_twice_are_dropped(robot, good):
    """Same stamp and same numbers: one is enough."""
    twice = good.rows(np.sort(np.concatenate([np.arange(len(good.time)), [5, 70, 70]])))
    assert '3 samples were recorded twice' in warnings(robot, twice)


def test_data_that_reduce_accuracy_are_warned_of(robot, good):
    """Gaps, jitter, slow sampling, coarse torques, repeated samples."""
    holes = changed(good)
    holes.tau[100:110] = np.nan
    assert '0.8% of the samples lack' in warnings(robot, holes)
    rng = np.random.default_rng(1)
    jitter = changed(good, time=good.time + rng.uniform(-2e-3, 2e-3, len(good.time)))
    assert 'the time between samples varies by 16%' in warnings(robot, jitter)
    assert '50 samples per second are few' in warnings(robot, good.rows(slice(None, None, 2)))
    coarse = changed(good, tau=10.0 * np.round(good.tau / 10.0))
    assert 'fewer than 20 different values' in warnings(robot, coarse)
    held = np.arange(len(good.time)) // 2 * 2
    assert '600 of 1200 samples repeat the one before and are left out' in warnings(
        robot, changed(good, q=good.q[held], tau=good.tau[held]))


def test_motion_in_one_direction_only_is_warned_of(robot, good):
    """Friction and offset cannot be separated."""
    t = good.time
    q = np.column_stack([0.1 * t, 0.3 * np.sin(t), 0.3 * np.cos(0.7 * t)])
    v = np.column_stack([0.1 + 0.0 * t, 0.3 * np.cos(t), -0.21 * np.sin(0.7 * t)])
    a = np.column_stack([0.0 * t, -0.3 * np.sin(t), -0.147 * np.cos(0.7 * t)])
    tau = robot.inverse_dynamics(q, v, a)
    tau[:, 0] += 0.1 * np.random.default_rng(1).normal(size=len(t))
    raw = raw_recording(robot.joint_names, t, q, tau, v)
    assert "joint 'joint_1' moved in one direction only" in warnings(robot, raw)


def test_velocities_that_contradict_positions_are_warned_of(robot, good):
    """They are not used."""
    assert 'degrees per second' in warnings(robot, changed(good, v=DEGREES * good.v))
    assert 'revolutions per minute' in warnings(robot, changed(good, v=9.549 * good.v))
    assert 'opposite sign' in warnings(robot, changed(good, v=-good.v))


@pytest.mark.parametrize('seconds', [20.0, 100.0, 1000.0])
def test_true_velocities_of_a_long_recording_are_no_contradiction(seconds):
    """For any length, they are compared with differences over short times."""
    t, w = np.arange(0.0, seconds, 0.01), 2.0 * np.pi * 0.5
    assert velocity_unit(t, np.sin(w * t), w * np.cos(w * t)) is None
    assert 'degrees' in velocity_unit(t, np.sin(w * t), DEGREES * w * np.cos(w * t))


def test_a_factor_that_a_bad_urdf_explains_is_a_warning(robot, good):
    """Four times: not refused."""
    texts = warnings(robot, changed(good, tau=4 * good.tau))
    assert 'are the masses of the URDF that wrong' in texts


def test_a_payload_fit_accepts_joints_at_rest(robot, good):
    """The wrist alone is enough."""
    raw = changed(good)
    raw.q[:, 0] = 0.1
    v = np.zeros_like(raw.q)
    raw.tau[:] = robot.gravity_torque(raw.q) + 0.01 * np.random.default_rng(1).normal(size=v.shape)
    assert prepare(robot, raw._replace(v=None), min_duration=2.0, all_move=False).recording
