"""Start processes that end with this one, on an unused ROS domain."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE = 10.0       # [s] for a process to end by itself
DIE_WITH_PARENT = 1   # PR_SET_PDEATHSIG of <linux/prctl.h>


@contextmanager
def own_domain():
    """Use a free ROS domain, on the loopback only, in this process and its children."""
    domain, lock = _claim_domain()
    profile = str(HERE / 'sim' / 'loopback.xml')
    settings = {'ROS_DOMAIN_ID': str(domain), 'PYTHONUNBUFFERED': '1',
                'FASTRTPS_DEFAULT_PROFILES_FILE': profile,   # of Jazzy
                'FASTDDS_DEFAULT_PROFILES_FILE': profile}    # since Kilted
    # either would make rmw_fastrtps replace our transport by its own
    unwanted = ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_LOCALHOST_ONLY')
    saved = {key: os.environ.get(key) for key in (*settings, *unwanted)}
    for key in unwanted:
        os.environ.pop(key, None)
    os.environ.update(settings)
    try:
        with lock:
            yield domain
    finally:
        for key, value in saved.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value


def _claim_domain():
    """Return a free domain id and the socket that holds it while it is open."""
    for domain in range(1, 102):
        lock = socket.socket()
        try:
            lock.bind(('127.0.0.1', 22119 + domain))
            return domain, lock
        except OSError:
            lock.close()
    raise RuntimeError('no free ROS domain')


class Processes:
    """Python programs, each with a log; close() ends them all, by their ids."""

    def __init__(self, folder):
        self._folder, self._started = Path(folder), []
        self._folder.mkdir(parents=True, exist_ok=True)

    def start(self, name, program, parameters, remap=None):
        """Start a ROS program.

        :param parameters: {name: value as in YAML}.
        :param remap: {topic: its new name}.
        """
        words = [word for key, value in parameters.items() for word in ('-p', f'{key}:={value}')]
        words += [word for pair in (remap or {}).items() for word in ('-r', ':='.join(pair))]
        with (self._folder / f'{name}.log').open('wb') as log:
            process = self.popen(str(program), ['--ros-args', *words], log)
        self._started.append((name, process))

    @staticmethod
    def popen(program, words, log):
        """Start a program in a process; return it."""
        # a session of its own: Ctrl-C reaches this process, which ends them in order
        return subprocess.Popen([sys.executable, program, *words], stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log, start_new_session=True,
                                preexec_fn=die_with_parent)

    def pid(self, name):
        """Return the id of a process."""
        return dict(self._started)[name].pid

    def check(self):
        """Raise if one has ended."""
        for name, process in self._started:
            if process.poll() is not None:
                raise RuntimeError(f'{name} ended with code {process.returncode}:\n'
                                   f'{self.tail(name)}')

    def tail(self, name, lines=12):
        """Return the end of a log."""
        text = (self._folder / f'{name}.log').read_text(errors='replace')
        return '\n'.join(text.splitlines()[-lines:])

    def close(self):
        """End them; kill those that do not end."""
        for _, process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for _, process in self._started:
            _wait_or_kill(process)
        self._started.clear()


def _wait_or_kill(process):
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def program_of(package):
    """Return the path of the program that has the name of its package."""
    from ament_index_python import get_package_prefix
    return Path(get_package_prefix(package), 'lib', package, package)


def die_with_parent():
    """Have the kernel end this process when its parent is killed and cannot do so itself."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGTERM)
