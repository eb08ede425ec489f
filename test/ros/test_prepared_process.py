"""Test processes that are forked before rclpy is loaded, in a program without threads."""

import json
import os
import subprocess
import sys
import time

import pytest

PATIENCE = 60.0   # [s] on a loaded machine
PROBE = """
import os, sys, time

def main():
    if sys.argv[-1] == 'sleep':
        time.sleep(3600.0)
    os.write(int(sys.argv[1]), repr([sys.argv[2:], os.getsid(0) == os.getpid(),
                                     len(os.listdir('/proc/self/fd')), sys.stdin.read()]).encode())
    if sys.argv[-1] == 'fail':
        raise ValueError('on purpose')
"""
PROGRAM = """
import json, os, subprocess, sys, time
from dynamics_node.ros import prepared_process
prepared_process.SHARED = ()
from dynamics_node.ros.prepared_process import PreparedProcess, PreparedProcesses

def answer(start, *words):
    reader, writer = os.pipe()
    process = start('probe', [writer], words)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    return text, process.wait(60.0), isinstance(process, PreparedProcess)

def say(value):
    print(json.dumps(value), flush=True)
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs lines of a program; it returns the process."""
    (tmp_path / 'probe.py').write_text(PROBE)
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    started = []

    def begin(lines):
        started.append(subprocess.Popen(
            [sys.executable, '-c', PROGRAM + lines], cwd=tmp_path, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]
    yield begin
    for process in started:
        process.kill()
        with process:   # closes the pipes
            pass


def said(process):
    """Return what a program has said, once it has ended."""
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return [json.loads(line) for line in out.splitlines()], errors


def test_what_is_imported_before_the_fork_loads_no_rclpy_and_no_thread(tmp_path):
    """A thread would be missing in the forked processes."""
    lines = ('import os, sys\n'
             'from dynamics_node.ros.prepared_process import SHARED\n'
             'for each in SHARED: __import__(each)\n'
             'print("rclpy" in sys.modules, len(os.listdir("/proc/self/task")))')
    done = subprocess.run([sys.executable, '-c', lines], cwd=tmp_path, capture_output=True,
                          text=True, check=True, env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'})
    assert done.stdout.split() == ['False', '1']


def test_a_prepared_process_runs_main_with_descriptors_and_arguments(run):
    """In a session of its own, with no other descriptor; a description may be a long argument."""
    (first, second), _ = said(run("""
words = 'a word', '\\udcff', *['x' * 100_000] * 5
prepared = PreparedProcesses(['probe'])
for _ in range(2):
    text, code, forked = answer(prepared.start, *words)
    found = eval(text)
    say([found[0] == list(words), *found[1:], code, forked])
"""))
    # its descriptors: 0, 1, 2, the pipe, and that of listdir
    assert first == [True, True, 5, '', 0, True]
    assert second == [True, True, 5, '', 0, False]   # a new interpreter: the prepared one is used


@pytest.mark.parametrize('before', [
    "sys.modules['rclpy'] = None",
    'import threading; threading.Thread(target=time.sleep, args=[60.0], daemon=True).start()'])
def test_nothing_is_forked_with_rclpy_or_threads(run, before):
    (found,), _ = said(run(f"""
{before}
say(answer(PreparedProcesses(['probe']).start)[2])
"""))
    assert found is False


@pytest.mark.parametrize('number', ['SIGKILL', 'SIGSTOP', 'SIGTERM'])
def test_a_prepared_process_that_has_ended_or_stands_still_is_replaced(run, number):
    """It was forked by a program that handles SIGTERM, and handles it by itself."""
    (found,), _ = said(run(f"""
import signal
prepared_process.TOLD = 0.2
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
prepared = PreparedProcesses(['probe'])
process = prepared._waiting['probe']
os.kill(process.pid, signal.{number})
text, code, forked = answer(prepared.start, *['x' * 100_000] * 6)   # more than a socket holds
say([len(eval(text)[0]), code, forked, process.poll()])
"""))
    assert found == [6, 0, False, -15 if number == 'SIGTERM' else -9]


def test_nothing_is_forked_where_ros_is_incomplete(run):
    """The serving process reports that."""
    (found,), _ = said(run("""
prepared_process.SHARED = 'absent',
say(list(PreparedProcesses(['probe'])._waiting))
"""))
    assert found == []


def test_processes_are_prepared_without_output_and_with_ignored_children(run):
    """As after `dynamics_node >&-`, and `trap '' CHLD` in the shell that started it."""
    (found,), _ = said(run("""
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
output, sys.stdout = sys.stdout, None
prepared = PreparedProcesses(['probe'])
process = prepared.start('probe', [1], ['sleep'])
process.kill()
code = process.wait(60.0)
process.kill()
sys.stdout = output
say([isinstance(process, PreparedProcess), code])
"""))
    assert found == [True, 0]


@pytest.mark.parametrize('told', [True, False])
def test_a_module_that_cannot_be_imported_is_reported_if_it_is_needed(run, told):
    """The serving process reports that ROS is incomplete, once, and ends."""
    (found,), errors = said(run(f"""
prepared = PreparedProcesses(['absent'])
process = prepared._waiting['absent']
process.tell([0], []) if {told} else process._control.close()
say(process.wait(60.0))
"""))
    assert found == 1
    assert errors.count('ModuleNotFoundError') == told


def test_the_end_of_a_prepared_process_is_told_as_by_popen(run):
    (sleeping, failed), errors = said(run("""
prepared = PreparedProcesses(['probe'])
process = prepared.start('probe', [1], ['sleep'])
try:
    process.wait(0.05)
except subprocess.TimeoutExpired:
    before = process.poll()
process.kill()
say([before, process.wait(60.0), process.returncode])
process.kill()   # it has ended: nothing happens
say(answer(PreparedProcesses(['probe']).start, 'fail')[1:])
"""))
    assert sleeping == [None, -9, -9]
    assert failed == [1, True]
    assert 'ValueError: on purpose' in errors


@pytest.mark.parametrize('end', ['close', 'kill'])
def test_prepared_processes_end_with_the_one_that_made_them(run, end):
    process = run("""
prepared = PreparedProcesses(['probe', 'json'])
say([each.pid for each in prepared._waiting.values()])
sys.stdin.read()
""")
    prepared = json.loads(process.stdout.readline())
    assert len(prepared) == 2
    process.stdin.close() if end == 'close' else process.kill()
    deadline = time.monotonic() + PATIENCE
    while any(map(is_running, prepared)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid):
    try:
        with open(f'/proc/{pid}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False
