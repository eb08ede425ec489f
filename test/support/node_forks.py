"""Start nodes by fork from a process that has imported what comes before rclpy.

A new interpreter would import NumPy and most of the package for every node. rclpy is not imported:
the node forks its other processes before it does so, as it does for users.
"""

import gc
import importlib
import os
import pickle
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

LARGEST = 1 << 20   # bytes of a request
NUMBER = 100        # bytes of a number as text, at most
EXECUTABLE = 'dynamics_node.commands.executable'
PREPARED = 'dynamics_node.ros.prepared_process'


class NodeForks:
    """The process that nodes are forked from."""

    def __init__(self, executable):
        """Start it.

        :param executable: path of the program that a node runs.
        """
        self._connection, its = _pair()
        with its:
            self._process = subprocess.Popen(
                [sys.executable, __file__, executable, str(its.fileno())],
                pass_fds=[its.fileno()])

    def start(self, words, log):
        """Start a node with arguments of the command line and a log file; return a ForkedNode.

        Environment and current directory are those of this process now.
        """
        ours, its = _pair()
        with its:
            request = pickle.dumps((words, dict(os.environ), os.getcwd()))
            socket.send_fds(self._connection, [request], [its.fileno(), log.fileno()])
        return ForkedNode(ours)

    def close(self):
        """End the process; nodes are not affected."""
        self._connection.close()
        self._process.wait()


class ForkedNode:
    """A forked node, with the methods of subprocess.Popen that tests use.

    :ivar pid: of the process.
    :ivar returncode: None while it runs, as that of Popen.
    """

    def __init__(self, reports):
        self._reports, self.returncode = reports, None
        self.pid = int(reports.recv(NUMBER))

    def poll(self):
        """Return the exit code, None while the process runs."""
        return self._read(0.0)

    def wait(self, timeout=None):
        """Wait for the end of the process; return its exit code."""
        if self._read(timeout) is None:
            raise subprocess.TimeoutExpired('dynamics_node', timeout)
        return self.returncode

    def _read(self, timeout):
        if self.returncode is None and select.select([self._reports], [], [], timeout)[0]:
            self.returncode = int(self._reports.recv(NUMBER))
            self._reports.close()
        return self.returncode

    def send_signal(self, number):
        """Send a signal if the process has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def _pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


# In the other process ----------------------------------------------------------------------------

def _serve(connection):
    """Fork for every request; return the words of the command line in the process of a node."""
    while True:
        request, received, _, _ = socket.recv_fds(connection, LARGEST, 2)
        if not request:
            sys.exit()
        words, environment, folder = pickle.loads(request)
        reports, log = socket.socket(fileno=received[0]), received[1]
        if os.fork() == 0:
            connection.close()
            node = os.fork()
            if node:
                _report(node, reports)
            reports.close()
            for descriptor in (1, 2):
                os.dup2(log, descriptor)
            os.close(log)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            return words
        reports.close()
        os.close(log)
        with suppress(ChildProcessError):   # processes that have reported the end of a node
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _report(node, reports):
    """Send the id of a process, and its exit code when it has ended; then end this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reports.send(b'%d' % node)
    reports.send(b'%d' % os.waitstatus_to_exitcode(os.waitpid(node, 0)[1]))
    os._exit(0)


def main():
    """Import the package, then fork. Arguments: path of the program, descriptor of requests."""
    executable, descriptor = sys.argv[1:]
    sys.path[0] = str(Path(executable).parent)   # as the interpreter sets it for the program
    for module in (EXECUTABLE, *importlib.import_module(PREPARED).SHARED):
        importlib.import_module(module)
    assert 'rclpy' not in sys.modules
    assert threading.active_count() == 1, 'a process with threads should not be forked'
    gc.freeze()   # a collection would write to the pages that all nodes share
    words = _serve(socket.socket(fileno=int(descriptor)))
    sys.argv[:] = [executable, *words]
    runpy.run_path(executable, run_name='__main__')


if __name__ == '__main__':
    main()
