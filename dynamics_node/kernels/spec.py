"""What a question is."""

from typing import NamedTuple

PUSHED = ('wrenches',)


class KernelSpec(NamedTuple):
    """What is asked, of which state."""

    states: tuple
    answers: tuple         # functions to choose from, the cheapest program wins
    margins: bool = False  # the last answer must be positive
    wrenches: tuple = ()   # what comes with the states where external wrenches do
    local: bool = False    # may be asked in the frame's own axes
    cubic: bool = False    # its answer has nv^3 numbers
    kind: type = tuple     # of several answers
    held: bool = False     # takes a set of constraints, after the robot
