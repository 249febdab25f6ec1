r"""Sample the ancestors of moved points by Bayes' rule.

A point that a rule has moved is no longer a draw from its original component.  Its ancestor is
sampled from :math:`P(i | x) \propto \pi_i \mathcal N(x | \mu_i, \Sigma_i)`, as Rao-Blackwellization
needs: given x, the law of the hidden part is the mixture over all possible ancestors.
"""

from __future__ import annotations

import numpy as np

from skh._numba.resampling import set_distant_neighbours
from skh._typing import Array, Indices
from skh.gaussians.hilbert_curve import hilbert_order
from skh.gaussians.mixture import GaussianMixture

DENSITIES_AT_ONCE = 1 << 18  # 2 MB of log-densities, which stay in the cache


def sample_ancestors(p: GaussianMixture, x: Array, rng: np.random.Generator) -> Indices:
    """Sample a component for each row of ``x`` from its probabilities given x.

    Each draw has that distribution, but draws are dependent: points and components are sorted along
    a Hilbert curve, and neighbouring points get distant numbers (a golden-ratio sequence with a
    random start), so that effects of the ancestors average out among neighbours.
    """
    u = np.empty(len(x))
    set_distant_neighbours(u, hilbert_order(x), rng.random())
    return p.densities.choose(x, p.curve, u, max(1, DENSITIES_AT_ONCE // len(p)))
