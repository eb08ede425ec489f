"""Test excitations: at rest at both ends, within every limit, better than random, repeatable."""

import dataclasses
import io

import numpy as np
import pytest
import yaml

from dynamics_node import DynamicsError, Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.identification.excitation_limits import (
    Box,
    excitation_limits,
    scaled_within_limits,
)
from dynamics_node.identification.excitation_search import ExcitationSettings, excitation
from dynamics_node.identification.fourier import Fourier, at_rest
from dynamics_node.identification.preparation import prepare
from dynamics_node.identification.progress import ProgressBar
from dynamics_node.identification.recording import raw_recording
from dynamics_node.identification.scaled_regressor import ScaledRegressor, smooth_condition
from dynamics_node.identification.trajectory_files import (
    sample_trajectory,
    trajectory_yaml,
    write_trajectory_csv,
)

LOCKED = {'joint_3': 0.3, 'joint_5': 0.0, 'joint_7': 0.0}
TABLE = Box('tool0', lower=(-np.inf, -np.inf, 0.4))     # stay 0.4 m above the floor
SETTINGS = ExcitationSettings(iterations=8, acceleration=4.0, boxes=(TABLE,))
DENSELY = 5000   # samples of a period; the search looks at 100, its check at 1000


@pytest.fixture(scope='module')
def robot(kernels):
    """The bundled arm with four joints that move, compiled: a search takes 10^5 regressors."""
    return Robot.from_urdf(ARM7, locked=LOCKED)


@pytest.fixture(scope='module')
def found(robot):
    """An excitation above a table."""
    return excitation(robot, SETTINGS)


def test_fourier_series_begin_and_end_at_rest_with_exact_derivatives():
    """Held against differences."""
    rng = np.random.default_rng(1)
    sine, cosine = at_rest(5)
    motion = Fourier(('a', 'b'), 8.0, rng.normal(size=2), sine @ rng.normal(size=(4, 2)),
                     cosine @ rng.normal(size=(4, 2)))
    q, v, a = motion.sample(np.array([0.0, 8.0, 16.0]))
    assert np.abs(v).max() < 1e-13
    assert np.abs(a).max() < 1e-12
    assert np.ptp(q, axis=0) == pytest.approx(0.0, abs=1e-13)
    assert q[0] == pytest.approx(motion.start)
    h, t = 1e-4, np.linspace(0.0, 8.0, 50)
    before, at, after = (motion.sample(t + s * h) for s in (-1.0, 0.0, 1.0))
    assert (after[0] - before[0]) / (2 * h) == pytest.approx(at[1], abs=1e-6)
    assert (after[1] - before[1]) / (2 * h) == pytest.approx(at[2], abs=1e-6)


def test_the_smooth_condition_number_bounds_the_true_one_and_has_its_gradient():
    """Above log cond by log(n) / p at most; df by differences."""
    rng = np.random.default_rng(2)
    W, dW = rng.normal(size=(2, 40, 6)) * np.logspace(0, 2, 6)
    f, B = smooth_condition(W)
    true = np.log(np.linalg.cond(W))
    assert true < f < true + np.log(6) / 4
    h = 1e-6
    slope = (smooth_condition(W + h * dW)[0] - smooth_condition(W - h * dW)[0]) / (2 * h)
    assert np.trace(B @ (dW.T @ W + W.T @ dW)) == pytest.approx(slope, rel=1e-6)


def test_every_limit_is_kept_at_all_times(robot, found):
    """Positions, velocities, accelerations, torques, the box: with the margin."""
    motion = found.trajectory
    q, v, a = motion.sample(np.linspace(0.0, motion.period, DENSELY))
    for k, joint in enumerate(robot.model.joints):
        middle, half = (joint.lower + joint.upper) / 2, (joint.upper - joint.lower) / 2
        assert np.abs(q[:, k] - middle).max() <= 0.9 * half
        assert np.abs(v[:, k]).max() <= 0.9 * joint.max_velocity
        assert np.abs(robot.inverse_dynamics(q, v, a)[:, k]).max() <= 0.9 * joint.max_effort
    assert np.abs(a).max() <= 4.0
    assert robot.frame_pose(q, 'tool0')[:, 2, 3].min() >= 0.4
    assert np.abs(v).max() > 0.5   # and it is a motion
    assert found.warnings == ()


def test_the_excitation_is_better_than_random_ones(robot, found):
    """Judged by a regressor of its own at other instants."""
    limits = excitation_limits(robot, acceleration=4.0, boxes=(TABLE,))
    information = ScaledRegressor(robot, limits, np.pi, np.random.default_rng(7))
    sine, cosine = at_rest(5)
    rng = np.random.default_rng(8)
    times = np.linspace(0.0, 10.0, 137, endpoint=False)
    conditions = []
    while len(conditions) < 30:
        random = Fourier(robot.joint_names, 10.0, rng.uniform(limits.lower, limits.upper),
                         sine @ rng.normal(size=(4, 4)), cosine @ rng.normal(size=(4, 4)))
        random = scaled_within_limits(robot, limits, random, times)
        if random is not None:
            conditions.append(information.condition(*random.sample(times)))
    assert information.condition(*found.trajectory.sample(times)) < 0.7 * min(conditions)
    assert found.condition < 0.8 * found.random_condition


def test_the_same_seed_gives_the_same_motion_and_another_another(robot, found):
    """Bit for bit: iterations are counted, not seconds."""
    again = excitation(robot, SETTINGS)
    assert np.array_equal(again.trajectory.sine, found.trajectory.sine)
    assert again.condition == found.condition
    other = excitation(robot, ExcitationSettings(iterations=0, seed=1))
    assert not np.array_equal(other.trajectory.sine, found.trajectory.sine)


def test_limits_that_make_identification_poor_are_reported(robot):
    """By the condition number and the parameters."""
    narrow = {name: (0.1, 0.12) for name in robot.joint_names}
    poor = excitation(robot, ExcitationSettings(iterations=1, positions=narrow, seconds=5.0))
    assert poor.condition > 100.0
    text = ' '.join(poor.warnings)
    assert 'make identification poor, most of all of' in text
    q = poor.trajectory.sample(np.linspace(0.0, 10.0, DENSELY))[0]
    assert (q > 0.1).all()
    assert (q < 0.12).all()


def test_infeasible_limits_are_refused(robot):
    """A box out of reach; an arm too heavy for its drives."""
    with pytest.raises(DynamicsError, match='the robot can hold itself .* random configurations'):
        excitation(robot, ExcitationSettings(boxes=(Box('tool0', lower=(5.0, 0.0, 0.0)),)))
    with pytest.raises(DynamicsError, match='hold itself'):
        excitation(robot.with_payload('rock', 'tool0', 500.0))


def test_unknown_limits_are_reported():
    """A URDF without velocity and effort limits: slow motions, no limit of torques."""
    text = Robot.from_urdf(ARM7, locked=LOCKED).model
    joints = tuple(type(joint)(joint.name, joint.kind, joint.q, joint.v) for joint in text.joints)
    limits = excitation_limits(Robot(text.with_(joints=joints), compile=False))
    assert 'no velocity limit of' in limits.warnings[0]
    assert 'no effort limit of' in limits.warnings[1]
    assert limits.velocity == pytest.approx(0.9)
    assert limits.upper == pytest.approx(0.9 * np.pi)
    assert np.isinf(limits.torque).all()


@pytest.mark.parametrize('lower, upper, expected', [
    (0.0, np.inf, (0.1 * np.pi, 1.9 * np.pi)),
    (-np.inf, 0.0, (-1.9 * np.pi, -0.1 * np.pi))])
def test_a_single_limit_is_kept(lower, upper, expected):
    """A range of one turn from that limit on, less the margin at both ends."""
    model = Robot.from_urdf(ARM7, locked=LOCKED).model
    joints = tuple(dataclasses.replace(joint, lower=lower, upper=upper) for joint in model.joints)
    limits = excitation_limits(Robot(model.with_(joints=joints), compile=False))
    assert limits.lower == pytest.approx(expected[0])
    assert limits.upper == pytest.approx(expected[1])


@pytest.mark.parametrize('settings, words', [
    (ExcitationSettings(harmonics=1), 'harmonics is 1; expected 2 or more'),
    (ExcitationSettings(period=-1.0), 'period'),
    (ExcitationSettings(iterations=-1), 'iterations is -1; expected a whole number'),
    (ExcitationSettings(margin=1.0), 'margin is 1.0'),
    (ExcitationSettings(positions={'elbow': (0, 1)}), "no joint 'elbow'"),
    (ExcitationSettings(positions={'joint_1': (1, 0)}), r'expected \(lower, upper\)'),
    (ExcitationSettings(acceleration=0.0), 'acceleration is 0.0; expected a positive'),
    (ExcitationSettings(boxes=(Box('hand'),)), "boxes: no frame 'hand'"),
    (ExcitationSettings(boxes=(Box('tool0', (0, 0, 1), (1, 1, 0)),)),
     'each lower one below the upper')])
def test_wrong_settings_are_named(robot, settings, words):
    """With what would be valid."""
    with pytest.raises(DynamicsError, match=words):
        excitation(robot, settings)


def test_progress_rises_to_one_and_may_stop_the_search(robot):
    """What progress raises goes through."""
    told = []
    excitation(robot, ExcitationSettings(iterations=2), lambda fraction,
               text: told.append(fraction))
    assert told == sorted(told)
    assert told[-1] == 1.0

    def stop(fraction, text):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        excitation(robot, ExcitationSettings(), stop)


def test_seconds_end_the_search(robot):
    """With the best excitation so far."""
    ended = excitation(robot, ExcitationSettings(iterations=10 ** 6, seconds=0.5))
    assert ended.condition < np.inf


def test_excitation_files_hold_the_same_motion(found, tmp_path):
    """A JointTrajectory in YAML, and a table, at rest at both ends."""
    motion = found.trajectory
    message = yaml.safe_load(trajectory_yaml(motion, rate=20.0, periods=2))
    assert tuple(message['joint_names']) == motion.joint_names
    stamps = [p['time_from_start']['sec'] + 1e-9 * p['time_from_start']['nanosec']
              for p in message['points']]
    time, *rows = sample_trajectory(motion, 20.0, 2)
    assert len(stamps) == 401
    assert stamps == pytest.approx(time, abs=1e-9)
    for key, row in zip(('positions', 'velocities', 'accelerations'), rows):
        assert np.array([p[key] for p in message['points']]) == pytest.approx(row, abs=1e-9)
    assert message['points'][0]['velocities'] == message['points'][-1]['velocities'] == [0.0] * 4
    write_trajectory_csv(tmp_path / 'x.csv', motion, rate=20.0)
    table = np.loadtxt(tmp_path / 'x.csv', delimiter=',', skiprows=1)
    assert np.array_equal(table[:, 1:5], motion.sample(table[:, 0])[0])


def test_a_robot_that_follows_it_gives_a_good_recording(robot, found):
    """The data pass all checks."""
    time, q, v, a = sample_trajectory(found.trajectory, 200.0)
    raw = raw_recording(robot.joint_names, time, q, robot.inverse_dynamics(q, v, a), v)
    assert prepare(robot, raw).warnings == ()


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        """Say so."""
        return True


def test_the_progress_bar_suits_a_terminal_and_a_log():
    """Drawn in place on a terminal, a line for every tenth in a log."""
    live, log = Terminal(), io.StringIO()
    for stream in (live, log):
        bar = ProgressBar(stream)
        for k in range(101):
            bar(k / 100.0, 'working')
        bar.clear()
    assert '[' + '#' * 30 + '] 100%  working' in live.getvalue()
    assert live.getvalue().endswith('\r\033[K')
    assert '\n' not in live.getvalue()
    assert len(log.getvalue().splitlines()) == 11
    assert '\r' not in log.getvalue()
