"""Run tasks in this process, in several, or on a cluster of dask workers.

All three are a `concurrent.futures.Executor`, and only the main process writes to disk.  Each task
uses one BLAS thread, so that its results do not depend on the number of cores.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures import ProcessPoolExecutor as ProcessPool
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from skh._runtime.memory import keep_all_freed_memory
from skh.reproduction.engine.fingerprint import fingerprint_of, machine, provenance
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.store import Store
from skh.reproduction.engine.task import Experiment, Task


class EngineError(Exception):
    """Tasks could not be run, or some of them failed; the finished ones are on disk."""


@dataclass(frozen=True)
class Outcome:
    """A task with its records, or with the traceback of its failure."""

    task: Task
    records: list[Record]
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class Engine:
    """An executor, and the number of tasks that it runs at the same time."""

    executor: Executor
    workers: int

    def outcomes(self, experiment: Experiment, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Run tasks and yield their outcomes as they finish."""
        made_by = provenance(experiment)
        waiting, running = iter(tasks), set[Future[Outcome]]()
        # A short queue keeps each worker busy, and little is lost when the run is interrupted.
        limit = 1 if experiment.alone else 2 * self.workers
        while True:
            while len(running) < limit and (task := next(waiting, None)):
                running.add(self.executor.submit(execute, experiment, task, made_by))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield _result(future)


def _result(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise EngineError("a worker process was killed, perhaps for lack of memory") from error
    except CancelledError as error:
        raise EngineError("the connection to the scheduler was lost") from error
    except Exception as error:  # of the transport; that of a task is part of its outcome
        raise EngineError(f"a worker could not take a task: {error!r}") from error


def execute(experiment: Experiment, task: Task, made_by: dict[str, Any]) -> Outcome:
    """Run one task in a worker, if the worker has the same code and versions."""
    start = perf_counter()
    try:
        if (ours := provenance(experiment)) != made_by:
            raise RuntimeError(
                f"this worker has other versions than the main process: {ours}, not {made_by}"
            )
        with _blas_threads().limit(limits=1):
            records = list(experiment.work(task))
    except Exception:
        return Outcome(task, [], perf_counter() - start, traceback.format_exc())
    return Outcome(task, records, perf_counter() - start)


@cache
def _blas_threads() -> Any:
    import threadpoolctl  # of the extra `app`

    return threadpoolctl.ThreadpoolController()


class InProcess(Executor):
    """An executor that runs each task immediately in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function and return a finished future."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def local(workers: int) -> Iterator[Engine]:
    """Run tasks in this process, or in several new ones that end with it."""
    if workers == 1:
        yield Engine(InProcess(), 1)
        return
    context = multiprocessing.get_context("spawn")  # forked processes inherit locks and threads
    before = set(multiprocessing.active_children())
    pool = ProcessPool(workers, mp_context=context, initializer=_start_worker)
    try:
        yield Engine(pool, workers)
    except BaseException:  # also Ctrl-C: do not wait for running tasks
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:  # pragma: no cover - runs in the worker processes
    """Ignore Ctrl-C, which the parent handles, and exit when the parent exits or is killed."""
    keep_all_freed_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:  # pragma: no cover - runs in the worker processes
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def cluster(address: str, timeout: float = 10.0) -> Iterator[Engine]:
    """Run tasks on the workers of a dask scheduler such as ``tcp://host:8786``."""
    try:
        import distributed
    except ImportError as error:
        needs = f'--scheduler needs pip install ".[cluster]" in the folder of skh ({error})'
        raise EngineError(needs) from error
    try:
        client = distributed.Client(address, timeout=timeout)
    except (OSError, ValueError) as error:  # a timeout is an OSError
        raise EngineError(f"no dask scheduler answers at {address} ({error})") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise EngineError(f"the scheduler at {address} has no workers")
        yield Engine(client.get_executor(pure=False), threads)


def complete(
    experiment: Experiment,
    folder: Path,
    engine: Engine,
    progress: Callable[[float, int], None] = lambda cost, tasks: None,
) -> Store:
    """Run the missing tasks of an experiment and store their records in ``folder``.

    A task that fails does not stop the others.  ``progress(cost, tasks)`` is called with what was
    finished before and then after each task.
    """
    store = Store(folder)
    with store.alone():
        store.open(fingerprint_of(experiment), tasks=len(experiment.tasks()), machine=machine())
        store.read()  # reports damaged files before the work starts
        failures = _run_missing(experiment, store, engine, progress)
    if failures:
        raise EngineError(_describe(failures))
    return store


def _run_missing(
    experiment: Experiment, store: Store, engine: Engine, progress: Callable[[float, int], None]
) -> list[Outcome]:
    """Run and store the missing tasks; return the failures."""
    done, tasks, failures = store.keys(), experiment.tasks(), []
    finished = [task for task in tasks if task.key in done]
    progress(sum(task.cost for task in finished), len(finished))
    for outcome in engine.outcomes(experiment, [t for t in tasks if t.key not in done]):
        if outcome.error:
            failures.append(outcome)
        else:
            store.write(outcome.task, outcome.records, outcome.seconds)
        progress(outcome.task.cost, 1)
    return failures


def _describe(failures: Sequence[Outcome]) -> str:
    first = failures[0]
    return (
        f"{len(failures)} of the tasks of {first.task.experiment} failed, all others are on disk; "
        f"the first failure was {first.task.key}:\n{first.error}"
    )
