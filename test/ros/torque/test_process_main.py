"""Test how the torque process takes commands, and how it ends."""

import os
import subprocess
import sys
from types import SimpleNamespace

from rclpy.task import Future

from dynamics_node.ros.torque.process_main import _Received
from dynamics_node.ros.torque.records import Command

# A thread that never ends, as one that compiles a kernel; text that is still in a buffer.
END = """
import threading, time
from dynamics_node.ros.child_process import exit_now
threading.Thread(target=time.sleep, args=(3600.0,)).start()
print('last line', end='')
exit_now(0)
"""
BUFFERED = {**os.environ, 'PYTHONUNBUFFERED': ''}


def test_a_command_that_arrives_at_the_end_is_kept():
    """The node has no executor then; the thread of the link goes on."""
    executed, tasks = [], []
    node = SimpleNamespace(executor=None, execute=executed.append)
    received, commands = _Received(Future()), [Command(k, 'status', ()) for k in range(3)]
    received.on_record(commands[0])
    received.serve(node)
    received.on_record(commands[1])
    assert executed == commands[:1]
    node.executor = SimpleNamespace(create_task=tasks.append)
    received.on_record(commands[2])
    (task,) = tasks
    task()
    assert executed == commands


def test_the_process_ends_at_once_and_writes_what_it_printed():
    ended = subprocess.run([sys.executable, '-c', END], capture_output=True, text=True, timeout=60,
                           check=True, env=BUFFERED)
    assert (ended.stdout, ended.stderr) == ('last line', '')


def test_the_process_ends_without_a_reader():
    """As after the terminal was closed."""
    process = subprocess.Popen([sys.executable, '-c', END], stdout=subprocess.PIPE,
                               env=BUFFERED)
    process.stdout.close()
    assert process.wait(60) == 0
