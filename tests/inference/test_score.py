"""The score and the information against derivatives of the Kalman filter."""

import numpy as np
import pytest

import skh
from linear_models import autoregression, constant_velocity, exact_gradient, lgss3
from skh.inference.parameters import Parameters

AR = (0.8, 0.3, 0.4)


def series(model, T=40):
    return model.simulate(T, rng=0)[1]


@pytest.mark.parametrize(
    ("make_model", "theta", "n"), [(autoregression, AR, 50), (lgss3, (-0.1, 0.3, 0.2), 100)]
)
def test_gradient_within_two_percent(make_model, theta, n):
    ys = series(make_model())
    exact = exact_gradient(make_model, theta, ys)
    found = skh.score(make_model, theta, ys, n=n, rng=0)
    assert np.linalg.norm(found.gradient - exact) < 0.02 * np.linalg.norm(exact)
    run = skh.particle_filter(make_model(theta), ys, n=n, rng=0)
    assert found.log_evidence == run.log_evidence
    assert found.n_likelihood_evaluations == 7 * run.n_likelihood_evaluations.sum()


def test_information_and_standard_errors():
    def model(theta):
        return autoregression((*theta, 0.5))

    theta = (0.9, 0.19)
    ys = autoregression().simulate(60, rng=1)[1]
    h = 1e-3
    rows = [
        (exact_gradient(model, theta - e, ys) - exact_gradient(model, theta + e, ys)) / (2 * h)
        for e in h * np.eye(2)
    ]
    found = skh.score(model, theta, ys, n=30, rng=0, information=True)
    np.testing.assert_allclose(found.information, rows, atol=0.02 * np.abs(rows).max())
    errors = np.sqrt(np.diag(np.linalg.inv(np.array(rows))))
    np.testing.assert_allclose(found.standard_errors, errors, rtol=0.05)


def test_information_by_differences_of_the_score():
    def variance(theta):
        return autoregression((0.9, 0.19, theta[0]))

    ys = series(variance([1.0]), 30)
    found = skh.score(variance, [0.6], ys, skh.Systematic(), 400, rng=0, information="differences")
    h = 1e-3
    low, high = (exact_gradient(variance, [0.6 + s * h], ys)[0] for s in (-1, 1))
    assert found.information[0, 0] == pytest.approx((low - high) / (2 * h), rel=0.3)


def test_records_by_paths():
    def split(theta):
        return skh.rao_blackwellize(lgss3(theta), [0])

    ys, theta = series(lgss3(), 10), (-0.3, 0.9, 0.2)
    exact = exact_gradient(lgss3, theta, ys)
    found = skh.score(split, theta, ys, n=40, rng=0, paths=400, information=True)
    assert np.linalg.norm(found.gradient - exact) < 0.1 * np.linalg.norm(exact)
    assert found.information.shape == (3, 3)
    modes = skh.score(
        lambda r: skh.models.JumpMarkov(
            **{**vars(skh.models.jmls()), "R": r[0] * np.ones((2, 1, 1))}
        ),
        [0.2],
        ys,
        n=20,
        rng=0,
        paths=50,
    )
    assert np.isfinite(modes.gradient).all()


def test_noise_that_does_not_reach_the_position():
    def driven(theta):
        return constant_velocity(*theta, singular=True)

    ys, theta = series(driven((0.3, 1.0)), 12), (0.5, 0.8)
    rule = skh.Smoothed(skh.Matched(skh.default_rule()))
    found = skh.score(driven, theta, ys, rule, 100, rng=0)
    exact = exact_gradient(driven, theta, ys)
    np.testing.assert_allclose(found.gradient, exact, atol=0.3 * np.linalg.norm(exact))

    def longer_step(dt):
        A = np.array([[1.0, dt[0]], [0.0, 1.0]])
        base = constant_velocity(0.3, singular=True)
        return skh.models.LinearGaussian(
            A, base.C, base.Q, base.R, base.initial_mean, base.initial_covariance
        )

    with pytest.raises(ValueError, match="needs transition noise in all directions that depend"):
        skh.score(longer_step, [1.0], ys, skh.Stratified(), 30, rng=0)


def test_given_derivatives_replace_differences():
    class Derivatives:
        def log_transition(self, theta, t, x, x_next):
            a, q, _ = theta
            e = (x_next - a * x)[:, 0]
            return np.stack([e * x[:, 0] / q, (e**2 / q - 1) / (2 * q), 0 * e], axis=1)

        def log_likelihood(self, theta, t, x, y):
            e, r = (y - x)[:, 0], theta[2]
            return np.stack([0 * e, 0 * e, (e**2 / r - 1) / (2 * r)], axis=1)

    ys = series(autoregression(), 15)
    options = {"n": 30, "rng": 0}
    given = skh.score(autoregression, AR, ys, derivatives=Derivatives(), **options)
    np.testing.assert_allclose(
        given.gradient, skh.score(autoregression, AR, ys, **options).gradient, rtol=1e-6
    )
    with pytest.raises(TypeError, match="derivatives must have some of log_prior"):
        skh.score(autoregression, AR, ys, derivatives=3, **options)


def test_named_parameters_and_units():
    ys = skh.models.stochastic_volatility().simulate(15, rng=0)[1]
    theta = {"persistence": 0.9, "scale": 0.5}
    found = skh.score(skh.models.stochastic_volatility, theta, ys, skh.Stratified(), 40, rng=0)
    assert found.names == ("persistence", "scale")
    assert "persistence=" in repr(found)

    def other_units(values):
        return skh.models.stochastic_volatility(values[0] * 1e12, scale=values[1] * 1e-9)

    other = skh.score(other_units, [0.9e-12, 0.5e9], ys, skh.Stratified(), 40, rng=0)
    np.testing.assert_allclose(other.gradient * [1e-12, 1e9], found.gradient, rtol=1e-6)


def test_errors_name_what_is_wrong():
    ys = [0.1, 0.2]
    with pytest.raises(TypeError, match="make_model must be a function"):
        skh.score(3, AR, ys)
    with pytest.raises(ValueError, match="theta must be a vector"):
        Parameters.of(autoregression, [[1.0]])
    with pytest.raises(TypeError, match="names in theta"):
        Parameters.of(autoregression, {1: 2.0})
    with pytest.raises(ValueError, match="make_model failed at"):
        skh.score(
            skh.models.stochastic_volatility, {"persistence": 0.99999}, ys, skh.Stratified(), 9
        )
    for wrong in (0.0, [1e-4, 1e-4], -1.0):
        with pytest.raises(ValueError, match="step must be a positive number"):
            skh.score(autoregression, AR, ys, skh.Stratified(), 9, step=wrong)
    with pytest.raises(ValueError, match="information must be True, False"):
        skh.score(autoregression, AR, ys, information="yes")
    found = skh.score(autoregression, AR, ys, skh.Stratified(), 9, rng=0)
    with pytest.raises(ValueError, match="standard errors need"):
        _ = found.standard_errors
    with pytest.raises(ValueError, match="needs more runs"):
        skh.score_of(found.result, autoregression, AR, ys, information="differences")
    with pytest.raises(ValueError, match="ys must hold the 2 observations, got 3"):
        skh.score_of(found.result, autoregression, AR, [*ys, 0.0])
