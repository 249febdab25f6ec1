"""Smoothing against exact smoothers, and against sums over pairs written out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

import skh
from linear_models import LGSS3, autoregression, constant_velocity, error
from skh.inference.smoothing import smooth_history, smoothed_step
from skh.inference.smoothing_result import SmoothedStep
from skh.models.linear_gaussian import LinearGaussian


class TwoWays:
    """A walk that goes left or right: two components per particle, of unequal weights."""

    def prior(self):
        return skh.GaussianMixture([1.0], [[0.0]], 1.0)

    def transition(self, t, x):
        means = np.stack([x - 1.0, x + 2.0], axis=1).reshape(-1, 1)
        return skh.GaussianMixture(np.tile([0.7, 0.3], len(x)), means, 0.3)

    def log_likelihood(self, t, x, y):
        return -0.5 * (y - x[:, 0]) ** 2


def by_pairs(model, history, components):
    """Smoothed weights and Cov(x_{t+1}, x_t), as the formula says; densities by SciPy."""
    W, weights, crosses = history[-1].w, [history[-1].w], []
    for b, after in zip(history[-2::-1], history[:0:-1], strict=True):
        logs = np.array([[components(b.x[i], x) for i in range(len(b.w))] for x in after.x])
        B = np.exp(logs + np.log(b.w))
        P = W[:, None] * B / B.sum(axis=1, keepdims=True)
        e = after.x - W @ after.x
        crosses.append(e.T @ P @ b.x)
        W = P.sum(axis=0)
        weights.append(W)
    return weights[::-1], np.array(crosses[::-1])


def check_pairs(model, ys, components):
    result = skh.particle_filter(model, ys, skh.Stratified(), 12, rng=0, history=True)
    smoothed = result.smooth(model, regularize=False)
    weights, crosses = by_pairs(model, result.history, components)
    for step, belief, W in zip(smoothed.steps, result.history, weights, strict=True):
        np.testing.assert_allclose(step.w, W, rtol=1e-9, atol=1e-13)
        np.testing.assert_array_equal(step.x, belief.x)
    np.testing.assert_allclose(smoothed.lag_one_covariances, crosses, rtol=1e-9, atol=1e-12)


def test_weights_are_sums_over_pairs():
    model = constant_velocity(0.3)
    law = multivariate_normal(np.zeros(2), model.Q)
    check_pairs(model, [0.1, 0.5, 0.3, -1.0], lambda x, y: law.logpdf(y - model.A @ x))


def test_weights_of_transitions_that_are_mixtures():
    def components(x, y):
        laws = [multivariate_normal(x + step, 0.3) for step in (-1.0, 2.0)]
        return logsumexp([law.logpdf(y) for law in laws], b=[0.7, 0.3])

    check_pairs(TwoWays(), [0.0, -1.0, 1.0, 0.5], components)


def test_the_kalman_smoother_conditions_the_joint_gaussian():
    for model in (LGSS3, constant_velocity(singular=True)):
        d, T = len(model.A), 4
        _, ys = model.simulate(T, rng=1)
        ys[2] = np.nan
        L = np.eye(T * d)
        for t in range(1, T):
            L[t * d : (t + 1) * d] += model.A @ L[(t - 1) * d : t * d]
            L[t * d : (t + 1) * d, t * d : (t + 1) * d] = np.eye(d)
        noise = np.zeros((T * d, T * d))
        for t in range(T):
            block = slice(t * d, (t + 1) * d)
            noise[block, block] = model.initial_covariance if t == 0 else model.Q
        P = L @ noise @ L.T
        C = np.kron(np.eye(T), model.C)[[0, 1, 3]]
        S = C @ P @ C.T + np.kron(np.eye(3), model.R)
        m = P @ C.T @ np.linalg.solve(S, ys[[0, 1, 3], 0])
        V = P - P @ C.T @ np.linalg.solve(S, C @ P)
        exact = skh.kalman_smoother(model, ys)
        np.testing.assert_allclose(exact.means.ravel(), m, atol=1e-9)
        for t in range(T):
            block = slice(t * d, (t + 1) * d)
            np.testing.assert_allclose(exact.covariances[t], V[block, block], atol=1e-9)
            if t + 1 < T:
                after = slice((t + 1) * d, (t + 2) * d)
                np.testing.assert_allclose(exact.lag_one_covariances[t], V[after, block], atol=1e-9)


@pytest.mark.parametrize("make", [autoregression, lambda: LGSS3])
def test_placed_particles_smooth_better_than_random_ones(make):
    model = make()
    _, ys = model.simulate(12, rng=0)
    exact = skh.kalman_smoother(model, ys)
    random = [
        error(skh.smooth(model, ys, skh.MonteCarlo(), 50, rng=r).means, exact) for r in range(3)
    ]
    placed = skh.smooth(model, ys, n=50, rng=0)
    assert error(placed.means, exact) < 0.1 * np.mean(random)
    scale = np.abs(exact.covariances).max()
    np.testing.assert_allclose(placed.covariances, exact.covariances, atol=0.05 * scale)
    np.testing.assert_allclose(
        placed.lag_one_covariances, exact.lag_one_covariances, atol=0.05 * scale
    )


def test_quantiles_are_those_of_the_exact_smoother():
    model = autoregression()
    _, ys = model.simulate(10, rng=0)
    exact = skh.kalman_smoother(model, ys)
    sd = np.sqrt(exact.covariances[:, 0, 0])
    smoothed = skh.smooth(model, ys, n=50, rng=0)
    expected = exact.means[:, 0, None] + sd[:, None] * np.array([-1.645, 0.0, 1.645])
    found = smoothed.quantile([0.05, 0.5, 0.95])[:, :, 0]
    assert np.abs((found - expected) / sd[:, None]).max() < 0.12
    assert smoothed.expectation(lambda x: x**2).shape == (10, 1)
    with pytest.raises(ValueError, match="f must return a value for each of"):
        smoothed.expectation(lambda x: x[:3])
    with pytest.raises(TypeError, match="f must be a function"):
        smoothed.expectation(1.0)


@pytest.mark.parametrize("singular", [False, True])
def test_narrow_transitions_move_the_particles(singular):
    model = constant_velocity(0.01, singular=singular)
    _, ys = model.simulate(20, rng=1)
    exact = skh.kalman_smoother(model, ys)
    # the particles of a filter that has them right: the question is what smoothing makes of it
    rule = skh.Smoothed(skh.Matched(skh.QuasiMonteCarlo(order="hilbert")))
    result = skh.particle_filter(model, ys, rule, 100, rng=0, history=True)
    moved, weighed = result.smooth(model), result.smooth(model, regularize=False)
    assert error(moved.means, exact) < 0.7 * error(weighed.means, exact)
    assert moved.steps[3].within is not None
    squares = moved.expectation(lambda x: x[:, :, None] * x[:, None, :])
    centred = squares - moved.means[:, :, None] * moved.means[:, None, :]
    np.testing.assert_allclose(centred, moved.covariances, atol=1e-9)
    paths = moved.paths(400, rng=0)
    sd = np.sqrt(np.einsum("tii->ti", moved.covariances))
    assert np.abs((paths.mean(axis=0) - moved.means) / sd).max() < 0.4
    assert np.abs(paths.std(axis=0) / sd - 1).max() < 0.4


@pytest.mark.parametrize("d", [2, 6])
def test_going_back_from_the_prediction_gives_the_filter(d):
    """Without news at t + 1, x_t is distributed as before: the backward step keeps its moments."""
    A = 0.95 * np.eye(d) + 0.05 * np.eye(d, k=1)
    model = LinearGaussian(A, np.eye(d), 1e-3 * np.eye(d), np.eye(d), np.zeros(d), np.eye(d))
    result = skh.particle_filter(model, np.zeros((2, d)), skh.MonteCarlo(), 40, rng=0, history=True)
    chain, before = result.smooth(model)._chain, result.history[0]
    step = chain.step(0)
    assert step.displacement is not None
    x_next, _ = step.mixture.sample(20_000, rng=1)
    after = SmoothedStep(x_next, np.full(len(x_next), 1 / len(x_next)))
    back = smoothed_step(step, step.contracted(after.x, after.w, 0.0), after)
    scale = np.sqrt(np.outer(before.covariance.diagonal(), before.covariance.diagonal()))
    assert np.abs((back.mean - before.mean) / np.sqrt(scale.diagonal())).max() < 0.03
    assert np.abs((back.covariance - before.covariance) / scale).max() < 0.05
    assert np.abs((back.cross - A @ before.covariance) / scale).max() < 0.05


def test_paths_follow_the_smoothed_distribution():
    model = autoregression()
    _, ys = model.simulate(8, rng=0)
    smoothed = skh.smooth(model, ys, n=40, rng=0)
    paths = smoothed.paths(2000, rng=1)[:, :, 0]
    sd = np.sqrt(smoothed.covariances[:, 0, 0])
    assert np.abs((paths.mean(axis=0) - smoothed.means[:, 0]) / sd).max() < 0.05
    lag_one = np.cov(paths.T).diagonal(1)
    np.testing.assert_allclose(lag_one, smoothed.lag_one_covariances[:, 0, 0], atol=0.03)


def test_pruning_reports_what_it_leaves_out():
    model = autoregression()
    _, ys = model.simulate(10, rng=0)
    result = skh.particle_filter(model, ys, skh.Stratified(), 60, rng=0, history=True)
    exact, pruned = result.smooth(model), result.smooth(model, prune=1e-3)
    assert not exact.pruned_pairs.any()
    assert not exact.pruned_mass.any()
    assert (pruned.pruned_pairs > 0.1).all()
    assert (pruned.pruned_mass < 0.03).all()
    last = len(ys) - 2  # where the weights of the next step are still those of the filter
    B = exact._chain.step(last).weights(result.history[-1].x)[0]
    assert pruned.pruned_pairs[last] == (B < 1e-3).mean()
    lost = result.history[-1].w @ np.where(B < 1e-3, B, 0.0).sum(axis=1)
    assert pruned.pruned_mass[last] == pytest.approx(lost, rel=1e-12)
    np.testing.assert_allclose(pruned.means, exact.means, atol=0.01)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_do_not_matter(unit):
    def scaled(u):
        D = np.diag([1.0, u])
        A = D @ np.array([[1.0, 1.0], [0.0, 1.0]]) @ np.linalg.inv(D)
        Q = D @ np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]]) @ D * 0.01
        return LinearGaussian(A, [[1.0, 0.0]], Q, [[1.0]], np.zeros(2), D @ D)

    ys = [0.1, 0.4, 0.2, 1.0]
    results = [skh.smooth(scaled(u), ys, skh.Stratified(), 40, rng=0) for u in (1.0, unit)]
    np.testing.assert_allclose(results[1].means, results[0].means * [1.0, unit], rtol=1e-6)


@settings(max_examples=15)
@given(st.lists(st.floats(-2, 2), min_size=4, max_size=4), st.sampled_from([0.01, 1.0]))
def test_axes_do_not_matter(entries, q):
    """The same particles in other coordinates have the same weights and moments.

    Up to the points that stand for moved particles, if transitions are narrow: they lie on axes.
    """
    close = 1e-5 if q == 1.0 else 0.03
    M = np.array(entries).reshape(2, 2)
    assume(abs(np.linalg.det(M)) > 0.1)
    base = constant_velocity(q)
    result = skh.particle_filter(
        base, [0.1, 0.4, -0.2, 1.0], skh.Stratified(), 30, rng=0, history=True
    )
    inverse = np.linalg.inv(M)
    other = LinearGaussian(
        M @ base.A @ inverse, base.C @ inverse, M @ base.Q @ M.T, base.R, np.zeros(2), M @ M.T
    )
    history = [replace(belief, x=belief.x @ M.T) for belief in result.history]
    here, there = result.smooth(base), smooth_history(history, other)
    np.testing.assert_allclose(there.means, here.means @ M.T, atol=close)
    np.testing.assert_allclose(there.covariances, M @ here.covariances @ M.T, atol=close)
    crosses = M @ here.lag_one_covariances @ M.T
    np.testing.assert_allclose(there.lag_one_covariances, crosses, atol=close)


@pytest.mark.parametrize("singular", [False, True])
def test_the_origin_does_not_matter(singular):
    ys = np.array([0.3, 1.0, -0.5, 2.0])
    results = []
    for offset in (0.0, 1e7):
        base = constant_velocity(0.1, singular=singular)
        start = np.array([offset, 0.0])
        model = LinearGaussian(base.A, base.C, base.Q, base.R, start, base.initial_covariance)
        smoothed = skh.smooth(model, ys + offset, skh.Stratified(), 40, rng=0)
        results.append((smoothed.means - start, smoothed.covariances, smoothed.lag_one_covariances))
    for near, far in zip(*results, strict=True):
        np.testing.assert_allclose(far, near, atol=1e-5)


def test_missing_observations_and_one_step():
    model = autoregression()
    ys = [0.3, None, np.nan, 1.0]
    smoothed = skh.smooth(model, ys, n=40, rng=0)
    assert error(smoothed.means, skh.kalman_smoother(model, ys)) < 0.02
    single = skh.smooth(model, [0.3], n=40, rng=0)
    assert single.lag_one_covariances.shape == (0, 1, 1)
    assert single.paths(3, rng=0).shape == (3, 1, 1)


def test_times_between_observations():
    class Brownian:
        def prior(self):
            return skh.GaussianMixture([1.0], [[0.0]], 1.0)

        def transition(self, t, x, dt):
            return x, 0.5 * dt

        def log_likelihood(self, t, x, y):
            return -0.5 * (y - x[:, 0]) ** 2

    ys, times = [0.0, 2.0], [0.0, 3.0]
    smoothed = skh.smooth(Brownian(), ys, n=60, rng=0, times=times)
    P = np.array([[1.0, 1.0], [1.0, 2.5]])
    m = P @ np.linalg.solve(P + np.eye(2), ys)
    np.testing.assert_allclose(smoothed.means[:, 0], m, atol=0.01)


def test_errors_name_the_reason():
    model = autoregression()
    result = skh.particle_filter(model, [0.1, 0.2], skh.Stratified(), 5, rng=0)
    with pytest.raises(ValueError, match="history=True"):
        result.smooth(model)
    result = skh.particle_filter(model, [0.1, 0.2], skh.Stratified(), 5, rng=0, history=True)
    with pytest.raises(ValueError, match="in 1 dimensions, got one in 3"):
        result.smooth(LGSS3)
    with pytest.raises(ValueError, match=r"prune must be .* got 0.7"):
        result.smooth(model, prune=0.7)
    with pytest.raises(TypeError, match="regularize must be True or False"):
        result.smooth(model, regularize="no")
    with pytest.raises(ValueError, match="m must be"):
        result.smooth(model).paths(0)
    simulator = skh.from_simulator(
        lambda n, rng: rng.normal(size=(n, 1)),
        lambda t, x, rng: x + rng.normal(size=x.shape),
        lambda t, x, y: -0.5 * (y - x[:, 0]) ** 2,
    )
    with pytest.raises(TypeError, match="draws its transitions at random"):
        skh.smooth(simulator, [0.1, 0.2], skh.Stratified(), 5, rng=0)


def test_records_must_be_said_to_be_current():
    class Recording:
        def prior(self):
            return skh.GaussianMixture([1.0], [[0.0]], 1.0)

        def initial_carry(self, x):
            return np.zeros(len(x))

        def transition(self, t, x, carry):
            return 0.5 * x + carry[:, None], 1.0

        def move(self, t, x, carry, x_next):
            return np.zeros(len(x_next))

        def log_likelihood(self, t, x, y, carry):
            return -0.5 * (y - x[:, 0]) ** 2, 0.3 * (y - x[:, 0])  # the noise goes on

    model = Recording()
    result = skh.particle_filter(model, [0.1, 0.2, 1.0], skh.Stratified(), 30, rng=0, history=True)
    with pytest.raises(TypeError, match="records_are_current = True"):
        result.smooth(model)
    model.records_are_current = True
    assert np.isfinite(result.smooth(model).means).all()
