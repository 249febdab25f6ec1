"""Run a filter again with more particles: to tell its numerical error, or to reach an accuracy."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import RNG
from skh.filtering.numerical_error import estimated_error
from skh.filtering.result import FilterResult

MOST_DOUBLINGS = 7  # of the number of particles, the last check included

Run = Callable[[int, RNG], FilterResult]  # a filter with so many particles


def with_numerical_error(run: Run, n: int, rng: RNG, model: Any) -> FilterResult:
    """Run a filter, and once more with twice as many particles; the first knows its error."""
    result = run(n, rng)
    return checked(result, further(run, 2 * n, other_rng(rng, 1), result), model)


def to_accuracy(run: Run, n: int, rng: RNG, model: Any, accuracy: float) -> FilterResult:
    """Double the number of particles until the estimated error is at most ``accuracy``.

    Each run is the check of the one before it.
    """
    result = run(n, rng)
    for k in range(1, MOST_DOUBLINGS + 1):
        check = further(run, 2**k * n, other_rng(rng, k), result)
        result = checked(result, check, model)
        if result.numerical_error.overall <= accuracy:
            return result
        if k < MOST_DOUBLINGS:
            result = check
    message = "accuracy=%g was not reached: with n=%d particles the means are off by about %.2g"
    off = result.numerical_error.overall
    logging.getLogger("skh").warning(message, accuracy, 2 ** (MOST_DOUBLINGS - 1) * n, off)
    return result


def further(run: Run, n: int, rng: RNG, result: FilterResult) -> FilterResult:
    """Run once more; an error, or Ctrl-C, carries the ``result`` of the run before."""
    try:
        return run(n, rng)
    except BaseException as error:
        error.result = result  # type: ignore[attr-defined] # it is complete
        raise


def checked(result: FilterResult, check: FilterResult, model: Any) -> FilterResult:
    """Return the result with its error, estimated from another run with more particles."""
    chart = None if result.mean_states is None else getattr(model, "chart", None)
    return replace(result, error_estimate=estimated_error(result, check, chart))


def other_rng(rng: RNG, k: int) -> RNG:
    """Return random numbers for the k-th further run: a seed made from the one given.

    A Generator has moved on by itself, and None is new each time.

    >>> other_rng(7, 1) != other_rng(7, 2), other_rng(None, 1)
    (True, None)
    """
    if rng is None or isinstance(rng, np.random.Generator | np.random.BitGenerator):
        return rng
    given = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    return int(np.random.SeedSequence([*given.generate_state(4), k]).generate_state(1)[0])


def check_accuracy(accuracy: Any, checkpoint: Any) -> float:
    """Validate an accuracy: a positive number of standard deviations."""
    if checkpoint is not None:
        raise ValueError(
            "checkpoint must be None with accuracy, which runs several filters, got "
            f"{checkpoint!r}: find n first, then run with it"
        )
    return _checks.positive("accuracy", accuracy)
