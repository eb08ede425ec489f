"""Start further processes of the node in Python, and tell how they ended."""

import signal
import subprocess

END = 5.0   # [s] for a process to end by itself after its connection has


def program_of(module: str) -> str:
    """Return the code for `python -c` that runs main() of a module.

    Modules in the current directory must not be imported; -P does that from Python 3.11 on.
    """
    return ('import sys; sys.path[:] = filter(None, sys.path); '
            f'from {module} import main; main()')


def wait_for_end(process: subprocess.Popen, patience: float = END) -> str:
    """Wait until a process has ended, kill it after `patience` seconds; return how it ended."""
    try:
        code = process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait(END)
    return f'was ended by {signal.Signals(-code).name}' if code < 0 else f'exited with {code}'
