"""Assign spill slots: stack memory for values that are read long after they were computed.

The time of LLVM's register allocator grows faster than the length of a function, and in long
straight-line code it spills most values anyway. In long programs the spills are emitted here: the
code is divided into regions, and a value that one region computes and another reads goes through a
slot on the stack. A slot is reused after the last load of its value.
"""

import heapq
from collections import Counter
from collections.abc import Mapping

from dynamics_node.compiler.ir_loops import at
from dynamics_node.compiler.ir_text import Emitter

NEAR = 128   # [bytes] reach of an offset of 8 bits, to both sides (x86)

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
        """Fill in the stores and loads; return the lines for the head of the function.

        Call it once, when the whole body is emitted.
        """
        slots = self._assigned()
        near = self._by_use(slots) if self._e.lanes == 1 else {}   # see _near_memory
        for number, slot in slots.items():
            line, value = self._stores[number]
            self._fill(line, f'store {self._e.type} {value}', slot, near)
            for load in self._loads[number]:
                self._fill(load, f'{self._e.lines[load]} = load {self._e.type}', slot, near)
        if near:
            return self._near_memory(len(near))
        return [f'  %slot{slot} = alloca {self._e.type}, align {8 * self._e.lanes}'
                for slot in sorted(set(slots.values()))]

    def _assigned(self) -> dict[int, int]:
        """Return {number: slot} of the values that are loaded."""
        assigned: dict[int, int] = {}
        free: list[int] = []
        busy: list[tuple[int, int]] = []  # heap of (line of the last load, slot)
        count = 0
        for number in sorted(self._loads, key=lambda number: self._stores[number][0]):
            line, _ = self._stores[number]
            while busy and busy[0][0] < line:
                free.append(heapq.heappop(busy)[1])
            slot = free.pop() if free else count
            count += slot == count
            heapq.heappush(busy, (self._loads[number][-1], slot))
            assigned[number] = slot
        return assigned

    def _by_use(self, slots: Mapping[int, int]) -> dict[int, int]:
        """Return {slot: offset in bytes}, the most used slots first."""
        uses: Counter[int] = Counter()
        for number, slot in slots.items():
            uses[slot] += 1 + len(self._loads[number])
        return {slot: 8 * rank - NEAR for rank, (slot, _) in enumerate(uses.most_common())}

    def _fill(self, line: int, instruction: str, slot: int, near: Mapping[int, int]) -> None:
        """Write a load or a store into its empty line, behind its address if that is computed."""
        address, before = f'%slot{slot}', ''
        if near:
            address = f'%at{line}'
            before = f'  {address} = getelementptr i8, ptr %near, i64 {near[slot]}\n'
        self._e.lines[line] = (f'{before}  {instruction}, ptr {address}, '
                               f'align {8 * self._e.lanes}')

    def _near_memory(self, count: int) -> list[str]:
        """Return the lines that define %near, from which slots of a single state are addressed.

        A long kernel of a single state is limited by instruction fetch. The empty assembly
        hides from LLVM that the address is on the stack: relative to a register of its own, a slot
        takes one byte less than relative to the stack pointer, within NEAR bytes four less. TALOS
        takes 2 to 4 % less time (measured). In a batch with AVX-512, the
        offset of 8 bits counts vectors, and most slots are within its reach.
        """
        return [f'  %slots = alloca [{count} x double], align 64',
                f'  %middle = getelementptr i8, ptr %slots, i64 {NEAR}',
                '  %near = call ptr asm "", "=r,0"(ptr %middle)']
