"""Measure time and memory of the compilation of humanoids with a floating base, cold and warm.

python benchmark/humanoids.py     prints the table
"""

import tempfile

from robots import urdf
from startup import Cost, probe

NAMES = {'talos': 'TALOS', 'g1': 'G1'}
JOBS = 2   # processes that compile ahead of time
CHAIN = 20, 80   # links between which the time must not grow faster than their number


def measure(name, repetitions, tick):
    """Return the Costs of a humanoid: each in fresh processes, the cache empty at first."""
    text, label = urdf(name), NAMES[name]
    first = []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as cache:
            first.append(probe('inverse', text, cache))
    with tempfile.TemporaryDirectory() as cache:
        plain = probe('ahead', text, cache, 'plain', str(JOBS))
        tick(0.3)
        derivatives = probe('ahead', text, cache, 'derivatives', str(JOBS))
        tick(0.9)
        warm = [probe('everything', text, cache) for _ in range(repetitions)]
    both = max(plain['most'], derivatives['most'])
    return [
        Cost(f'{label}: inverse dynamics compiled', _least(first), 's', 0.5),
        Cost(f'{label}: {plain["kernels"]} plain kernels, {JOBS} processes', plain['seconds'], 's',
             4.0),
        Cost(f'{label}: {derivatives["kernels"]} kernels of derivatives, {JOBS} processes',
             derivatives['seconds'], 's', 15.0),
        Cost(f'{label}: CPU time of both', plain['cpu'] + derivatives['cpu'], 's', None),
        Cost(f'{label}: peak memory of a process that compiles', both, 'MB', 300.0),
        Cost(f'{label}: all kernels from the cache', _least(warm), 's', 0.2)]


def chains(tick):
    """Return the Costs of the compilation of chains: how its CPU time grows with their length."""
    from robots import chain
    seconds = []
    for k, links in enumerate(CHAIN):
        with tempfile.TemporaryDirectory() as cache:
            seconds.append(probe('recursions', chain(links), cache)['cpu'])
        tick((k + 1) / len(CHAIN))
    growth = seconds[1] / seconds[0] / (CHAIN[1] / CHAIN[0])
    return [Cost(f'chain of {links} links: dynamics compiled, CPU time', value, 's', None)
            for links, value in zip(CHAIN, seconds)] + [
        Cost(f'its growth from {CHAIN[0]} to {CHAIN[1]} links, over linear', growth, 'x', 1.0)]


def _least(costs):
    return min(cost['seconds'] for cost in costs)


if __name__ == '__main__':
    import table
    costs = [cost for name in NAMES for cost in measure(name, 2, lambda _: None)]
    print(table.costs([*costs, *chains(lambda _: None)]))
