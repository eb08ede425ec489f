"""Test how the torque process takes commands."""

from types import SimpleNamespace

from rclpy.task import Future

from dynamics_node.ros.torque.process_main import _Received
from dynamics_node.ros.torque.records import Command


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
