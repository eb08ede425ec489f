"""Kernels of a robot as they become ready: asked for at once, compiled in the background.

One worker thread for the whole process: compiling takes one core and no more. LLVM works with the
GIL released; tracing is Python and shares it.
"""

import atexit
import os
import threading
import weakref
from collections import deque

from dynamics_node.errors import DynamicsError

# Sets of constraints that get kernels because somebody asked. Whoever makes another set for every
# step of a robot would else keep a core busy, and fill the memory, with kernels used once.
MOST_SETS = 32


def enabled():
    """Whether compilation is switched on: DYNAMICS_NODE_COMPILE=0 switches it off."""
    return os.environ.get('DYNAMICS_NODE_COMPILE', '1').lower() not in ('0', 'off', 'no', 'false')


class Worker:
    """A thread that runs one job after another, and none when there is nothing to do."""

    def __init__(self):
        self._jobs = deque()
        self._ready = threading.Condition()
        self._busy = threading.Lock()  # held while a job runs
        self._thread = None
        self._stopping = False

    def submit(self, job, urgent=False):
        """Put a job in line, an urgent one at the front; return whether anyone will do it."""
        with self._ready:
            if self._stopping or not self._has_thread():
                return False
            if urgent:
                self._jobs.appendleft(job)
            else:
                self._jobs.append(job)
            self._ready.notify()
            return True

    def _has_thread(self):
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._run, name='dynamics_node compiler', daemon=True)
            try:
                thread.start()
            except RuntimeError:  # a limit on processes, or the interpreter is going down
                return False
            self._thread = thread
        return True

    def stop(self):
        """Drop what is waiting; let what is running finish: LLVM must not be torn down in it."""
        with self._ready:
            self._stopping = True
            dropped = list(self._jobs)
            self._jobs.clear()
            self._ready.notify()
            thread = self._thread
        for job in dropped:
            job(cancelled=True)
        if thread is not None:
            thread.join()

    @property
    def busy(self):
        """Whether a job is running."""
        return self._busy.locked()

    def pause(self):
        """Let the running job finish; start none before resume()."""
        self._ready.acquire()
        self._busy.acquire()

    def resume(self):
        self._busy.release()
        self._ready.release()

    def _run(self):
        while True:
            with self._ready:
                while not self._jobs and not self._stopping:
                    if not self._ready.wait(timeout=5.0) and not self._jobs:
                        self._thread = None
                        return
                if self._stopping:
                    return
                job = self._jobs.popleft()
            with self._busy:
                job()


def busy():
    """Return whether a kernel is being compiled at this moment."""
    return _worker.busy


_worker = Worker()
atexit.register(_worker.stop)
_engines = weakref.WeakSet()


def _after_fork():
    """Threads do not survive a fork: the child asks anew for what was not finished."""
    _worker.__init__()
    for engine in _engines:
        engine.forget_unfinished()


if hasattr(os, 'register_at_fork'):  # not in the midst of a job: LLVM would stay locked for good
    os.register_at_fork(before=_worker.pause, after_in_parent=_worker.resume,
                        after_in_child=_after_fork)


class RobotKernels:
    """The kernels of one robot's structure, shared by all robots that differ in numbers only."""

    def __init__(self, model):
        self._model = model
        self._done = {}      # key -> Kernel, or the DynamicsError that kept it from being made
        self._events = {}    # key -> set when it is in _done
        self._sets = set()   # of constraints that have been asked about
        self._lock = threading.Lock()
        _engines.add(self)

    def kernel(self, key):
        """Return the Kernel if it is ready; else ask for it, and return None."""
        found = self._done.get(key)
        if found is None:
            if self._is_worth(key):
                self.request(key)
            return None
        return None if isinstance(found, DynamicsError) else found

    def _is_worth(self, key):
        if key.constraints and key.constraints not in self._sets:
            if len(self._sets) >= MOST_SETS:
                return False
            self._sets.add(key.constraints)
        return True

    def request(self, key, urgent=False):
        """Put a key in line; return the event that is set when it is done, or None."""
        with self._lock:
            event = self._events.get(key)
            if event is None:
                event = threading.Event()
                if not _worker.submit(_Job(self, key, event), urgent):
                    return None  # nobody compiles any more; ask again another time
                self._events[key] = event
        return event

    def wait(self, keys):
        """Wait for some kernels; raise what kept one of them from being made."""
        for event in [self.request(key, urgent=True) for key in reversed(keys)]:
            if event is None:
                raise DynamicsError('no kernel can be made: no thread can be started to compile')
            event.wait()
        for key in keys:
            error = self.failure(key)
            if error is not None:
                raise error

    def is_ready(self, key):
        """Return whether the kernel is there."""
        return key in self._done and self.failure(key) is None

    def failure(self, key):
        """Return the DynamicsError that kept a kernel from being made, or None."""
        found = self._done.get(key)
        return found if isinstance(found, DynamicsError) else None

    def forget_unfinished(self):
        self._lock = threading.Lock()
        self._events = {key: event for key, event in self._events.items() if event.is_set()}

    def make(self, key):
        """Make a kernel, or keep the reason why not: the NumPy path goes on serving."""
        try:
            from dynamics_node.kernels.build import build_kernel
            self._done[key] = build_kernel(self._model, key)
        except Exception as error:
            self._done[key] = _explained(error)

    def cancel(self, key):
        self._done[key] = DynamicsError('the compiler was stopped: the interpreter is going down')


class _Job:
    """A kernel to be made, if its robot is still there by then."""

    def __init__(self, engine, key, event):
        self._engine, self._key, self._event = weakref.ref(engine), key, event

    def __call__(self, cancelled=False):
        engine = self._engine()
        if engine is not None:
            (engine.cancel if cancelled else engine.make)(self._key)
        self._event.set()


def _explained(error):
    """Return the error as a DynamicsError that says what to do."""
    if isinstance(error, DynamicsError):
        return error
    advice = ('install llvmlite >= 0.45 (pip install llvmlite)' if isinstance(error, ImportError)
              else 'the NumPy path goes on serving')
    explained = DynamicsError(f'no kernel could be made: {error!r}; {advice}')
    explained.__cause__ = error
    return explained
