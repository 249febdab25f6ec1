"""Maximum likelihood by filters whose evidence is too noisy to be compared."""

import numpy as np
import pytest
from scipy import optimize

import skh
from skh.inference.ascent import Ascent, Step, Task
from skh.inference.bounds import checked_bounds
from skh.inference.problem import Problem
from skh.inference.scoring import Scoring
from skh.inference.surface import Quadratic, hypercube
from skh.inference.work import Work

POSITIVE = {"q": (0, None), "r": (0, None)}


def precise(q, r):
    """Observed twice with so little noise that most random particles have no weight."""
    Q, R = [[q * q]], r * r * np.eye(2)
    return skh.models.LinearGaussian([[0.8]], np.ones((2, 1)), Q, R, [0.0], [[q * q / 0.36]])


YS = precise(0.6, 0.25).simulate(60, rng=2)[1]


def exact(z):
    q, r = np.exp(z)
    return skh.kalman_filter(precise(q, r), YS).log_evidence


@pytest.fixture(scope="module")
def best():
    """The exact optimum of log q and log r, and its covariance."""
    z = optimize.minimize(lambda z: -exact(z), np.log([0.6, 0.25]), method="Nelder-Mead").x
    h = 0.05 * np.eye(2)
    H = [
        [(exact(z + a + b) - exact(z + a - b) - exact(z - a + b) + exact(z - a - b)) for a in h]
        for b in h
    ]
    return z, np.linalg.inv(-np.array(H) / (4 * 0.05**2))


def fitted(**options):
    settings = {"n": 100, "rule": skh.Stratified(), "rng": 0, **options}
    return skh.fit(precise, YS, {"q": 1.0, "r": 0.5}, bounds=POSITIVE, **settings)


@pytest.fixture(scope="module")
def found():
    return fitted()


def test_the_search_turns_to_means_of_maxima_where_the_evidence_is_noisy(found, best):
    z, covariance = best
    assert found.noise > 1.0
    assert found.converged
    assert found.message == "converged to the noise of the evidence"
    errors = np.sqrt(np.diagonal(covariance))
    off = (np.log([found.parameters["q"], found.parameters["r"]]) - z) / errors
    assert np.abs(off).max() < 0.5
    relative = [found.standard_errors[k] / found.parameters[k] for k in ("q", "r")]
    np.testing.assert_allclose(relative, errors, rtol=0.1)
    # More particles would move the optimum towards the exact one, by about as much as it is off.
    shifts = np.array(list(found.numerical_error.parameters.values()))
    assert np.abs(shifts + off).max() < 0.2
    assert abs(found.log_evidence - exact(z)) < 2.0
    assert "from seed to seed" in repr(found)


def test_a_noisy_evidence_has_no_profile(found):
    with pytest.raises(ValueError, match=r"varies by .* from seed to seed, too much for a profile"):
        found.profile("q")


def test_an_interrupted_search_goes_on(found, tmp_path):
    path, calls = tmp_path / "fit.npz", []

    def interrupting(done, total):
        calls.append(done)
        if done == len(found.trace) - 5:  # among the maxima that are averaged
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(file=path, progress=interrupting)
    again = fitted(file=path)
    assert again.parameters == found.parameters
    assert repr(again.trace) == repr(found.trace)  # it may hold NaN


def test_it_can_be_chosen_for_a_start(best):
    z, covariance = best
    alone = fitted(search=skh.Scoring(runs=4), n=50)
    off = (np.log(list(alone.parameters.values())) - z) / np.sqrt(np.diagonal(covariance))
    assert np.abs(off).max() < 1.0
    assert len(alone.trace) >= 8


def constant(mean):
    """A level near zero, seen within a unit of ``mean`` or not at all."""

    def log_likelihood(t, x, y):
        return np.where(np.abs(y - mean - x[:, 0]) < 1.0, 0.0, -np.inf)

    return skh.model_from_functions(([0.0], 0.01), lambda t, x: (0 * x, 0.01), log_likelihood)


def test_models_without_densities_and_impossible_starts_are_refused():
    still = skh.models.LinearGaussian(np.eye(1), np.eye(1), [[0.0]], np.eye(1), [0.0], np.eye(1))
    options = {"n": 10, "rng": 0, "search": skh.Scoring()}
    with pytest.raises(ValueError, match="transitions have densities, got LinearGaussian"):
        skh.fit(lambda q: still, np.zeros((3, 1)), {"q": 1.0}, **options)
    with pytest.raises(ValueError, match="start must have a positive evidence"):
        skh.fit(constant, [0.0, 0.1], {"mean": 50.0}, rule=skh.Stratified(), **options)
    with pytest.raises(ValueError, match="runs"):
        skh.Scoring(runs=0)


def test_a_step_to_where_the_evidence_is_zero_is_taken_back_by_half():
    ascent = Ascent(
        np.array([8.0]), steps=(Step({"mean": 0.0}, -1.0, 0.5, 8.0),), maxima=(), radius=8.0
    )
    problem = Problem.of(constant, [0.0, 0.1], skh.Stratified(), 10, 0)
    bounds = checked_bounds(("mean",), None)
    seen = []
    Scoring().climb(Task(problem, bounds, Work(), 3, seen.append), ascent)
    assert [float(step.z[0]) for step in seen] == [4.0, 2.0]


def test_a_quadratic_through_noisy_values_is_found_in_spite_of_outliers():
    rng = np.random.default_rng(0)
    U, H = hypercube(400, 2, rng), np.array([[-4.0, 1.0], [1.0, -2.0]])
    f = 5.0 + U @ [1.0, -0.5] + 0.5 * np.einsum("ni,ij,nj->n", U, H, U)
    f += 0.5 * rng.normal(size=400)
    f[::10] -= 100.0  # filters that lost the state
    q = Quadratic.of(U, f)
    np.testing.assert_allclose(q.curvature, H, atol=0.6)
    np.testing.assert_allclose(q.maximum(), np.linalg.solve(-H, [1.0, -0.5]), atol=0.1)
    assert q.noise == pytest.approx(0.5, rel=0.2)
    assert q(q.maximum()) > q(np.zeros(2))
    beyond = Quadratic(0.0, np.array([3.0, 0.0]), H, 0.0).maximum()  # on the edge of the box
    np.testing.assert_allclose(beyond, [0.8571, 0.4286], atol=1e-3)


def test_a_latin_hypercube_is_even_in_each_coordinate():
    U = hypercube(8, 3, np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(U, axis=0), np.tile((np.arange(8)[:, None] - 3.5) / 4, 3))


@pytest.mark.parametrize("n", [50, 100])
def test_a_quadratic_through_the_evidence_of_many_filters_finds_the_optimum(n, best):
    z, covariance = best
    alone = fitted(search=skh.Surface(), n=n, rng=3)
    errors = np.sqrt(np.diagonal(covariance))
    off = (np.log(list(alone.parameters.values())) - z) / errors
    assert np.abs(off).max() < 1.0
    relative = [alone.standard_errors[k] / alone.parameters[k] for k in ("q", "r")]
    np.testing.assert_allclose(relative, errors, rtol=0.35)
    assert not alone.smooth
    assert alone.noise > 0.5


def hidden(q):
    """Particles that carry Kalman filters: their transitions have no densities."""
    C, Q = [[1.0, 0.0], [1.0, 1.0]], np.diag([q * q, 0.1])
    A, R = np.diag([0.8, 0.5]), 0.02 * np.eye(2)
    return skh.models.LinearGaussian(A, C, Q, R, np.zeros(2), np.eye(2))


def test_jumps_without_densities_are_left_to_quadratics():
    def model(q):
        return skh.rao_blackwellize(hidden(q), x=[0])

    ys, options = hidden(0.6).simulate(30, rng=1)[1], {"rule": skh.MonteCarlo(), "n": 60, "rng": 0}
    found = skh.fit(model, ys, {"q": 1.5}, bounds={"q": (0, None)}, **options)
    best = optimize.minimize_scalar(
        lambda q: -skh.kalman_filter(hidden(q), ys).log_evidence, bounds=(0.1, 3), method="bounded"
    )
    assert found.message == "converged to the noise of the evidence"
    assert not found.smooth
    assert abs(found.parameters["q"] - best.x) < 1.5 * found.standard_errors["q"]
    assert found.log_evidence == pytest.approx(-best.fun, abs=1.0)


def test_gradients_that_lead_astray_are_left_for_quadratics():
    """Positions follow velocities almost exactly: fixed particles want wider transitions."""

    class Noisier(skh.models.BearingsOnly):
        def __init__(self, factor):
            object.__setattr__(self, "factor", factor)

        def transition(self, t, x):
            means, S = super().transition(t, x)
            return means, self.factor**2 * S

    ys = skh.models.bearings_only().simulate(30, rng=20)[1]
    found = skh.fit(Noisier, ys, {"factor": 2.0}, bounds={"factor": (0, None)}, n=50, rng=0)
    assert found.converged
    # Sobol points, 20,000: 35.4 at 1, 36.5 at 2, 34.3 at 4.
    assert 0.9 < found.parameters["factor"] < 2.5
