"""Models whose likelihoods are evaluated by workers: threads, processes, or those of a cluster.

`parallel` wraps a model; its filter asks for the likelihoods of all particles of a look, and each
goes to the workers by a call of its own, or some at a time.  The answers are put together in the
order of the particles, so the result is that of calling the model's likelihood for the same rows in
turn, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from copy import deepcopy
from typing import Any, NoReturn, Self

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.clock import model_over, wants_dt
from skh.filtering.model_protocols import (
    Carry,
    CarryingModel,
    Model,
    Transition,
    WithoutCarry,
    as_carrying,
    concatenate,
    gather,
)
from skh.filtering.remote_evaluation import Job, Shipping
from skh.filtering.workers import Workers
from skh.gaussians.mixture import GaussianMixture

MakesExecutor = Callable[[], Executor]


def parallel(
    model: Model | CarryingModel,
    executor: Executor | MakesExecutor,
    *,
    chunk: int = 1,
    timeout: float | None = None,
    retries: int = 0,
) -> ParallelModel:
    """Return a model whose likelihoods are evaluated by the workers of an executor.

    Parameters
    ----------
    model : Model or CarryingModel
        Of any kind, `RaoBlackwellized` and `skh.geometry.Charted` included.  For processes, it and
        the observations must be picklable.
    executor : Executor, or f() -> Executor
        Anything that follows `concurrent.futures.Executor`: a ``ThreadPoolExecutor``, a
        ``ProcessPoolExecutor``, ``client.get_executor()`` of dask.  A function is called when first
        needed, and again after its pool broke or timed out; ``with`` or `ParallelModel.close` ends
        what it made.
    chunk : int
        Number of particles per call.  A chunk is lost as a whole.
    timeout : float, optional
        Seconds per particle.  If no answer at all arrives for that long, the calls that are under
        way are given up.
    retries : int
        How many times lost particles (an exception, a time-out, a dead worker) are computed again
        before a `LikelihoodError` is raised.  Particles with an answer keep it.

    After an error the filter is as it was before the step, random state included.

    Examples
    --------
    >>> import skh
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> model = skh.models.lgss3()
    >>> ys = model.simulate(5, rng=0)[1]
    >>> with ThreadPoolExecutor(4) as threads:
    ...     faster = skh.parallel(model, threads, chunk=5, retries=1)
    ...     result = skh.particle_filter(faster, ys, skh.Stratified(), 20, rng=1)
    >>> result.means.shape
    (5, 3)
    """
    if isinstance(model, ParallelModel):
        raise TypeError(f"model must not be parallel already, got {model!r}: pass its model.model")
    carrying = as_carrying(model)
    kind = ParallelModel if isinstance(carrying, WithoutCarry) else ParallelCarryingModel
    timeout = None if timeout is None else _checks.positive("timeout", timeout)
    workers = Workers(executor, timeout, _checks.time_index("retries", retries))
    return kind(model, carrying, workers, _checks.positive_int("chunk", chunk))


class ParallelModel:
    """A model whose likelihoods are evaluated by workers; see `parallel`.

    Everything else is that of ``model``, the model itself.
    """

    def __init__(self, model: Any, carrying: CarryingModel, workers: Workers, chunk: int) -> None:
        self.model, self.chunk = model, chunk
        self._workers, self._carrying = workers, carrying
        self._shipping = Shipping(carrying)
        for name in ("displaced", "blurred"):  # a protocol looks for them without `__getattr__`
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    @property
    def executor(self) -> Executor:
        """The executor; assign another one, or a function, to go on after a pool broke."""
        return self._workers.executor

    @executor.setter
    def executor(self, executor: Executor | MakesExecutor) -> None:
        self._workers.use(executor)

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return self._carrying.prior()

    def transition(self, t: int, x: Array, *carry: Carry) -> Transition:
        """The distribution of x_{t+1} given each row of ``x``."""
        return self.model.transition(t, x, *carry)  # type: ignore[no-any-return]

    def log_likelihood(self, t: int, x: Any, y: Any) -> Any:
        """``log p(y_t | x_t)`` at each row of ``x``, by the workers."""
        return self._evaluated(t, x, y, None)[0]

    def _evaluated(self, t: int, x: Any, y: Any, carry: Carry) -> tuple[Array, Carry]:
        """Return log-likelihoods and records of all particles."""
        n = len(x[0] if isinstance(x, tuple) else x)
        rows = [np.arange(i, min(i + self.chunk, n)) for i in range(0, n, self.chunk)]
        jobs = [Job(int(r[0]), len(r), gather(x, r), gather(carry, r)) for r in rows]
        values, records = zip(*self._workers.run(self._shipping, jobs, t, y), strict=True)
        if getattr(self._carrying, "updates_records", True):
            carry = concatenate(records)
        return np.concatenate(values), carry

    @property
    def is_timed(self) -> bool:
        """Whether the model's transition takes dt; see `skh.filtering.clock`."""
        return wants_dt(self._carrying)

    def over(self, dt: float) -> Any:
        """The model of a step of length ``dt``, for its transitions."""
        model = model_over(self._carrying, dt)
        return model.model if isinstance(model, WithoutCarry) else model

    def close(self) -> None:
        """End the executor that a function made, if any; one that was given is left alone."""
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":  # not made yet, as in a copy
            raise AttributeError(name)
        return getattr(self.model, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy the model; workers are shared."""
        model = deepcopy(self.model, memo)
        return type(self)(model, as_carrying(model), self._workers, self.chunk)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a model with workers cannot be pickled: pickle its model.model")

    def __repr__(self) -> str:
        return f"parallel({self.model!r})"


class ParallelCarryingModel(ParallelModel):
    """A model that carries records, with likelihoods evaluated by workers; see `parallel`."""

    def initial_carry(self, x: Array) -> Carry:
        """The records of particles at t = 0."""
        return self._carrying.initial_carry(x)

    def move(self, t: int, x: Array, carry: Carry, x_next: Array) -> Carry:
        """The records of moved particles."""
        return self._carrying.move(t, x, carry, x_next)

    def log_likelihood(self, t: int, x: Any, y: Any, carry: Carry = None) -> Any:
        """The log-likelihoods and the records after ``y``, by the workers."""
        return self._evaluated(t, x, y, carry)
