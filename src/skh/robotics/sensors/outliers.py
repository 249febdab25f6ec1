r"""Gaussian errors with a floor: a share of observations says nothing about the state.

A whitened error e of k coordinates has the density
:math:`(1 - o)\, (2\pi)^{-k/2} e^{-|e|^2 / 2} + o\, u`, with the density u of an outlier.  Its
Fisher information about a shift is that of the Gaussian times

.. math:: c = \frac{1 - o}{k}\, E\bigl[\rho(|e|)\, |e|^2\bigr], \qquad
          \rho(r) = \Bigl(1 + \tfrac{o\, u\, (2\pi)^{k/2}}{1 - o}\, e^{r^2 / 2}\Bigr)^{-1},

the expectation over standard normal e, since :math:`\rho` is the probability that e is no outlier.
"""

from __future__ import annotations

from functools import lru_cache
from math import gamma, log, pi

import numpy as np

from skh._typing import Array

FARTHEST_ERROR = 14.0  # standard deviations; the integral beyond is below rounding
ERROR_NODES = 1_401


def floored(log_gaussian: Array, outliers: float, log_uniform: float) -> Array:
    """``log((1 - outliers) exp(log_gaussian) + outliers exp(log_uniform))``."""
    if outliers == 0.0:
        return log_gaussian
    with np.errstate(divide="ignore"):  # all may be outliers
        return np.asarray(
            np.logaddexp(np.log1p(-outliers) + log_gaussian, log(outliers) + log_uniform)
        )


@lru_cache(maxsize=256)
def information_factor(k: int, outliers: float, log_uniform: float) -> float:
    """The factor c of k whitened coordinates; ``log_uniform`` is the log-density u, whitened."""
    if outliers == 0.0:
        return 1.0
    if outliers == 1.0:
        return 0.0
    r = np.linspace(0.0, FARTHEST_ERROR, ERROR_NODES)
    density = r ** (k - 1) * np.exp(-(r**2) / 2) / (2 ** (k / 2 - 1) * gamma(k / 2))
    log_ratio = log(outliers) - np.log1p(-outliers) + log_uniform + k / 2 * log(2 * pi) + r**2 / 2
    inlier = np.exp(-np.logaddexp(0.0, log_ratio))
    return float((1.0 - outliers) / k * np.trapezoid(density * inlier * r**2, r))
