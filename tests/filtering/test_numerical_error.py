"""The estimated numerical error of a run, against the Kalman filter and the definition."""

import numpy as np
import pytest

import skh
from skh.filtering.numerical_error import GUIDED_BIAS, OWN_SHARE, estimated_error, windowed_means

MODEL = skh.models.lgss3()
RULES = [None, skh.Stratified()]


def filtered(seed, rule, n=50, **options):
    ys = MODEL.simulate(25, rng=seed)[1]
    run = skh.particle_filter(MODEL, ys, rule, n, rng=seed, **options)
    return run, skh.kalman_filter(MODEL, ys)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


@pytest.mark.parametrize("rule", RULES)
def test_estimates_are_of_the_size_of_the_errors(rule):
    true, estimates = [], []
    for seed in range(200, 206):
        run, exact = filtered(seed, rule, numerical_error=True)
        sd = np.sqrt(np.diagonal(exact.covariances, axis1=1, axis2=2))
        error = run.numerical_error
        true.append((rms((run.means - exact.means) / sd), run.log_evidence - exact.log_evidence))
        estimates.append((rms(error.means / sd), error.log_evidence))
    true, estimates = np.abs(true), np.array(estimates)
    ratio = np.sqrt((estimates**2).mean(axis=0) / (true**2).mean(axis=0))
    assert (ratio > 1 / 3).all()
    assert (ratio < 3).all()
    assert (true <= 2 * estimates).mean() >= 0.9


@pytest.mark.parametrize("rule", RULES)
def test_the_run_itself_does_not_change(rule):
    plain, _ = filtered(1, rule)
    asked, _ = filtered(1, rule, numerical_error=True)
    assert np.array_equal(plain.means, asked.means)
    assert plain.log_evidence == asked.log_evidence
    assert asked.numerical_error.n_check == 100


def test_the_estimate_is_that_of_its_definition():
    ys = MODEL.simulate(7, rng=0)[1]
    run, check = (skh.particle_filter(MODEL, ys, skh.Stratified(), n, rng=n) for n in (30, 60))
    error = estimated_error(run, check)
    d = run.means - check.means
    v = np.diagonal(run.covariances + check.covariances, axis1=1, axis2=2) / 2
    s = np.sqrt(v + d**2 / 4)
    around = np.array([((d / s)[max(t - 2, 0) : t + 3] ** 2).mean(axis=0) for t in range(7)])
    assert error.means == pytest.approx(np.sqrt(around) * s)
    assert error.overall == pytest.approx(rms(np.sqrt(around)))
    delta = run.log_evidence_increments - check.log_evidence_increments
    squared = OWN_SHARE * (delta.sum() ** 2 + (delta**2).sum())
    assert error.log_evidence == pytest.approx(np.sqrt(squared))


def test_guided_steps_count_for_the_evidence():
    run, _ = filtered(3, None)
    same = estimated_error(run, run)
    guided = sum(len(looks) > 1 for looks in run.looks)
    assert guided > 0
    assert same.overall == 0.0
    assert same.log_evidence == pytest.approx(GUIDED_BIAS * guided / 50)


@pytest.mark.parametrize("T", [1, 2, 4, 5, 12])
def test_windowed_means_of_constants(T):
    assert windowed_means(np.full((T, 2), 3.0)) == pytest.approx(3.0)


def test_accuracy_chooses_the_number_of_particles():
    run, exact = filtered(4, skh.Stratified(), n=50, accuracy=0.15)
    coarse, _ = filtered(4, skh.Stratified(), n=50, accuracy=0.6)
    sd = np.sqrt(np.diagonal(exact.covariances, axis1=1, axis2=2))
    assert run.numerical_error.overall <= 0.15
    assert rms((run.means - exact.means) / sd) <= 2 * 0.15
    assert run.n_particles[0] > coarse.n_particles[0]
    assert run.numerical_error.n_check == 2 * run.n_particles[0]
    placed, _ = filtered(4, None, n=50, accuracy=0.15)
    assert placed.n_particles[0] == 50


def test_accuracy_out_of_reach_is_logged(caplog):
    ys = MODEL.simulate(2, rng=0)[1]
    with caplog.at_level("WARNING", logger="skh"):
        run = skh.particle_filter(MODEL, ys, skh.MonteCarlo(), 2, rng=0, accuracy=1e-9)
    assert "accuracy=1e-09 was not reached: with n=128" in caplog.text
    assert run.attributes["n"] == 128
    assert run.numerical_error.n_check == 256


@pytest.mark.parametrize(
    "make", [int, np.random.SeedSequence, np.random.default_rng, np.random.PCG64]
)
def test_same_seed_same_estimate(make):
    ys = MODEL.simulate(5, rng=5)[1]
    runs = [
        skh.particle_filter(MODEL, ys, skh.Stratified(), 20, rng=make(5), numerical_error=True)
        for _ in range(2)
    ]
    a, b = (run.numerical_error for run in runs)
    assert np.array_equal(a.means, b.means)
    assert a.log_evidence == b.log_evidence
    assert a.overall > 0


def test_an_error_in_the_check_carries_the_first_run():
    calls = []

    class Breaks:
        prior, transition = MODEL.prior, MODEL.transition

        def log_likelihood(self, t, x, y):
            calls.append(t)
            if len(calls) > 7:
                raise RuntimeError("the sensor's server is gone")
            return MODEL.log_likelihood(t, x, y)

    ys = MODEL.simulate(5, rng=0)[1]
    with pytest.raises(RuntimeError, match="server is gone") as caught:
        skh.particle_filter(Breaks(), ys, skh.Stratified(), 20, rng=0, numerical_error=True)
    assert caught.value.result.means.shape == (5, 3)
    assert caught.value.result.n_particles.max() == 20


def test_charts_compare_states():
    step = skh.model_from_functions(
        prior=([0.0, 0.0, 3.1], 0.01),
        transition=lambda t, s: (s + np.array([0.1, 0.0, 0.1]), 0.01),
        log_likelihood=lambda t, s, y: -0.5 * ((s[:, :2] - y) ** 2).sum(axis=1) / 0.01,
    )
    model = skh.geometry.Charted(step, skh.geometry.SE2())
    ys = np.cumsum(np.tile([0.1, 0.0], (10, 1)), axis=0)
    run = skh.particle_filter(model, ys, skh.Stratified(), 200, rng=0, numerical_error=True)
    assert run.numerical_error.means.shape == (10, 3)
    assert run.numerical_error.overall < 0.5


def test_saved_with_the_result(tmp_path):
    run, _ = filtered(6, skh.Stratified(), numerical_error=True)
    run.save(tmp_path / "run.npz")
    again = skh.load_result(tmp_path / "run.npz").numerical_error
    assert np.array_equal(again.means, run.numerical_error.means)
    assert np.array_equal(again.relative, run.numerical_error.relative)
    assert again.log_evidence == run.numerical_error.log_evidence
    assert again.n_check == 100
    assert "means off by about" in repr(again)


def test_results_without_it_are_saved_too(tmp_path):
    run, _ = filtered(6, skh.Stratified())
    run.save(tmp_path / "run.npz")
    assert skh.load_result(tmp_path / "run.npz").error_estimate is None


def test_generators_of_observations_and_times_are_read_once():
    ys = list(MODEL.simulate(5, rng=0)[1])
    run = skh.particle_filter(
        MODEL, iter(ys), skh.Stratified(), 20, rng=0, times=iter(range(5)), numerical_error=True
    )
    assert len(run.numerical_error.means) == 5


def test_a_result_without_it_says_how_to_get_it():
    run, _ = filtered(7, skh.Stratified())
    with pytest.raises(ValueError, match=r"particle_filter\(\.\.\., numerical_error=True\)"):
        _ = run.numerical_error


def test_arguments_are_checked(tmp_path):
    ys = MODEL.simulate(2, rng=0)[1]
    for value in (0.0, -1.0, float("nan"), "0.05", True):
        with pytest.raises(ValueError, match="accuracy must be a positive number"):
            skh.particle_filter(MODEL, ys, n=20, accuracy=value)
    with pytest.raises(TypeError, match="numerical_error must be True or False"):
        skh.particle_filter(MODEL, ys, n=20, numerical_error="yes")
    with pytest.raises(ValueError, match="checkpoint must be None with accuracy"):
        skh.particle_filter(MODEL, ys, n=20, accuracy=0.1, checkpoint=tmp_path / "c")
