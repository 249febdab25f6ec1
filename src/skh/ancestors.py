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
regression is taken away stays with the particle.
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
FLAT = 1e-10  # of the largest: a direction in which the means have no more variance has none


@runtime_checkable
class Displaceable(Protocol):
    """A `CarryingModel` whose records can be those of moved particles."""

    def displaced(self, carry: Carry, ancestors: Ancestors) -> Carry:
        """A record with ``ancestors.moved`` for its means and ``ancestors.rows`` for the rest."""
        ...


@dataclass(frozen=True, eq=False)
class Ancestors:
    """The ancestor of each of n points, and how far its component was moved."""

    mixture: GaussianMixture
    component: Indices  # (n,)
    each: int  # components per particle
    shift: Array  # (n, d)

    @property
    def index(self) -> Indices:
        """The ancestors."""
        return self.component // self.each

    def rows(self, carry: C) -> C:
        """What the ancestors carry, as it is."""
        return gather(carry, self.index)  # type: ignore[no-any-return]

    def moved(self, values: Array) -> Array:
        """Numbers of all particles, (n, ...), as those of the moved ancestors."""
        v = values.reshape(len(values), -1)
        slope = self._regress @ np.repeat(v - v[:1], self.each, axis=0)  # - v[:1]: less rounding
        return (v[self.index] + self.shift @ slope).reshape(-1, *values.shape[1:])

    @cached_property
    def _regress(self) -> Array:
        """(d, K): Cov(m)^-1 times what gives the covariance of m with any other numbers."""
        p, B = self.mixture, self.mixture.covariance_of_means
        sd = deviations(B.diagonal(), p.means)  # correlations: which directions count has no unit
        inverse = np.linalg.pinv(B / np.outer(sd, sd), rcond=FLAT, hermitian=True)
        return np.asarray((inverse / np.outer(sd, sd)) @ (p.weights * (p.means - p.mean).T))


def chosen(
    model: CarryingModel,
    old: Belief | Predicted,
    mixture: GaussianMixture,
    points: WeightedPoints,
    each: int,
) -> tuple[Array, Carry]:
    """The ancestors of ``points`` among the ``old`` particles, and their records."""
    if points.shift is None:
        index = points.component // each
        return old.x[index], gather(old.carry, index)
    ancestors = Ancestors(mixture, points.component, each, points.shift)
    return ancestors.moved(old.x), displaced(model, old.carry, ancestors)


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
