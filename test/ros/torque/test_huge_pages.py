"""Test the move of memory into huge pages, in a process of its own."""

import subprocess
import sys

import pytest

MOVE = """
import numpy as np
from dynamics_node.ros.torque.huge_pages import use_huge_pages
def huge():
    with open('/proc/self/smaps_rollup') as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith('AnonHugePages'))
numbers = [np.arange(250_000.0) + k for k in range(8)]   # 16 MB, pages of 4 kB
before = huge()
print(use_huge_pages(), (huge() - before) // 2048)
assert all((each == np.arange(250_000.0) + k).all() for k, each in enumerate(numbers))
print(use_huge_pages())
"""


def test_memory_moves_and_keeps_its_values():
    done = subprocess.run([sys.executable, '-c', MOVE], capture_output=True, text=True, timeout=60,
                          check=True)
    count, grown, again = map(int, done.stdout.split())
    if count == 0:
        assert grown == 0
        pytest.skip('this kernel does not move memory into huge pages')
    assert 1 <= grown <= count <= again + 1
