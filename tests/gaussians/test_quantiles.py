"""Quantiles of mixtures against SciPy, brute force, and their own definition."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import skh

LEVELS = np.array([1e-300, 1e-9, 0.05, 0.5, 0.75, 1 - 1e-9, 1 - 2.0**-53])


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_one_gaussian_has_the_quantiles_of_scipy_also_far_in_the_tails(unit):
    p = skh.GaussianMixture([1.0], [[2.0 * unit]], 9.0 * unit**2)
    exact = scipy.stats.norm.ppf(LEVELS, 2.0 * unit, 3.0 * unit)
    np.testing.assert_allclose(p.quantile(LEVELS)[:, 0], exact, rtol=1e-13)


def test_coordinates_of_a_mixture_have_the_roots_of_their_distribution_functions():
    rng = np.random.default_rng(0)
    roots = rng.standard_normal((5, 2, 2))
    p = skh.GaussianMixture(rng.random(5), rng.normal(0, 3, (5, 2)), roots @ roots.swapaxes(1, 2))
    found = p.quantile([[0.1, 0.5], [0.9, 0.999]])
    assert found.shape == (2, 2, 2)
    for k in range(2):
        sd = np.sqrt(p.covariance_matrices[:, k, k])
        for q, x in zip([0.1, 0.5, 0.9, 0.999], found[..., k].ravel(), strict=True):
            exact = scipy.optimize.brentq(
                lambda x, q=q, k=k, sd=sd: (
                    p.weights @ scipy.stats.norm.cdf(x, p.means[:, k], sd) - q
                ),
                *(-50.0, 50.0),
                xtol=1e-14,
            )
            assert x == pytest.approx(exact, abs=1e-12)


@given(
    st.lists(st.sampled_from([-1e12, -3.0, -1e-12, 0.0, 1e-12, 2.5, 1e12]), min_size=1), st.data()
)
def test_point_masses_have_the_quantiles_of_their_steps(places, data):
    """Weights are multiples of 1/64, so that sums are exact and levels hit the steps."""
    q = data.draw(st.integers(0, 64)) / 64
    w = np.bincount(np.arange(64) % len(places), minlength=len(places)) / 64
    p = skh.GaussianMixture(w, np.array(places)[:, None], 0.0)
    exact = np.quantile(places, q, weights=w, method="inverted_cdf")
    assert p.quantile(q).tolist() == [exact]


def test_a_point_mass_among_gaussians_is_found_exactly():
    p = skh.GaussianMixture([0.4, 0.2, 0.4], [[-5.0], [0.1], [5.0]], [1.0, 0.0, 1.0])
    assert p.quantile([0.41, 0.5, 0.59]).ravel().tolist() == [0.1] * 3
    assert p.quantile([0.0, 1.0]).ravel().tolist() == [-np.inf, np.inf]
    below, above = p.quantile([0.39, 0.61]).ravel()
    assert below < 0.1 < above


def test_a_singular_direction_has_its_constant():
    p = skh.GaussianMixture([0.5, 0.5], [[0.0, 7.0], [1.0, 7.0]], np.diag([1.0, 0.0]))
    assert p.quantile([0.0, 0.3, 1.0])[:, 1].tolist() == [7.0] * 3


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5),
    st.just(0.0) | st.floats(1e-3, 10.0),
    st.floats(0.001, 0.999),
    st.integers(-40, 40),
)
def test_quantiles_are_least_numbers_that_reach_their_level_in_any_units(means, sd, q, power):
    unit = 2.0**power
    p = skh.GaussianMixture(np.ones(len(means)), np.array(means)[:, None] * unit, (sd * unit) ** 2)
    x = p.quantile(q)[0]
    one = skh.GaussianMixture(p.weights, np.array(means)[:, None], sd**2).quantile(q)[0]
    assert x == pytest.approx(one * unit, rel=1e-12, abs=1e-12 * unit * sd + 1e-290)
    close = 1e-9 * (abs(x) + (sd + 1e-6) * unit)
    low, high = (mass_below(p, at, sd * unit) for at in (x - close, x + close))
    assert low <= q + 1e-12
    assert high >= q - 1e-12


def mass_below(p, x, sd):
    """The distribution function by SciPy's normal one, a step without deviation."""
    below = scipy.stats.norm.cdf(x, p.means[:, 0], sd) if sd > 0 else x >= p.means[:, 0]
    return p.weights @ below


@pytest.mark.parametrize("q", [-0.1, 1.1, [0.5, 2.0], np.nan, "half", None])
def test_levels_outside_zero_to_one_are_refused(q):
    with pytest.raises((TypeError, ValueError), match=r"^q must be"):
        skh.GaussianMixture([1.0], [[0.0]], 1.0).quantile(q)
