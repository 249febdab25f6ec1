"""Evaluate the likelihood of a few particles, in a thread or in another process.

What other processes get is pickled here, not by their executor, so that a model is sent once and
not with every call, and so that what cannot be pickled or loaded is reported as such: inside an
executor it can end the worker.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from importlib import import_module
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from skh._typing import Array
from skh.filtering.model_checks import check_carry, check_real_numbers
from skh.filtering.model_protocols import Carry, CarryingModel, WithoutCarry

MODEL_UNKNOWN = "model unknown"  # the answer of a worker that needs the model
KEPT_MODELS = 4  # number of models that a worker remembers


class Job(NamedTuple):
    """Rows of particles whose likelihoods are evaluated by one call; ``first`` is their index."""

    first: int
    n: int
    x: Any
    carry: Carry


class Failure(NamedTuple):
    """An error in place of log-likelihoods, and the particle that it was raised for, if known."""

    error: BaseException
    particle: int | None = None
    where: str = "raised"  # the words before the error in a message


Answer = tuple[Array, Carry]


def evaluate(model: CarryingModel, t: int, y: Any, job: Job) -> Answer | Failure:
    """Return the log-likelihoods and records of a job's particles, or the error."""
    first, n, x, carry = job
    particle = first if n == 1 else None
    of_row = _row_function(model)
    if isinstance(x, np.ndarray):
        x.setflags(write=False)  # as in a filter without workers
    try:
        if of_row is None:
            return _checked(model.log_likelihood(t, x, y, carry), model, t, job)
        values = np.empty(n)
        for i, row in enumerate(x):
            particle = first + i
            values[i] = of_row(t, row, y, particle)
        return values, None
    except Exception as error:
        return Failure(error, particle)


def _row_function(model: CarryingModel) -> Callable[[int, Any, Any, int], float] | None:
    """Return the likelihood of one row, if the model evaluates rows one by one anyway."""
    if not isinstance(model, WithoutCarry):
        return None
    return getattr(model.model, "row_log_likelihood", None)


def _checked(returned: Any, model: CarryingModel, t: int, job: Job) -> Answer:
    """Validate log-likelihoods and records; records that do not change are not sent back."""
    where = f"model.log_likelihood at t={t}"
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise ValueError(
            f"{where} of a model that carries records must return (log-likelihoods, records), "
            f"got {returned!r}"
        )
    values = np.array(check_real_numbers(returned[0], where), dtype=np.float64)
    if values.shape != (job.n,):
        raise ValueError(
            f"{where} must return shape ({job.n},), one number per particle, got {values.shape}"
        )
    if not getattr(model, "updates_records", True):
        return values, None
    return values, check_carry(returned[1], job.n, where, job.carry)


# --- in the worker process ------------------------------------------------------------------------

_loaded: dict[bytes, CarryingModel] = {}  # the models that this worker knows


def evaluate_pickled(
    name: str, key: bytes, model: bytes | None, common: bytes, job: bytes
) -> Answer | Failure | str:
    """Evaluate a pickled job; ``name`` makes calls differ, for executors that remember results."""
    if model is None and key not in _loaded:
        return MODEL_UNKNOWN
    try:
        likelihood = _loaded.get(key) or _remember(key, model)
        t, y = pickle.loads(common)
        rows = Job(*pickle.loads(job))
    except Exception as error:
        return Failure(
            _portable(error), where="could not be evaluated, since a worker cannot load it:"
        )
    answer = evaluate(likelihood, t, y, rows)
    if isinstance(answer, Failure):
        return answer._replace(error=_portable(answer.error))
    return answer


def _remember(key: bytes, model: bytes | None) -> CarryingModel:
    """Load a model and keep it for the next calls."""
    loaded: CarryingModel = pickle.loads(model or b"")
    for old in list(_loaded)[: -KEPT_MODELS + 1]:
        _loaded.pop(old, None)
    _loaded[key] = loaded
    return loaded


def _portable(error: BaseException) -> BaseException:
    """Return an error that can be sent back, with its traceback as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        again = pickle.loads(pickle.dumps(error))
        portable = again if type(again) is type(error) else RuntimeError(repr(error))
    except Exception:  # its class cannot be loaded with its arguments, say
        portable = RuntimeError(f"{type(error).__name__}: {error}")
    portable.add_note(f"in the worker:\n{text}")
    return portable


# --- in the process of the filter -----------------------------------------------------------------


class Shipping:
    """Send a model to the workers of executors, whole at first, then by its key."""

    def __init__(self, model: CarryingModel) -> None:
        self._model = _likelihood_only(model)
        self._known: tuple[int, bytes] | None = None  # which executor has had which model

    def parcel(self, executor: Executor, t: int, y: Any) -> Parcel:
        """Prepare the calls for one observation."""
        if isinstance(executor, ThreadPoolExecutor):  # the same memory
            return Parcel(lambda job, whole: (evaluate, self._model, t, y, job))
        dumps = _pickler(executor)
        # The model as it is now: its user may have changed it since the last step.
        model = dumps(self._model, "the model")
        key, common = blake2b(model).digest(), dumps((t, y), f"the observation of t={t}")
        known = self._known == (id(executor), key)

        def call(job: Job, whole: bool) -> Call:
            rows = dumps(tuple(job), f"the particles of t={t}")
            sent = model if whole or not known else None
            return evaluate_pickled, uuid4().hex, key, sent, common, rows

        def received() -> None:
            self._known = id(executor), key

        return Parcel(call, received)


def _likelihood_only(model: CarryingModel) -> CarryingModel:
    """Return the part of a model that workers need, if it says which that is."""
    part = getattr(model, "model", None) if isinstance(model, WithoutCarry) else None
    only = getattr(part, "likelihood_only", None)
    return model if only is None else WithoutCarry(only)


Call = tuple[Any, ...]  # a function and its arguments


class Parcel(NamedTuple):
    """The calls for one observation, ``call(job, whole)``; ``received()`` notes their arrival."""

    call: Callable[[Job, bool], Call]
    received: Callable[[], None] = lambda: None


def _pickler(executor: Executor) -> Callable[[Any, str], bytes]:
    """Return a function that pickles what is sent; ``name`` is for its error."""
    pickler: Any = pickle
    if not isinstance(executor, ProcessPoolExecutor):
        with suppress(ImportError):  # where dask is; it sends closures and what a notebook defines
            pickler = import_module("cloudpickle")

    def dumps(value: Any, name: str) -> bytes:
        try:
            return bytes(pickler.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
        except Exception as error:  # PicklingError, AttributeError, TypeError
            raise TypeError(
                f"{name} cannot be sent to another process: {type(error).__name__}: {error}; "
                "write its functions with def at the top level of a module (a lambda or a function "
                "within a function cannot be pickled), or use a ThreadPoolExecutor"
            ) from error

    return dumps
