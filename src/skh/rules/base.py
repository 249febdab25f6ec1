"""The interface of rules: a rule turns a mixture into n weighted points.

It is step 3 of Algorithm 2, and any callable with this signature can replace it::

    def antithetic(p, n, *, rng=None):
        rng = np.random.default_rng(rng)
        half = (n + 1) // 2
        z = rng.standard_normal((half, p.d))
        component = np.tile(p.choose(rng.random(half)), 2)[:n]
        x = p.place(component, np.concatenate([z, -z])[:n])
        return skh.WeightedPoints(x, np.full(n, 1 / n), component)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from numbers import Real
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from skh import _checks
from skh._numba.array_checks import first_negative_and_total, first_not_finite
from skh._typing import RNG, Array, Indices
from skh.gaussians.mixture import GaussianMixture, check_mixture


@dataclass(frozen=True, eq=False)
class Shift:
    """Displacement of the component of each point before the point was drawn from it.

    Given the points it has this ``mean`` (n, d) and covariances L L' for the L in ``root``
    (n, d, d); see `filtering.carried_records`.  If parts of the mixture were displaced one by one,
    ``part`` (K,) is the number of each component's part.
    """

    mean: Array
    root: Array
    part: Indices | None = None


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points ``x`` (n, d) with weights ``w`` (n,) on the simplex, an approximation of a mixture.

    ``component`` (n,) is the component of the mixture that each point was drawn from; in a particle
    filter, its ancestor.  ``mmd`` is the distance to the mixture, NaN if the rule does not compute
    it (see `Measured`).  ``shift`` is the displacement of the components, if any.
    """

    x: Array
    w: Array
    component: Indices
    mmd: float = nan
    shift: Shift | None = None

    def __len__(self) -> int:
        """Number of points."""
        return len(self.w)

    def with_fields(self, **fields: Any) -> Self:
        """Return the same points with other fields: `replace`, three times as fast."""
        points = object.__new__(type(self))
        points.__dict__.update(self.__dict__, **fields)
        points.__dict__.pop("_checked_for", None)
        return points

    def sealed(self) -> Self:
        """Return the same points with read-only ``x``."""
        return self.with_fields(x=_checks.read_only(self.x))


P = TypeVar("P", bound=WeightedPoints)


class Rule(Protocol):
    """A callable that returns ``n`` weighted points of a mixture, or fewer if it optimises them.

    In a filter the mixture is a `Predictive`, with the ``information`` of the next observation.  A
    rule that does not need it saves its computation by an attribute ``uses_information = False``.
    A rule whose first points are the most important ones says so by ``important_first = True``.
    """

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """Return at most ``n`` points that approximate ``p``."""
        ...


def uses_information(rule: Rule) -> bool:
    """Whether a rule uses the information of a `Predictive`; True by default."""
    return bool(getattr(rule, "uses_information", True))


def important_first(rule: Rule) -> bool:
    """Whether a rule's first points are the most important ones, as with greedy choices."""
    return bool(getattr(rule, "important_first", False))


def check_call(p: GaussianMixture, n: int, rng: RNG) -> tuple[int, np.random.Generator]:
    """Validate a rule's arguments; return (n, rng)."""
    check_mixture("p", p)
    return _checks.positive_int("n", n), _checks.generator(rng)


def checked_points(points: P, p: GaussianMixture) -> P:
    """Validate the points of a rule and convert their arrays."""
    if not isinstance(points, WeightedPoints):
        raise TypeError(f"rule must return WeightedPoints, got {points!r}")
    shape = len(p), p.d
    if points.__dict__.get("_checked_for") == shape:  # by a rule around it
        return points
    if not isinstance(points.mmd, float | Real):
        raise TypeError(f"rule must return a number for mmd, got {points.mmd!r}")
    x = np.asarray(_checks.floats("the x that a rule returns", points.x), order="C")
    w = np.asarray(_checks.floats("the w that a rule returns", points.w), order="C")
    component, n = np.asarray(points.component), w.size
    if n == 0:
        raise ValueError(f"rule must return at least one point, got w={points.w!r}")
    if x.shape != (n, p.d) or w.shape != (n,) or component.shape != (n,):
        raise ValueError(
            f"rule must return x, w, component of shapes ({n}, {p.d}), ({n},), ({n},), "
            f"got {x.shape}, {w.shape}, {component.shape}"
        )
    negative, total = first_negative_and_total(w)
    if negative >= 0:
        raise ValueError(f"rule must return non-negative weights, got {w[negative]} at {negative}")
    if not abs(total - 1) < 1e-6:
        raise ValueError(f"rule must return weights that sum to one, got a sum of {total}")
    if (i := first_not_finite(x.ravel())) >= 0:
        raise ValueError(f"rule must return finite points, got {x[i // p.d]} at {i // p.d}")
    index = _checks.indices("rule must return components", component, len(p))
    shift = _checked_shift(points.shift, *x.shape, len(p))
    usual = x is points.x and w is points.w and index is points.component and shift is None
    points = points if usual else replace(points, x=x, w=w, component=index, shift=shift)
    points.__dict__["_checked_for"] = shape
    return points


def _checked_shift(shift: Shift | None, n: int, d: int, K: int) -> Shift | None:
    if shift is None:
        return None
    if not isinstance(shift, Shift):
        raise TypeError(f"the shift that a rule returns must be a Shift or None, got {shift!r}")
    part = shift.part
    if part is not None:
        part = _checks.indices("the shift that a rule returns must have parts", part, K)
        if len(part) != K:
            raise ValueError(f"the shift that a rule returns must have {K} parts, got {len(part)}")
    return Shift(
        _checks.shaped("the mean of the shift that a rule returns", shift.mean, n, d),
        _checks.shaped("the root of the shift that a rule returns", shift.root, n, d, d),
        part,
    )
