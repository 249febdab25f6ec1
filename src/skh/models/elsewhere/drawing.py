"""Draws from laws of the package `particles`, by quantile functions where there are any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from skh._typing import Array
from skh.filtering.simulator_model import SIMULATED_COMPONENTS
from skh.rules.sampling import scrambled_sobol

OPEN_UNIT = 2.0**-53  # least distance of uniform numbers from 0 and 1, where quantiles are infinite


@contextmanager
def global_numpy_seed(rng: np.random.Generator) -> Iterator[None]:
    """Seed NumPy's global random numbers, which `particles` uses, and restore them afterwards."""
    before = np.random.get_state()
    np.random.seed(rng.integers(2**32))
    try:
        yield
    finally:
        np.random.set_state(before)


def rows_of(law: Any, n: int, noise: Array | np.random.Generator) -> Array:
    """Draw one state (d,) for each of n rows, by uniform numbers (n, d) or a Generator."""
    with np.errstate(all="ignore"):
        if isinstance(noise, np.random.Generator):
            with global_numpy_seed(noise):
                drawn = law.rvs(size=n)
        else:
            u = np.clip(noise, OPEN_UNIT, 1.0 - OPEN_UNIT)
            drawn = law.ppf(u[:, 0] if getattr(law, "dim", 1) == 1 else u)
    values = np.asarray(drawn, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def takes_quantiles(law: Any, n: int, d: int) -> bool:
    """Whether a law has a quantile function for n rows at once."""
    try:
        values = rows_of(law, n, np.full((n, d), 0.5))
    except Exception:  # not implemented, or not for all of its coordinates
        return False
    return values.shape == (n, d) and bool(np.isfinite(values).all())


def check_drawable(law: Any, n: int, d: int, where: str) -> None:
    """Raise TypeError unless states can be drawn from a law that is not one of Gaussians."""
    try:
        values = rows_of(law, n, np.random.default_rng(0))
        failure = "" if values.shape == (n, d) else f"their shape is {values.shape}, not {(n, d)}"
    except Exception as error:
        failure = f"rvs raised {type(error).__name__}: {error}"
    if failure:
        raise TypeError(
            f"{where} returned {type(law).__name__}, which is neither a mixture of Gaussians that "
            f"this library knows nor a law that states can be drawn from: {failure}"
        )


def quantiles(law: Any, d: int, where: str) -> Array:
    """Return states that represent a law, equally weighted: (n, d)."""
    n, rng = SIMULATED_COMPONENTS, np.random.default_rng(0)
    if not takes_quantiles(law, 2, d):
        check_drawable(law, 2, d, where)
        return rows_of(law, n, rng)
    if d == 1:
        return rows_of(law, n, (np.arange(n)[:, None] + 0.5) / n)
    return rows_of(law, n, scrambled_sobol(1 << (n - 1).bit_length(), d, rng)[:n])
