"""Measure the start of one node: time to the first reply, CPU and memory of its processes.

python benchmark/node_start.py [--repetitions 5]

Prints a table as JSON: the smallest values of all repetitions, of the end the longest. The kernels
are in the cache; torques are off.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import rclpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'examples'))
from processes import die_with_parent, own_domain, program_of  # noqa: E402

from dynamics_node.example_robots import ARM7  # noqa: E402
from dynamics_node.srv import ModelReport  # noqa: E402

PATIENCE = 60.0   # [s]
SETTLED = 3.0     # [s] after the first reply, until CPU and memory are read
END = 'from SIGINT to the end, longest [s]'
PROCESSES = ('serving process', 'torque process', 'watchdog')   # in the order of their start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--repetitions', type=int, default=5)
    options = parser.parse_args()
    with own_domain():
        rclpy.init()
        node = rclpy.create_node('measure')
        client = node.create_client(ModelReport, '/dynamics_node/model_report')
        try:
            start_and_end(node, client)   # compiles the kernels
            runs = [start_and_end(node, client) for _ in range(options.repetitions)]
        finally:
            rclpy.try_shutdown()
    found = {what: min(run[what] for run in runs) for what in runs[0]}
    found[END] = max(run[END] for run in runs)
    print(json.dumps(found, indent=2))


def start_and_end(node, client):
    """Start a node, wait for its first reply, end it; return {what: value}."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [str(program_of('dynamics_node')), '--ros-args', '-p', f'robot_description:={ARM7}'],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=die_with_parent)
    try:
        report = first_reply(node, client, begin + PATIENCE)
        found = {'from the start to the first reply [s]': round(time.monotonic() - begin, 2)}
        while not report.compiled:
            time.sleep(0.5)
            report = first_reply(node, client, begin + PATIENCE)
        time.sleep(SETTLED)
        found |= costs(process.pid)
    finally:
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    return found | {END: round(time.monotonic() - begin, 2)}


def first_reply(node, client, deadline):
    """Return the first reply of ~/model_report."""
    while time.monotonic() < deadline:
        if client.service_is_ready():
            future = client.call_async(ModelReport.Request())
            rclpy.spin_until_future_complete(node, future, timeout_sec=1.0)
            if future.done():
                return future.result()
        time.sleep(0.01)
    raise TimeoutError(f'no reply of {client.srv_name}')


def costs(pid):
    """Return {what: value} of the processes of a node."""
    found = {}
    for name, each in zip(PROCESSES, processes_of(pid)):
        found[f'{name}: CPU [s]'] = round(cpu_seconds(each), 2)
        found[f'{name}: memory, proportional share [MB]'] = round(memory(each, 'Pss'), 1)
        found[f'{name}: memory of its own [MB]'] = round(
            memory(each, 'Private_Dirty') + memory(each, 'Private_Clean'), 1)
    return found | {'CPU of all [s]': round(sum(map(cpu_seconds, processes_of(pid))), 2)}


def processes_of(pid):
    """Return a process and its descendants, by their start."""
    children = Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return [pid, *(each for child in children for each in processes_of(int(child)))]


def cpu_seconds(pid):
    """Return the time that one process has used, and those of its children that have ended."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf('SC_CLK_TCK')


def memory(pid, kind):
    """Return a sum of /proc/pid/smaps_rollup [MB]."""
    text = Path(f'/proc/{pid}/smaps_rollup').read_text()
    return next(int(line.split()[1]) for line in text.splitlines()
                if line.startswith(f'{kind}:')) * 1024 / 1e6


if __name__ == '__main__':
    main()
