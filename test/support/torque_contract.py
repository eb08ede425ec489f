"""Check torques on the wire against the contract of the gate."""

from itertools import accumulate
from typing import NamedTuple

import numpy as np

ROUNDING = 1e-9
UNHEARD = 5   # torques at most before the node knows the subscription to ~/torque


def check_contract(arm):
    """Check every message that a torque_wire.Arm has heard since its case began."""
    limit = np.array([arm.limit[name] for name in arm.order])
    slew = np.array([arm.slew.get(name, arm.limit[name] / arm.settings['safety.slew_time'])
                     for name in arm.order])
    age = arm.settings['safety.max_state_age']
    sources = _sources([one.number for one in arm.heard])
    assert max(sources, default=0) <= arm.takeovers, 'two publishers'
    commands = {(source, number): data for source, (number, data) in zip(
        _sources([number for number, _ in arm.commands]), arm.commands)}
    unheard = _unheard(arm.heard, sources, commands)
    for k, one in enumerate(arm.heard):
        where = _Message(k, one)
        assert one.names == arm.order and one.effort.shape == limit.shape, where
        assert np.isfinite(one.effort).all(), where
        assert (np.abs(one.effort) <= limit).all(), where
        expected = commands.get(_command(one, sources[k], unheard), one.effort.tolist())
        assert one.effort.tolist() == expected, where
        assert one.stamp in arm.sent, where
        starts = [(asked, start) for asked, answered, start in arm.enables
                  if asked <= one.sent and not (k and answered < arm.heard[k - 1].sent)]
        arm.check_change(k, slew, age, starts, sources[k], where)


class _Message(NamedTuple):
    """A message, described only where a check has failed: it takes as long as the checks."""

    number: int
    message: object

    def __str__(self):
        return f'message {self.number}: {self.message}'


def _unheard(heard, sources, commands):
    """Return how many commands came before the first `~/torque`, which needs a subscription.

    With this number all messages of both topics agree; 0 if there is none.
    """
    return next((n for n in range(UNHEARD) if all(
        one.effort.tolist() == commands.get(_command(one, source, n), one.effort.tolist())
        for one, source in zip(heard, sources))), 0)


def _command(one, source, unheard):
    """Return the key of the command that was published with a message of `~/torque`."""
    return source, one.number + (unheard if source == 0 else 0)


def check_change(heard, k, slew, age, starts, source, where, gravity):
    """Check a change against the slew limits; torques of an old state must go to gravity or zero.

    When a torque was computed is not on the wire, but it was after its state was measured and
    after the message before it was sent, and before it was sent itself.
    """
    one, possible = heard[k], []
    if k:
        before = heard[k - 1]
        earliest = max(before.stamp if before.stamp < before.sent else 0,
                       heard[k - 2].sent if k > 1 else 0)
        lost = max(one.number - before.number, 1)   # the watchdog begins anew at 1
        reach = slew * min((one.sent - earliest) * 1e-9, lost * age)
        possible.append((np.abs(one.effort - before.effort) <= reach + ROUNDING).all())
        if (before.sent - one.stamp) * 1e-9 > age and not starts and not source:
            known = np.array([before.effort, gravity(), 0.0 * before.effort])
            assert (known.min(axis=0) - ROUNDING <= one.effort).all(), where
            assert (one.effort <= known.max(axis=0) + ROUNDING).all(), where
    for when, start in starts:
        reach = slew * min((one.sent - when) * 1e-9, age)
        possible.append((np.abs(one.effort - start) <= reach + ROUNDING).all())
    assert any(possible), where


def _sources(numbers):
    """Return for each message how often the publisher has changed: its numbers begin anew."""
    return list(accumulate(number <= before for before, number in zip([0, *numbers], numbers)))
