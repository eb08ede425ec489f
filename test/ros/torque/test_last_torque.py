"""Test the memory between torque process and watchdog: the last complete record is read."""

import os
import time
from dataclasses import replace

import pytest
from support.watched_arm import RULES

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.torque.last_torque import (
    FIRST,
    HEAD,
    RECORD,
    SLOT,
    TORQUES,
    LastTorque,
    LastTorqueReader,
    LastTorqueWriter,
    create_memory,
)
from dynamics_node.safety.records import LastValid


@pytest.fixture
def shared():
    """Return the writer, with rules, and the reader of one memory."""
    memory = create_memory()
    writer, reader = LastTorqueWriter(memory), LastTorqueReader(memory)
    os.close(memory)
    writer.use(RULES)
    return writer, reader


def write(writer, k):
    """Write the k-th torque; return what is to be read."""
    q, v, torque, gravity = ([k * x for x in range(1 + j, 8 + j)] for j in range(4))
    writer.write(1000 + k, LastValid(0.01 * k, q, v, torque, False), gravity)
    return LastTorque(None, 1000 + k, LastValid(0.01 * k, q, v, torque, True), gravity, None)


def read(reader):
    """Return what is read, without the rules, which have no equality, and the time."""
    last = reader.last()
    assert 0.0 <= time.monotonic() - last.written < 60.0
    assert last.rules.names == RULES.names and last.rules.limits.effort == RULES.limits.effort
    return last._replace(rules=None, written=None)


def test_the_newest_torque_is_read(shared):
    writer, reader = shared
    for k in range(5):
        assert write(writer, k) == read(reader)


def test_the_watch_lasts_from_the_first_torque_to_rest(shared):
    writer, reader = shared
    assert not reader.active
    write(writer, 1)
    assert reader.active and reader.time == 0.25
    writer.rest()
    assert not reader.active
    write(writer, 2)
    assert reader.active


def test_the_sign_of_life_changes_by_itself_and_with_each_torque(shared):
    writer, reader = shared
    signs = [reader.life]
    for renew in (writer.renew, lambda: write(writer, 1), writer.renew):
        renew()
        signs.append(reader.life)
    assert len(set(signs)) == 4


@pytest.mark.parametrize('size', range(0, RECORD.size + 250, 7))
def test_an_incomplete_record_is_not_read(shared, size):
    """The process was killed while it wrote the third record: the second one is read."""
    writer, reader = shared
    write(writer, 1)
    before = write(writer, 2)
    at = HEAD + (TORQUES + 1) * SLOT   # of odd records
    slot = slice(at, at + RECORD.size + FIRST.size + 4 * 7 * 8)
    old = writer._memory[slot]
    newest = write(writer, 3)
    new = writer._memory[slot]
    writer._memory[slot] = torn = new[:size] + old[size:]
    assert read(reader) == (newest if torn == new else before)


def test_other_rules_count_from_the_next_torque_on(shared):
    writer, reader = shared
    first = write(writer, 1)
    writer.use(RULES._replace(controller=None))
    assert reader.last().rules.controller is not None and read(reader) == first
    write(writer, 2)
    assert reader.last().rules.controller is None


@pytest.mark.parametrize('changes', [1, 2, 3, 4])
def test_the_rules_of_the_last_torque_are_kept_whatever_is_written_later(shared, changes):
    """Also if they change several times before the next torque."""
    writer, reader = shared
    last = write(writer, 1)
    for _ in range(changes):
        writer.use(RULES._replace(controller=None))
    assert reader.last().rules.controller is not None and read(reader) == last
    write(writer, 2)
    assert reader.last().rules.controller is None


def test_the_model_that_is_read_computes_the_same_torque(shared):
    writer, reader = shared
    write(writer, 1)
    q = [0.1] * 7
    mine, its = (each.controller.holding_torque(q) for each in (RULES, reader.last().rules))
    assert mine.tolist() == its.tolist()
    assert not reader.last().rules.controller.robot.compilation_enabled


def test_rules_that_do_not_fit_are_refused(shared):
    writer, _ = shared
    with pytest.raises(DynamicsError, match='too long for the watchdog'):
        writer.use(RULES._replace(names=['x' * SLOT, 'b']))


def test_the_time_of_the_watchdog_is_that_of_the_rules(shared):
    writer, reader = shared
    settings = replace(RULES.limits.settings, watchdog_time=0.5)
    writer.use(RULES._replace(limits=replace(RULES.limits, settings=settings)))
    write(writer, 1)
    assert reader.time == 0.5
