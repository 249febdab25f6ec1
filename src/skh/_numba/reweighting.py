"""Step 4 of Algorithm 2: weights times likelihoods, normalised without overflow."""

from __future__ import annotations

from math import log

import numpy as np

from skh._numba.compiling import compiled, full_vectors, inlined
from skh._numba.exponential import exp
from skh._numba.extrema import highest
from skh._numba.vectors import dot, total

LOWEST = -600.0  # log-weights this far below the largest become zero


@inlined
def set_log_weights(out, w):
    """``out = log(w)``, -inf for zeros; weights equal to the first share its logarithm."""
    first = log(w[0]) if w[0] > 0.0 else -np.inf
    for i in range(w.size):
        out[i] = first
        if w[i] != w[0]:
            out[i] = log(w[i]) if w[i] > 0.0 else -np.inf


@compiled
def set_exp_below(out, top):  # pragma: no cover - intrinsic
    """``out = exp(out - top)``, zero where ``out - top <= LOWEST``."""
    full_vectors()  # type: ignore[call-arg] # an intrinsic
    for i in range(out.size):
        x = out[i] - top
        e = exp(x)
        out[i] = e if x > LOWEST else 0.0


@compiled
def set_reweighted(out, w, log_likelihood):
    """Set the normalised ``w exp(log_likelihood)``; return the logarithm of the sum, or -inf."""
    set_log_weights(out, w)
    for i in range(out.size):
        out[i] += log_likelihood[i]
    top = highest(out)
    if top == -np.inf:
        return top
    set_exp_below(out, top)
    sum_of_all = total(out)
    for i in range(out.size):
        out[i] /= sum_of_all
    return top + log(sum_of_all)


@compiled
def weighted_ess(w, logs):
    """Effective sample size of ``w exp(logs)``; 0 if all are zero."""
    out = np.empty(w.size)
    log_sum = set_reweighted(out, w, logs)
    return 1.0 / dot(out, out) if log_sum > -np.inf else 0.0
