"""Backward weights of particle smoothers: rows of log-densities, normalised and pruned."""

from __future__ import annotations

import numpy as np

from skh._numba.compiling import compiled
from skh._numba.extrema import highest
from skh._numba.reweighting import set_exp_below
from skh._numba.vectors import total


@compiled
def backward_weights(logs, each, prune):
    """Normalise the rows of ``logs`` (n, K ``each``), summed over ``each`` neighbours: (n, K).

    Weights below ``prune`` become zero and the others are scaled to sum to one.  Returns also the
    probability that each row has lost, and the number of its weights that were set to zero.
    ``logs`` is overwritten.
    """
    n, K = logs.shape[0], logs.shape[1] // each
    out, lost, dropped = np.empty((n, K)), np.zeros(n), np.zeros(n, np.intp)
    for j in range(n):
        row = logs[j]
        set_exp_below(row, highest(row))
        scale = 1.0 / total(row)
        for i in range(K):
            w = 0.0
            for k in range(each):
                w += row[i * each + k]
            out[j, i] = w * scale
        if prune > 0.0:
            for i in range(K):
                if out[j, i] < prune:
                    lost[j] += out[j, i]
                    dropped[j] += 1
                    out[j, i] = 0.0
            kept = total(out[j])
            for i in range(K):
                out[j, i] /= kept
    return out, lost, dropped
