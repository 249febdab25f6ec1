"""Evaluate jobs by the workers of an executor: time-outs, lost workers, further attempts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from skh.filtering.remote_evaluation import Answer, Failure, Job, Parcel, Shipping


class LikelihoodError(RuntimeError):
    """The likelihood of a particle could not be evaluated; the filter is left unchanged.

    ``t`` is the step, ``particle`` the particle (the first of those lost, if it is not known which
    was to blame), ``particles`` all that have no likelihood, and ``__cause__`` the error of the
    likelihood, a `TimeoutError`, or that of a broken pool.

    >>> import skh
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def log_likelihood(t, x, y):
    ...     raise OSError("the renderer is out of memory")
    >>> with ThreadPoolExecutor(2) as threads:
    ...     model = skh.model_from_functions(
    ...         ([0.0], 1.0), lambda t, x: (x, 1.0), log_likelihood, batched=False, executor=threads
    ...     )
    ...     try:
    ...         skh.ParticleFilter(model, skh.Stratified(), 1, rng=0).step(0.3)
    ...     except skh.LikelihoodError as error:
    ...         print(error)
    the likelihood of particle 0 at t=0 raised OSError: the renderer is out of memory
    """

    t: int
    particle: int
    particles: tuple[int, ...]


class Loss(NamedTuple):
    """Why an attempt did not answer all jobs; ``pool``: its executor is of no more use."""

    job: int  # the one to name
    failure: Failure
    pool: bool = False


class Workers:
    """An executor, or a function that makes one, with a time-out and a number of retries."""

    def __init__(
        self, executor: Executor | Callable[[], Executor], timeout: float | None, retries: int
    ) -> None:
        self.timeout, self.retries = timeout, retries
        self.use(executor)

    def use(self, executor: Executor | Callable[[], Executor]) -> None:
        """Use an executor, or those that a function makes, from now on."""
        made = isinstance(executor, Executor) or not callable(executor)
        given = check_executor(executor) if made else None
        self._executor: Any = given
        self._factory: Any = executor if given is None else None

    @property
    def executor(self) -> Executor:
        """The executor; a function is called when first needed."""
        if self._executor is None:
            self._executor = check_executor(self._factory(), "executor, a function, must return")
        return self._executor  # type: ignore[no-any-return]

    def discard(self) -> None:
        """End an executor that the function made; the next use makes another."""
        if self._factory is not None and self._executor is not None:
            executor, self._executor = self._executor, None
            end(executor)

    def close(self) -> None:
        """Shut down an executor that the function made, when its calls are done."""
        if self._factory is not None and self._executor is not None:
            executor, self._executor = self._executor, None
            executor.shutdown()

    def run(self, shipping: Shipping, jobs: Sequence[Job], t: int, y: Any) -> list[Answer]:
        """Return the answers to all jobs, in their order; compute again what was lost."""
        answers: dict[int, Answer] = {}
        loss: Loss | None = None
        for left in range(self.retries, -1, -1):
            executor = self.executor
            attempt = Attempt(
                executor, shipping.parcel(executor, t, y), jobs, self.timeout, answers
            )
            loss = attempt.run(last=left == 0)
            if loss is None:
                return [answers[k] for k in range(len(jobs))]
            if loss.pool:
                self.discard()
        assert loss is not None
        raise self._error(loss, jobs, answers, t) from loss.failure.error

    def _error(
        self, loss: Loss, jobs: Sequence[Job], answers: dict[int, Answer], t: int
    ) -> LikelihoodError:
        """Return the error that names particle, step and cause."""
        (first, n, *_), failure = jobs[loss.job], loss.failure
        lost = [job for k, job in enumerate(jobs) if k not in answers]
        particles = tuple(i for job in lost for i in range(job.first, job.first + job.n))
        one = failure.particle if n > 1 else first
        who = f"particles {first} to {first + n - 1}" if one is None else f"particle {one}"
        others = f" and {len(particles) - n} others" if loss.pool and len(particles) > n else ""
        cause = f"{type(failure.error).__name__}: {failure.error}".rstrip(":. ")
        tried = f" (attempt {self.retries + 1} of {self.retries + 1})" if self.retries else ""
        error = LikelihoodError(
            f"the likelihood of {who}{others} at t={t} {failure.where} {cause}{tried}"
            f"{self._advice(loss)}"
        )
        error.t, error.particle, error.particles = t, first if one is None else one, particles
        return error

    def _advice(self, loss: Loss) -> str:
        """Say what to do about a pool that is of no more use."""
        if not loss.pool or isinstance(loss.failure.error, TimeoutError):
            return ""
        if self._factory is not None:
            return "; the next step uses a new pool"
        return (
            "; set model.executor to a new pool, or give a function that makes one, "
            "executor=lambda: ProcessPoolExecutor(2), and retries=1"
        )


@dataclass
class Attempt:
    """Send the jobs that have no answer yet to an executor, and collect answers as they come."""

    executor: Executor
    parcel: Parcel
    jobs: Sequence[Job]
    timeout: float | None
    answers: dict[int, Answer]
    pending: dict[Future[Any], int] = field(default_factory=dict)
    done: SimpleQueue[Future[Any]] = field(default_factory=SimpleQueue)

    def run(self, last: bool) -> Loss | None:
        """Return what was lost first, None if nothing was; the last attempt stops there."""
        try:
            return self._send_all() or self._collect(last)
        finally:  # also Ctrl-C: what has not begun is not computed
            for future in self.pending:
                future.cancel()

    def _send_all(self) -> Loss | None:
        missing = [k for k in range(len(self.jobs)) if k not in self.answers]
        return next((loss for k in missing if (loss := self._send(k))), None)

    def _send(self, k: int, whole: bool = False) -> Loss | None:
        """Submit a job; executors that are broken or shut down refuse it."""
        call = self.parcel.call(self.jobs[k], whole)
        try:
            future = self.executor.submit(*call)
        except Exception as error:
            return self._broken(k, error)
        if not callable(getattr(future, "add_done_callback", None)):
            raise TypeError(
                f"executor.submit must return a concurrent.futures.Future, got {future!r}"
            )
        self.pending[future] = k
        future.add_done_callback(self.done.put)
        return None

    def _collect(self, last: bool) -> Loss | None:
        first: Loss | None = None
        limit = None if self.timeout is None else self.timeout * self.jobs[0].n
        while self.pending:
            try:
                future = self.done.get(timeout=limit)
            except Empty:
                return self._late(limit)
            k = self.pending.pop(future)
            loss = self._receive(k, future)
            if loss is not None and (last or loss.pool):
                return loss
            first = first or loss
        return first

    def _receive(self, k: int, future: Future[Any]) -> Loss | None:
        """Keep an answer, or return why it is missing."""
        if future.cancelled():
            return self._broken(k, ConnectionError("the executor has cancelled its calls"))
        error = future.exception()
        if isinstance(error, BrokenExecutor):
            return self._broken(k, error)
        if isinstance(error, KeyboardInterrupt):
            raise error
        outcome = Failure(error) if error is not None else future.result()
        if isinstance(outcome, str):  # this worker needs the model
            return self._send(k, whole=True)
        self.parcel.received()
        if isinstance(outcome, Failure):
            return Loss(k, outcome)
        self.answers[k] = outcome
        return None

    def _broken(self, k: int, error: BaseException) -> Loss:
        """The executor failed as a whole: keep the answers that had come before."""
        for future, other in list(self.pending.items()):
            if future.done() and not future.cancelled() and future.exception() is None:
                del self.pending[future]
                self._receive(other, future)
        return Loss(k, Failure(error, where="was lost, since the pool of workers is broken:"), True)

    def _late(self, limit: float | None) -> Loss:
        """No answer came in time: the calls under way are to blame, others are cancelled."""
        running = [k for future, k in self.pending.items() if not future.cancel()]
        k = min(running or self.pending.values())
        late = TimeoutError(f"no answer for {limit:g} s, timeout={self.timeout:g} per particle")
        return Loss(k, Failure(late, where="was given up:"), True)


def check_executor(executor: Any, words: str = "executor must be") -> Executor:
    """Validate an executor; ``words`` begin the message."""
    if callable(getattr(executor, "get_executor", None)):
        advice = f"{executor!r}: write client.get_executor()"
    elif not callable(getattr(executor, "submit", None)):
        advice = repr(executor)
    else:
        return executor  # type: ignore[no-any-return]
    raise TypeError(
        f"{words} a concurrent.futures.Executor such as ThreadPoolExecutor(8), or a function "
        f"that makes one; got {advice}"
    )


def end(executor: Executor) -> None:
    """Shut an executor down without waiting; a process that hangs would never end by itself."""
    processes = dict(getattr(executor, "_processes", None) or {})
    with suppress(Exception):  # broken executors may refuse
        executor.shutdown(wait=False)
    for process in processes.values():
        with suppress(ValueError):  # it has been closed
            process.kill()
