"""Where values wait that are needed much later: in memory, by our own account.

LLVM's register allocator takes time that grows faster than a function does, and in a long straight
line it can do no better than to put most values into memory. In large programs we do that
ourselves: the line is divided into stretches, and what one stretch leaves for another goes through
a slot on the stack. A slot whose last reader is through is used again.
"""

import heapq


class Shelf:
    """The values of one function, by number; lines are completed at the end, by `slots`."""

    def __init__(self, emitter, stretch):
        """Take how many operations make a stretch."""
        self._e, self._stretch = emitter, stretch
        self._operations = 0
        self._here = {}     # number -> name, of this stretch
        self._put = {}      # number -> (line of its store, name)
        self._taken = {}    # number -> lines of its loads

    def put(self, number, value):
        """Keep a value; the line of its store is left open."""
        self._here[number] = value
        self._put[number] = len(self._e.lines), value
        self._e.lines.append('')

    def take(self, number):
        """Return the name of a value in this stretch, loaded where it comes from another."""
        if number not in self._here:
            self._taken.setdefault(number, []).append(len(self._e.lines))
            self._here[number] = self._e.name()
            self._e.lines.append(self._here[number])
        return self._here[number]

    def pass_by(self, operations):
        """Some operations have been emitted: begin another stretch after enough of them."""
        self._operations += operations
        if self._operations >= self._stretch:
            self._operations = 0
            self._here = {}

    def slots(self):
        """Complete the lines; return those that make the slots, for the head of the function."""
        align = 8 * self._e.lanes
        free, busy, count = [], [], 0   # slots; (line of the last load, slot)
        for number in sorted(self._taken, key=lambda number: self._put[number][0]):
            line, value = self._put[number]
            while busy and busy[0][0] < line:
                free.append(heapq.heappop(busy)[1])
            slot = free.pop() if free else f'%slot{count}'
            count += slot == f'%slot{count}'
            heapq.heappush(busy, (self._taken[number][-1], slot))
            self._e.lines[line] = f'  store {self._e.type} {value}, ptr {slot}, align {align}'
            for load in self._taken[number]:
                self._e.lines[load] = (f'  {self._e.lines[load]} = load {self._e.type}, '
                                       f'ptr {slot}, align {align}')
        return [f'  %slot{k} = alloca {self._e.type}, align {align}' for k in range(count)]
