"""Compile kernels ahead of their first use into the cache, in several processes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from dynamics_node.errors import DynamicsError
from dynamics_node.kernels.keys import KernelKey
from dynamics_node.model.model import Model


class Compiled(NamedTuple):
    """The outcome of one compilation."""

    key: KernelKey
    seconds: float
    error: str      # why there is no kernel; '' if there is one


def compile_ahead(model: Model, keys: Sequence[KernelKey], jobs: int) -> Iterator[Compiled]:
    """Compile kernels into the cache; yield each when it is there.

    Those that take longest, the derivatives, begin first.

    :param jobs: number of processes.
    :raise DynamicsError: a process was killed: perhaps the memory is too small for as many jobs.
    """
    longest_first = sorted(keys, key=lambda key: not key.spec.derivative)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context('spawn'), _keep_model,
                             (model,)) as processes:
        waiting = [processes.submit(_compile, key) for key in longest_first]
        try:
            for future in as_completed(waiting):
                yield future.result()
        except BrokenProcessPool:
            raise DynamicsError(f'a process that compiles has ended; jobs is {jobs}: with fewer, '
                                'less memory is needed') from None
        finally:
            for future in waiting:   # after an interrupt
                future.cancel()


_model: Model | None = None   # of this process


def _keep_model(model: Model) -> None:
    global _model
    _model = model


def _compile(key: KernelKey) -> Compiled:
    from dynamics_node.kernels.build import build_kernel
    assert _model is not None   # see _keep_model
    start = time.monotonic()
    try:
        build_kernel(_model, key)
    except Exception as error:
        return Compiled(key, time.monotonic() - start, str(error) or repr(error))
    return Compiled(key, time.monotonic() - start, '')
