"""Models beyond the paper: shapes, distributions of the noise, likelihoods by SciPy."""

from math import atan2, dist

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import solve_ivp

import skh
from skh.filtering.series import particle_filter
from skh.models import bearings, lorenz

MODELS = {
    "volatility": skh.models.stochastic_volatility(),
    "bearings": skh.models.bearings_only(),
    "lorenz63": skh.models.lorenz63(),
    "localisation": skh.models.localisation(),
}
SEEN = {"volatility": 1, "bearings": 1, "lorenz63": 1, "localisation": 2}  # coordinates of y


@pytest.mark.parametrize("name", MODELS)
def test_simulation_has_its_shape_and_its_seed(name):
    model = MODELS[name]
    states, ys = model.simulate(6, rng=3)
    assert states.shape == (6, model.prior().d)
    assert ys.shape == (6, SEEN[name])
    np.testing.assert_array_equal(states, model.simulate(6, rng=3)[0])


@pytest.mark.parametrize("name", MODELS)
def test_simulated_steps_follow_the_transition(name):
    """Whitened steps of a simulation are standard normal."""
    model = MODELS[name]
    states, _ = model.simulate(3_000, rng=1)
    means, covariance = model.transition(0, states[:-1])
    d = states.shape[1]
    L = np.linalg.cholesky(np.asarray(covariance) * (np.eye(d) if np.ndim(covariance) == 0 else 1))
    v = np.linalg.solve(L, (states[1:] - means).T)
    np.testing.assert_allclose(v.mean(axis=1), 0, atol=0.08)
    np.testing.assert_allclose(np.cov(v), np.eye(d).squeeze(), atol=0.12)


def expected(name, t, x, y):
    """The log-likelihood of one state by scipy."""
    normal = stats.norm.logpdf
    if name == "volatility":
        return normal(y[0], 0, 0.6 * np.exp(x[0] / 2))
    if name == "lorenz63":
        return normal(y[0], x[0], 1)
    if name == "bearings":
        east, north = 2 * np.sin(0.3 * t), -2 * np.cos(0.3 * t)
        angle = atan2(x[2] - north, x[0] - east)
        return max(normal(y[0] + turn, angle, 0.05) for turn in (-2 * np.pi, 0, 2 * np.pi))
    return sum(normal(r, dist(x, (east, 0)), 0.2) for r, east in zip(y, (-3, 3), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_likelihoods(name):
    model = MODELS[name]
    x, ys = model.simulate(5, rng=2)
    for t, y in enumerate(ys):
        direct = [expected(name, t, state, y) for state in x]
        np.testing.assert_allclose(model.log_likelihood(t, x, y), direct, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_observations_follow_the_likelihood(name):
    """E[p'(y|x)/p(y|x)] = 0: the mean score over draws, by directional finite differences."""
    model, rng = MODELS[name], np.random.default_rng(0)
    x, step = model.prior().mean + 0.3, 1e-4
    pair = np.array([x - step, x + step])
    scores = [
        np.diff(model.log_likelihood(1, pair, model.observe(1, x, rng)))[0] / (2 * step)
        for _ in range(2_000)
    ]
    assert abs(np.mean(scores)) < 4 * np.std(scores) / len(scores) ** 0.5


def test_volatility_starts_stationary():
    model = MODELS["volatility"]
    variance = model.prior().covariance[0, 0]
    _, noise = model.transition(0, np.zeros((1, 1)))
    assert 0.98**2 * variance + noise == pytest.approx(variance)


def test_bearings_wrap_and_have_noise_of_full_rank():
    model = MODELS["bearings"]
    x = np.array([[-50.0, 0.0, -2.0, 0.0]])  # due west of the observer at t = 0
    near = model.log_likelihood(0, x, np.array([np.pi - 0.01]))
    np.testing.assert_allclose(near, model.log_likelihood(0, x, np.array([0.01 - np.pi])))
    assert np.linalg.cond(bearings.Q) < 20


def test_the_lorenz_flow_has_its_fixed_points():
    fixed = np.array([[72**0.5, 72**0.5, 27.0]])
    np.testing.assert_allclose(lorenz.flow(fixed), fixed, rtol=1e-9)


def test_mirror_images_have_equal_likelihood_in_localisation():
    model = MODELS["localisation"]
    pair = np.array([[1.0, 2.0], [1.0, -2.0]])
    low, high = model.log_likelihood(0, pair, np.array([4.0, 3.0]))
    assert low == high


@pytest.mark.parametrize("name", MODELS)
def test_many_particles_follow_the_state(name):
    """The filtered mean is nearer to the state than the best constant in hindsight."""
    model = MODELS[name]
    states, ys = model.simulate(400, rng=5)
    many = particle_filter(model, ys, skh.Stratified(), 2_000, rng=0)
    error = np.sqrt(np.mean((many.means - states)[10:] ** 2))
    assert error < 0.8 * np.sqrt(np.mean((states - states.mean(axis=0))[10:] ** 2))


def written_out(name, x):
    """Mean and covariance of the next state, by the formulas of the module docstrings."""
    if name == "volatility":
        return 0.98 * x, [[0.15**2]]
    if name == "bearings":
        S = 0.03**2 * np.array([[1 / 3, 1 / 2], [1 / 2, 1]])
        east, to_east, north, to_north = x
        means = [east + to_east, 0.97 * to_east, north + to_north, 0.97 * to_north]
        return means, np.block([[S, 0 * S], [0 * S, S]])
    if name == "localisation":
        turned = complex(*x) * 0.99 * np.exp(0.1j)
        return [turned.real, turned.imag], 0.15 * np.eye(2)

    def lorenz63(t, s):
        return [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]

    return solve_ivp(lorenz63, (0, 0.05), x, rtol=1e-10, atol=1e-10).y[:, -1], 0.5 * np.eye(3)


@pytest.mark.parametrize("name", MODELS)
def test_transitions(name):
    """For Lorenz, the error of Heun's method is 0.0013 at these states, Euler's 0.04."""
    model = MODELS[name]
    d = model.prior().d
    x = np.array([[1.0, 2.0, 20.0, 0.5], [-8.0, -7.0, 27.0, -0.1]])[:, :d]
    means, covariance = model.transition(0, x)
    expected = [written_out(name, state) for state in x]
    atol = 0.005 if name == "lorenz63" else 1e-12
    np.testing.assert_allclose(means, [mean for mean, _ in expected], atol=atol)
    np.testing.assert_allclose(
        np.multiply(covariance, 1 if np.ndim(covariance) else np.eye(d)), expected[0][1], rtol=1e-12
    )
