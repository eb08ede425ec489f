"""Measure time and memory from a URDF to results, each in a fresh process and cache."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from robots import urdf

PROBE = Path(__file__).with_name('probe.py')
CALLS, TORQUES = (Path(__file__).with_name(f'ros_{what}.py') for what in ('calls', 'torques'))
LOAD = Path(__file__).with_name('torque_under_load.py')
PAGE = Path(__file__).with_name('torque_with_inspector.py')


class Cost(NamedTuple):
    """A measured value, and the bar that it must be below."""

    what: str
    value: float
    unit: str
    bar: float   # None where none is set

    @property
    def met(self):
        return self.bar is None or self.value < self.bar


def arm(repetitions, tick):
    """Return the Costs of a 7-axis arm."""
    text, first, cold, warm = urdf('panda'), [], [], []
    for k in range(repetitions):
        with tempfile.TemporaryDirectory() as cache:
            first.append(probe('first', text, cache))
        with tempfile.TemporaryDirectory() as cache:
            cold.append(probe('compile', text, cache))
            warm += [probe('compile', text, cache) for _ in range(2)]
        tick((k + 1) / repetitions)
    return [
        Cost('imports besides NumPy', _least(first, 'imports'), 's', None),
        Cost('7 axes: URDF text to the first result', _least(first, 'seconds'), 's', 0.2),
        Cost('7 axes: all kernels compiled, CPU time', _least(cold, 'cpu'), 's', 10.0),
        Cost('7 axes: all kernels compiled, wall time', _least(cold, 'seconds'), 's', None),
        Cost('7 axes: all kernels from the cache', _least(warm, 'seconds'), 's', 0.3),
        Cost('7 axes: memory after compiling', _least(cold, 'megabytes'), 'MB', 150.0),
        Cost('7 axes: memory, kernels from the cache', _least(warm, 'megabytes'), 'MB', 150.0)]


def probe(what, text, cache, *options):
    """Return what probe.py measures in a fresh process, with its own folder of kernels."""
    done = subprocess.run([sys.executable, PROBE, what, *options], input=text,
                          capture_output=True, text=True,
                          env={**os.environ, 'DYNAMICS_NODE_CACHE': cache})
    if done.returncode:
        raise RuntimeError(f'probe.py {what} failed:\n{done.stderr}')
    return json.loads(done.stdout)


def through_ros(calls, seconds, tick):
    """Return the Costs of calls to the node and of torques; nothing where there is no ROS."""
    if importlib.util.find_spec('rclpy') is None:
        return []
    found = {}
    stages = [[CALLS, '--calls', str(calls)],
              [TORQUES, '--states', str(calls), '--seconds', str(seconds)],
              [LOAD, '--seconds', str(seconds)]]
    if importlib.util.find_spec('viser') is not None:
        stages.append([PAGE, '--seconds', str(min(seconds, 20))])
    for k, words in enumerate(stages):
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True,
                              timeout=600)
        if done.returncode:
            raise OSError(f'{words[0].name} failed: {done.stderr[-2000:]}')
        found.update(json.loads(done.stdout))
        tick((k + 1) / len(stages))
    return [Cost(what, *rest) for what, rest in found.items()]


def _least(costs, name):
    return min(cost[name] for cost in costs)
