"""Time loops side by side.

As in timeit, each loop is compiled from text, with local names only. Loops alternate, and the
fastest time of each counts: other load of the machine can only make a loop slower.
"""

import gc
import itertools
from time import perf_counter

LOOP = """
def run({names}, clock=clock):
    start = clock()
    for {each}:
        {statement}
    return clock() - start
"""


def loop(each, statement, timer=perf_counter, **names):
    """Return a function that runs a loop and returns the seconds it took.

    :param each: the text after `for`.
    :param timer: perf_counter, or process_time where other processes disturb.
    """
    scope = {**names, 'clock': timer}
    source = LOOP.format(names=', '.join(f'{name}={name}' for name in names), each=each,
                         statement=statement)
    exec(source, scope)
    return scope['run']


def over_states(call, arguments, states):
    """Return the loop over single states, lists of arrays; results are dropped."""
    return loop(f'{arguments} in states', _statement(call, ''), states=states, **call.names)


def over_rows(call, arguments, arrays, out):
    """Return the loop over the rows of a batch; results are kept in `out`."""
    rows = f'zip({arguments.upper()})' if ',' in arguments else arguments.upper()
    return loop(f'row, ({arguments}) in enumerate({rows})', _statement(call, 'out[row] = '),
                out=out, **dict(zip(arguments.upper().split(', '), arrays)), **call.names)


def at_once(call, passes=1, **names):
    """Return the loop that calls with a whole batch, several times."""
    return loop('_ in passes', _statement(call, ''), passes=range(passes), **call.names, **names)


def _statement(call, keep):
    return f'{call.before + "; " if call.before else ""}{keep}{call.expression}'


def take_turns(runs, turns, tick):
    """Return {name: seconds of each turn}; loops alternate, and each turn begins with another.

    :param tick: called after each turn with the share of turns done.
    """
    seconds = {name: [] for name in runs}
    order = itertools.cycle(runs)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for run in runs.values():
            run()
        for turn in range(turns):
            next(order)
            for name in itertools.islice(order, len(runs)):
                seconds[name].append(runs[name]())
            tick((turn + 1) / turns)
    finally:
        if collecting:
            gc.enable()
    return seconds
