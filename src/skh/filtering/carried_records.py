r"""Carried records: gather them by ancestor, and adapt them where a rule displaced particles.

A rule may draw a point from a displaced component (`rules.smoothing`) and report the displacement
as a `rules.base.Shift`.  The ancestor and its record are then displaced too: a particle displaced
forwards gets the correlated change in velocity and map.  With weights w, means m_i of the
components and any quantity v_i of particle i (a coordinate, the mean of a Kalman filter), a shift
:math:`\Delta` of the mean changes v_i by its regression on the means,

.. math:: v_i \leftarrow v_i + \beta \Delta, \qquad
    \beta = \mathrm{Cov}_w(v, m)\, \mathrm{Cov}_w(m)^{-1}.

For v = m the change is :math:`\Delta`: under a linear transition a displaced particle leads exactly
to the displaced component.  The residual of the regression stays with the particle.  If particles
have several components each (modes, say), each kind of component has its own regression; and so
has each part of the mixture that was displaced by itself.

If the shift is uncertain with covariance L L', each column of L is added to it in turn, and the
resulting differences of the record are added to its covariances.  This is exact for linear models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from skh._typing import Array, Indices
from skh.filtering.belief import Belief, Predicted
from skh.filtering.model_checks import check_carry
from skh.filtering.model_protocols import Carry, CarryingModel, gather, mapped
from skh.gaussians.linear_algebra import standard_deviations, transpose
from skh.gaussians.predictive import Predictive
from skh.rules.base import WeightedPoints

C = TypeVar("C")
Particles = Belief | Predicted | None  # of the step before, None before the first
MIN_VARIANCE = 1e-10  # smaller eigenvalues of the correlation matrix count as zero


@runtime_checkable
class Displaceable(Protocol):
    """A `CarryingModel` whose records can be displaced, as `skh.Smoothed` needs."""

    def displaced(self, carry: Carry, ancestors: Ancestors) -> Carry:
        """Apply ``ancestors.moved`` to means in ``carry``, ``ancestors.rows`` to the rest."""
        ...

    def blurred(self, carry: Carry, others: Sequence[Carry]) -> Carry:
        """Add the `scatter` of the means in ``others`` to the covariances in ``carry``."""
        ...


@dataclass(frozen=True, eq=False)
class Ancestors:
    """The ancestors of n points, and their displacements."""

    index: Indices  # (n,): the particle
    group: Indices  # (n,): whose regression applies
    shift: Array  # (n, d)
    regressions: Sequence[Array]  # per group (d, particles): product with values = slopes

    @classmethod
    def of(
        cls, component: Indices, shift: Array, p: Predictive, part: Indices | None = None
    ) -> Ancestors:
        """Return the ancestors of displaced components of ``p``; ``part`` is as in `Shift`."""
        each = p.components_per_particle
        part = np.zeros(len(p), dtype=np.intp) if part is None else part
        regressions = [
            _regression(np.where(part == k, p.weights, 0.0)[kind::each], p.means[kind::each])
            for k in range(part.max() + 1)
            for kind in range(each)
        ]
        group = part[component] * each + component % each
        return cls(component // each, group, shift, regressions)

    def rows(self, carry: C) -> C:
        """Gather the ancestors' rows of ``carry`` unchanged."""
        return gather(carry, self.index)  # type: ignore[no-any-return]

    def moved(self, values: Array) -> Array:
        """Return ``values`` (particles, ...) at the ancestors, displaced with them."""
        v = values.reshape(len(values), -1)
        moved, off = v[self.index], v - v[:1]  # less rounding
        for k, regression in enumerate(self.regressions):
            rows = self.group == k if len(self.regressions) > 1 else slice(None)
            moved[rows] += self.shift[rows] @ (regression @ off)
        return moved.reshape(-1, *values.shape[1:])


def _regression(w: Array, m: Array) -> Array:
    """Return Cov(m)^-1 C, where C v is the covariance of m with values v."""
    w = w / max(w.sum(), np.finfo(float).tiny)
    centred = m - w @ m
    covariance = (w * centred.T) @ centred
    sd = standard_deviations(covariance.diagonal(), m)
    # Of the correlations, so that the choice of directions does not depend on units.
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
    """Return the records of points of ``p``: their ancestors' in ``old``, updated by the model."""
    if old.carry is None:  # a plain model
        return None
    (n, d), where = points.x.shape, f"model.move at t={t}"
    if (shift := points.shift) is None:
        i = points.component // p.components_per_particle
        moved = model.move(t, old.x[i], gather(old.carry, i), points.x)
        return check_carry(moved, n, where, old.carry)
    columns = shift.mean + np.moveaxis(shift.root, -1, 0)  # (d, n, d)
    component, x = np.tile(points.component, 1 + d), np.tile(points.x, (1 + d, 1))
    by = np.concatenate([shift.mean, *columns])
    ancestors = Ancestors.of(component, by, p, shift.part)
    records = displaceable(model).displaced(old.carry, ancestors)
    records = check_carry(records, len(x), "model.displaced", old.carry)
    records = model.move(t, ancestors.moved(old.x), records, x)  # one call for all
    records = check_carry(records, len(x), where, old.carry)
    blurred = displaceable(model).blurred(
        gather(records, np.arange(n)),  # a copy, which does not keep the others
        [mapped(itemgetter(slice(k * n, (k + 1) * n)), records) for k in range(1, 1 + d)],
    )
    return check_carry(blurred, n, "model.blurred", old.carry)


def first_or_moved_records(
    model: CarryingModel, t: int, old: Particles, points: WeightedPoints, p: Predictive
) -> Carry:
    """Return the records of ``points`` of ``p`` at t + 1, before an observation."""
    if old is not None:
        return move_records(model, t, old, points, p)
    carry = model.initial_carry(points.x)
    return check_carry(carry, len(points), "model.initial_carry")


def displaceable(model: object) -> Displaceable:
    """Return ``model`` if it is `Displaceable`, else raise TypeError."""
    if not isinstance(model, Displaceable):
        raise TypeError(
            "a rule that displaces particles needs a model with "
            f"displaced(carry, ancestors) and blurred(carry, others), got {model!r}"
        )
    return model


def scatter(values: Array, others: Sequence[Array]) -> Array:
    """Sum e e' over the differences e of ``others`` from ``values``: (..., k, k)."""
    e = np.stack([other - values for other in others], axis=-1)
    return np.asarray(e @ transpose(e))
