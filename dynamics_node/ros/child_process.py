"""Start further processes of the node in Python, and tell how they ended."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

END = 5.0   # [s] for a process to end by itself after its connection has


def start_python(module: str, arguments: Sequence[str] = (), **options: Any) -> subprocess.Popen:
    """Start a process that runs main() of a module; Ctrl-C does not reach it.

    Modules in the current directory are not imported, since any user may have put them there.

    :param options: of Popen.
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


def wait_for_end(process: subprocess.Popen, patience: float = END) -> str:
    """Wait until a process has ended, kill it after `patience` seconds; return how it ended."""
    try:
        code = process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait(END)
    return f'was ended by {signal.Signals(-code).name}' if code < 0 else f'exited with {code}'
