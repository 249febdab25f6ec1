"""Running tasks: in this process, in several, or on a cluster of dask workers.

All three are a `concurrent.futures.Executor` behind one loop, and only the process that was
started writes to disk.  Each task computes with one BLAS thread, so that its numbers do not depend
on how many cores there are.
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
from skh.experiments.fingerprint import fingerprint, machine, provenance
from skh.experiments.record import Record
from skh.experiments.store import Store
from skh.experiments.task import Experiment, Task


class EngineError(Exception):
    """The tasks cannot be run, or some of them failed; finished ones are on disk."""


@dataclass(frozen=True)
class Outcome:
    """A task with its records, or with the traceback that it ended in."""

    task: Task
    records: list[Record]
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class Engine:
    """An executor, and how many tasks it can work on at the same time."""

    executor: Executor
    workers: int

    def outcomes(self, experiment: Experiment, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """The outcomes in the order in which they arrive."""
        made_by = provenance(experiment)
        waiting, running = iter(tasks), set[Future[Outcome]]()
        # A short queue in front of each worker: enough to keep it busy, little to throw away.
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
    except Exception as error:  # of the transport: what a task raises is part of its outcome
        raise EngineError(f"a worker could not take a task: {error!r}") from error


def execute(experiment: Experiment, task: Task, made_by: dict[str, Any]) -> Outcome:
    """Do one task: what a worker is asked for."""
    start = perf_counter()
    try:
        if (ours := provenance(experiment)) != made_by:
            raise RuntimeError(
                f"this worker has other versions than the process that asks: {ours}, not {made_by}"
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
    """Does each task at once, here."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """The finished future of a call."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def local(workers: int) -> Iterator[Engine]:
    """One worker is this process; more are fresh processes, which end with this one."""
    if workers == 1:
        yield Engine(InProcess(), 1)
        return
    context = multiprocessing.get_context("spawn")  # a forked process inherits locks and threads
    before = set(multiprocessing.active_children())
    pool = ProcessPool(workers, mp_context=context, initializer=_start_worker)
    try:
        yield Engine(pool, workers)
    except BaseException:  # Ctrl-C included: do not wait for tasks whose results nobody takes
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker() -> None:  # pragma: no cover - runs in the worker processes
    """Leave Ctrl-C to the parent, and end when it ends, even if it was killed; keep memory."""
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
    """The workers of a running dask scheduler such as ``tcp://host:8786``."""
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
    """Run what is missing of an experiment in ``folder``; all of it is there on return.

    A task that fails does not stop the others; ``progress`` is told what was done, in units of the
    tasks' cost and in number, at the start and after each task.
    """
    store = Store(folder)
    with store.alone():
        store.open(fingerprint(experiment), tasks=len(experiment.tasks()), machine=machine())
        store.read()  # a damaged file is reported before the work, not after it
        failures = _run_missing(experiment, store, engine, progress)
    if failures:
        raise EngineError(_describe(failures))
    return store


def _run_missing(
    experiment: Experiment, store: Store, engine: Engine, progress: Callable[[float, int], None]
) -> list[Outcome]:
    """Run and write what is not there yet; returns what failed."""
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
