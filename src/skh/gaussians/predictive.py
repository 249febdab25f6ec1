"""The predictive mixture of a filter: a Gaussian mixture with metadata for the rule."""

from __future__ import annotations

from skh._typing import Array, Indices
from skh.gaussians.linear_algebra import symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.units import invert, invertible


class Predictive(GaussianMixture):
    """A `GaussianMixture` with the metadata that a filter passes to its rule.

    Each particle has ``components_per_particle`` consecutive components.  ``information`` (d, d) is
    the expected Fisher information of the next observation about the state (see
    `filtering.likelihood_information`), or None; it is ``told`` if it is the model's own, not
    learned while filtering.  A mixture that is not ``smoothable`` (a prior, or of particles that
    cannot be displaced) is left as it is by `Regularized`.  Derived mixtures keep all of these.

    >>> import numpy as np
    >>> p = Predictive.of(GaussianMixture([1.0], [[0.0, 0.0]], 1.0), information=np.eye(2))
    >>> p.linear_map(2 * np.eye(2)).information
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """

    components_per_particle: int = 1
    information: Array | None = None
    smoothable: bool = True
    told: bool = False

    @classmethod
    def of(
        cls,
        p: GaussianMixture,
        components_per_particle: int = 1,
        information: Array | None = None,
        smoothable: bool = True,
        told: bool = False,
    ) -> Predictive:
        """Attach metadata to the mixture ``p``."""
        predictive = object.__new__(cls)
        predictive.__dict__.update(
            p.__dict__,
            components_per_particle=components_per_particle,
            information=information,
            smoothable=smoothable,
            told=told,
        )
        return predictive

    def with_information(self, information: Array | None, told: bool = False) -> Predictive:
        """Return the same mixture with other ``information``."""
        return self.of(self, self.components_per_particle, information, self.smoothable, told)

    def selected(self, index: Indices, weights: Array | None = None) -> GaussianMixture:
        """Return the mixture of the components ``index``; they need not belong to one particle."""
        q = super().selected(index, weights)
        return self.of(q, 1, self.information, self.smoothable, self.told)

    def _derived(self, p: GaussianMixture, A: Array | None = None) -> GaussianMixture:
        """Keep them; the information only if ``A`` is invertible.

        The likelihood is a function of x, and of A x only where x follows from A x.
        """
        F = self.information
        if F is not None and A is not None:
            inverse = invert(A) if invertible(A) else None
            F = None if inverse is None else symmetric(inverse.T @ F @ inverse)
        return self.of(p, self.components_per_particle, F, self.smoothable, self.told)
