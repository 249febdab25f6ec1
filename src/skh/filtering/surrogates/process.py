r"""Gaussian processes fitted to log-likelihoods that no parabola explains.

Over a floor the pilot sees ridges of single measurements, several bumps, or nothing; a process is
smooth but has no other shape, so each value says something about its surroundings:

.. math:: \operatorname{cov}(f(z), f(z')) = \tau \bigl(1 + \exp(-|A (z - z')|^2 / 2\ell^2)\bigr).

A log-likelihood by D below the best has the value :math:`c - \sqrt{c^2 + 2 c D}`, c being `DEPTH`:
far from the peak that is about a distance, and shows the way from afar.  The noise of a value f is
:math:`a (1 + |f|)`, as for parabolas.  The metric A is the unit matrix, or follows the information
learned so far; it, the length, the amplitude :math:`\tau` and a are those of most evidence
(`_numba.process_evidence`).

p times the exponential of a process is no mixture.  But its values are cheap: many points of p,
weighted by it, are a mixture of point masses for which any rule places the points of a look.
Where they are few, they are drawn again from p times a Gaussian about them (`weighted_draws`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import inf

import numpy as np

from skh._numba.process_evidence import conditioned, given_values, process_evidence
from skh._typing import Array, Indices
from skh.filtering.surrogates.parabola import Parabola, Whitening
from skh.filtering.surrogates.target import Target
from skh.gaussians.linear_algebra import symmetric
from skh.gaussians.mixture import GaussianMixture
from skh.rules.sampling import QuasiMonteCarlo

DEPTH = 100.0  # below the best, from which the roots of log-likelihoods count
LENGTHS = (0.2, 0.6, 1.8)  # in units of the predictive's standard deviation
PROCESS_NOISES = np.array([1e-3, 0.03, 0.3])  # a
PROCESS_AMPLITUDES = 4.0 ** np.arange(-1, 9)  # tau
MIN_ANISOTROPY = 2.0  # ratio of lengths above which the metric of the information is tried
MAX_ANISOTROPY = 30.0
OPTIMISM = 1.0  # standard deviations added in a trial, to look where nothing is known
MAX_PROMISE = 5.0  # log-likelihood above the best that a trial may hope for
MAX_EXPECTED = 3.0  # the same of a look that is no trial
DRAWS = 512  # of p, for a look
DRAWS_PER_POINT = 4  # effective draws for each point of a look, below which it zooms in
ZOOMS = 3  # at most
ZOOM_VARIANCE = 4.0  # of the Gaussian to zoom in with, over that of the weighted draws
LEAST_ZOOM_VARIANCE = 4e-3  # whitened, divided by 4 each time
MASSES_PER_POINT = 8  # point masses for each point of a look


@dataclass(frozen=True, eq=False)
class Process:
    """A Gaussian process given log-likelihoods at points, relative to the best."""

    u: Array  # (n, d): the points in units of the length
    units: Array  # (d, d): whitened coordinates times this are in those units
    values: Array  # (n,)
    size: Array  # of the noise
    amplitude: float
    coefficients: Array  # (n,), for the mean
    root: Array  # (n, n): triangle W with W'W the inverse covariance of the values over ``size``
    left_out: Array  # mean at each point without its value
    floor: bool = True

    def __call__(self, z: Array) -> Array:
        """Mean at the rows of z."""
        return self.amplitude * self._given(z, self.root[:0])[0]

    def optimistic(self, z: Array) -> Array:
        """Mean and `OPTIMISM` standard deviations at the rows of z."""
        mean, explained = self._given(z, self.root)
        variance = self.amplitude * (2.0 - self.amplitude * explained)
        spread = np.sqrt(np.maximum(variance, 0.0))
        return np.asarray(self.amplitude * mean + OPTIMISM * spread)

    def _given(self, z: Array, root: Array) -> tuple[Array, Array]:
        return given_values(z @ self.units, self.u, self.size, self.coefficients, root)  # type: ignore[no-any-return]

    def target(
        self, p: GaussianMixture, frame: Whitening, m: int, sure: bool, rng: np.random.Generator
    ) -> Target:
        """Weighted draws of p as point masses, for a look of ``m`` points."""

        def log_surrogate(x: Array) -> Array:
            if sure:
                return np.minimum(self(frame(x)), MAX_EXPECTED)
            return np.minimum(self.optimistic(frame(x)), MAX_PROMISE)

        x, w, log_norm = weighted_draws(p, frame, log_surrogate, m, rng)
        kept = thinned(w, MASSES_PER_POINT * m)
        masses = GaussianMixture(np.full(len(kept), 1.0 / len(kept)), x[kept], np.zeros((p.d, p.d)))
        return Target(masses, log_surrogate, log_norm, p)


def fit_process(z: Array, level: Array, information: Array | None) -> Process:
    """Fit to values ``level`` <= 0 at points z, by the metric and length of most evidence."""
    values = DEPTH - np.sqrt(DEPTH * (DEPTH - 2.0 * level))
    size = 1.0 - values
    y = values / size
    fits = []
    for metric, length in product(metrics(information, z.shape[1]), LENGTHS):
        units = metric / length
        u = z @ units
        found = process_evidence(u, y, size, PROCESS_AMPLITUDES, PROCESS_NOISES)
        fits.append((*found, u, units))
    _, tau, noise, u, units = max(fits, key=lambda fit: fit[0])
    coefficients, error, root = conditioned(u, y, size, tau, noise)
    return Process(u, units, values, size, tau, coefficients, root, values - size * error)


def metrics(information: Array | None, d: int) -> Iterator[Array]:
    """Metrics of unit determinant: isotropic, and that of the information if it differs."""
    yield np.eye(d)
    if information is None:
        return
    seen, axes = np.linalg.eigh(symmetric(information))
    if seen[-1] <= 0.0:
        return
    scale = np.sqrt(np.maximum(seen, seen[-1] / MAX_ANISOTROPY**2))
    if scale[-1] > MIN_ANISOTROPY * scale[0]:
        yield (axes * (scale / np.exp(np.log(scale).mean()))) @ axes.T


def weighted_draws(
    p: GaussianMixture,
    frame: Whitening,
    log_surrogate: Callable[[Array], Array],
    m: int,
    rng: np.random.Generator,
) -> tuple[Array, Array, float]:
    """Draws of p weighted by a surrogate, and log Z; near the heavy ones if they are few."""
    draws = QuasiMonteCarlo()(p, DRAWS, rng=rng)
    x, log_w = draws.x, np.log(draws.w)
    for zoom in range(ZOOMS + 1):
        logs = log_w + log_surrogate(x)
        top = float(logs.max())
        w = np.exp(logs - top)
        total = float(w.sum())
        if zoom == ZOOMS or total**2 > DRAWS_PER_POINT * m * float(w @ w):
            break
        bump = frame.bump(gaussian_about(frame(x), w / total, LEAST_ZOOM_VARIANCE / 4**zoom))
        q, log_norm = p.times(bump)
        draws = QuasiMonteCarlo()(q, DRAWS, rng=rng)
        x, log_w = draws.x, np.log(draws.w) + log_norm - bump.log(draws.x)
    return x, w / total, top + float(np.log(total))


def thinned(w: Array, n: int) -> Indices:
    """Return n rows in proportion to their weights: a systematic sample."""
    rows = np.searchsorted(np.cumsum(w), (np.arange(n) + 0.5) / n * w.sum())
    return np.asarray(rows.clip(max=len(w) - 1))


def gaussian_about(z: Array, w: Array, least: float) -> Parabola:
    """A Gaussian wider than weighted points."""
    mean = w @ z
    centred = z - mean
    C = ZOOM_VARIANCE * (w[:, None] * centred).T @ centred + least * np.eye(z.shape[1])
    H = symmetric(np.asarray(np.linalg.inv(C)))
    return Parabola(float(-0.5 * mean @ H @ mean), H @ mean, H, None, inf)
