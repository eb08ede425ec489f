"""Measure the start-up cost of a robot; run by startup.py and humanoids.py in a fresh process.

python probe.py first|compile < robot.urdf                 a fixed base; prints a line of JSON
python probe.py inverse|everything|recursions < robot.urdf
python probe.py ahead plain|derivatives JOBS < robot.urdf  a floating base, in several processes
"""

import json
import re
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
        return peak()


def peak():
    """Return the peak memory of this process or of one that it started, the greater [MB].

    Linux counts the memory of the process that started this one in its own ru_maxrss, also after
    exec; VmHWM begins with the program.
    """
    unit = 1.0 if sys.platform == 'darwin' else 1024.0
    mine, children = (resource.getrusage(which).ru_maxrss * unit / 1e6
                      for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    try:
        status = Path('/proc/self/status').read_text()
        mine = int(re.search(r'VmHWM:\s*(\d+) kB', status)[1]) * 1024 / 1e6
    except OSError:
        pass
    return max(mine, children)


def main(what, text, options):
    bare = resident()
    start = perf_counter()
    from dynamics_node import Robot
    imports = perf_counter() - start
    start, start_cpu = perf_counter(), process_time()
    base = 'fixed' if what in ('first', 'compile', 'recursions') else 'floating'
    robot = Robot.from_urdf(text, base=base)
    found = RUN[what](robot, *options)
    seconds = perf_counter() - start
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({'imports': imports, 'seconds': seconds,
                      'cpu': process_time() - start_cpu + children.ru_utime + children.ru_stime,
                      'megabytes': resident() - bare, 'most': peak(), **(found or {})}))


def first(robot):
    tau = robot.inverse_dynamics(*np.ones((3, robot.nv)))
    assert np.isfinite(tau).all()


def compile_all(robot):
    robot.compile(wait=True)


def compile_named(*kernels):
    """Return the work of compiling some kernels alone."""
    def work(robot):
        from dynamics_node.kernels.keys import key_of
        robot._dispatcher.compile([key_of(robot.model, kernel) for kernel in kernels], wait=True)
    return work


def everything(robot):
    from dynamics_node.kernels.keys import all_keys
    robot._dispatcher.compile(all_keys(robot.model, derivatives=True), wait=True)


def ahead(robot, which, jobs):
    """Compile as `dynamics_node compile` does: all plain kernels, or all others."""
    from dynamics_node.kernels.compile_ahead import compile_ahead
    from dynamics_node.kernels.keys import all_keys
    plain = all_keys(robot.model)
    keys = plain if which == 'plain' else [
        key for key in all_keys(robot.model, derivatives=True) if key not in plain]
    done = list(compile_ahead(robot.model, keys, int(jobs)))
    assert not any(each.error for each in done), done
    return {'kernels': len(done)}


RUN = {'first': first, 'compile': compile_all, 'inverse': compile_named('inverse_dynamics'),
       'recursions': compile_named('inverse_dynamics', 'forward_dynamics'),
       'everything': everything, 'ahead': ahead}

if __name__ == '__main__':
    main(sys.argv[1], sys.stdin.read(), sys.argv[2:])
