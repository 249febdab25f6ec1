"""Random numbers from a key: the published generator, and tests of their distributions."""

import numpy as np
import pytest
from scipy import stats

import skh
from skh import _numba
from skh.rules.random_numbers import normals, uniforms


def test_bits_are_those_of_splitmix64():
    """The first numbers for the seed 1234567, as published for other implementations."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    key = np.uint64(1234567)
    assert [int(_numba.random_numbers.random_bits(key, i)) for i in range(5)] == published


def test_layers_of_the_ziggurat_have_equal_areas():
    x, f = _numba.random_numbers.EDGES, _numba.random_numbers.HEIGHTS
    areas = x[1:-1] * np.diff(f[1:])
    tail = np.sqrt(2 * np.pi) * stats.norm.sf(x[1])
    np.testing.assert_allclose(areas, x[1] * f[1] + tail, rtol=1e-9)
    assert f[-1] == 1.0


@pytest.fixture(scope="module")
def z():
    return normals(np.random.default_rng(0), 1_000_000, 2)


def test_normal_numbers_are_normal(z):
    """p-values above 1e-3 at a fixed seed, in the bulk and where layers and tail meet."""
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    edges = np.concatenate([[-9], np.linspace(-4.2, 4.2, 85), [9]])
    counts = np.histogram(z, edges)[0]
    expected = z.size * np.diff(stats.norm.cdf(edges))
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-3


def test_numbers_in_the_tail_have_the_tail_distribution(z):
    beyond = np.abs(z[np.abs(z) > _numba.random_numbers.TAIL])
    share = 2 * stats.norm.sf(_numba.random_numbers.TAIL)
    assert abs(beyond.size - z.size * share) < 4 * np.sqrt(z.size * share)
    law = stats.truncnorm(_numba.random_numbers.TAIL, np.inf)
    assert stats.kstest(beyond, law.cdf).pvalue > 1e-3


def test_neighbours_are_independent(z):
    """Correlations of numbers, squares and signs at short distances, within four deviations."""
    flat = z.ravel()
    for f in (flat, flat**2 - 1, np.sign(flat)):
        f = f / f.std()
        for lag in (1, 2, 3, 256):
            assert abs(np.mean(f[lag:] * f[:-lag])) < 4 / np.sqrt(f.size)


def test_uniform_numbers_are_uniform_and_below_one():
    u = uniforms(np.random.default_rng(1), 1_000_000)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    pairs = np.histogram2d(u[::2], u[1::2], bins=30)[0].ravel()
    assert stats.chisquare(pairs).pvalue > 1e-3


def test_calls_differ_and_seeds_repeat_them():
    rng = np.random.default_rng(5)
    first, second = normals(rng, 100, 1), normals(rng, 100, 1)
    assert not np.isin(first, second).any()
    np.testing.assert_array_equal(normals(np.random.default_rng(5), 100, 1), first)


@pytest.mark.parametrize("kind", [1.0, np.ones(3), np.eye(2), np.stack([np.eye(2)] * 3)])
def test_draws_do_not_depend_on_the_number_of_threads(kind, request):
    p = skh.GaussianMixture([1, 2, 3], np.arange(6.0).reshape(3, 2), kind)
    one = skh.MonteCarlo()(p, 20_000, rng=0)
    request.getfixturevalue("two_threads")
    two = skh.MonteCarlo()(p, 20_000, rng=0)
    np.testing.assert_array_equal(two.x, one.x)
    np.testing.assert_array_equal(two.component, one.component)
