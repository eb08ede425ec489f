"""Measure the start-up cost of a robot; run by startup.py in a fresh process.

python probe.py first|compile|derivatives < robot.urdf     prints a line of JSON
"""

import json
import resource
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np


def resident():
    """Return the memory of this process [MB]; without /proc, its peak."""
    try:
        pages = int(Path('/proc/self/statm').read_text().split()[1])
        return pages * resource.getpagesize() / 1e6
    except OSError:
        return most()


def most():
    """Return the peak memory of this process [MB]."""
    unit = 1.0 if sys.platform == 'darwin' else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def main(what, text):
    bare = resident()
    start = perf_counter()
    from dynamics_node import Robot
    imports = perf_counter() - start
    start, start_cpu = perf_counter(), process_time()
    robot = Robot.from_urdf(text)
    if what == 'first':
        tau = robot.inverse_dynamics(*np.ones((3, robot.nv)))
        assert np.isfinite(tau).all()
    elif what == 'compile':
        robot.compile(wait=True)
    else:  # only the kernels of derivatives
        from dynamics_node.kernels.keys import all_keys
        plain = all_keys(robot.model)
        robot._dispatcher.compile([key for key in all_keys(robot.model, derivatives=True)
                                 if key not in plain], wait=True)
    print(json.dumps({'imports': imports, 'seconds': perf_counter() - start,
                      'cpu': process_time() - start_cpu, 'megabytes': resident() - bare,
                      'most': most()}))


if __name__ == '__main__':
    main(sys.argv[1], sys.stdin.read())
