"""The gate of a second look: what the ordinary step's points would miss, against a promise."""

import numpy as np
import pytest

import skh
from skh.filtering.gate import ordinary_error
from skh.filtering.surrogates.parabola import Parabola, Whitening
from skh.gaussians.predictive import Predictive


def gaussian(width, d=1):
    """A parabola of curvature 1 / width^2 about 0.5 in each coordinate."""
    H = np.eye(d) / width**2
    b = 0.5 * H.sum(axis=1)
    return Parabola(-0.125 * H.sum(), b, H, np.zeros(1), 0.0)


def predictive(d=1, scale=1.0):
    """A standard Gaussian in other units."""
    return Predictive.of(skh.GaussianMixture([1.0], np.zeros((1, d)), scale**2 * np.eye(d)))


def error_of(p, points, parabola, lumpy=False):
    """The error of points if the likelihood were this parabola in whitened coordinates."""
    frame = Whitening.of(p)
    return ordinary_error(parabola.product(p, frame), points, frame, parabola, lumpy)


def test_errors_of_the_ordinary_points_are_those_of_sums_against_integrals():
    p, width = predictive(), 0.3
    points = skh.Stratified()(p, 20, rng=0)
    likelihood = np.exp(-0.5 * ((points.x[:, 0] - 0.5) / width) ** 2)
    total = points.w @ likelihood
    variance = 1 / (1 + width**-2)
    mean, evidence = variance * 0.5 / width**2, width / np.hypot(1, width)
    evidence *= np.exp(-0.5 * 0.25 / (1 + width**2))
    off = points.w @ (likelihood * points.x[:, 0]) / total - mean
    expected = np.hypot(np.log(total / evidence), off / np.sqrt(variance))
    found = error_of(p, points, gaussian(width))
    assert found == pytest.approx(expected, rel=1e-9)


def test_points_that_resolve_the_likelihood_are_not_off():
    p = predictive()
    points = skh.default_rule()(p, 50, rng=0)
    errors = [error_of(p, points, gaussian(width)) for width in (0.5, 0.05, 0.005)]
    assert errors[0] < 0.01
    assert errors[1] > 10 * errors[0]
    assert errors[2] > 1


@pytest.mark.parametrize("decades", [-12, 12])
def test_errors_do_not_depend_on_units(decades):
    found = []
    for scale in (1.0, 10.0**decades):
        p = predictive(2, scale)
        points = skh.QuasiMonteCarlo()(p, 16, rng=0)
        found.append(error_of(p, points, gaussian(0.2, 2)))
    assert found[1] == pytest.approx(found[0], rel=1e-6)


def test_a_known_coordinate_is_no_error():
    narrow = Predictive.of(skh.GaussianMixture([1.0], [[0.0, 3.0]], np.diag([1.0, 0.0])))
    points = skh.QuasiMonteCarlo()(narrow, 16, rng=0)
    fit = Parabola(0.0, np.zeros(2), np.diag([4.0, 0.0]), np.zeros(1), 0.0)
    assert error_of(narrow, points, fit) < 0.5
    assert error_of(narrow, points, fit, lumpy=True) < 0.5


def test_deviations_that_are_too_small_count_where_the_mixture_was_lumpy():
    p, flat = predictive(), Parabola(0.0, np.zeros(1), np.zeros((1, 1)), np.zeros(1), 0.0)
    points = skh.WeightedPoints([[-0.8], [0.8]], [0.5, 0.5], [0, 0])
    assert error_of(p, points, flat) == pytest.approx(0.0, abs=1e-12)
    assert error_of(p, points, flat, lumpy=True) == pytest.approx(0.2)


def likelihood_of(power, width):
    """Log-likelihood -|x / width|^power / power of a walk with unit steps."""
    return skh.model_from_functions(
        prior=([0.0], 1.0),
        transition=lambda t, x: (0.5 * x, 1.0),
        log_likelihood=lambda t, x, y: -(np.abs((x[:, 0] - y) / width) ** power) / power,
    )


def test_a_rough_surrogate_does_not_replace_points_that_resolve_the_likelihood():
    ys = [0.3, -0.5, 0.8, 0.1]
    smooth = skh.particle_filter(likelihood_of(4, 0.2), ys, skh.SecondLook(), 50, rng=0)
    sharp = skh.particle_filter(likelihood_of(2, 0.002), ys, skh.SecondLook(), 50, rng=0)
    assert [len(looks) for looks in smooth.looks] == [1, 1, 1, 1]
    assert all(len(looks) > 1 for looks in sharp.looks)
