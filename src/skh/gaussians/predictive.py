"""The predictive mixture of a filter: a Gaussian mixture that knows where it comes from."""

from __future__ import annotations

import numpy as np

from skh._typing import Array
from skh.gaussians.linear_algebra import symmetric
from skh.gaussians.mixture import GaussianMixture


class Predictive(GaussianMixture):
    """A `GaussianMixture` with all that a filter tells its rule.

    ``components_per_particle`` components next to each other belong to one particle.
    ``information`` (d, d) is the expected Fisher information of the coming observation in the state
    (see `filtering.likelihood_information`); None where it is not known or nothing is measured.
    Mixtures made of this one keep both.

    >>> p = Predictive.of(GaussianMixture([1.0], [[0.0, 0.0]], 1.0), information=np.eye(2))
    >>> p.linear_map(2 * np.eye(2)).information
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """

    components_per_particle: int
    information: Array | None

    @classmethod
    def of(
        cls,
        p: GaussianMixture,
        components_per_particle: int = 1,
        information: Array | None = None,
    ) -> Predictive:
        """The mixture ``p`` with what is known beside it."""
        predictive = object.__new__(cls)
        predictive.__dict__.update(
            p.__dict__, components_per_particle=components_per_particle, information=information
        )
        return predictive

    def with_information(self, information: Array | None) -> Predictive:
        """The same mixture, with what is known of the coming observation."""
        return self.of(self, self.components_per_particle, information)

    def _derived(self, p: GaussianMixture, A: Array | None = None) -> GaussianMixture:
        """Keep both; a map that cannot be undone leaves a plain mixture, of which nothing is known.

        The likelihood is a function of x, and of A x only where x follows from it.
        """
        F = self.information
        if F is not None and A is not None:
            if A.shape[0] != A.shape[1] or np.linalg.matrix_rank(A) < len(A):
                return p
            inverse = np.linalg.inv(A)
            F = symmetric(inverse.T @ F @ inverse)
        return self.of(p, self.components_per_particle, F)
