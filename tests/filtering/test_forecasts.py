"""Forecasts and residuals of observations against the Kalman filter."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import stats

import skh
from skh.filtering.residuals import Residuals

MODEL = skh.models.lgss3()
YS = MODEL.simulate(60, rng=3)[1]


def predictions(ys, h=1):
    """Exact mean and standard deviation of y_t given the observations up to t - h."""
    exact = skh.kalman_filter(MODEL, ys)
    rows = []
    for t in range(len(ys)):
        m, P = MODEL.initial_mean, MODEL.initial_covariance
        if t >= h:
            m, P = exact.means[t - h], exact.covariances[t - h]
        for _ in range(min(t, h)):
            m, P = MODEL.A @ m, MODEL.A @ P @ MODEL.A.T + MODEL.Q
        rows.append([(MODEL.C @ m)[0], (MODEL.C @ P @ MODEL.C.T + MODEL.R)[0, 0] ** 0.5])
    return np.array(rows)


class Drawing:
    """The same model without its distribution function."""

    prior, transition, observe = MODEL.prior, MODEL.transition, MODEL.observe
    log_likelihood = MODEL.log_likelihood


class Silent:
    """The same model without any law of its observations."""

    prior, transition, log_likelihood = MODEL.prior, MODEL.transition, MODEL.log_likelihood


@pytest.mark.parametrize("h", [1, 3])
def test_forecasts_of_observations_are_those_of_the_kalman_filter(h):
    """Errors of quantiles with 5,000 draws: 0.03 standard deviations; tolerance 0.12."""
    pf = skh.ParticleFilter(MODEL, skh.Stratified(), 1000, rng=0)
    for y in YS[:5]:
        pf.step(y)
    forecast = pf.predict_observation(h, draws=5000)
    assert forecast.t == 4 + h
    mean, sd = predictions(YS[: 5 + h], h)[4 + h]
    exact = stats.norm.ppf([0.1, 0.5, 0.9], mean, sd)
    np.testing.assert_allclose(forecast.quantile([0.1, 0.5, 0.9])[:, 0], exact, atol=0.12 * sd)
    assert forecast.mean[0] == pytest.approx(mean, abs=0.12 * sd)
    assert forecast.covariance[0, 0] == pytest.approx(sd**2, rel=0.15)
    states = pf.predict(h)  # exact quantiles of the state's mixture
    low, high = states.quantile([0.1, 0.9])
    x, _ = states.sample(4000, rng=0)
    inside = ((x > low) & (x < high)).mean(axis=0)
    np.testing.assert_allclose(inside, 0.8, atol=0.03)


def test_a_forecast_leaves_the_filter_and_its_random_numbers_alone():
    pf, other = (skh.ParticleFilter(MODEL, skh.MonteCarlo(), 20, rng=0) for _ in range(2))
    for y in YS[:3]:
        first = pf.predict_observation(2, draws=10)
        np.testing.assert_array_equal(first.y, pf.predict_observation(2, draws=10).y)
        np.testing.assert_array_equal(pf.step(y).x, other.step(y).x)
    question, again = pf.ask(), other.ask()
    pf.predict_observation(2, draws=10)
    np.testing.assert_array_equal(question.x, again.x)
    a, b = (pf.predict_observation(draws=10, rng=rng).y for rng in (1, 2))
    assert not np.array_equal(a, b)


def test_draws_of_different_steps_are_independent():
    pf = skh.ParticleFilter(Drawing(), skh.MonteCarlo(), 20, rng=0)
    draws = []
    for _ in range(2):
        draws.append(pf.predict_observation(draws=500).y[:, 0])
        pf.step(None)
    assert abs(np.corrcoef(*draws)[0, 1]) < 0.15


def test_charted_models_draw_from_states():
    class Compass:
        def prior(self):
            return np.array([3.0]), 0.01

        def transition(self, t, s):
            return s + 0.2, 0.01

        def log_likelihood(self, t, s, y):
            return np.cos(s[:, 0] - y) * 20

        def observe(self, t, s, rng):
            return s[0]

    model = skh.geometry.Charted(Compass(), skh.geometry.Angles(1, angles=[0]))
    pf = skh.ParticleFilter(model, skh.Stratified(), 50, rng=0)
    pf.step(3.1)
    y = pf.predict_observation(2, draws=100).y
    assert y.shape == (100, 1)
    turned = np.angle(np.exp(1j * (y[:, 0] - 3.5)))
    assert np.abs(turned.mean()) < 0.2


def test_residuals_are_those_of_the_kalman_filter():
    """N = 2,000: root mean square error 0.002, largest 0.007; tolerances 0.006 and 0.03."""
    mean, sd = predictions(YS).T
    exact = stats.norm.cdf(YS[:, 0], mean, sd)
    found = skh.pit(MODEL, YS, skh.Stratified(), 2000, rng=0)
    assert np.sqrt(np.mean((found.pit[:, 0] - exact) ** 2)) < 0.006
    assert np.abs(found.pit[:, 0] - exact).max() < 0.03
    np.testing.assert_allclose(found.normal, stats.norm.ppf(found.pit), atol=1e-9)
    drawn = skh.pit(Drawing(), YS, skh.Stratified(), 1000, rng=0, draws=400)
    assert np.sqrt(np.mean((drawn.pit[:, 0] - exact) ** 2)) < 0.04


def test_residuals_of_a_history_are_those_of_the_run():
    result = skh.particle_filter(MODEL, YS, skh.Stratified(), 200, rng=0, history=True)
    online = skh.pit(MODEL, YS, skh.Stratified(), 200, rng=0)
    later = result.pit(MODEL, YS, rng=1)
    np.testing.assert_allclose(later.pit, online.pit, atol=0.01)  # the same predictions


def test_residuals_are_uniform_if_the_model_is_right_and_not_otherwise():
    ys = MODEL.simulate(300, rng=5)[1]
    right, wrong = (skh.pit(MODEL, s * ys, skh.Stratified(), 100, rng=0) for s in (1.0, 1.5))
    assert right.p_values[0] > 0.05
    assert wrong.p_values[0] < 0.01
    assert abs(right.normal.std() - 1) < 0.12


def test_discrete_residuals_are_uniform_by_ranks_and_by_a_pair():
    counts = skh.models.counts()
    ys = counts.simulate(150, rng=0)[1]

    class Pair:
        prior, transition = counts.prior, counts.transition
        log_likelihood = counts.log_likelihood

        def observation_cdf(self, t, x, y):
            rate = counts.rate * np.exp(x)
            return stats.poisson.cdf(y - 1, rate), stats.poisson.cdf(y, rate)

    for model in (counts, Pair()):
        found = skh.pit(model, ys, skh.Stratified(), 100, rng=0, draws=200)
        assert found.p_values[0] > 0.05
        assert len(np.unique(found.pit)) == 150  # spread within each count


def test_missing_entries_have_no_residuals():
    two = skh.models.LinearGaussian(
        np.eye(1), np.ones((2, 1)), np.eye(1), np.eye(2), np.zeros(1), np.eye(1)
    )
    ys = [[0.1, np.nan], None, [np.nan, 0.3], [0.2, 0.5]]
    found = skh.pit(two, ys, skh.Stratified(), 20, rng=0)
    missing = [[False, True], [True, True], [True, False], [False, False]]
    np.testing.assert_array_equal(np.isnan(found.pit), missing)
    assert repr(found).startswith("Residuals(4 steps, 2 entries")


def test_a_sensor_without_noise_has_levels_zero_and_one():
    exact = skh.models.LinearGaussian(
        np.eye(1), np.eye(1), np.eye(1), np.zeros((1, 1)), np.zeros(1), np.eye(1)
    )
    x = np.array([[-1.0], [0.0], [1.0]])
    assert exact.observation_cdf(0, x, 0.0).ravel().tolist() == [1.0, 1.0, 0.0]


def test_residuals_are_drawn():
    figure = skh.pit(MODEL, YS, skh.Stratified(), 50, rng=0).plot(name="range")
    figure.canvas.draw()
    over_time, histogram, _, correlations = figure.axes
    assert len(over_time.lines[0].get_xdata()) == 60
    assert sum(bar.get_height() for bar in histogram.patches if bar.get_width() < 0.9) == 60
    assert len(correlations.collections[0].get_segments()) == 25
    Residuals(np.full((4, 1), 0.5)).plot().canvas.draw()  # all the same


def wrong(**methods):
    """The model with other methods."""
    return type("Wrong", (Silent,), methods)()


PF = skh.ParticleFilter(MODEL, skh.Stratified(), 10, rng=0)
BAD = {
    "no steps": (lambda: PF.predict_observation(0), r"h must be a positive integer, got 0"),
    "no draws": (lambda: PF.predict_observation(draws=0), r"draws must be a positive integer"),
    "a model that cannot draw": (
        lambda: skh.ParticleFilter(Silent()).predict_observation(),
        r"predict_observation needs a model with observe\(t, x, rng\)",
    ),
    "draws that are words": (
        lambda: skh.ParticleFilter(
            wrong(observe=lambda self, t, x, rng: "y"), skh.Stratified(), rng=0
        ).predict_observation(),
        r"model\.observe at t=0 must return numbers, in arrays of one shape, got 'y'",
    ),
    "levels": (
        lambda: PF.predict_observation(draws=3).quantile(2),
        r"q must be numbers in \[0, 1\]",
    ),
    "no law": (
        lambda: skh.pit(Silent(), YS, skh.Stratified(), rng=0),
        r"pit needs a model with observation_cdf\(t, x, y\) or observe\(t, x, rng\)",
    ),
    "nothing measured": (
        lambda: skh.pit(MODEL, [None, None], skh.Stratified(), rng=0),
        r"ys must hold at least one measured observation",
    ),
    "words": (
        lambda: skh.pit(MODEL, ["a"], skh.Stratified(), rng=0),
        r"pit needs observations that are numbers, got 'a' at t=0",
    ),
    "draws of another shape": (
        lambda: skh.pit(
            wrong(observe=lambda self, t, x, rng: np.zeros(3)), YS, skh.Stratified(), rng=0
        ),
        r"model\.observe must draw 1 entries, as in y at t=0, got 3",
    ),
    "levels beyond one": (
        lambda: skh.pit(
            wrong(observation_cdf=lambda self, t, x, y: 1.5 + 0 * x[:, :1]),
            *(YS, skh.Stratified()),
            rng=0,
        ),
        r"model\.observation_cdf at t=0 must return numbers in \[0, 1\], got 1\.5",
    ),
    "levels of another shape": (
        lambda: skh.pit(
            wrong(observation_cdf=lambda self, t, x, y: x), YS, skh.Stratified(), rng=0, draws=50
        ),
        r"model\.observation_cdf at t=0 must return shape \(50, 1\), got \(50, 3\)",
    ),
    "three levels": (
        lambda: skh.pit(
            wrong(observation_cdf=lambda self, t, x, y: (x, x, x)), YS, skh.Stratified(), rng=0
        ),
        r"must return an array or a pair, got a tuple of 3",
    ),
    "no history": (
        lambda: skh.particle_filter(MODEL, YS[:2], skh.Stratified(), 5).pit(MODEL, YS[:2]),
        r"pit needs particle_filter\(\.\.\., history=True\)",
    ),
    "another series": (
        lambda: skh.particle_filter(MODEL, YS[:2], skh.Stratified(), 5, history=True).pit(
            MODEL, YS[:3]
        ),
        r"ys must be the 2 observations, got 3",
    ),
    "an entry too many": (
        lambda: Residuals(np.full((5, 1), 0.5)).plot(1),
        r"entry must be below 1, got 1",
    ),
    "too few residuals": (
        lambda: Residuals(np.full((2, 1), 0.5)).plot(),
        r"plot needs at least 3 residuals, got 2",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_wrong_calls_are_named_and_change_nothing(call, message):
    before = deepcopy(PF._rng.bit_generator.state)
    with pytest.raises((TypeError, ValueError), match=message):
        call()
    assert PF.t == 0
    assert PF._rng.bit_generator.state == before


class Drift:
    """A place that drifts ahead and is measured with noise; all states are exactly Gaussian."""

    def prior(self):
        return skh.GaussianMixture([1.0], [[0.0]], 0.01)

    def transition(self, t, x, dt):
        return x + dt, 0.1 * dt

    def log_likelihood(self, t, x, y):
        return -0.5 * (y - x[:, 0]) ** 2 / 0.04

    def observe(self, t, x, rng):
        return rng.normal(x[0], 0.2)


class DriftOnCircle(Drift):
    """The same, an angle."""

    def prior(self):
        return np.zeros(1), 0.01


class Functions:
    """A charted model of functions, whose observations can be drawn."""

    model = skh.model_from_functions(
        ([0.0], 0.01), lambda t, x, dt: (x + dt, 0.1 * dt), Drift().log_likelihood
    )
    observe = Drift.observe

    def __getattr__(self, name):
        return getattr(Functions.model, name)


CIRCLE = skh.geometry.Angles(1, angles=[0])
DRIFTS = {
    "plain": Drift(),
    "charted": skh.geometry.Charted(DriftOnCircle(), CIRCLE),
    "charted functions": skh.geometry.Charted(Functions(), CIRCLE),
}


@pytest.mark.parametrize("h", [1, 3])
@pytest.mark.parametrize("dates", [False, True])
@pytest.mark.parametrize("model", DRIFTS.values(), ids=DRIFTS)
def test_forecasts_of_models_that_take_dt(model, dates, h):
    """Errors with 2,000 draws: 0.02 standard deviations; tolerance 0.1."""
    start, later = (np.datetime64("2024-02-29T12:00:00", "ms"), np.timedelta64(600, "ms"))
    times = (start, start + later) if dates else (7.0, 7.6)
    pf = skh.ParticleFilter(model, skh.Stratified(), 500, rng=0)
    pf.predict_observation(draws=10)  # of the first, the time does not matter
    pf.step(0.0, t=times[0])
    y = pf.predict_observation(h, draws=2000, t=times[1]).y[:, 0]
    P = 1 / (1 / 0.01 + 1 / 0.04)
    sd = np.sqrt(P + 0.1 * 0.6 + 0.04)
    assert y.mean() == pytest.approx(0.6, abs=0.1 * sd)
    assert y.std() == pytest.approx(sd, rel=0.1)
    with pytest.raises(TypeError, match=r"t must be the time to predict for"):
        pf.predict_observation(h)
    with pytest.raises(ValueError, match=r"t must be later than the time before"):
        pf.predict_observation(h, t=times[0])


def test_residuals_of_models_that_take_dt():
    """Uneven times: uniform with them, not with other ones; by ranks of draws."""
    rng, times = np.random.default_rng(0), np.cumsum(np.tile([0.01, 2.0], 60))
    x = rng.normal(0, 0.1) + np.cumsum(
        np.r_[0, rng.normal(np.diff(times), np.sqrt(0.1 * np.diff(times)))]
    )
    ys = rng.normal(x, 0.2)
    run = {"rule": skh.Stratified(), "n": 100, "rng": 0}
    right = skh.pit(DRIFTS["plain"], ys, **run, times=times, draws=200)
    assert right.p_values[0] > 0.05
    wrong = skh.pit(DRIFTS["plain"], ys, **run, times=1.3 * times, draws=200)
    assert wrong.p_values[0] < 0.01
    result = skh.particle_filter(DRIFTS["plain"], ys, **run, times=times, history=True)
    later = result.pit(DRIFTS["plain"], ys, rng=1, draws=200)
    assert later.p_values[0] > 0.05
    with pytest.raises(ValueError, match=r"times must hold one time for each of the 120"):
        skh.pit(DRIFTS["plain"], ys, **run, times=times[1:])
    with pytest.raises(TypeError, match=r"t must be the time of the observation"):
        skh.pit(DRIFTS["plain"], ys, **run)


def test_untimed_charts_forecast_after_steps_with_times():
    class Steady(DriftOnCircle):
        def transition(self, t, x):
            return x + 0.5, 0.1

    pf = skh.ParticleFilter(skh.geometry.Charted(Steady(), CIRCLE), skh.Stratified(), 50, rng=0)
    pf.step(0.0, t=1.0)
    y = pf.predict_observation(2, draws=200).y
    assert y.mean() == pytest.approx(1.0, abs=0.2)
