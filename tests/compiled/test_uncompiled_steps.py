"""Whole filter steps whose kernels Python runs, here and not in a process of their own."""

import sys

import numpy as np
import pytest

import oracles
import skh

SHARP = skh.models.RangeBearing(outliers=0.05)  # over a floor a step explores by a process


@pytest.mark.parametrize(
    ("model", "rule", "n"),
    [
        (skh.models.lgss3(), skh.default_rule(), 12),
        (skh.models.stochastic_volatility(), skh.default_rule(), 12),
        (SHARP, None, 40),
    ],
    ids=["three dimensions", "one dimension", "process"],
)
def test_steps_are_the_same_where_python_runs_the_kernels(model, rule, n, monkeypatch):
    _, ys = model.simulate(2, rng=0)
    compiled = skh.particle_filter(model, ys, rule, n=n, rng=0)
    for name in [name for name in sys.modules if name.startswith("skh.")]:
        oracles.run_by_python(sys.modules[name], monkeypatch)
    by_python = skh.particle_filter(model, ys, rule, n=n, rng=0)
    np.testing.assert_allclose(by_python.means, compiled.means, rtol=1e-6, atol=1e-7)
    assert by_python.log_evidence == pytest.approx(compiled.log_evidence, rel=1e-6)
