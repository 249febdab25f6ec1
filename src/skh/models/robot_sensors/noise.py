"""Densities of independent measurement errors: Gaussian, or Gaussian with a floor."""

from __future__ import annotations

from math import log, pi

import numpy as np

from skh._typing import Array


def log_normal_density(residual: Array, noise: float) -> Array:
    """``log N(residual | 0, noise^2)``, elementwise; zero density where the square overflows."""
    with np.errstate(over="ignore"):
        square: Array = (residual / noise) ** 2
    return -0.5 * square - log(noise) - 0.5 * log(2 * pi)


def log_floored_density(residual: Array, noise: float, outliers: float, width: float) -> Array:
    """``log((1 - outliers) N(residual | 0, noise^2) + outliers / width)``, elementwise.

    An outlier is uniform on an interval of the given width; without outliers there is no floor.
    """
    inlier = log_normal_density(residual, noise)
    if outliers == 0.0:
        return inlier
    with np.errstate(divide="ignore"):  # all measurements may be outliers
        return np.asarray(np.logaddexp(np.log1p(-outliers) + inlier, log(outliers / width)))
