"""Custom kernels: by quadrature over scales, and by the protocol."""

from functools import cache

import numpy as np
import pytest

import oracles
import skh
from pages import on_page
from skh.kernels.base import check_kernel_protocol


@cache
def page():
    return on_page("docs/kernels.md")


def inverse_multiquadric(*arguments):
    return page()["inverse_multiquadric"](*arguments)


@pytest.mark.parametrize(("c", "beta"), [(1.0, 2.0), (2.0, 3.5), (1.0, 1.0)])
def test_a_mixture_over_scales_approximates_the_rational_quadratic_kernel(c, beta):
    rng = np.random.default_rng(0)
    p, kernel = oracles.random_mixture(4, 2, rng, "matrices"), inverse_multiquadric(c, beta)
    x = rng.uniform(-1.7, 1.7, (30, 2))  # at most 4.8 apart
    square = ((x[:, None] - x) ** 2).sum(-1)
    np.testing.assert_allclose(kernel.gram(x, x), (1 + square / c**2) ** -beta, atol=1e-3)
    # The mean map by integration over the mixture, on a grid.
    grid, weight = oracles.grid(p, 0.1, 8.0)
    values = (1 + ((grid[:, None] - x[:5]) ** 2).sum(-1) / c**2) ** -beta
    expected = weight * oracles.density(p, grid) @ values
    np.testing.assert_allclose(kernel.mean_map(p, x[:5]), expected, atol=5e-3)  # further apart


def test_a_mixture_over_scales_works_with_all_steps():
    p, kernel = (
        oracles.random_mixture(4, 2, np.random.default_rng(0)),
        inverse_multiquadric(1.0, 1.5),
    )
    herded, corrected, refined = (
        skh.FWQuad(kernel, step, 1_000, refine=refine)(p, 30, rng=0)
        for step, refine in [
            (skh.Herding(), None),
            (skh.FullyCorrective(), None),
            (skh.FullyCorrective(ridge=1e-4), skh.Refine()),
        ]
    )
    assert refined.mmd < corrected.mmd < herded.mmd
    for points in (herded, corrected, refined):
        assert points.mmd == pytest.approx(skh.mmd(kernel, p, points.x, points.w), abs=1e-9)


class FirstCoordinate:
    """exp(-(x_1 - y_1)^2 / 2 v): a kernel of the first coordinate only."""

    def __init__(self, variance):
        self.inner = skh.GaussianKernel(variance)
        self.scales = self.inner.scales

    def coordinates_of(self, x):
        return np.ascontiguousarray(x[:, :1].T)

    def mean_map_at(self, p, X):
        return self.inner.mean_map_at(self._marginal(p), X)

    def mean_norm2(self, p):
        return self.inner.mean_norm2(self._marginal(p))

    @staticmethod
    def _marginal(p):
        return p.linear_map(np.eye(1, p.d))


@pytest.mark.parametrize("step", [skh.Herding(), skh.LineSearch(), skh.FullyCorrective()])
def test_a_kernel_by_protocol_is_used_unchanged(step):
    kernel = FirstCoordinate(1.0)
    check_kernel_protocol("kernel", kernel)
    p = oracles.random_mixture(5, 3, np.random.default_rng(1), "matrices")
    points = skh.FWQuad(kernel, step, 2_000)(p, 25, rng=0)
    marginal = p.linear_map(np.eye(1, 3))
    exact = skh.mmd(skh.GaussianKernel(1.0), marginal, points.x[:, :1], points.w)
    assert points.mmd == pytest.approx(exact, abs=1e-9)
    assert points.mmd < 0.05


def test_non_kernels_are_rejected():
    for wrong in ("gaussian", 1.0, skh.GaussianKernel):
        with pytest.raises(TypeError, match="kernel must be a GaussianKernel"):
            skh.FWQuad(wrong)
    half = type("Half", (), {"scales": np.ones((2, 1)), "mean_norm2": lambda self, p: 1.0})()
    with pytest.raises(TypeError, match=r"got .*Half.* without coordinates_of, mean_map_at$"):
        skh.FWQuad(half)
    with pytest.raises(TypeError, match="refine needs a GaussianKernel"):
        skh.FWQuad(FirstCoordinate(1.0), refine=skh.Refine())
