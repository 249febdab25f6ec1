"""The lattice filter, reference of the second look's study, against exact filters."""

import numpy as np
import pytest

import skh
from skh.models import RangeBearing
from skh.reproduction.second_look.lattice import (
    explore,
    grow,
    lattice_filter,
    log_density_of,
    temper,
)


def test_lattices_equal_the_kalman_filter():
    model = skh.models.lgss3()
    _, ys = model.simulate(6, rng=0)
    means, log_evidence = lattice_filter(model, ys, 1)
    exact = skh.kalman_filter(model, ys)
    np.testing.assert_allclose(means, exact.means, atol=1e-6)
    assert log_evidence == pytest.approx(exact.log_evidence, abs=1e-5)


@pytest.mark.parametrize("outliers", [0.0, 0.05])
def test_two_lattices_agree_on_a_sharp_likelihood(outliers):
    model = RangeBearing(outliers=outliers)
    _, ys = model.simulate(5, rng=1)
    (a, of_a), (b, of_b) = (lattice_filter(model, ys, seed, fineness=0.7) for seed in (1, 2))
    np.testing.assert_allclose(a, b, atol=1e-7)
    assert of_a == pytest.approx(of_b, abs=1e-6)
    many = skh.particle_filter(model, ys, skh.Stratified(), 200_000, rng=0)
    np.testing.assert_allclose(a, many.means, atol=4e-3)


def test_two_modes_are_found():
    model = skh.models.localisation()
    _, ys = model.simulate(4, rng=0)
    means, log_evidence = lattice_filter(model, ys, 1, spacing=np.array([0.08, 0.08]))
    many = skh.particle_filter(model, ys, skh.Stratified(), 200_000, rng=0)
    np.testing.assert_allclose(means, many.means, atol=0.1)  # balance of the modes
    assert log_evidence == pytest.approx(many.log_evidence, abs=0.05)


def test_densities_of_mixtures():
    rng = np.random.default_rng(0)
    p = skh.GaussianMixture(rng.random(7), rng.normal(size=(7, 2)), np.array([[2.0, 1], [1, 1.0]]))
    x = rng.normal(size=(30, 2))
    direct = np.logaddexp.reduce(p.log_densities(x), axis=1)
    np.testing.assert_allclose(log_density_of(p)(x), direct, rtol=1e-8)


def test_a_grown_lattice_has_the_volume_of_its_density():
    basis = np.array([[0.5, 0.0], [0.2, 0.3]])
    seeds, rng = np.array([[0.0, 0.0]]), np.random.default_rng(0)
    x, log_f = grow(lambda x: -0.5 * (x**2).sum(axis=1), seeds, basis, rng)
    assert np.exp(log_f).sum() * 0.15 == pytest.approx(2 * np.pi, rel=1e-6)
    assert len(np.unique(x.round(9), axis=0)) == len(x)


def test_tempering_keeps_a_tenth_of_the_points():
    log_l = -0.5 * np.linspace(-50, 50, 1_001) ** 2
    power, w = temper(np.zeros(1_001), log_l)
    assert 0 < power < 1
    assert 1 / (w**2).sum() == pytest.approx(100.1, rel=1e-3)
    assert temper(np.zeros(1_001), 0 * log_l)[0] == 1.0


def test_a_likelihood_too_rough_to_sample_still_has_a_lattice():
    """The exploration gives up tempering a likelihood with two far peaks, and scales by hand."""
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)

    def likelihood(x):
        return np.logaddexp(-0.5 * ((x[:, 0] - 2) / 1e-5) ** 2, -0.5 * ((x[:, 0] + 2) / 1e-5) ** 2)

    seeds, covariance = explore(p, log_density_of(p), likelihood, np.random.default_rng(0))
    assert len(seeds)
    assert np.isfinite(covariance).all()
    assert covariance[0, 0] > 0
