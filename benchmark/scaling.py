"""Measure how the cost grows with the length of a chain."""

from typing import NamedTuple

import numpy as np
from engines import Call, compile_questions
from robots import chain
from timing import at_once, over_states, take_turns

from dynamics_node import Robot

QUESTIONS = ('inverse_dynamics', 'forward_dynamics')
STATES = 128
PASSES = 8  # batches on end


class Point(NamedTuple):
    """The cost of a quantity for a chain of some length."""

    question: str
    links: int
    operations: int  # floating-point instructions per state
    single: float    # ns
    batch: float     # ns per state


def measure(links, turns, tick):
    """Return the Points of one length."""
    robot = Robot.from_urdf(chain(links))
    operations = compile_questions(robot, QUESTIONS)
    q, v, x = np.random.default_rng(links).normal(size=(3, STATES, links))
    states = [tuple(row.copy() for row in state) for state in zip(q, v, x)]
    runs = {}
    for question in QUESTIONS:
        call = Call('ask(q, v, x)', {'ask': getattr(robot, question)})
        runs[question, 'single'] = over_states(call, 'q, v, x', states)
        runs[question, 'batch'] = at_once(call, PASSES, q=q, v=v, x=x)
    seconds = take_turns(runs, turns, tick)
    return [Point(question, links, operations[question],
                  1e9 * min(seconds[question, 'single']) / STATES,
                  1e9 * min(seconds[question, 'batch']) / STATES / PASSES)
            for question in QUESTIONS]


def exponents(points):
    """Return {question: {what: (exponent over all lengths, over the longer half)}}.

    Short chains solve forward dynamics by the mass matrix: cheaper there, but its cost grows
    faster. The longer half tells how the cost goes on.
    """
    found = {}
    for question in QUESTIONS:
        mine = sorted(point for point in points if point.question == question)
        found[question] = {what: (_slope(mine, what), _slope(mine[len(mine) // 2:], what))
                           for what in ('operations', 'single', 'batch')}
    return found


def _slope(points, what):
    links = np.log([point.links for point in points])
    return float(np.polyfit(links, np.log([getattr(point, what) for point in points]), 1)[0])
