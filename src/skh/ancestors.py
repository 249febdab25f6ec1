r"""The particles that points come from, moved to where they would have led there.

A rule may take a point not from a component of the mixture but from one that it has moved: `shift`
tells how far (see `smoothed`).  A particle whose component is somewhere else is itself somewhere
else, and knows other things: who is ahead has been faster, and has his map ahead of him.  How all
that hangs together is seen in the particles there are.  With weights w, means m_i of their
components and any number v_i of theirs (a coordinate, the mean of a Kalman filter), the shift
:math:`\Delta` of a mean goes with

.. math::

    v_i \leftarrow v_i + \beta \Delta, \qquad
    \beta = \mathrm{Cov}_w(v, m)\, \mathrm{Cov}_w(m)^{-1},

the regression of v on the means.  For v = m it is :math:`\Delta` itself: where a transition is
linear, a moved particle leads to the moved component exactly.  What is left of v_i when its
regression is taken away stays with the particle.  Where particles have several components each
(modes, say), those of each kind have a regression of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from skh._checks import Array, Indices
from skh.belief import Belief, Predicted
from skh.gaussian import deviations
from skh.mixture import GaussianMixture
from skh.model import Carry, CarryingModel, gather
from skh.rule import WeightedPoints

C = TypeVar("C")
NO_SPREAD = 1e-10  # of a coordinate's variance: a direction with no more of it has none


@runtime_checkable
class Displaceable(Protocol):
    """A `CarryingModel` whose records can be those of moved particles."""

    def displaced(self, carry: Carry, ancestors: Ancestors) -> Carry:
        """A record with ``ancestors.moved`` for its means and ``ancestors.rows`` for the rest."""
        ...


@dataclass(frozen=True, eq=False)
class Ancestors:
    """The particles that ``points`` come from, of which the mixture has ``each`` components."""

    mixture: GaussianMixture
    points: WeightedPoints
    each: int = 1

    @cached_property
    def index(self) -> Indices:
        """Which particle is the ancestor of each point, (n,)."""
        return self.points.component if self.each == 1 else self.points.component // self.each

    def rows(self, carry: C) -> C:
        """What the ancestors carry, as it is."""
        return gather(carry, self.index)  # type: ignore[no-any-return]

    def moved(self, values: Array) -> Array:
        """Numbers of all particles, (n, ...), as those of the moved ancestors."""
        v, shift = values.reshape(len(values), -1), self.points.shift
        moved, kind = v[self.index], self.points.component % self.each
        if shift is not None:
            for k, regression in enumerate(self._regressions):
                moved[kind == k] += shift[kind == k] @ (regression @ (v - v[:1]))  # less rounding
        return moved.reshape(-1, *values.shape[1:])

    @cached_property
    def _regressions(self) -> list[Array]:
        """For each kind of components (d, n): times any numbers of the particles, their slope."""
        p, kinds = self.mixture, range(self.each)
        return [_regression(p.weights[k :: self.each], p.means[k :: self.each]) for k in kinds]

    def of(self, model: CarryingModel, old: Belief | Predicted) -> tuple[Array, Carry]:
        """The ancestors among the ``old`` particles and their records, moved if they are to be."""
        if self.points.shift is None:
            return old.x[self.index], self.rows(old.carry)
        return self.moved(old.x), displaced(model, old.carry, self)


def _regression(w: Array, m: Array) -> Array:
    """Cov(m)^-1 times what gives the covariance of m with any other numbers, (d, n)."""
    w = w / max(w.sum(), np.finfo(float).tiny)
    centred = m - w @ m
    covariance = (w * centred.T) @ centred
    sd = deviations(covariance.diagonal(), m)  # correlations: which directions count has no unit
    variances, axes = np.linalg.eigh(covariance / np.outer(sd, sd))
    there = variances > NO_SPREAD
    back = axes[:, there] / sd[:, None]
    return np.asarray((back / variances[there]) @ back.T @ (w * centred.T))


def displaced(model: object, carry: Carry, ancestors: Ancestors) -> Carry:
    """The records of moved ancestors; a TypeError if the model does not know how."""
    if carry is None:
        return None
    if not isinstance(model, Displaceable):
        raise TypeError(
            "a rule that smooths moves what particles carry: it needs a model with "
            f"displaced(carry, ancestors), got {model!r}"
        )
    return model.displaced(carry, ancestors)
