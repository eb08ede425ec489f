"""Start nodes and their other processes by fork from a process that has imported the package.

A new interpreter would import rclpy, NumPy and the package for every process: two thirds of the CPU
time that a node and its two processes for torques take to start and to end.
"""

import ctypes
import fcntl
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
from typing import NamedTuple

LARGEST = 1 << 20   # bytes of a request
MOST = 16           # file descriptors of a request
NUMBER = 100        # bytes of a report
LOOK = 0.5          # [s] between two looks for processes that have ended
HIGH = 200          # descriptors from here on are no targets
MODULES = ('dynamics_node.ros.main', 'dynamics_node.ros.torque.process_main',
           'dynamics_node.ros.torque.watchdog_main',
           'dynamics_node.ros.long_requests.worker_main',
           'dynamics_node.ros.identification.worker_process')
LATER = 'dynamics_node.kernels.build', 'control_msgs.msg'   # imported when they are needed
MIDDLEWARE = 'librmw_fastrtps_cpp.so'


class _Request(NamedTuple):
    """What a new process runs."""

    program: str        # path
    module: str         # main() of it is called; '' for the program
    words: list         # of the command line
    environment: dict
    folder: str         # the current directory
    targets: list       # numbers that the file descriptors sent with the request get


class NodeForks:
    """The process that nodes are forked from.

    :cvar started: all of them.
    """

    started: list = []

    def __init__(self):
        """Start it."""
        self._connection, its = _pair()
        with its:
            self._process = subprocess.Popen([sys.executable, __file__, str(its.fileno())],
                                             pass_fds=[its.fileno()])
        NodeForks.started.append(self)

    def start(self, program, words, log, environment=None):
        """Start a program, of a node, with arguments and a log file; return a Forked.

        The current directory is that of this process now, and so is the default environment.
        """
        request = _Request(str(program), '', words, environment or dict(os.environ), os.getcwd(),
                           [1, 2])
        return _fork(self._connection, request, [log.fileno(), log.fileno()])

    def cpu(self):
        """Return the CPU time of all forked processes that have ended, about a second ago [s]."""
        with suppress(OSError):   # it has ended
            fields = Path(f'/proc/{self._process.pid}/stat').read_text().rsplit(')')[-1].split()
            return sum(map(int, fields[13:15])) / os.sysconf('SC_CLK_TCK')
        return 0.0

    def close(self):
        """End the process; nodes are not affected."""
        self._connection.close()
        self._process.wait()


class Forked:
    """A forked process, with the methods of subprocess.Popen that tests and the node use.

    :ivar pid: of the process.
    :ivar returncode: None while it runs, as that of Popen.
    """

    def __init__(self, reports):
        """Take over the file descriptor of a socket for reports."""
        self._reports, self.returncode = reports, None
        self._lock = threading.Lock()
        self.pid = int(os.read(reports, NUMBER))

    def __del__(self):
        os.close(self._reports)

    def poll(self):
        """Return the exit code, None while the process runs."""
        return self._read(0.0)

    def wait(self, timeout=None):
        """Wait for the end of the process; return its exit code."""
        if self._read(timeout) is None:
            raise subprocess.TimeoutExpired('dynamics_node', timeout)
        return self.returncode

    def _read(self, timeout):
        # At its end the other side is closed: all threads that wait here continue.
        if self.returncode is None and select.select([self._reports], [], [], timeout)[0]:
            with self._lock:
                if self.returncode is None:
                    self.returncode = int(os.read(self._reports, NUMBER))
        return self.returncode

    def send_signal(self, number):
        """Send a signal if the process has not ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):   # its end is not reported yet
                os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def _pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _fork(connection, request, descriptors):
    """Send a request; return a Forked."""
    ours, its = _pair()
    with its:
        socket.send_fds(connection, [pickle.dumps(tuple(request))],
                        [its.fileno(), *descriptors])
    return Forked(ours.detach())


# In a forked node --------------------------------------------------------------------------------

def _fork_children(connection):
    """Let start_python of this process fork too."""
    from dynamics_node.ros import child_process

    def start(module, arguments=(), *, pass_fds=(), stdin=None, stdout=None):
        descriptors, ours = {2: 2, **dict(zip(pass_fds, pass_fds))}, {}
        for number, given, ends in (0, stdin, 'rw'), (1, stdout, 'wr'):
            if given is None:
                descriptors[number] = number
            elif given == subprocess.DEVNULL:
                descriptors[number] = os.open(os.devnull, os.O_RDWR)
            else:
                assert given == subprocess.PIPE
                pipe = dict(zip('rw', os.pipe()))
                descriptors[number] = pipe[ends[0]]
                ours[number] = os.fdopen(pipe[ends[1]], f'{ends[1]}b')
        forked = _fork(connection, _Request(
            '-c', module, list(arguments), child_process._environment(), os.getcwd(),
            list(descriptors)), descriptors.values())
        for number in (0, 1):
            if descriptors[number] != number:
                os.close(descriptors[number])
        forked.stdin, forked.stdout = ours.get(0), ours.get(1)
        return forked

    original = child_process.start_python
    for module in list(sys.modules.values()):
        if getattr(module, 'start_python', None) is original:
            module.start_python = start


# In the other process ----------------------------------------------------------------------------

def _serve(connection):
    """Fork for every request; return it in the new process.

    Nodes send their requests on a connection that all of them share.
    """
    of_nodes, shared = _pair()
    while True:
        for ready in select.select([connection, of_nodes], [], [], LOOK)[0]:
            data, received, _, _ = socket.recv_fds(ready, LARGEST, MOST)
            if not data:
                sys.exit()
            request, (reports, *descriptors) = _Request(*pickle.loads(data)), received
            if os.fork() == 0:
                connection.close()
                of_nodes.close()
                process = os.fork()
                if process:
                    shared.close()
                    _report(process, reports, descriptors)
                os.close(reports)
                if request.module:
                    shared.close()
                    os.setsid()
                else:
                    _fork_children(_moved(shared))
                _take_over(request, descriptors)
                return request
            for each in received:
                os.close(each)
        with suppress(ChildProcessError):   # processes that have reported the end of one
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _moved(shared):
    """Return a socket with another number, which is no target of a process."""
    number = fcntl.fcntl(shared.fileno(), fcntl.F_DUPFD_CLOEXEC, HIGH)
    shared.close()
    return socket.socket(fileno=number)


def _take_over(request, descriptors):
    """Set up the new process: descriptors, current directory, environment."""
    high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, HIGH) for each in descriptors]
    for each in descriptors:
        os.close(each)
    for each, target in zip(high, request.targets):
        os.dup2(each, target)
        os.close(each)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)


def _report(process, reports, descriptors):
    """Send the id of a process, and its exit code when it has ended; then end this process."""
    for each in (0, 1, 2, *descriptors):   # a reader of a pipe waits for the end of all writers
        os.close(each)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # OSError: the node has ended before its other processes
    with suppress(OSError), socket.socket(fileno=reports) as connection:
        connection.send(b'%d' % process)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        connection.send(b'%d' % code)
    os._exit(0)


def _load_more():
    """Load what nodes load after their start: type supports, the middleware, the compiler."""
    for module in LATER:
        with suppress(ImportError):   # control_msgs is not needed
            importlib.import_module(module)
    with suppress(OSError):   # another one is used
        ctypes.CDLL(MIDDLEWARE)
    for name, module in list(sys.modules.items()):
        if name.endswith(('.msg', '.srv', '.action')):
            for kind in vars(module).values():
                if hasattr(kind, '__import_type_support__'):
                    kind.__import_type_support__()


def main():
    """Import the package, then fork. Argument: descriptor of the connection for requests."""
    del sys.path[0]   # the folder of this file
    for module in MODULES:
        importlib.import_module(module)
    _load_more()
    # Those of LTTng, which rclpy loads, only wait for a tracer: the nodes need none.
    assert threading.active_count() == 1, 'a process with threads should not be forked'
    gc.freeze()   # a collection would write to the pages that all nodes share
    request = _serve(socket.socket(fileno=int(sys.argv[1])))
    sys.argv[:] = [request.program, *request.words]
    if request.module:
        importlib.import_module(request.module).main()
    else:
        sys.path.insert(0, str(Path(request.program).parent))   # as the interpreter does
        runpy.run_path(request.program, run_name='__main__')


if __name__ == '__main__':
    main()
