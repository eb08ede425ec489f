"""Test when the watchdog takes over and what it publishes, with a simulated clock."""

import numpy as np
import pytest
from support.watched_arm import ARM, ORDER, RULES, rules

from dynamics_node import Robot
from dynamics_node.example_robots import ARM7
from dynamics_node.ros.torque.last_torque import LastTorque
from dynamics_node.ros.torque.watchdog import LOOK, LastTorques, Watchdog
from dynamics_node.safety.records import LastValid
from dynamics_node.safety.settings import SAFE_ACTIONS

TIME = 0.15   # [s] of the watchdog
LIFE = 0.03   # [s] between two signs of life


class Shared:
    """The memory of last_torque.py, written by a simulated loop."""

    def __init__(self):
        self.life, self.active, self.time = 0, True, TIME


def looks(duration, begin=0.0):
    """Return the times of the looks in a duration."""
    return begin + LOOK * np.arange(1, round(duration / LOOK) + 1)


def test_a_loop_that_runs_is_left_alone():
    shared = Shared()
    watchdog = Watchdog(shared)
    for now in looks(10.0):
        shared.life = int(now / LIFE)
        assert not watchdog.stands_still(now)


def test_a_loop_that_stands_still_is_noticed_in_time():
    """Not before watchdog_time, and two looks later at the latest."""
    shared = Shared()
    watchdog = Watchdog(shared)
    for now in looks(1.0):
        assert not watchdog.stands_still(now)
        shared.life += 1
    found = next(now for now in looks(1.0, begin=1.0) if watchdog.stands_still(now))
    assert TIME < found - 1.0 <= TIME + 2.0 * LOOK + 1e-9
    assert watchdog.silence == pytest.approx(found - 1.0, abs=LOOK + 1e-9)


def test_a_loop_may_rest_while_no_torques_are_published():
    shared = Shared()
    watchdog, shared.active = Watchdog(shared), False
    assert not any(watchdog.stands_still(now) for now in looks(10.0))
    shared.active = True
    assert not watchdog.stands_still(100.0)   # begins to count here
    assert not watchdog.stands_still(100.0 + LOOK)


def test_a_pause_of_the_watchdog_itself_is_no_silence():
    """SIGSTOP of all processes, a paused container: the loop had no chance to run."""
    shared = Shared()
    watchdog = Watchdog(shared)
    for now in looks(0.1):
        assert not watchdog.stands_still(now)
    assert not watchdog.stands_still(3600.0)
    shared.life += 1
    assert not watchdog.stands_still(3600.0 + LOOK)


# The last torques --------------------------------------------------------------------------------

@pytest.fixture(scope='module', autouse=True)
def plant(kernels):
    """The simulated arm of SimulatedTime, compiled; the watchdog itself computes in NumPy."""
    SimulatedTime.plant = Robot.from_urdf(ARM7, friction=False).compile(wait=True)


class SimulatedTime:
    """A clock that advances with each torque, and an arm that moves meanwhile.

    :cvar plant: the arm, without friction.
    :ivar q, v: of the arm; torque: that it gets, in the order of the model.
    """

    plant: Robot

    def __init__(self, q, v, torque, moves):
        self.now, self.q, self.v, self.torque, self._moves = 100.0, q, v, torque, moves
        self.energies = []

    def __call__(self):
        return self.now

    def advance(self, seconds):
        """Let time pass."""
        self.now += seconds
        for _ in range(round(1e3 * seconds) if self._moves else 0):
            self.v = self.v + 0.001 * self.plant.forward_dynamics(self.q, self.v, self.torque)
            self.q = self.q + 0.001 * self.v
        self.energies.append(float(self.plant.kinetic_energy(self.q, self.v)))


def run(v, last=None, silence=0.0, seconds=10.0, moves=True, **settings):
    """Let the watchdog take over; return the torques in the order of the model, and the arm.

    :param silence: [s] before; the last torque is kept, and the watchdog looks.
    :param seconds: that are simulated afterwards.
    """
    given = rules(exit_period=0.005, **settings)
    q = np.array([0.0, 1.0, 0.0, -0.6, 0.0, 0.5, 0.0])
    gravity = ARM.gravity_torque(q)
    last = gravity if last is None else last
    arm, published = SimulatedTime(q, v, last, moves), []
    watchdog = LastTorques(LastTorque(
        given, 7, LastValid(0.0, q.tolist(), v.tolist(), last.tolist(), True), gravity.tolist(),
        arm.now), arm)
    for _ in range(round(silence / LOOK)):
        arm.advance(LOOK)
        watchdog.predict()
    end = arm.now + seconds
    for torques in watchdog.torques():
        torque = np.zeros(7)
        torque[ORDER] = torques
        published.append(torque)
        arm.torque = torque
        arm.advance(0.005)
        if arm.now > end:
            break
    return np.array(published), arm


@pytest.mark.parametrize('speed', [0.0, 0.2])
@pytest.mark.parametrize('action', SAFE_ACTIONS)
def test_the_last_torques_go_from_the_last_one_to_zero_within_the_limits(action, speed):
    rng = np.random.default_rng(1)
    effort = np.array(RULES.limits.effort)
    last = rng.uniform(-0.5, 0.5, 7) * effort
    torques, _ = run(speed * rng.choice([-1.0, 1.0], 7), last, safe_action=action,
                     blind_gravity_time=0.5, moves=False)
    assert np.array_equal(torques[0], last) and not torques[-1].any()
    assert (np.abs(torques) <= effort).all()
    reach = np.array(RULES.limits.slew) * 0.005 * (1.0 + 1e-9)
    assert (np.abs(np.diff(torques, axis=0)) <= reach + 1e-9).all()


def test_a_moving_arm_is_braked_by_the_model():
    """With steps of 5 ms, as NumPy can compute them in time."""
    moving = np.array([0.8, -0.6, 0.9, 0.7, -0.9, 0.8, 1.0])
    _, arm = run(moving, seconds=0.5, blind_gravity_time=10.0)
    assert arm.energies[-1] < 0.02 * arm.energies[0]
    assert np.abs(arm.v).max() < 0.3


def test_an_arm_that_cannot_be_predicted_goes_to_gravity(monkeypatch):
    monkeypatch.setattr('dynamics_node.control.controller.Controller.can_predict', False)
    torques, _ = run(np.full(7, 0.5), seconds=1.0, blind_gravity_time=10.0)
    assert np.array_equal(torques, np.clip(torques, np.minimum(torques[0], 0.0),
                                           np.maximum(torques[0], 0.0)))


@pytest.mark.parametrize('speed', [0.0, 0.4, 0.8])
def test_an_arm_whose_loop_has_stood_still_is_braked(speed):
    """The last torque has accelerated it for 0.4 s, also if it was at rest before."""
    v = speed * np.array([0.5, -0.4, 0.5, 0.4, -0.5, 0.5, 0.6])
    q = np.array([0.0, 1.0, 0.0, -0.6, 0.0, 0.5, 0.0])
    last = ARM.inverse_dynamics(q, v, np.array([1.5, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0]))
    _, arm = run(v, last, silence=0.4, seconds=0.6, blind_gravity_time=10.0)
    taken_over = arm.energies[round(0.4 / LOOK) - 1]
    assert taken_over > 0.1
    assert arm.energies[-1] < 0.05 * taken_over


def test_the_prediction_during_the_silence_agrees_with_the_arm():
    """In steps of 2.5 ms."""
    q, v = np.array([0.0, 1.0, 0.0, -0.6, 0.0, 0.5, 0.0]), np.full(7, 0.4)
    gravity = ARM.gravity_torque(q)
    arm = SimulatedTime(q, v, gravity, moves=True)
    watchdog = LastTorques(LastTorque(
        RULES, 7, LastValid(0.0, q.tolist(), v.tolist(), gravity.tolist(), True), gravity.tolist(),
        arm.now), arm)
    for _ in range(30):
        arm.advance(LOOK)
        watchdog.predict()
    _, state, _ = watchdog._state(watchdog._last_valid())
    np.testing.assert_allclose(state.q, arm.q, atol=0.02)
    np.testing.assert_allclose(state.v, arm.v, atol=0.1)
