"""Student-t and Laplace distributions as mixtures: against SciPy's, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import skh
from skh.gaussians.scale_mixtures import gamma_nodes

LEVELS = np.linspace(0.5, 0.9999, 200)


def cdf(p, x):
    """Distribution function of a mixture in one dimension."""
    return stats.norm.cdf(x[:, None], p.means[:, 0], np.sqrt(p.covariances)) @ p.weights


@pytest.mark.parametrize(
    ("df", "components", "tolerance"),
    [(1, 10, 3e-3), (2, 10, 5e-4), (3, 5, 2e-3), (3, 10, 2e-4), (3, 20, 2e-6), (30, 10, 1e-6)],
)
def test_student_t_has_scipys_distribution_function(df, components, tolerance):
    p = skh.student_t([[2.0]], 3.0, df, components=components)
    assert len(p) == components
    x = stats.t.ppf(LEVELS, df, 2.0, 3.0)
    np.testing.assert_allclose(cdf(p, x), LEVELS, atol=tolerance)


@pytest.mark.parametrize(("components", "tolerance"), [(10, 1e-3), (20, 2e-5)])
def test_laplace_has_scipys_distribution_function(components, tolerance):
    p = skh.laplace([[2.0]], 3.0, components=components)
    x = stats.laplace.ppf(LEVELS, 2.0, 3.0)
    np.testing.assert_allclose(cdf(p, x), LEVELS, atol=tolerance)
    assert p.covariance[0, 0] == pytest.approx(2 * 3.0**2, rel=0.01)


def test_several_dimensions_have_the_multivariate_density():
    L = np.array([[1.0, 0.0], [0.7, 0.4]])
    x = np.random.default_rng(0).standard_normal((50, 2)) * 2
    expected = stats.multivariate_t.pdf(x, [0.5, -1.0], L @ L.T, df=4)
    p = skh.student_t([[0.5, -1.0]], L, 4, components=20)
    np.testing.assert_allclose(np.exp(p.log_densities(x)).sum(axis=1), expected, rtol=1e-4)


@settings(deadline=None, max_examples=40)
@given(st.floats(0.5, 1e6), st.integers(1, 60))
def test_any_number_of_components_is_a_distribution(df, components):
    p = skh.student_t([[0.0]], 1.0, df, components=components)
    assert len(p) == components
    assert (p.weights >= 0).all()
    assert (np.diff(p.covariances) > 0).all()
    g, w = gamma_nodes(0.5 * df, 0.5 * df + 0.5, components)
    assert w.sum() == pytest.approx(1.0)
    assert w @ g == pytest.approx(0.5 * df, rel=0.3)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_scales_in_all_forms_and_units(unit):
    mean = unit * np.arange(6.0).reshape(3, 2)
    same = skh.student_t(mean, 2 * unit, 3)
    for scale in ([2, 2, 2], 2 * np.eye(2), np.array([2 * np.eye(2)] * 3)):
        other = skh.student_t(mean, unit * np.array(scale), 3)
        np.testing.assert_allclose(other.covariance_matrices, same.covariance_matrices, rtol=1e-12)
        np.testing.assert_allclose(other.means, same.means)
    assert np.array_equal(same.means[:10], np.repeat(mean[:1], 10, axis=0))
    np.testing.assert_allclose(
        same.covariances, unit**2 * skh.student_t(mean / unit, 2.0, 3).covariances, rtol=1e-12
    )


def test_infinitely_many_degrees_of_freedom_are_gaussian():
    assert len(skh.student_t([[0.0]], 2.0, np.inf)) == 1
    assert skh.student_t([[0.0]], 2.0, np.inf).covariance[0, 0] == 4.0


def test_a_transition_has_the_draws_of_its_distribution():
    """Kolmogorov-Smirnov at 20,000 draws: a p-value above 1%."""
    x, _ = skh.student_t([[1.0]], 0.5, 3, components=15).sample(20_000, rng=0)
    assert stats.kstest(x[:, 0], stats.t(3, 1.0, 0.5).cdf).pvalue > 0.01


BAD = [
    ({"df": 0.0}, "df must be a number of at least 0.5, got 0.0"),
    ({"df": float("nan")}, "df must be a number of at least 0.5, got nan"),
    ({"df": "three"}, "df must be a number of at least 0.5, got 'three'"),
    ({"components": 0}, "components must be a positive integer, got 0"),
    ({"components": 2.0}, "components must be a positive integer, got 2.0"),
    ({"mean": [0.0, 1.0]}, r"mean must have shape \(n, d\), one point per row, got \(2,\)"),
    ({"mean": [[np.nan]]}, "mean must be finite, got nan"),
    ({"scale": -1.0}, "scale must be non-negative, got -1.0"),
    ({"scale": np.inf}, "scale must be finite, got inf"),
    ({"scale": "wide"}, "scale must be an array of real numbers, got 'wide'"),
    ({"scale": [1.0, 2.0, 3.0]}, r"scale must have shape \(\), \(1,\), \(1, 1\) or \(1, 1, 1\)"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_arguments_are_named(options, message):
    given = {"mean": [[0.0]], "scale": 1.0, "df": 3.0} | options
    with pytest.raises((TypeError, ValueError), match=message):
        skh.student_t(**given)
    if "df" not in options:
        given.pop("df")
        with pytest.raises((TypeError, ValueError), match=message):
            skh.laplace(**given)
