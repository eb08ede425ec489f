"""Test the memory between torque process and watchdog: the last complete record is read."""

import os
from array import array

import pytest

from dynamics_node.errors import DynamicsError
from dynamics_node.ros.torque.last_torque import (
    HEAD,
    RECORD,
    SLOT,
    ExitRules,
    LastTorque,
    LastTorqueReader,
    LastTorqueWriter,
    create_memory,
)
from dynamics_node.safety import SafetySettings

RULES = ExitRules(['a', 'b'], (10.0, 20.0), (100.0, 200.0), SafetySettings(watchdog_time=0.25))


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
    torque, gravity = (1.0 * k, 2.0 * k), (3.0 * k, 4.0 * k)
    writer.write(1000 + k, array('d', torque), array('d', gravity))
    return LastTorque(RULES, 1000 + k, torque, gravity)


def test_the_newest_torque_is_read(shared):
    writer, reader = shared
    for k in range(5):
        assert write(writer, k) == reader.last()


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


@pytest.mark.parametrize('size', range(0, 600, 7))
def test_an_incomplete_record_is_not_read(shared, size):
    """The process was killed while it wrote the third record: the second one is read."""
    writer, reader = shared
    write(writer, 1)
    before = write(writer, 2)
    length = RECORD.size + len(writer._rules) + 8 + 4 * 8
    slot = slice(HEAD + SLOT, HEAD + SLOT + length)   # of odd records
    old = writer._memory[slot]
    newest = write(writer, 3)
    new = writer._memory[slot]
    writer._memory[slot] = torn = new[:size] + old[size:]
    assert reader.last() == (newest if torn == new else before)


def test_rules_that_do_not_fit_are_refused(shared):
    writer, _ = shared
    with pytest.raises(DynamicsError, match='too long for the watchdog'):
        writer.use(RULES._replace(names=['x' * SLOT, 'b']))
