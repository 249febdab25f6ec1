"""R-hat and effective sample sizes of Markov chains (Vehtari, Gelman, Simpson, Carpenter, Bürkner).

Chains are split in halves and their draws replaced by normal scores of their ranks, so that both
also hold for distributions without moments.
"""

from __future__ import annotations

import numpy as np
import scipy  # loads scipy.special on first use
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array


def r_hat(chains: ArrayLike) -> float:
    """Return the rank-normalised split R-hat of ``chains`` (chains, draws); 1 if they agree.

    >>> rng = np.random.default_rng(0)
    >>> bool(r_hat(rng.normal(size=(4, 500))) < 1.01)
    True
    """
    x = split(checked_chains(chains))
    folded = np.abs(x - np.median(x))
    return max(_r_hat(normal_scores(x)), _r_hat(normal_scores(folded)))


def effective_sample_size(chains: ArrayLike, *, ranks: bool = True) -> float:
    """Return the number of independent draws that give a mean as exact as those of ``chains``.

    By default that of the normal scores of ranks (the bulk of the distribution), else of the draws.
    """
    x = split(checked_chains(chains))
    return _effective_size(normal_scores(x) if ranks else x)


def checked_chains(chains: ArrayLike) -> Array:
    """Validate an array (chains, draws) with at least four draws."""
    x = _checks.shaped("chains", chains, "chains", "draws")
    if x.shape[0] < 1 or x.shape[1] < 4:
        raise ValueError(f"chains must have shape (chains, draws), 4 or more, got {x.shape}")
    return x


def split(x: Array) -> Array:
    """Return the halves of all chains as chains."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def normal_scores(x: Array) -> Array:
    """Return the normal quantiles of the ranks of all draws."""
    ranks = scipy.stats.rankdata(x).reshape(x.shape)
    return np.asarray(scipy.special.ndtri((ranks - 0.375) / (x.size + 0.25)))


def variances(x: Array) -> tuple[float, float]:
    """Return the variance within chains and the pooled estimate of that of their distribution."""
    n = x.shape[1]
    within = float(x.var(axis=1, ddof=1).mean())
    between = float(x.mean(axis=1).var(ddof=1)) if len(x) > 1 else 0.0
    return within, (n - 1) / n * within + between


def _r_hat(x: Array) -> float:
    within, pooled = variances(x)
    return float(np.sqrt(pooled / within)) if within > 0 else (1.0 if pooled == 0 else np.inf)


def _effective_size(x: Array) -> float:
    """Geyer's initial monotone sequence on autocorrelations combined over chains."""
    (m, n), (within, pooled) = x.shape, variances(x)
    if pooled <= 0:
        return float(m * n)  # constant
    rho = 1.0 - (within - autocovariances(x).mean(axis=0) * n / (n - 1)) / pooled
    rho[0] = 1.0
    pairs = rho[: 2 * (n // 2)].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: negative[0] if len(negative) else None])
    time = max(2.0 * float(pairs.sum()) - 1.0, 1.0 / np.log10(m * n))
    return float(m * n / time)


def autocovariances(x: Array) -> Array:
    """Return the autocovariances of each row at lags 0 to n - 1, divided by n."""
    n = x.shape[1]
    z = np.fft.rfft(x - x.mean(axis=1, keepdims=True), 2 * n, axis=1)
    return np.asarray(np.fft.irfft(np.abs(z) ** 2, axis=1)[:, :n] / n)
