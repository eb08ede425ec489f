"""Fork processes of the node before rclpy is loaded; each runs main() of a module on request.

They share the memory of what was imported before, and import the rest while the serving process
does so. A new interpreter would import all of it again. Once rclpy is loaded, a process is not
forked any more: libraries below it have threads (LTTng at once, Fast DDS later), which a fork does
not copy, and which may hold a lock.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from dynamics_node.ros.child_process import END, Child, exit_now, flush_output, start_child

# Modules that at least two of the three processes of a node need. None of them imports rclpy.
SHARED = ('dynamics_node.control.laws', 'dynamics_node.control.prediction',
          'dynamics_node.control.trajectory_goal', 'dynamics_node.observer',
          'dynamics_node.safety.gate', 'dynamics_node.ros.torque.records', 'dynamics_node.msg',
          'rcl_interfaces.msg', 'rcl_interfaces.srv', 'sensor_msgs.msg', 'std_msgs.msg',
          'trajectory_msgs.msg', 'geometry_msgs.msg')
MODULES = 'dynamics_node.ros.torque.process_main', 'dynamics_node.ros.torque.watchdog_main'
TOLD = 60.0    # [s] until a prepared process has read its arguments: its imports come first
LOOK = 0.005   # [s] between two checks whether it has ended
MOST = 16      # descriptors
BYTES = 1 << 16
STANDARD = 3   # input, output and errors: descriptors 0 to 2
SIGNALS = signal.SIGINT, signal.SIGTERM


class PreparedProcesses:
    """Processes that wait for their arguments; they end when this process has ended."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        """Fork one process for each module.

        None is forked once rclpy is loaded, with other threads, or where ROS is incomplete: the
        serving process reports that.
        """
        self._waiting: dict[str, PreparedProcess] = {}
        if 'rclpy' not in sys.modules and _import_shared() and _is_single_threaded():
            gc.freeze()   # a collection would write to the shared pages
            self._waiting = {module: PreparedProcess(module) for module in modules}

    def start(self, module: str, descriptors: Sequence[int], arguments: Sequence[str]) -> Child:
        """Return a process that runs main() of a module; a new one where none is prepared."""
        process = self._waiting.pop(module, None)
        if process is not None and process.tell(descriptors, arguments):
            return process
        return start_child(module, descriptors, arguments)


class PreparedProcess:
    """A forked process, with the methods of subprocess.Popen that the node uses.

    :ivar pid: of the process.
    :ivar returncode: None while it runs, as in Popen.
    """

    def __init__(self, module: str) -> None:
        self._module, self._lock = module, threading.Lock()
        self.returncode: int | None = None
        self._control, theirs = socket.socketpair()
        flush_output()   # what is left in a buffer would be written twice
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)   # until it has its own handlers
        self.pid = os.fork()
        if self.pid == 0:
            _become(module, theirs)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def tell(self, descriptors: Sequence[int], arguments: Sequence[str]) -> bool:
        """Send the arguments with which the process runs main(); return whether it still runs."""
        with self._control:
            self._control.settimeout(TOLD)
            try:
                socket.send_fds(self._control, [b'\0'], list(descriptors))
                self._control.sendall(json.dumps(list(arguments)).encode())
            except OSError:   # it has ended, or stands still
                self.kill()
                self.wait(END)
        return self.poll() is None

    def poll(self) -> int | None:
        """Return the exit code, None while the process runs."""
        with self._lock:   # threads must not wait for the process twice
            if self.returncode is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:   # SIGCHLD is ignored; the code is lost, as for Popen
                    pid, status = self.pid, 0
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait for the end of the process; return its exit code."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self._module, timeout)
            time.sleep(LOOK)
        return code

    def kill(self) -> None:
        """Kill the process if it has not ended."""
        with self._lock:
            if self.returncode is None:
                with suppress(ProcessLookupError):   # it has ended, and SIGCHLD is ignored
                    os.kill(self.pid, signal.SIGKILL)


def _import_shared() -> bool:
    """Import the modules that the processes share; return False if a part of ROS is missing."""
    try:
        for each in SHARED:
            import_module(each)
    except ImportError:
        return False
    return True


def _is_single_threaded() -> bool:
    """Return whether this process has one thread, those of libraries counted."""
    return len(os.listdir('/proc/self/task')) == 1


# In the other process ----------------------------------------------------------------------------

def _become(module: str, control: socket.socket) -> NoReturn:
    """Import a module, wait for arguments, run its main(); never return."""
    code = 1
    try:
        for each in SIGNALS:   # those of the serving process would end it with code 0
            signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.setsid()   # Ctrl-C does not reach it
        _close_others(control.fileno())
        main, failure = _imported(module)
        arguments = _receive(control)
        if arguments is not None and main is not None:
            sys.argv[:] = [module, *arguments]
            main()
        elif arguments is not None:
            sys.stderr.write(failure)
        code = 1 if failure else 0
    except BaseException:
        traceback.print_exc()
    finally:
        exit_now(code)


def _imported(module: str) -> tuple[Callable[[], None] | None, str]:
    """Return main() of a module, or why it cannot be imported.

    Where ROS is incomplete the serving process reports that, and needs no other process.
    """
    try:
        return import_module(module).main, ''
    except ImportError:
        return None, traceback.format_exc()


def _close_others(kept: int) -> None:
    """Close all descriptors but one and the standard ones; the input is empty."""
    os.closerange(STANDARD, kept)
    os.closerange(kept + 1, max(map(int, os.listdir('/proc/self/fd'))) + 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)


def _receive(control: socket.socket) -> list[str] | None:
    """Return the numbers of the descriptors received, then the arguments; None: there is no use."""
    with control:
        first, descriptors, _, _ = socket.recv_fds(control, 1, MOST)
        if not first:
            return None
        text = b''.join(iter(lambda: control.recv(BYTES), b''))
    return [*map(str, descriptors), *json.loads(text)]
