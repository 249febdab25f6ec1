"""Sums over time in one pass, and fixed lag, against smoothing from the end."""

import numpy as np
import pytest
from test_hidden_parts import Turning

import skh
from linear_models import LGSS3, autoregression
from skh.geometry import SE2, Charted


def run(model, T=8, n=25):
    _, ys = model.simulate(T, rng=0)
    return skh.particle_filter(model, ys, n=n, rng=0, history=True)


def product(t, x, x_next):
    x, x_next = np.broadcast_arrays(x[..., 0], x_next[..., 0])
    return np.stack([x * x_next, (1.0 + t) * x_next**2], axis=-1)


def test_sums_equal_those_from_the_end():
    model = autoregression()
    result = run(model)
    smoothed = result.smooth(model, regularize=False)
    sums = skh.AdditiveSmoother(model, product, initial=lambda x: np.hstack([x, x**2]))
    for belief in result.history:
        value = sums.update(belief)
    m, P, cross = (
        a[..., 0].reshape(-1)
        for a in (smoothed.means, smoothed.covariances, smoothed.lag_one_covariances)
    )
    squares, products = P + m**2, cross + m[1:] * m[:-1]
    weighted = (np.arange(1, len(m)) * squares[1:]).sum()
    expected = [m[0] + products.sum(), squares[0] + weighted]
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    assert sums.t == 7


def test_covariance_of_sums_is_that_over_all_paths():
    model = autoregression()
    result = run(model, T=3, n=4)
    sums = skh.AdditiveSmoother(
        model, product, initial=lambda x: np.hstack([x, x**2]), second_moments=True
    )
    for belief in result.history:
        sums.update(belief)
    chain = result.smooth(model, regularize=False)._chain
    b = result.history
    back = [chain.step(t).weights(b[t + 1].x)[0] for t in range(2)]
    totals, weights = [], []
    for i in range(len(b[0].w)):
        for j in range(len(b[1].w)):
            for k in range(len(b[2].w)):
                x = b[0].x[i], b[1].x[j], b[2].x[k]
                first = np.concatenate([x[0], x[0] ** 2])
                totals.append(first + product(0, *x[:2]) + product(1, *x[1:]))
                weights.append(b[2].w[k] * back[1][k, j] * back[0][j, i])
    totals, weights = np.array(totals), np.array(weights)
    mean = weights @ totals
    np.testing.assert_allclose(sums.value, mean, rtol=1e-9)
    e = totals - mean
    np.testing.assert_allclose(sums.covariance, (weights * e.T) @ e, rtol=1e-8)


def test_draws_are_close_to_sums():
    model = autoregression()
    result = run(model)
    exact, drawn = (
        skh.AdditiveSmoother(model, product, draws=draws, rng=0, second_moments=True)
        for draws in (None, 40)
    )
    for belief in result.history:
        exact.update(belief)
        drawn.update(belief)
    np.testing.assert_allclose(drawn.value, exact.value, rtol=0.05)
    np.testing.assert_allclose(drawn.covariance, exact.covariance, rtol=0.3, atol=0.5)


def test_errors_of_sums():
    model = autoregression()
    history = run(model, T=3).history
    sums = skh.AdditiveSmoother(model, product)
    with pytest.raises(ValueError, match="before the first update"):
        _ = sums.value
    with pytest.raises(TypeError, match="belief must be that of a filter"):
        sums.update(3)
    sums.update(history[0])
    with pytest.raises(ValueError, match="must be that of t=1, got t=2"):
        sums.update(history[2])
    with pytest.raises(ValueError, match="second_moments=True"):
        _ = sums.covariance
    wrong = skh.AdditiveSmoother(model, lambda t, x, x_next: np.zeros(3))
    wrong.update(history[0])
    with pytest.raises(ValueError, match=r"functional at t=0 must return shape \(\d+, \d+\)"):
        wrong.update(history[1])
    with pytest.raises(TypeError, match="functional must be a function"):
        skh.AdditiveSmoother(model, 1.0)
    with pytest.raises(ValueError, match="initial must return shape"):
        skh.AdditiveSmoother(model, product, initial=lambda x: np.zeros(2)).update(history[0])
    wrong = skh.AdditiveSmoother(model, product, initial=lambda x: x)
    wrong.update(history[0])
    with pytest.raises(ValueError, match="must return 1 sums"):
        wrong.update(history[1])


def test_fixed_lag_is_smoothing_of_the_series_so_far():
    model = autoregression()
    result = run(model)
    smoother = skh.FixedLagSmoother(model, lag=3)
    for belief in result.history[:-1]:
        window = smoother.update(belief)
    assert (smoother.t, len(window.means)) == (3, 4)
    so_far = skh.inference.smoothing.smooth_history(result.history[:-1], model)
    np.testing.assert_allclose(window.means, so_far.means[3:], rtol=1e-12)
    with pytest.raises(ValueError, match="must be that of t=7, got t=0"):
        smoother.update(result.history[0])
    with pytest.raises(TypeError, match="belief must be"):
        smoother.update(None)


@pytest.mark.parametrize("kind", ["modes", "linear part"])
def test_fixed_lag_of_hidden_parts(kind):
    model = skh.models.jmls() if kind == "modes" else skh.rao_blackwellize(LGSS3, [0])
    _, ys = (model if kind == "modes" else LGSS3).simulate(5, rng=0)
    result = skh.particle_filter(model, ys, skh.Stratified(), 30, rng=0, history=True)
    smoother = skh.FixedLagSmoother(model, lag=2, rng=0)
    for belief in result.history:
        window = smoother.update(belief)
    expected = result.smooth(model, rng=0)
    np.testing.assert_allclose(window.means, expected.means[-3:], atol=0.2)
    np.testing.assert_allclose(window.z_means, expected.z_means[-3:], atol=0.2)
    with pytest.raises(TypeError, match="does not know how the records"):
        skh.AdditiveSmoother(model, product)


def test_fixed_lag_in_charts_has_the_states_of_its_own_charts():
    model, ys = Charted(Turning(), SE2()), [3.0, -3.0, -2.9, -2.6, -2.4]
    result = skh.particle_filter(model, ys, skh.Stratified(), 40, rng=0, history=True)
    smoother = skh.FixedLagSmoother(model, lag=2)
    for belief in result.history:
        window = smoother.update(belief)
    expected = result.smooth(model).mean_states[-3:]
    np.testing.assert_allclose(window.mean_states, expected, atol=1e-9)
