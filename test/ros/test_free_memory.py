"""Test that memory goes back to the system, each case in a process of its own.

The memory of the process that runs all tests is too fragmented to count anything.
"""

import subprocess
import sys

import pytest

from dynamics_node.errors import FileError
from dynamics_node.ros.free_memory import MUCH, MemoryReturn, resident

BLOCK = 50_000   # [bytes] too small to be mapped alone


def counted_memory():
    """A MemoryReturn after its first check; its trims are counted."""
    memory = MemoryReturn()
    memory.check()
    memory.trims, trim = [], memory._trim
    memory._trim = lambda pad: memory.trims.append(trim(pad))
    return memory


class Used:
    """Memory in use, with a small block behind it: without that, the allocator would trim."""

    def __init__(self, size):
        self._blocks = [bytearray(BLOCK) for _ in range(size // BLOCK)]
        self._last = bytearray(BLOCK)

    def free(self):
        self._blocks.clear()


def freed_memory_goes_back(memory):
    """Also where a check came while it was in use."""
    before = resident()
    used = Used(200_000_000)
    grown = resident() - before
    assert grown > 150_000_000
    memory.check()
    used.free()
    memory.check()
    assert resident() - before < 0.2 * grown
    assert len(memory.trims) == 1


def nothing_is_done_without_much_free_memory(memory):
    """Nor after it was given back."""
    few, much = Used(MUCH // 2), Used(200_000_000)
    few.free()
    memory.check()
    assert memory.trims == []
    much.free()
    for _ in range(5):
        memory.check()
    assert len(memory.trims) == 1


def memory_that_was_given_back_and_used_again_is_given_back_again(memory):
    """Even if all of it was freed between two checks."""
    before = resident()
    for _ in range(3):
        Used(200_000_000).free()
        memory.check()
        memory.check()
        assert resident() - before < 40_000_000


CASES = [freed_memory_goes_back, nothing_is_done_without_much_free_memory,
         memory_that_was_given_back_and_used_again_is_given_back_again]


@pytest.mark.parametrize('case', CASES, ids=lambda case: case.__name__)
def test_memory(case):
    ended = subprocess.run([sys.executable, __file__, case.__name__], capture_output=True,
                           text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_process_without_file_descriptors_gives_nothing_back(monkeypatch):
    """And goes on."""
    memory = MemoryReturn()
    monkeypatch.setattr('dynamics_node.ros.free_memory.read_file', _cannot_read)
    memory.check()


def _cannot_read(path, *_):
    raise FileError(path, 'Too many open files', False)


if __name__ == '__main__':
    globals()[sys.argv[1]](counted_memory())
