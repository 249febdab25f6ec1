"""Maximum likelihood, against the Kalman filter."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import skh
from skh.inference.bounds import checked_bounds
from skh.inference.fixed_particles import FixedParticles, has_densities
from skh.inference.local_evidence import LocalEvidence
from skh.inference.problem import Problem
from skh.inference.work import Work

POSITIVE = {"q": (0, None), "r": (0, None)}


def autoregression(q, r, rho=0.8):
    variance = [[q * q / (1 - rho * rho)]]
    return skh.models.LinearGaussian([[rho]], [[1.0]], [[q * q]], [[r * r]], [0.0], variance)


YS = autoregression(0.6, 0.5).simulate(40, rng=0)[1]


def exact(values, ys=YS, model=autoregression):
    return skh.kalman_filter(model(**values), ys).log_evidence


@pytest.fixture(scope="module")
def fitted():
    start = {"q": 2.0, "r": 0.1}
    return skh.fit(autoregression, YS, start, bounds=POSITIVE, n=30, rng=0)


def test_the_evidence_at_fixed_particles_is_that_of_the_filter_and_near_the_exact_one_beside_it():
    values, other = {"q": 0.7, "r": 0.6}, {"q": 0.5, "r": 0.5}
    problem = Problem.of(autoregression, YS, None, 40, 0)
    run = problem.run(values, history=True)
    local = FixedParticles.of(problem, values, run.history)
    np.testing.assert_allclose(
        local.increments(values), run.log_evidence_increments, rtol=0, atol=1e-9
    )
    assert local.n_likelihood_evaluations == sum(len(b.x) for b in run.history)
    change = local.increments(other).sum() - run.log_evidence
    assert change == pytest.approx(exact(other) - exact(values), abs=0.02)
    steps = 1e-4 * np.arange(-1, 2)
    f = [local.increments({"q": 0.7 + h, "r": 0.6}).sum() for h in steps]
    g = [exact({"q": 0.7 + h, "r": 0.6}) for h in steps]
    assert f[2] - f[0] == pytest.approx(g[2] - g[0], rel=0.03)  # the score
    assert abs(f[2] + f[0] - 2 * f[1]) < 1e-5  # no jumps


@pytest.mark.parametrize("rule", [skh.Stratified(), None])
def test_the_gradient_at_fixed_particles_is_the_score_of_fishers_identity(rule):
    values = {"q": 0.7, "r": 0.6}
    problem = Problem.of(autoregression, YS[:8], rule, 20, 0)
    score = skh.score(autoregression, values, YS[:8], rule, 20, rng=problem.seed)
    local = FixedParticles.of(problem, values, problem.run(values, history=True).history)
    for name, derivative in zip(score.names, score.gradient, strict=True):
        ends = [{**values, name: values[name] + h} for h in (1e-4, -1e-4)]
        high, low = (local.increments(end).sum() for end in ends)
        assert (high - low) / 2e-4 == pytest.approx(derivative, rel=1e-3)


def test_steps_without_an_observation_count():
    ys = [*YS[:5], None, *YS[5:8], [np.nan]]
    values, other = {"q": 0.7, "r": 0.6}, {"q": 0.5, "r": 0.7}
    problem = Problem.of(autoregression, ys, None, 40, 0)
    local = FixedParticles.of(problem, values, problem.run(values, history=True).history)
    assert local.increments(other)[[5, 9]].tolist() == [0.0, 0.0]
    assert local.increments(other).sum() == pytest.approx(exact(other, ys), abs=0.01)


def test_it_finds_the_exact_optimum_and_standard_errors(fitted):
    best = optimize.minimize(
        lambda z: -exact(dict(zip("qr", np.exp(z), strict=True))), [0.0, 0.0], method="Nelder-Mead"
    )
    assert fitted.converged, fitted.message
    assert -best.fun - exact(fitted.parameters) < 0.01
    assert fitted.log_evidence == pytest.approx(-best.fun, abs=0.02)
    h, x = 1e-3, np.array(list(fitted.parameters.values()))

    def f(v):
        return exact(dict(zip("qr", v, strict=True)))

    e = h * np.eye(2)
    H = [[f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for b in e] for a in e]
    errors = np.sqrt(np.diagonal(np.linalg.inv(-np.array(H) / (4 * h * h))))
    np.testing.assert_allclose(list(fitted.standard_errors.values()), errors, rtol=0.1)
    assert not fitted.numerical_error.matters
    assert fitted.smooth
    assert 3 <= fitted.n_filters < 15
    assert fitted.trace[-1].parameters == fitted.parameters
    assert fitted.bic == pytest.approx(2 * np.log(40) - 2 * fitted.log_evidence)
    assert "2" in repr(fitted)
    assert "std. errors" in repr(fitted)


def test_parameters_without_a_maximum_are_named(fitted):
    shifts = {"q": np.nan, "r": 0.4}
    unclear = replace(
        fitted,
        standard_errors={"q": np.nan, "r": 0.1},
        numerical_error=fitted.numerical_error._replace(parameters=shifts),
    )
    assert "no maximum in q: fix one" in repr(unclear)
    assert "use more particles" not in repr(unclear)
    assert "no maximum" not in repr(fitted)


def test_an_evidence_that_jumps_between_neighbours_is_said_to_jump(monkeypatch):
    bounds, z = checked_bounds(("q",), {"q": (0, None)}), np.log([0.6])
    problem = Problem.of(lambda q: autoregression(q, 0.5), YS[:5], skh.Stratified(), 10, 0)
    here = LocalEvidence.at(problem, bounds, z, Work())

    def jumping(self, points):
        return self.log_evidence - 20.0 * (np.array(points)[:, 0] > z[0] + 1e-9)

    monkeypatch.setattr(LocalEvidence, "values", jumping)
    with pytest.raises(ValueError, match=r"jumps by 20 beside q near q=0\.6: use more particles"):
        here.scales()


@pytest.mark.parametrize("log_evidence", [None, -50.0])
def test_a_filter_that_is_lost_beside_the_optimum_does_not_spoil_standard_errors(
    log_evidence, monkeypatch
):
    bounds, z = checked_bounds(("q",), {"q": (0, None)}), np.log([0.6])
    problem = Problem.of(lambda q: autoregression(q, 0.5), YS[:15], None, 20, 0)
    here = LocalEvidence.at(problem, bounds, z, Work())
    metric = here.metric(here.scales())
    expected = here.information_by_scores(problem, metric)
    at = LocalEvidence.at

    def lost_above(problem, bounds, z_there, *options):
        there = at(problem, bounds, z_there, *options)
        if z_there[0] < z[0]:
            return there
        return None if log_evidence is None else replace(there, base=there.base + log_evidence)

    monkeypatch.setattr(LocalEvidence, "at", lost_above)
    found = here.information_by_scores(problem, metric)
    assert found != expected
    np.testing.assert_allclose(found, expected, rtol=0.3)


def test_the_profile_is_that_of_the_kalman_filter(fitted):
    profile = fitted.profile("q", points=3, width=1.5)
    for value, found in zip(profile.values, profile.log_evidence, strict=True):
        best = optimize.minimize_scalar(
            lambda z, q=value: -exact({"q": q, "r": np.exp(z)}), bounds=(-5, 1), method="bounded"
        )
        assert found == pytest.approx(-best.fun, abs=0.05)
    low, high = profile.interval(0.5)
    assert low < fitted.parameters["q"] < high
    assert profile.interval(0.9999) == (-np.inf, np.inf)  # beyond the values
    assert profile.plot().axes[0].get_xlabel() == "q"
    with pytest.raises(ValueError, match=r"name must be one of the parameters q, r, got 'rho'"):
        fitted.profile("rho")
    with pytest.raises(ValueError, match=r"values\['q'\] must be strictly between 0 and inf"):
        fitted.profile("q", [0.5, -1.0])


def test_the_interval_of_few_values_is_that_of_the_exact_profile(fitted):
    """Values are interpolated on a log scale, where the profile is nearly a parabola."""
    q = np.linspace(0.2, 1.2, 101)
    exact_profile = [
        -optimize.minimize_scalar(
            lambda z, q=value: -exact({"q": q, "r": np.exp(z)}), bounds=(-5, 1), method="bounded"
        ).fun
        for value in q
    ]
    inside = q[exact_profile > np.max(exact_profile) - 0.5 * stats.chi2.ppf(0.9, 1)]
    profile = fitted.profile("q", points=3)
    np.testing.assert_allclose(profile.interval(0.9), inside[[0, -1]], atol=0.04)
    rounded = replace(profile, values=profile.values * (1 + 4e-16))  # no second value beside best
    np.testing.assert_allclose(rounded.interval(0.9), profile.interval(0.9), rtol=1e-6)


def test_an_interrupted_search_goes_on_to_the_same_result(tmp_path):
    path, calls, ys = tmp_path / "fit.npz", [], YS[:10]
    options = {"bounds": {"q": (0, None)}, "n": 20, "rule": skh.Stratified()}

    def failing(q):
        calls.append(q)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return autoregression(q, 0.5)

    def alone(q):
        return autoregression(q, 0.5)

    whole = skh.fit(alone, ys, {"q": 3.0}, rng=0, **options)
    with pytest.raises(KeyboardInterrupt):
        skh.fit(failing, ys, {"q": 3.0}, rng=0, file=path, **options)
    again = skh.fit(alone, ys, {"q": 3.0}, file=path, **options)
    assert again.parameters == whole.parameters
    assert again.trace == whole.trace
    with pytest.raises(skh.SavedFileError, match="other start"):
        skh.fit(alone, ys, {"q": 1.0}, file=path, **options)
    with pytest.raises(skh.SavedFileError, match="another rng"):
        skh.fit(alone, ys, {"q": 3.0}, rng=1, file=path, **options)


def test_workers_and_units_change_nothing_and_the_best_of_several_starts_is_kept():
    c, done = 1e9, []  # of the observations, and so of q and r
    one = skh.fit(autoregression, YS[:20], {"q": 1.0, "r": 0.3}, bounds=POSITIVE, n=20, rng=0)
    starts = [{"q": 1.0 * c, "r": 0.3 * c}, {"q": 0.5 * c, "r": 0.5 * c}]
    options = {"bounds": POSITIVE, "n": 20, "rng": 0}
    with ThreadPoolExecutor(2) as executor:
        other = skh.fit(
            autoregression,
            c * YS[:20],
            starts,
            executor=executor,
            progress=lambda k, total: done.append(k),
            **options,
        )
    for name, value in one.parameters.items():
        assert other.parameters[name] / c == pytest.approx(value, rel=0.05)
    assert done == list(range(1, len(done) + 1))
    assert other.optima[0][1] >= other.optima[1][1]


def test_a_state_that_hardly_moves_is_left_again():
    """Fixed particles mislead there: transitions are much narrower than particles are spaced."""
    bounds = {"rho": (-1, 1), **POSITIVE}
    ys = autoregression(0.5, 0.7, 0.9).simulate(25, rng=20)[1]
    start = {"rho": 0.9999, "q": 0.012, "r": 1.4}
    found = skh.fit(autoregression, ys, start, bounds=bounds, n=15, rng=0)

    def f(z):
        values = {"rho": np.tanh(z[0]), "q": np.exp(z[1]), "r": np.exp(z[2])}
        return exact(values, ys)

    best = optimize.minimize(lambda z: -f(z), [1.5, -0.7, -0.4], method="Nelder-Mead")
    assert found.converged, found.message
    assert f([4.0, np.log(0.012), np.log(1.4)]) < -best.fun - 5
    assert -best.fun - exact(found.parameters, ys) < 0.02


def test_free_parameters_are_found_in_any_units():
    c, ys = 1e-9, np.array([3.1, 2.7, 3.3, 2.9, 3.0, 3.2])

    def constant(mean):
        log_likelihood = lambda t, x, y: -0.5 * (y / c - mean / c - x[:, 0]) ** 2  # noqa: E731
        return skh.model_from_functions(([0.0], 0.01), lambda t, x: (0 * x, 0.01), log_likelihood)

    found = skh.fit(constant, c * ys, {"mean": 0.0}, rule=skh.Stratified(), n=20, rng=0)
    assert found.parameters["mean"] == pytest.approx(c * ys.mean(), rel=0.01)
    assert found.standard_errors["mean"] == pytest.approx(c * np.sqrt(1.01 / 6), rel=0.05)


def two_dimensional(r, Q=(0.36, 0.1)):
    R, A = [[r * r]], np.diag([0.8, 0.5])
    return skh.models.LinearGaussian(A, [[1.0, 1.0]], np.diag(Q), R, np.zeros(2), np.eye(2))


def hidden(r):
    return skh.rao_blackwellize(two_dimensional(r), x=[0])


def test_models_without_transition_densities_are_fitted_by_large_differences():
    assert has_densities(two_dimensional(0.5))
    assert not has_densities(hidden(0.5))  # carries records
    assert not has_densities(two_dimensional(0.5, Q=(0.36, 0.0)))  # a direction without noise
    ys = two_dimensional(0.9).simulate(15, rng=1)[1]
    found = skh.fit(hidden, ys, {"r": 1.5}, bounds={"r": (0, None)}, n=12, rng=0)

    def f(r):
        return skh.kalman_filter(two_dimensional(r), ys).log_evidence

    best = optimize.minimize_scalar(lambda r: -f(r), bounds=(0.1, 2), method="bounded")
    assert not found.smooth
    assert -best.fun - f(found.parameters["r"]) < 0.02


@given(
    st.lists(st.floats(-20, 20), min_size=4, max_size=4),
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
)
@settings(max_examples=50, deadline=None)
def test_free_coordinates_and_parameters_are_inverse(z, low, width):
    names = ("a", "b", "c", "d")
    given_bounds = {"b": (0, None), "c": (None, 0), "d": (low, low + width)}
    bounds = checked_bounds(names, given_bounds)
    values = bounds.named(np.array(z))
    assert values["b"] > 0 > values["c"]
    assert low < values["d"] < low + width
    np.testing.assert_allclose(bounds.free(values)[:3], z[:3], rtol=1e-9, atol=1e-9)
    if abs(z[3]) < 5 and abs(low) < 1e3 * width:
        assert bounds.free(values)[3] == pytest.approx(z[3], rel=1e-6, abs=1e-6)
    h = 1e-5
    difference = (bounds.values(np.array(z) + h) - bounds.values(np.array(z) - h)) / (2 * h)
    np.testing.assert_allclose(bounds.slopes(np.array(z))[:3], difference[:3], rtol=1e-6)


BAD = {
    "no function": (
        lambda: skh.fit(autoregression(1, 1), YS, {"q": 1.0}),
        TypeError,
        r"make_model must be a function",
    ),
    "a vector": (
        lambda: skh.fit(autoregression, YS, [1.0, 2.0]),
        TypeError,
        r"start must be a dict such as",
    ),
    "nothing": (lambda: skh.fit(autoregression, YS, []), ValueError, r"start must hold at least"),
    "outside": (
        lambda: skh.fit(autoregression, YS, {"q": -1.0}, bounds={"q": (0, None)}),
        ValueError,
        r"start\['q'\] must be strictly between 0 and inf, got -1.0",
    ),
    "not a number": (
        lambda: skh.fit(autoregression, YS, {"q": "a"}),
        ValueError,
        r"start\['q'\] must be a finite number, got 'a'",
    ),
    "crossed": (
        lambda: skh.fit(autoregression, YS, {"q": 1.0}, bounds={"q": (1, 0)}),
        ValueError,
        r"bounds\['q'\] must be \(low, high\) with low < high",
    ),
    "unknown": (
        lambda: skh.fit(autoregression, YS, {"q": 1.0}, bounds={"s": (1, 0)}),
        ValueError,
        r"bounds must be of the parameters q, got 's'",
    ),
    "not a pair": (
        lambda: skh.fit(autoregression, YS, {"q": 1.0}, bounds={"q": 3}),
        TypeError,
        r"bounds\['q'\] must be a pair",
    ),
    "other names": (
        lambda: skh.fit(autoregression, YS, [{"q": 1.0}, {"r": 1.0}]),
        ValueError,
        r"start must have the parameters q, got r",
    ),
    "no executor": (
        lambda: skh.fit(autoregression, YS, {"q": 1.0}, executor=3),
        TypeError,
        r"executor must follow concurrent.futures.Executor, got 3",
    ),
    "no evidence": (
        lambda: skh.fit(impossible, YS[:3], {"q": 1.0}, rule=skh.Stratified(), n=5),
        ValueError,
        r"start must have a positive evidence.*q=1",
    ),
    "no influence": (
        lambda: skh.fit(
            lambda q: autoregression(1.0, 1.0), YS[:3], {"q": 1.0}, rule=skh.Stratified(), n=5
        ),
        ValueError,
        r"the evidence does not depend on q near q=1",
    ),
}


def impossible(q):
    return skh.model_from_functions(
        ([0.0], 1.0), lambda t, x: (x, q), lambda t, x, y: np.full(len(x), -np.inf)
    )


@pytest.mark.parametrize("case", BAD)
def test_errors_name_argument_value_and_expectation(case):
    call, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        call()


def test_an_error_of_the_model_says_at_which_parameters():
    with pytest.raises(ValueError, match="persistence") as error:
        skh.fit(skh.models.stochastic_volatility, YS, {"persistence": 1.5}, n=10)
    assert "make_model(persistence=1.5)" in error.value.__notes__[0]
