"""Run a function for many files: by threads of this process, by Dask or by Ray.

Only paths and small results are sent: workers read and write the files themselves, so on several
machines the folders must be the same on all of them. The robot, 8 kB, is sent once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from dynamics_node.checks import choice, whole
from dynamics_node.errors import DynamicsError

MODULES = {'dask': 'distributed', 'ray': 'ray'}   # of each engine
PACKAGES = {'dask': '"dask[distributed]"', 'ray': 'ray'}
Job = tuple[str, str]                        # source, target
Outcome = tuple[Job, 'dict[str, Any] | DynamicsError']


def check_engine(engine: str | None, workers: int | None) -> int:
    """Return the number of workers: those given, else one per core.

    :raise DynamicsError: the engine is unknown or not installed.
    """
    if engine is not None and find_spec(MODULES[choice('engine', engine, MODULES)]) is None:
        raise DynamicsError(f"engine is '{engine}', which is not installed: pip install "
                            f'{PACKAGES[engine]}')
    if workers is not None:
        return whole('workers', workers, 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else (
        os.cpu_count() or 1)


def run_jobs(function: Callable[..., dict[str, Any]], common: Sequence[object],
             jobs: Sequence[Job], engine: str | None, workers: int) -> Iterator[Outcome]:
    """Yield (job, result or DynamicsError) of function(*common, *job), in the order of their end.

    :param common: arguments of all jobs.
    """
    if not jobs:
        return
    run = {None: _threads, 'dask': _dask, 'ray': _ray}[engine]
    yield from run(Attempt(function), common, jobs, workers)


class Attempt:
    """A function that returns its DynamicsError: errors are results, so no other job is lost."""

    def __init__(self, function: Callable[..., dict[str, Any]]):
        self.function = function

    def __call__(self, *arguments: object) -> dict[str, Any] | DynamicsError:
        """Return the result of the function, or its DynamicsError."""
        try:
            return self.function(*arguments)
        except DynamicsError as error:
            return error


def _threads(attempt: Attempt, common: Sequence[object], jobs: Sequence[Job], workers: int
             ) -> Iterator[Outcome]:
    pool = ThreadPoolExecutor(min(workers, len(jobs)))
    try:
        futures = {pool.submit(attempt, *common, *job): job for job in jobs}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _dask(attempt: Attempt, common: Sequence[object], jobs: Sequence[Job], workers: int
          ) -> Iterator[Outcome]:
    from distributed import as_completed as completed

    with _dask_client(workers) as client:
        shared = [client.scatter(each, broadcast=True, hash=False) for each in common]
        futures = {client.submit(attempt, *shared, *job, pure=False): job for job in jobs}
        for future in completed(futures):
            yield futures[future], future.result()


@contextmanager
def _dask_client(workers: int) -> Iterator[Any]:
    """Yield the client of this process; without one, a client with workers on this machine."""
    from distributed import Client, default_client

    try:
        yield default_client()
        return
    except ValueError:   # there is none
        pass
    with Client(n_workers=workers, threads_per_worker=1, dashboard_address=None) as client:
        yield client


def _ray(attempt: Attempt, common: Sequence[object], jobs: Sequence[Job], workers: int
         ) -> Iterator[Outcome]:
    import ray

    started = not ray.is_initialized()
    if started:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False,
                 logging_level='error')
    try:
        remote = ray.remote(num_cpus=1)(_remote_call)
        shared = [ray.put(each) for each in (attempt, *common)]
        waiting = {remote.remote(*shared, *job): job for job in jobs}
        while waiting:
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                yield waiting.pop(reference), ray.get(reference)
    finally:
        if started:
            ray.shutdown()


def _remote_call(attempt: Attempt, *arguments: object) -> dict[str, Any] | DynamicsError:
    return attempt(*arguments)
