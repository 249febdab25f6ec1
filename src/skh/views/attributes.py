"""What is recorded about a run: model, rule, number of particles, seed, versions, date."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from skh.views.text import described

LARGEST_SEED = 2**63 - 1  # of a number in a file; larger ones are written as digits
Attributes = dict[str, str | int | float]


def run_attributes(model: Any, rule: Any, n: int, seed: str | int) -> Attributes:
    """Return the attributes of a run: strings and numbers, for files of any format."""
    return {
        "model": described(model),
        "rule": described(rule),
        "n": n,
        "seed": seed,
        "skh": str(sys.modules["skh"].__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def seed_of(rng: Any, generator: np.random.Generator) -> str | int:
    """Return a seed that gives the same run: the given one, or the one NumPy chose.

    A Generator has drawn numbers before, so that only its name is known.

    >>> seed_of(7, np.random.default_rng(7))
    7
    """
    if isinstance(rng, np.random.Generator):
        return f"Generator({type(rng.bit_generator).__name__})"
    entropy = getattr(generator.bit_generator.seed_seq, "entropy", None)
    if rng is not None and not isinstance(rng, int | np.integer):
        return described(rng)
    seed = int(entropy if rng is None else rng)  # type: ignore[arg-type] # its entropy is known
    return seed if seed <= LARGEST_SEED else str(seed)


def checked_names(names: Any, d: int, what: str = "names") -> tuple[str, ...]:
    """Validate names of coordinates: ``d`` different strings."""
    several = isinstance(names, Sequence) and not isinstance(names, str)
    if not several or not all(isinstance(name, str) and name for name in names):
        raise TypeError(f"{what} must be a sequence of {d} strings, got {names!r}")
    if len(names) != d or len(set(names)) != d:
        raise ValueError(f"{what} must be {d} different strings, got {names!r}")
    return tuple(names)


def model_names(model: Any) -> Any:
    """Return ``model.state_names``, or those of the model within charts and wrappers; or None."""
    while model is not None:
        if (names := getattr(model, "state_names", None)) is not None:
            return names
        model = getattr(model, "model", None)
    return None
