r"""The ancestors of points that have moved: drawn anew, by Bayes' rule.

A point that has moved was no longer drawn from the component that it came with.  Its ancestor is
drawn anew from :math:`P(i | x) \propto \pi_i \mathcal N(x | \mu_i, \Sigma_i)`, the probability
that a draw of the mixture that lies at x came from component i.  Then (x, i) is distributed as the
filter assumes given x, which is what Rao-Blackwellization needs: the law of the hidden part given
the point is the mixture over its possible ancestors, not that of one of them.
"""

from __future__ import annotations

import numpy as np

from skh._numba.resampling import choose_in_rows
from skh._typing import Array, Indices
from skh.gaussians.hilbert_curve import hilbert_order
from skh.gaussians.mixture import GaussianMixture

GOLDEN_RATIO = 0.6180339887498949  # the fractional part of the golden ratio


def sample_ancestors(p: GaussianMixture, x: Array, rng: np.random.Generator) -> Indices:
    """For each row of ``x`` a component drawn from its probabilities given x.

    Each draw alone is random as it should be; together they are not independent.  Points and
    components are put in order along a Hilbert curve, and points that are neighbours there take
    numbers that are far apart (a golden-ratio sequence with a random start).  So what hangs on the
    ancestors averages out among neighbours.
    """
    u = np.empty(len(x))
    u[hilbert_order(x)] = (rng.random() + GOLDEN_RATIO * np.arange(len(x))) % 1.0
    chosen: Indices = choose_in_rows(p.log_densities(x), p.curve, u)
    return chosen
