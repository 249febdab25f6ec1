"""Gaussian processes of log-likelihoods: right where parabolas are not, and targets of looks."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skh
from skh import models
from skh.filtering.surrogates.parabola import Whitening
from skh.filtering.surrogates.process import (
    LENGTHS,
    PROCESS_AMPLITUDES,
    PROCESS_NOISES,
    fit_process,
    metrics,
    thinned,
    weighted_draws,
)
from skh.gaussians.mixture import GaussianMixture

STANDARD = GaussianMixture([1.0], [[0.0, 0.0]], 1.0)


def ring(z):
    """Log-likelihood of a distance of 1 to the origin: no parabola."""
    return -0.5 * ((np.hypot(*z.T) - 1.0) / 0.2) ** 2


def covariances(fit, z, other):
    """Those of the process, by NumPy."""
    square = (((z[:, None] - other) @ fit.units) ** 2).sum(axis=-1)
    return fit.amplitude * (1.0 + np.exp(-0.5 * square))


def test_rings_are_explained_by_processes():
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        z, new = rng.normal(size=(50, 2)), rng.normal(size=(200, 2))
        fit = fit_process(z, ring(z) - ring(z).max(), None)
        near = ring(new) > -3.0
        error = fit(new[near]) - (ring(new[near]) - ring(z).max())
        found.append(np.sqrt(np.mean(error**2)) / np.std(ring(new[near])))
    assert np.median(found) < 0.6


def test_errors_left_out_are_those_of_fits_without_a_point():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(12, 2))
    fit = fit_process(z, ring(z) - ring(z).max(), None)
    K = covariances(fit, z, z)
    found = []
    for noise in PROCESS_NOISES:  # one of them was chosen
        A = K + np.diag((noise * fit.size) ** 2)
        without = np.empty(12)
        for i in range(12):
            o = np.arange(12) != i
            without[i] = K[i, o] @ np.linalg.solve(A[np.ix_(o, o)], fit.values[o])
        found.append(np.abs(without - fit.left_out).max())
    assert min(found) < 1e-6 * np.abs(fit.values).max()


def test_optimism_is_the_standard_deviation_given_the_values():
    rng = np.random.default_rng(2)
    z, new = rng.normal(size=(20, 2)), rng.normal(size=(5, 2))
    fit = fit_process(z, ring(z) - ring(z).max(), None)
    K, k = (covariances(fit, z, b) for b in (z, new))
    found = []
    for noise in PROCESS_NOISES:  # one of them was chosen
        explained = (k * np.linalg.solve(K + np.diag((noise * fit.size) ** 2), k)).sum(axis=0)
        spread = np.sqrt(2.0 * fit.amplitude - explained)
        found.append(np.abs(fit.optimistic(new) - fit(new) - spread).max())
    assert min(found) < 1e-6 * np.sqrt(fit.amplitude)


@pytest.mark.parametrize("n", [1, 2, 12, 40])
def test_length_amplitude_and_noise_are_those_of_most_evidence(n):
    """Against determinants and solutions by NumPy, for each combination."""
    rng = np.random.default_rng(n)
    z = rng.normal(size=(n, 2))
    fit = fit_process(z, ring(z) - ring(z).max(), None)
    square, y = ((z[:, None] - z) ** 2).sum(axis=-1), fit.values / fit.size

    def evidence(length, amplitude, noise):
        K = amplitude * (1.0 + np.exp(-0.5 * square / length**2)) / np.outer(fit.size, fit.size)
        S = K + noise**2 * np.eye(n)
        return -0.5 * (y @ np.linalg.solve(S, y) + np.linalg.slogdet(S)[1])

    of_length = {
        length: max(evidence(length, *pair) for pair in product(PROCESS_AMPLITUDES, PROCESS_NOISES))
        for length in LENGTHS
    }
    best = max(of_length.values())
    assert of_length[1.0 / fit.units[0, 0]] >= best - 1e-6
    own = [evidence(1.0 / fit.units[0, 0], fit.amplitude, noise) for noise in PROCESS_NOISES]
    assert max(own) >= best - 1e-6


@given(st.integers(0, 30), st.floats(1.0, 1e8))
def test_deep_values_are_those_of_distances_and_finite(seed, depth):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(15, 2))
    level = -depth * rng.random(15)
    level -= level.max()
    fit = fit_process(z, level, None)
    assert np.all(fit.values <= 0.0)
    assert np.array_equal(np.argsort(fit.values), np.argsort(level))
    assert np.all(fit.values >= np.maximum(level, -np.sqrt(-200.0 * level)))
    assert np.isfinite(fit(rng.normal(size=(5, 2)))).all()


def test_the_metric_follows_the_information_within_bounds():
    assert len(list(metrics(None, 2))) == 1
    assert len(list(metrics(np.eye(2), 2))) == 1  # the same everywhere
    assert len(list(metrics(np.zeros((2, 2)), 2))) == 1
    _, stretched = metrics(np.diag([1e12, 1.0]), 2)
    np.testing.assert_allclose(stretched, np.diag([30.0**0.5, 30.0**-0.5]), rtol=1e-9)


@pytest.mark.parametrize("width", [0.3, 0.03, 0.003])
def test_draws_have_the_norm_and_moments_of_the_product(width):
    """Against the closed form of a Gaussian times a Gaussian."""
    centre, frame = np.array([0.5, -1.0]), Whitening.of(STANDARD)

    def log_surrogate(x):
        return -0.5 * ((x - centre) ** 2).sum(axis=1) / width**2

    x, w, log_norm = weighted_draws(STANDARD, frame, log_surrogate, 10, np.random.default_rng(0))
    variance = 1.0 + width**2
    exact = np.log(width**2 / variance) - 0.5 * (centre @ centre) / variance
    assert abs(log_norm - exact) < 0.1
    np.testing.assert_allclose(w @ x, centre / variance, atol=0.2 * width)


def test_thinned_rows_follow_the_weights():
    rows = thinned(np.array([0.0, 0.5, 0.25, 0.25]), 8)
    np.testing.assert_array_equal(np.bincount(rows, minlength=4), [0, 4, 2, 2])


class OneStep:
    """A position in the plane, known to 0.2 m, and sensors with outliers: a floor."""

    model = models.RangeBearing(outliers=0.05)

    def __init__(self, scale=1.0):
        self.scale = scale

    def prior(self):
        return GaussianMixture([1.0], [[2.0 * self.scale, 0.0]], (0.2 * self.scale) ** 2)

    def transition(self, t, x):
        return x, (0.2 * self.scale) ** 2

    def log_likelihood(self, t, x, y):
        return self.model.log_likelihood(t, x / self.scale, y)


def exact_mean(y):
    grid = np.linspace(-0.9, 0.9, 601)
    offset = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    x = offset + np.array([2.0, 0.0])
    logs = OneStep.model.log_likelihood(0, x, y) - 0.5 * (offset**2).sum(axis=1) / 0.04
    w = np.exp(logs - logs.max())
    return w @ x / w.sum()


def test_the_peak_over_a_floor_is_found_more_often_than_by_one_look():
    """Against a fine grid; 20 steps."""
    errors = {"one look": [], "second look": []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = OneStep.model.observe(0, np.array([2.0, 0.0]) + 0.2 * rng.standard_normal(2), rng)
        exact = exact_mean(y)
        for name, plan in (("one look", skh.default_rule()), ("second look", skh.SecondLook())):
            belief = skh.ParticleFilter(OneStep(), plan, 50, rng=seed).step(y)
            errors[name].append(np.linalg.norm(belief.mean - exact))
    assert np.median(errors["second look"]) < 0.1 * np.median(errors["one look"])
    assert np.mean(np.array(errors["second look"]) > 0.03) < 0.2


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_units_do_not_matter_over_a_floor(scale):
    rng = np.random.default_rng(3)
    y = OneStep.model.observe(0, np.array([2.1, 0.1]), rng)
    plain, scaled = (
        skh.ParticleFilter(OneStep(unit), skh.SecondLook(), 50, rng=0).step(y)
        for unit in (1.0, scale)
    )
    np.testing.assert_allclose(scaled.mean / scale, plain.mean, rtol=1e-5)
