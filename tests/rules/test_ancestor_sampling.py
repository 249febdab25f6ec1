"""Ancestors are sampled in chunks of rows, with the same result and in little memory."""

import tracemalloc

import numpy as np
import pytest

import oracles
from skh.rules import ancestor_sampling
from skh.rules.ancestor_sampling import sample_ancestors


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_ancestors_do_not_depend_on_the_size_of_chunks(kind, monkeypatch):
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(37, 3, rng, kind)
    x = rng.normal(size=(50, 3))
    whole = sample_ancestors(p, x, np.random.default_rng(1))
    for chunk in (1, 100, 1_000):
        monkeypatch.setattr(ancestor_sampling, "DENSITIES_AT_ONCE", chunk)
        np.testing.assert_array_equal(sample_ancestors(p, x, np.random.default_rng(1)), whole)


@pytest.mark.parametrize("kind", oracles.KINDS)
def test_memory_is_bounded_for_many_points_and_components(kind):
    """All log-densities of 3,000 points and components would take 72 MB."""
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(3_000, 2, rng, kind)
    x = rng.normal(size=(3_000, 2))
    sample_ancestors(p, x[:1], rng)  # compiles
    tracemalloc.start()
    sample_ancestors(p, x, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6
