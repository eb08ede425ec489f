"""Assign spill slots: stack memory for values that are read long after they were computed.

The time of LLVM's register allocator grows faster than the length of a function, and in long
straight-line code it spills most values anyway. In long programs the spills are emitted here: the
code is divided into regions, and a value that one region computes and another reads goes through a
slot on the stack. A slot is reused after the last load of its value.
"""

import heapq
from collections.abc import Mapping

from dynamics_node.compiler.ir_loops import at
from dynamics_node.compiler.ir_text import Emitter

Place = tuple[str, int]   # of a value in memory: a pointer, and the offset from it in bytes


class SpillSlots:
    """The values of one function by symbol number; stores and loads are filled in at the end."""

    def __init__(self, emitter: Emitter, region: int, places: Mapping[int, Place]):
        """Take the number of basic blocks per region, and the places of values in memory."""
        self._e, self._region, self._places = emitter, region, places
        self._blocks = 0
        self.live: dict[int, str] = {}                 # number -> name, in this region
        self._stores: dict[int, tuple[int, str]] = {}  # number -> (line of its store, name)
        self._loads: dict[int, list[int]] = {}         # number -> lines of its loads

    def define(self, number: int, value: str) -> None:
        """Register a value; leave an empty line for its store."""
        self.live[number] = value
        self._stores[number] = len(self._e.lines), value
        self._e.lines.append('')

    def use(self, number: int) -> str:
        """Return the name of a value in this region, loaded if another region computed it."""
        if number in self._places and number not in self.live:
            address = at(self._e, *self._places[number])
            self.live[number] = self._e.line(f'load {self._e.type}, ptr {address}, '
                                             f'align {8 * self._e.lanes}')
        if number not in self.live:
            self._loads.setdefault(number, []).append(len(self._e.lines))
            self.live[number] = self._e.name()
            self._e.lines.append(self.live[number])
        return self.live[number]

    def next_block(self) -> None:
        """Count basic blocks; begin a new region after as many as a region has."""
        self._blocks += 1
        if self._blocks >= self._region:
            self._blocks = 0
            self.live = {}

    def allocations(self) -> list[str]:
        """Fill in the stores and loads; return the allocas, for the head of the function."""
        align = 8 * self._e.lanes
        free: list[str] = []
        busy: list[tuple[int, str]] = []  # heap of (line of the last load, slot)
        count = 0
        for number in sorted(self._loads, key=lambda number: self._stores[number][0]):
            line, value = self._stores[number]
            while busy and busy[0][0] < line:
                free.append(heapq.heappop(busy)[1])
            slot = free.pop() if free else f'%slot{count}'
            count += slot == f'%slot{count}'
            heapq.heappush(busy, (self._loads[number][-1], slot))
            self._e.lines[line] = f'  store {self._e.type} {value}, ptr {slot}, align {align}'
            for load in self._loads[number]:
                self._e.lines[load] = (f'  {self._e.lines[load]} = load {self._e.type}, '
                                       f'ptr {slot}, align {align}')
        return [f'  %slot{k} = alloca {self._e.type}, align {align}' for k in range(count)]
