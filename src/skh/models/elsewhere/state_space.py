"""The laws of a model of `particles`, for states in rows, and the layout of its states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.models.elsewhere.drawing import rows_of
from skh.models.elsewhere.laws import class_names

LAWS_OF_VECTORS = {"MvNormal", "VaryingCovNormal", "IndepProd"}
LAWS_OF_NUMBERS = {"Normal", "Dirac", "Categorical", "Student", "Laplace"}


class Unavailable:
    """Stands for x_{t-1} where an observation should not need it: any use of it is an error."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("x_{t-1} is not available")

    def __bool__(self) -> bool:
        raise TypeError("x_{t-1} is not available")

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The three laws of a model of `particles`, for states in rows (n, d)."""

    ssm: Any
    d: int  # number of coordinates of a state
    numbers: bool  # the model takes states as (n,), not (n, d)
    integers: bool  # the model takes states as integers
    parent: bool = False  # rows are (x_t, x_{t-1}), since y_t depends on both

    def states(self, x: Array) -> Any:
        """Return rows (n, d) as the model takes them."""
        values = np.rint(x).astype(np.int64) if self.integers else x
        return values[:, 0] if self.numbers else values

    def law_of_next(self, t: int, x: Array) -> Any:
        """Return the law of x_{t+1} given each row at time t."""
        return law_of(self.ssm, "PX", t + 1, self.states(x[:, : self.d]))

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log p(y_t | x_t, x_{t-1})``."""
        xp = None if t == 0 else self.states(x[:, self.d :]) if self.parent else Unavailable()
        law = law_of(self.ssm, "PY", t, xp, self.states(x[:, : self.d]))
        try:
            with np.errstate(all="ignore"):  # densities may underflow
                values = np.asarray(law.logpdf(_as_data(law, y)))
        except Exception as error:
            raise ValueError(
                f"{type(self.ssm).__name__}.PY at t={t}: logpdf of the observation {y!r} raised "
                f"{type(error).__name__}: {error}"
            ) from error
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        if values.shape not in ((), (1,), (len(x),)):
            raise ValueError(
                f"{type(self.ssm).__name__}.PY at t={t}: logpdf of an observation of shape "
                f"{np.shape(y)} must return shape ({len(x)},), got {values.shape}"
            )
        return np.broadcast_to(values, len(x)).copy()

    def simulate_next(self, t: int, x: Array, noise: Any) -> Array:
        """Draw x_{t+1} for each row, by uniform numbers (n, d) or a Generator."""
        drawn = rows_of(self.law_of_next(t, x), len(x), noise)
        return np.concatenate([drawn, x[:, : self.d]], axis=1) if self.parent else drawn


def _as_data(law: Any, y: Any) -> Any:
    """Return y as integers if it has such values and the law is one of integers."""
    y = np.asarray(y)
    if np.dtype(getattr(law, "dtype", float)).kind == "i" and y.dtype.kind == "f":
        return y.astype(np.int64) if (y == np.rint(y)).all() else y
    return y


def law_of(ssm: Any, method: str, *args: Any) -> Any:
    """Return a law of the model; an error names the method and the time."""
    where = f"{type(ssm).__name__}.{method}" + (f" at t={args[0]}" if args else "")
    try:
        with np.errstate(all="ignore"):
            law = getattr(ssm, method)(*args)
    except Exception as error:
        unavailable = len(args) == 3 and isinstance(args[1], Unavailable)
        hint = "; if y_t depends on x_{t-1}, pass parent=True" if unavailable else ""
        raise ValueError(f"{where} raised {type(error).__name__}: {error}{hint}") from error
    if isinstance(law, type) or not callable(getattr(law, "logpdf", None)):
        raise TypeError(f"{where} must return a law with logpdf, got {law!r}")
    return law


def state_space(ssm: Any, law: Any) -> StateSpace:
    """Return the model with the layout of its states, as the law of x_0 has it."""
    dtype = np.dtype(getattr(law, "dtype", float))
    if dtype.kind not in "fiu":
        raise TypeError(
            f"states must be numbers, but {type(ssm).__name__}.PX0 returned a law of {dtype}"
        )
    names = class_names(law)
    if names & LAWS_OF_NUMBERS:
        return StateSpace(ssm, 1, True, dtype.kind in "iu")
    d = _checks.positive_int(f"{type(ssm).__name__}.PX0: dim", getattr(law, "dim", 1))
    vectors = bool(names & LAWS_OF_VECTORS) or d > 1
    return StateSpace(ssm, d, not vectors, dtype.kind in "iu")


def uses_parent(space: StateSpace, x: Array) -> bool:
    """Whether the observation at t = 1 uses the state at t = 0."""
    states = space.states(x)
    try:
        space.ssm.PY(1, Unavailable(), states)
    except Exception:
        law_of(space.ssm, "PY", 1, states, states)  # raises if it fails for another reason
        return True
    return False
