"""Keep the kernels of a robot: request at first use, compile in the background."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dynamics_node.compiler.worker import Worker
from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.kernels.spec import WHOLE_BODY
from dynamics_node.model.model import Model

if TYPE_CHECKING:  # it imports llvmlite, which may be missing
    from dynamics_node.compiler.kernel import Kernel

# Greatest number of sets of constraints that are compiled at first use; the same number of
# whole-body problems. Otherwise a caller with a new set in every control step would keep a core
# busy and fill the memory with kernels that are used once.
MOST_SETS = 32


def enabled() -> bool:
    """Return whether compilation is switched on: DYNAMICS_NODE_COMPILE=0 switches it off."""
    return os.environ.get('DYNAMICS_NODE_COMPILE', '1').lower() not in ('0', 'off', 'no', 'false')


_worker = Worker()
atexit.register(_worker.stop)
_all_robots: weakref.WeakSet[RobotKernels] = weakref.WeakSet()


def _after_fork() -> None:
    """Reset in a child process: a fork does not copy the thread, so no job would be finished."""
    Worker.__init__(_worker)
    for kernels in _all_robots:
        kernels.forget_unfinished()


if hasattr(os, 'register_at_fork'):  # not during a job: LLVM would stay locked in the child
    os.register_at_fork(before=_worker.pause, after_in_parent=_worker.resume,
                        after_in_child=_after_fork)


class RobotKernels:
    """The kernels of one robot's structure, shared by all robots that differ in numbers only."""

    def __init__(self, model: Model):
        self._model = model
        self._done: dict[KernelKey, Kernel | DynamicsError] = {}  # the error: why there is none
        self._events: dict[KernelKey, threading.Event] = {}  # set when the key is in _done
        # compiled at first use: constraints, (constraints, tasks) of whole-body problems
        self._sets: tuple[set[tuple], set[tuple]] = set(), set()
        self._lock = threading.Lock()
        _all_robots.add(self)

    def kernel(self, key: KernelKey) -> Kernel | None:
        """Return the Kernel if it is ready; else request it, and return None."""
        key = key.program
        found = self._done.get(key)
        if found is None:
            if self._may_compile(key):
                self.request(key)
            return None
        return None if isinstance(found, DynamicsError) else found

    def _may_compile(self, key: KernelKey) -> bool:
        """Return whether a key may be compiled at first use, see MOST_SETS."""
        whole_body = key.spec.subject == WHOLE_BODY
        known = self._sets[whole_body]
        own = (key.constraints, key.arguments) if whole_body else key.constraints
        if own and own not in known:
            if len(known) >= MOST_SETS:
                return False
            known.add(own)
        return True

    def request(self, key: KernelKey, urgent: bool = False,
                on_end: Callable[[], None] | None = None) -> threading.Event | None:
        """Queue a key; return the event of its end, or None if no thread can be started.

        :param on_end: called when the kernel is ready or cannot be made, in the compiling thread.
        """
        key = key.program
        with self._lock:
            event = self._events.get(key)
            if event is None or on_end is not None and not event.is_set():
                event = event or threading.Event()
                if not _worker.submit(_Job(self, key, event, on_end), urgent):
                    return None  # no thread compiles; a later request may succeed
                self._events[key] = event
            elif on_end is not None:
                on_end()
        return event

    def wait(self, keys: Sequence[KernelKey]) -> None:
        """Wait for some kernels; raise the DynamicsError of one that could not be made."""
        for event in [self.request(key, urgent=True) for key in reversed(keys)]:
            if event is None:
                raise DynamicsError('no kernel can be made: no thread can be started to compile')
            event.wait()
        for key in keys:
            error = self.failure(key)
            if error is not None:
                raise error

    def unfinished(self) -> int:
        """Return how many kernels are requested and not ready yet."""
        return sum(not event.is_set() for event in list(self._events.values()))

    def is_ready(self, key: KernelKey) -> bool:
        """Return whether the kernel is ready."""
        return key.program in self._done and self.failure(key) is None

    def failure(self, key: KernelKey) -> DynamicsError | None:
        """Return the DynamicsError of a kernel that could not be made, or None."""
        found = self._done.get(key.program)
        return found if isinstance(found, DynamicsError) else None

    def failures(self) -> list[str]:
        """Return why kernels that were requested could not be made."""
        return [str(found) for found in list(self._done.values())
                if isinstance(found, DynamicsError)]

    def forget_unfinished(self) -> None:
        """Drop the requests that no thread will finish."""
        self._lock = threading.Lock()
        self._events = {key: event for key, event in self._events.items() if event.is_set()}

    def make(self, key: KernelKey) -> None:
        """Make a kernel; if that fails, keep the error: the NumPy path is used then."""
        try:
            from dynamics_node.kernels.build import build_kernel
            self._done[key] = build_kernel(self._model, key)
        except Exception as error:
            self._done[key] = _explained(error)

    def cancel(self, key: KernelKey) -> None:
        """Record that the compiler was stopped before a kernel was made."""
        self._done[key] = DynamicsError('the compiler was stopped: the interpreter shuts down')


class _Job:
    """The compilation of one kernel, done if its robot still exists by then."""

    def __init__(self, kernels: RobotKernels, key: KernelKey, event: threading.Event,
                 on_end: Callable[[], None] | None) -> None:
        self._kernels, self._key, self._event = weakref.ref(kernels), key, event
        self._on_end = on_end

    def __call__(self, cancelled: bool = False) -> None:
        kernels = self._kernels()
        if kernels is not None and not self._event.is_set():   # not made by another job
            (kernels.cancel if cancelled else kernels.make)(self._key)
        self._event.set()
        if self._on_end is not None:
            self._on_end()


def _explained(error: BaseException) -> DynamicsError:
    """Return the error as a DynamicsError with advice."""
    if isinstance(error, DynamicsError):
        return error
    advice = ('install llvmlite >= 0.45 (pip install llvmlite)' if isinstance(error, ImportError)
              else 'the NumPy path is used')
    explained = DynamicsError(f'no kernel could be made: {error!r}; {advice}')
    explained.__cause__ = error
    return explained
