"""Start further processes of the node in Python, and report how they ended."""

import faulthandler
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, Protocol

END = 5.0     # [s] for a process to end by itself after its connection has ended
LAST = 20.0   # [s] for a process to leave the ROS graph by itself, its last task


class Child(Protocol):
    """A process that this one has started: the part of subprocess.Popen that is used."""

    pid: int
    returncode: Any   # int, None while it runs

    def poll(self) -> int | None: ...
    def wait(self, timeout: float) -> int: ...
    def kill(self) -> None: ...


# Starts main() of a module; its arguments are numbers of file descriptors, then words.
Start = Callable[[str, Sequence[int], Sequence[str]], Child]


def start_child(module: str, descriptors: Sequence[int], arguments: Sequence[str]) -> Child:
    """Start a process that runs main() of a module, with empty input; see Start."""
    return start_python(module, [*map(str, descriptors), *arguments], pass_fds=descriptors,
                        stdin=subprocess.DEVNULL)


def start_python(module: str, arguments: Sequence[str] = (), **options: Any) -> subprocess.Popen:
    """Start a process that runs main() of a module; Ctrl-C does not reach it.

    Modules in the current directory are not imported, since any user may have put them there.

    :param options: options of Popen.
    """
    return subprocess.Popen([sys.executable, '-c', _program(module), *arguments],
                            env=_environment(), start_new_session=True, **options)


def _program(module: str) -> str:
    """Return the code for `python -c`; before Python 3.11, '' is the current directory."""
    return ('import sys; sys.path[:] = filter(None, sys.path); '
            f'from {module} import main; main()')


def _environment() -> dict[str, str]:
    """Return the environment without the current directory in the path of modules.

    PYTHONSAFEPATH is the option -P, from Python 3.11 on. An empty entry of PYTHONPATH, as
    `export PYTHONPATH=$PYTHONPATH:/more` makes it, is the current directory too.
    """
    environment = {**os.environ, 'PYTHONSAFEPATH': '1'}
    if 'PYTHONPATH' in environment:
        entries = environment['PYTHONPATH'].split(os.pathsep)
        environment['PYTHONPATH'] = os.pathsep.join(filter(None, entries))
    return environment


def wait_for_end(process: Child, patience: float = END) -> str:
    """Wait until a process has ended, kill it after `patience` seconds; return how it ended."""
    try:
        code = process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait(END)
    return f'was ended by {signal.Signals(-code).name}' if code < 0 else f'exited with {code}'


def set_name(name: str) -> None:
    """Set the name of this process in `ps -e` and `top`; at most 15 characters."""
    with suppress(OSError):
        Path('/proc/self/comm').write_text(name)


def exit_after(seconds: float) -> None:
    """End this process with code 1 unless it ends by itself in time; write where it stood.

    Fast DDS can wait for ever in the destructor of a participant. No Python code could end that:
    the destructor holds the interpreter.
    """
    try:   # a file of our own: a pipe that is full and not read must not stop the exit
        log = os.open('/proc/self/fd/2',
                      os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:   # closed, or a socket
        log = os.open(os.devnull, os.O_WRONLY)
    faulthandler.dump_traceback_later(seconds, exit=True, file=log)


def exit_now(code: int) -> NoReturn:
    """End this process: no destructor of a library runs, and no thread is waited for.

    The interpreter would take 0.1 s to free its modules, and would wait for LLVM while that
    compiles a kernel.
    """
    try:
        flush_output()
    finally:
        os._exit(code)


def flush_output() -> None:
    """Write what is left in the buffers of output and errors, as far as they are open."""
    for stream in filter(None, (sys.stdout, sys.stderr)):   # None after `dynamics_node >&-`
        with suppress(OSError, ValueError):   # closed, as the terminal
            stream.flush()
