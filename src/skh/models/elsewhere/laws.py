"""Laws of the package `particles` as mixtures of Gaussians, recognised by their classes' names.

A *part* is one Gaussian for each of n rows: its probability, mean and covariance.  A Dirac mass is
a Gaussian without variance, so that finite laws are mixtures as well.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.model_protocols import Transition
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.scale_mixtures import laplace, student_t

MAX_PARTS = 64  # Gaussians per row; laws with more are better simulated
SCALE_COMPONENTS = 20  # Gaussians of a Student or Laplace law: log-evidence errs by 1e-4 per step


class NotGaussianError(ValueError):
    """A law is not a finite mixture of Gaussians."""


class Part(NamedTuple):
    """One Gaussian per row."""

    weight: Array  # () or (n,)
    mean: Array  # (n, d)
    covariance: Array  # (d, d), or (n, d, d)


def class_names(law: Any) -> set[str]:
    """Return the names of the classes that an object belongs to."""
    return {cls.__name__ for cls in type(law).__mro__}


def parts_of(law: Any, n: int, d: int) -> list[Part]:
    """Return the Gaussians of a law of vectors in d dimensions, for n rows."""
    names = class_names(law)
    for name, convert in CONVERSIONS.items():
        if name in names:
            return convert(law, n, d)
    raise NotGaussianError(f"{type(law).__name__} is not a mixture of Gaussians")


def as_transition(parts: list[Part]) -> Transition:
    """Return the parts as a transition: a pair if there is one Gaussian per row."""
    if len(parts) == 1:
        return parts[0].mean, parts[0].covariance
    n, d = parts[0].mean.shape
    m = len(parts)
    weights = np.stack([np.broadcast_to(p.weight, n) for p in parts], axis=1)
    means = np.stack([p.mean for p in parts], axis=1)
    first = parts[0].covariance
    if all(p.covariance.ndim == 2 and np.array_equal(p.covariance, first) for p in parts):
        return GaussianMixture(weights.ravel(), means.reshape(-1, d), first)
    each = np.stack([np.broadcast_to(p.covariance, (n, d, d)) for p in parts], axis=1)
    return GaussianMixture(weights.ravel(), means.reshape(-1, d), each.reshape(n * m, d, d))


def as_mixture(parts: list[Part]) -> GaussianMixture:
    """Return the parts of one row as a mixture."""
    transition = as_transition(parts)
    if isinstance(transition, GaussianMixture):
        return transition
    return GaussianMixture([1.0], *transition)


def _column(name: str, value: Any, n: int) -> Array:
    """Return a parameter of a law of numbers for each of n rows: (n,)."""
    numbers = _checks.floats(name, value)
    if numbers.ndim > 1 or numbers.size not in (1, n):
        raise ValueError(f"{name} must be a number or have shape ({n},), got {numbers.shape}")
    return np.broadcast_to(numbers.reshape(-1), n)


def _rows(name: str, value: Any, n: int, d: int) -> Array:
    """Return a parameter of a law of vectors for each of n rows: (n, d)."""
    numbers = _checks.floats(name, value)
    if numbers.shape not in ((), (1,), (d,), (1, d), (n, 1), (n, d)):
        raise ValueError(f"{name} must be numbers of shape ({n}, {d}), got {numbers.shape}")
    return np.broadcast_to(numbers, (n, d))


def _variance(scale: Array) -> Array:
    """Return the covariances of numbers with these standard deviations: (1, 1), or (n, 1, 1)."""
    square = np.square(scale)
    same = len(scale) == 0 or (square == square[0]).all()
    return square[:1].reshape(1, 1) if same else square[:, None, None]


def _normal(law: Any, n: int, d: int) -> list[Part]:
    _require_number("Normal", d)
    scale = _column("scale of Normal", law.scale, n)
    mean = _column("loc of Normal", law.loc, n)
    return [Part(np.ones(()), mean[:, None].copy(), _variance(scale))]


def _dirac(law: Any, n: int, d: int) -> list[Part]:
    _require_number("Dirac", d)
    mean = _column("loc of Dirac", law.loc, n)
    return [Part(np.ones(()), mean[:, None].copy(), np.zeros((1, 1)))]


def _categorical(law: Any, n: int, d: int) -> list[Part]:
    """Diracs at 0, 1, ..., K - 1."""
    _require_number("Categorical", d)
    p = np.asarray(law.p, dtype=np.float64)
    if p.ndim not in (1, 2) or (p.ndim == 2 and len(p) not in (1, n)):
        raise ValueError(f"p of Categorical must have shape (K,) or ({n}, K), got {p.shape}")
    _limit(p.shape[-1], "Categorical")
    zero = np.zeros((1, 1))
    return [
        Part(p[..., k], np.full((n, 1), float(k)), zero)
        for k in range(p.shape[-1])
        if p[..., k].any()
    ]


def _multivariate(law: Any, n: int, d: int) -> list[Part]:
    mean = _rows("loc of MvNormal", law.loc, n, d).copy()
    cov = _matrices("cov of MvNormal", law.cov, n, d)
    scale = np.asarray(law.scale, dtype=np.float64)
    if scale.ndim == 0:
        return [Part(np.ones(()), mean, np.square(scale) * cov)]
    s = _rows("scale of MvNormal", scale, 1 if scale.ndim == 1 else n, d)
    return [Part(np.ones(()), mean, _one_or_each(s[:, :, None] * cov * s[:, None, :]))]


def _varying(law: Any, n: int, d: int) -> list[Part]:
    mean = _rows("loc of VaryingCovNormal", law.loc, n, d).copy()
    return [Part(np.ones(()), mean, _matrices("cov of VaryingCovNormal", law.cov, n, d))]


def _matrices(name: str, value: Any, n: int, d: int) -> Array:
    cov = _checks.floats(name, value)
    if cov.shape == (1, d, d):
        cov = cov[0]
    if cov.shape not in ((d, d), (n, d, d)):
        raise ValueError(f"{name} must have shape ({d}, {d}) or ({n}, {d}, {d}), got {cov.shape}")
    return cov


def _one_or_each(cov: Array) -> Array:
    return cov[0] if len(cov) == 1 else cov


def _independent(law: Any, n: int, d: int) -> list[Part]:
    """Products of the parts of each coordinate."""
    if len(law.dists) != d:
        raise ValueError(f"IndepProd must have {d} laws, got {len(law.dists)}")
    coordinates = [parts_of(each, n, 1) for each in law.dists]
    _limit(prod(map(len, coordinates)), "IndepProd")
    return [_joined(choice) for choice in product(*coordinates)]


def _joined(parts: tuple[Part, ...]) -> Part:
    """Return the joint law of independent coordinates."""
    mean = np.concatenate([p.mean for p in parts], axis=1)
    variances = [p.covariance[..., 0] for p in parts]  # (1,), or (n, 1)
    shape = np.broadcast_shapes(*(v.shape for v in variances))
    diagonal = np.concatenate([np.broadcast_to(v, shape) for v in variances], axis=-1)
    weight = prod((p.weight for p in parts), start=np.ones(()))
    return Part(weight, mean, diagonal[..., None] * np.eye(len(parts)))


def _linear(law: Any, n: int, d: int) -> list[Part]:
    """Y = a X + b, in each coordinate."""
    a, b = (_rows(f"{name} of LinearD", _as_rows(getattr(law, name), n, d), n, d) for name in "ab")
    if (a == a[:1]).all():
        a = a[:1]

    def mapped(p: Part) -> Part:
        cov = a[:, :, None] * p.covariance * a[:, None, :]
        return Part(
            p.weight,
            a * p.mean + b,
            _one_or_each(cov) if len(a) == 1 and p.covariance.ndim == 2 else cov,
        )

    return [mapped(p) for p in parts_of(law.base_dist, n, d)]


def _as_rows(value: Any, n: int, d: int) -> Any:
    """Return one number per row as a column, where states are numbers."""
    return np.reshape(value, (-1, 1)) if d == 1 and np.ndim(value) == 1 else value


def _student(law: Any, n: int, d: int) -> list[Part]:
    if np.size(law.df) != 1:
        raise NotGaussianError("Student has degrees of freedom that vary")
    mean, scale = _location_and_scale("Student", law, n, d)
    df = float(np.reshape(law.df, ()))
    return _consecutive(student_t(mean, scale, df, components=SCALE_COMPONENTS), n)


def _laplace(law: Any, n: int, d: int) -> list[Part]:
    mean, scale = _location_and_scale("Laplace", law, n, d)
    return _consecutive(laplace(mean, scale, components=SCALE_COMPONENTS), n)


def _location_and_scale(name: str, law: Any, n: int, d: int) -> tuple[Array, Array]:
    _require_number(name, d)
    mean = _column(f"loc of {name}", law.loc, n)[:, None]
    return mean, _column(f"scale of {name}", law.scale, n)


def _consecutive(p: GaussianMixture, n: int) -> list[Part]:
    """Return the parts of a mixture of numbers with as many components for each of n rows."""
    w, mean, S = (a.reshape(n, -1) for a in (p.weights * n, p.means, p.covariances))
    return [Part(w[:, k], mean[:, k : k + 1], S[:, k, None, None]) for k in range(w.shape[1])]


def _mixture(law: Any, n: int, d: int) -> list[Part]:
    p = np.asarray(law.pk, dtype=np.float64)
    if p.shape[-1:] != (len(law.components),) or p.shape[:-1] not in ((), (1,), (n,)):
        raise ValueError(
            f"pk of Mixture must have shape ({len(law.components)},) or ({n}, "
            f"{len(law.components)}), one number for each component, got {p.shape}"
        )
    parts = [
        Part(p[..., k] * part.weight, part.mean, part.covariance)
        for k, component in enumerate(law.components)
        for part in parts_of(component, n, d)
    ]
    _limit(len(parts), "Mixture")
    return parts


def _require_number(name: str, d: int) -> None:
    if d != 1:
        raise ValueError(f"{name} is a law of numbers, but states have {d} coordinates")


def _limit(m: int, name: str) -> None:
    if m > MAX_PARTS:
        raise NotGaussianError(f"{name} has {m} Gaussians per row, more than {MAX_PARTS}")


# Subclasses before their bases.
CONVERSIONS: dict[str, Callable[[Any, int, int], list[Part]]] = {
    "VaryingCovNormal": _varying,
    "MvNormal": _multivariate,
    "Normal": _normal,
    "Dirac": _dirac,
    "Categorical": _categorical,
    "Student": _student,
    "Laplace": _laplace,
    "IndepProd": _independent,
    "LinearD": _linear,
    "Mixture": _mixture,
}
