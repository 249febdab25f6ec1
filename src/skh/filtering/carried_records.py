r"""Carried records: gather them by ancestor, and move them where a rule has moved the particles.

A rule may draw a point from a displaced component (`rules.smoothed`), and reports the displacement
as a `rules.base.Shift`.  The ancestor is then displaced as well, and so is everything that it
carries: a particle displaced forwards gets the correlated change in velocity and map.  The
correlations are those of the particles.  With weights w, means m_i of the components and any number
v_i of particle i (a coordinate, the mean of a Kalman filter), a shift :math:`\Delta` of the mean
changes v_i by its regression on the means,

.. math::

    v_i \leftarrow v_i + \beta \Delta, \qquad
    \beta = \mathrm{Cov}_w(v, m)\, \mathrm{Cov}_w(m)^{-1}.

For v = m that is :math:`\Delta` itself: where a transition is linear, a displaced particle leads to
the displaced component exactly.  The residual of the regression stays with the particle.  Where
particles have several components each (modes, say), every kind has a regression of its own.

A shift that is known only up to a covariance L L' makes the record uncertain.  Each column of L is
added to the shift in turn, and the resulting differences of the record are added to its
covariances, which is exact for linear models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from skh._typing import Array, Indices
from skh.filtering.belief import Belief, Predicted
from skh.filtering.model_checks import check_carry
from skh.filtering.model_protocols import Carry, CarryingModel, gather
from skh.gaussians.linear_algebra import standard_deviations
from skh.gaussians.predictive import Predictive
from skh.rules.base import WeightedPoints

C = TypeVar("C")
MIN_VARIANCE = 1e-10  # of a coordinate's variance: a direction with no more of it has none


@runtime_checkable
class Displaceable(Protocol):
    """A `CarryingModel` whose records can be those of moved particles."""

    def displaced(self, carry: Carry, ancestors: Ancestors) -> Carry:
        """A record with ``ancestors.moved`` for its means and ``ancestors.rows`` for the rest."""
        ...

    def blurred(self, carry: Carry, others: Sequence[Carry]) -> Carry:
        """A record with the `scatter` of its means in the others added to its covariances."""
        ...


@dataclass(frozen=True, eq=False)
class Ancestors:
    """The particles that n points come from, and how far each is moved."""

    index: Indices  # (n,): which particle
    kind: Indices  # (n,): which of its components
    shift: Array  # (n, d)
    regressions: Sequence[Array]  # for each kind (d, particles): times any numbers, their slope

    @classmethod
    def of(cls, component: Indices, shift: Array, p: Predictive) -> Ancestors:
        """The particles that moved components of ``p`` belong to."""
        each = p.components_per_particle
        kinds = [_regression(p.weights[k::each], p.means[k::each]) for k in range(each)]
        return cls(component // each, component % each, shift, kinds)

    def rows(self, carry: C) -> C:
        """What the ancestors carry, as it is."""
        return gather(carry, self.index)  # type: ignore[no-any-return]

    def moved(self, values: Array) -> Array:
        """Numbers of all particles, (particles, ...), as those of the moved ancestors."""
        v = values.reshape(len(values), -1)
        moved = v[self.index]
        for k, regression in enumerate(self.regressions):
            of_kind = self.kind == k
            moved[of_kind] += self.shift[of_kind] @ (regression @ (v - v[:1]))  # less rounding
        return moved.reshape(-1, *values.shape[1:])


def _regression(w: Array, m: Array) -> Array:
    """Cov(m)^-1 times what gives the covariance of m with any other numbers."""
    w = w / max(w.sum(), np.finfo(float).tiny)
    centred = m - w @ m
    covariance = (w * centred.T) @ centred
    sd = standard_deviations(covariance.diagonal(), m)
    # Of the correlations, so that it does not depend on units which directions count.
    variances, axes = np.linalg.eigh(covariance / np.outer(sd, sd))
    there = variances > MIN_VARIANCE
    back = axes[:, there] / sd[:, None]
    return np.asarray((back / variances[there]) @ back.T @ (w * centred.T))


def move_records(
    model: CarryingModel,
    t: int,
    old: Belief | Predicted,
    points: WeightedPoints,
    p: Predictive,
) -> Carry:
    """The records of points of ``p``: those of their ancestors among ``old``, moved along."""
    if old.carry is None:  # plain particles have nothing to take along
        return None
    (n, d), where = points.x.shape, f"model.move at t={t}"
    if (shift := points.shift) is None:
        i = points.component // p.components_per_particle
        moved = model.move(t, old.x[i], gather(old.carry, i), points.x)
        return check_carry(moved, n, where, old.carry)
    columns = shift.mean + np.moveaxis(shift.root, -1, 0)  # (d, n, d)
    component, x = np.tile(points.component, 1 + d), np.tile(points.x, (1 + d, 1))
    ancestors = Ancestors.of(component, np.concatenate([shift.mean, *columns]), p)
    records = displaceable(model).displaced(old.carry, ancestors)
    records = check_carry(records, len(x), "model.displaced", old.carry)
    records = model.move(t, ancestors.moved(old.x), records, x)  # all of them in one call
    records = check_carry(records, len(x), where, old.carry)
    first, *others = (gather(records, rows) for rows in np.arange((1 + d) * n).reshape(1 + d, n))
    blurred = displaceable(model).blurred(first, others)
    return check_carry(blurred, n, "model.blurred", old.carry)


def displaceable(model: object) -> Displaceable:
    """The model, if it is one."""
    if not isinstance(model, Displaceable):
        raise TypeError(
            "a rule that smooths moves what particles carry: it needs a model with "
            f"displaced(carry, ancestors) and blurred(carry, others), got {model!r}"
        )
    return model


def scatter(values: Array, others: Sequence[Array]) -> Array:
    """The sum of the squares e e' of the differences of others, (..., k, k) for (..., k)."""
    e = np.stack(others) - values
    return np.asarray(np.einsum("c...i,c...j->...ij", e, e))
