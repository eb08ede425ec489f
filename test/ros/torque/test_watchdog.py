"""Test when the watchdog takes over and what it publishes, with a simulated clock."""

import numpy as np
import pytest

from dynamics_node.ros.torque.last_torque import ExitRules, LastTorque
from dynamics_node.ros.torque.watchdog import LOOK, Watchdog, last_torques
from dynamics_node.safety import SafetySettings
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


@pytest.mark.parametrize('action', SAFE_ACTIONS)
def test_the_last_torques_go_from_the_last_one_to_zero_within_the_limits(action):
    settings = SafetySettings(safe_action=action)
    effort, slew = np.array([50.0, 20.0]), np.array([500.0, 200.0])
    last = LastTorque(ExitRules(['a', 'b'], tuple(effort), tuple(slew), settings), 7,
                      (-50.0, 3.0), (40.0, -20.0))
    torques = np.array(last_torques(last))
    assert tuple(torques[0]) == last.torque and not torques[-1].any()
    assert (np.abs(torques) <= effort).all()
    reach = slew * settings.exit_period * (1.0 + 1e-9)
    assert (np.abs(np.diff(torques, axis=0)) <= reach).all()


def test_a_torque_beyond_the_effort_limits_is_not_published():
    """A bug in another place: limits are checked once more."""
    rules = ExitRules(['a'], (10.0,), (1e3,), SafetySettings(safe_action='zero'))
    torques = last_torques(LastTorque(rules, 7, (11.0,), (float('nan'),)))
    assert len(torques) > 10
    assert max(abs(x) for torque in torques for x in torque) <= 10.0
