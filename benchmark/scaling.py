"""Measure how the cost grows with the length of a chain."""

from typing import NamedTuple

import numpy as np
from engines import Call, compile_kernels
from robots import chain
from timing import at_once, over_states, take_turns

from dynamics_node import Robot

QUANTITIES = ('inverse_dynamics', 'forward_dynamics')
STATES = 128
PASSES = 8  # batches, one after another, per turn


class Point(NamedTuple):
    """The cost of a quantity for a chain of some length."""

    quantity: str
    links: int
    operations: int  # floating-point instructions per state
    single: float    # ns
    batch: float     # ns per state


def measure(links, turns, tick):
    """Return the Points of one length."""
    robot = Robot.from_urdf(chain(links))
    operations = compile_kernels(robot, QUANTITIES)
    q, v, x = np.random.default_rng(links).normal(size=(3, STATES, links))
    states = [tuple(row.copy() for row in state) for state in zip(q, v, x)]
    runs = {}
    for quantity in QUANTITIES:
        call = Call('call(q, v, x)', {'call': getattr(robot, quantity)})
        runs[quantity, 'single'] = over_states(call, 'q, v, x', states)
        runs[quantity, 'batch'] = at_once(call, PASSES, q=q, v=v, x=x)
    seconds = take_turns(runs, turns, tick)
    return [Point(quantity, links, operations[quantity],
                  1e9 * min(seconds[quantity, 'single']) / STATES,
                  1e9 * min(seconds[quantity, 'batch']) / STATES / PASSES)
            for quantity in QUANTITIES]


def exponents(points):
    """Return {quantity: {what: (exponent over all lengths, over the longer half)}}.

    Forward dynamics of short chains uses the mass matrix: cheaper there, but its cost grows
    faster. The longer half shows the growth for long chains.
    """
    found = {}
    for quantity in QUANTITIES:
        mine = sorted(point for point in points if point.quantity == quantity)
        found[quantity] = {what: (_slope(mine, what), _slope(mine[len(mine) // 2:], what))
                           for what in ('operations', 'single', 'batch')}
    return found


def _slope(points, what):
    links = np.log([point.links for point in points])
    return float(np.polyfit(links, np.log([getattr(point, what) for point in points]), 1)[0])
