"""Run the watchdog process: publish the last torques where the torque process cannot.

It has as few parts as possible and receives no joint states: it brakes the arm by the model. It
loads kernels when torques begin, and sleeps while none are published. It ends with the torque
process and ignores SIGINT, SIGTERM and SIGHUP: a signal to all processes of the node stops the
torque process, and this one has to watch until that has ended.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import select
import signal
import socket
import sys
import threading
import time
from array import array
from contextlib import suppress

import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from dynamics_node.ros.child_process import END, LAST, exit_after, exit_now, set_name
from dynamics_node.ros.process_link import Link
from dynamics_node.ros.spin import ignore_signals
from dynamics_node.ros.topic_qos import TORQUE, overridable
from dynamics_node.ros.torque import realtime
from dynamics_node.ros.torque.last_torque import LastTorque, LastTorqueReader
from dynamics_node.ros.torque.watchdog import LOOK, LastTorques, Ready, Takeover, Watchdog
from dynamics_node.ros.torque.watchdog_kernels import WatchdogKernels
from dynamics_node.ros.torque.watchdog_process import WatchdogSetup

KILLED = 1.0         # [s] to wait for the end of a killed process
DISCOVERY = 0.01     # [s] between two looks for our own publishers
ALL_RECEIVED = 0.1   # [s] to wait until the last message is acknowledged


class WatchdogNode(Node):
    """The node of the watchdog: publishers alone. Its name is hidden."""

    def __init__(self, setup: WatchdogSetup) -> None:
        """Create the publishers, long before they are needed: they have to be discovered."""
        super().__init__(f'_{setup.name}_watchdog', namespace=setup.namespace,
                         use_global_arguments=False, enable_rosout=False,
                         start_parameter_services=False, parameter_overrides=[
                             Parameter(name, value=value)
                             for name, value in setup.overrides.items()])
        self._torque = self.create_publisher(JointState, setup.torque, **overridable(TORQUE))
        self._command = (self.create_publisher(Float64MultiArray, setup.command,
                                               **overridable(TORQUE)) if setup.command else None)
        self._both = [each for each in (self._command, self._torque) if each]

    def gids(self) -> set[bytes]:
        """Return the gids of the publishers."""
        found: set[bytes] = set()
        while len(found) < len(self._both):
            time.sleep(DISCOVERY)
            found = {bytes(info.endpoint_gid) for each in self._both
                     for info in self.get_publishers_info_by_topic(each.topic_name)
                     if (info.node_name, info.node_namespace) == (self.get_name(),
                                                                  self.get_namespace())}
        return found

    def publish(self, last: LastTorques) -> None:
        """Publish the torques that follow the last one, exit_period apart where there is time."""
        period = last.rules.limits.settings.exit_period
        state = JointState(name=list(last.rules.names))
        state.header.stamp = Time(nanoseconds=last.stamp).to_msg()
        due = time.monotonic()
        for torque in last.torques():
            state.effort = array('d', torque)
            if self._command is not None:
                self._command.publish(Float64MultiArray(data=state.effort))
            self._torque.publish(state)
            due = max(due + period, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
        for each in self._both:
            each.wait_for_all_acked(Duration(seconds=ALL_RECEIVED))


class WatchedProcess:
    """The torque process, seen from the watchdog."""

    def __init__(self, pidfd: int, shared: LastTorqueReader, connection: socket.socket,
                 serving_ended: int) -> None:
        """Begin to watch.

        :param pidfd: pidfd of the torque process.
        :param connection: to the torque process; it sends when torques begin.
        :param serving_ended: eventfd, written when the serving process has ended.
        """
        self._pidfd, self._shared = pidfd, shared
        self._connection, self._serving_ended = connection, serving_ended
        self._kill_at = float('inf')
        self._kernels = WatchdogKernels()
        self._last: LastTorques | None = None   # that are prepared
        self._poll = select.poll()
        for each in (pidfd, connection, serving_ended):
            self._poll.register(each, select.POLLIN)

    def wait(self) -> float:
        """Wait until the process has ended or stands still; return for how long it did [s]."""
        watchdog = Watchdog(self._shared)
        while True:
            ready = {descriptor for descriptor, _ in self._poll.poll(self._timeout())}
            if self._pidfd in ready:
                return 0.0
            if watchdog.stands_still(time.monotonic()) or time.monotonic() > self._kill_at:
                return watchdog.silence
            self._prepare(watchdog.is_near)
            if self._connection.fileno() in ready and not self._read():
                self._poll.unregister(self._connection)
            if self._serving_ended in ready:
                self._poll.unregister(self._serving_ended)
                self._kill_at = time.monotonic() + END   # it ends by itself before

    def _prepare(self, near: bool) -> None:
        """Predict the joint state while a takeover is near."""
        if not near:
            self._last = None
        else:
            with suppress(StopIteration, ValueError):   # the loop runs again, and writes
                self._last = self._last or self._after(self._shared.last())
                self._last.predict()

    def _after(self, last: LastTorque) -> LastTorques:
        return LastTorques(last, time.monotonic, self._kernels)

    def last_torques(self) -> LastTorques:
        """Return the torques to publish, once the process has ended."""
        newest = self._shared.last()
        if self._last is None or self._last.is_older(newest):
            return self._after(newest)
        return self._last

    def _read(self) -> bool:
        """Read what woke this process; return whether the connection is still open."""
        try:
            woken = bool(self._connection.recv(1))
        except ConnectionResetError:   # closed before our message was read
            return False
        if woken:   # torques begin
            threading.Thread(target=self._load_kernels, daemon=True).start()
        return woken

    def _load_kernels(self) -> None:
        with suppress(StopIteration, ValueError):   # the loop writes: kernels are loaded next time
            controller = self._shared.last().rules.controller
            if controller is not None:
                self._kernels.load(controller)

    def _timeout(self) -> float | None:
        """Return the time until the next look [ms], None while no torques are published."""
        if self._shared.active:
            return 1e3 * LOOK
        return None if self._kill_at == float('inf') else 1e3 * END

    def kill(self) -> None:
        """End the process: there must never be two sources of torques.

        A process in an uninterruptible wait, for a disk, does not end at once; but with the signal
        pending, none of its threads will run again.
        """
        with suppress(ProcessLookupError):   # it has ended
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        poll = select.poll()
        poll.register(self._pidfd, select.POLLIN)
        poll.poll(1e3 * KILLED)


def main() -> None:
    """Run the process.

    Arguments: file descriptors of the connection to the serving process, of the torque process
    (pidfd), of the memory with the last torque, of the connection to the torque process;
    WatchdogSetup in JSON; arguments for rclpy.
    """
    ignore_signals()
    set_name('dynamics_watch')
    serving, pidfd, memory, watching = map(int, sys.argv[1:5])
    setup = WatchdogSetup(*json.loads(sys.argv[5]))
    serving_ended = os.eventfd(0)
    link = Link(socket.socket(fileno=serving), lambda record: None,
                lambda: os.eventfd_write(serving_ended, 1))
    connection, shared = socket.socket(fileno=watching), LastTorqueReader(memory)
    rclpy.init(args=sys.argv[6:], signal_handler_options=SignalHandlerOptions.NO)
    node = WatchdogNode(setup)
    with suppress(OSError):   # the torque process has ended
        connection.send(pickle.dumps(node.gids()))
    granted = realtime.request(setup.priority, setup.cores)
    gc.disable()
    link.send(Ready(granted))
    process = WatchedProcess(pidfd, shared, connection, serving_ended)
    silence = process.wait()
    process.kill()
    if shared.active:
        link.send(Takeover(silence))
        node.publish(process.last_torques())
    exit_after(LAST)
    node.destroy_node()
    rclpy.try_shutdown()
    link.close()
    exit_now(0)
