"""Series that end early, lack observations, or have times: what is kept and how they go on."""

import gc
import logging
import resource
import runpy
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from test_saving import CASES, FLIGHT, LGSS, RULE, assert_same, every_case

import skh
from pages import in_docstring
from skh.filtering import checkpoint as checkpoints
from skh.filtering import clock
from skh.filtering.result import summary
from skh.filtering.result_builder import ResultBuilder

YS = LGSS.simulate(8, rng=0)[1]
SURVIVAL = Path(__file__).parents[2] / "benchmarks" / "survival.py"


class StoppedError(Exception):
    """Ends a run from outside."""


def stop_at(t):
    def report(done, total):
        if done == t:
            raise StoppedError

    return report


# --- checkpoints ----------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("history", [False, True])
def test_a_resumed_series_equals_an_uninterrupted_one(model, ys, rule, history, tmp_path):
    run = {"rng": 3, "history": history, "quantiles": [0.5], "times": np.arange(len(ys)) ** 2.0}
    whole = skh.particle_filter(model, ys, rule, 20, **run)
    path = tmp_path / "run.npz"
    for t in (1, 3, 4):
        with pytest.raises(StoppedError):
            skh.particle_filter(model, ys, rule, 20, **run, checkpoint=path, progress=stop_at(t))
    result = skh.particle_filter(model, iter(ys), rule, 20, **run, checkpoint=path)
    assert_same(whole, result)
    before = path.stat().st_mtime_ns
    assert_same(whole, skh.particle_filter(model, ys, rule, 20, **run, checkpoint=path))
    assert path.stat().st_mtime_ns == before  # a finished run is only read


def test_a_finished_series_goes_on_with_new_observations(tmp_path):
    path = tmp_path / "run"
    skh.particle_filter(LGSS, YS[:5], RULE, 20, rng=0, checkpoint=path)
    longer = skh.particle_filter(LGSS, YS, RULE, 20, rng=0, checkpoint=path)
    assert_same(longer, skh.particle_filter(LGSS, YS, RULE, 20, rng=0))


def test_a_generator_of_random_numbers_ends_in_the_same_state(tmp_path):
    path, end = tmp_path / "run", np.random.default_rng(5)
    skh.particle_filter(LGSS, YS, RULE, 20, rng=end)
    run = {"checkpoint": path, "progress": stop_at(3)}
    with pytest.raises(StoppedError):
        skh.particle_filter(LGSS, YS, RULE, 20, rng=np.random.default_rng(5), **run)
    rng = np.random.default_rng(5)
    skh.particle_filter(LGSS, YS, RULE, 20, rng=rng, checkpoint=path)
    assert rng.integers(1 << 60) == end.integers(1 << 60)


def test_kill_9_never_leaves_a_file_that_cannot_be_loaded():
    """A few kills; benchmarks/survival.py makes as many as you like."""
    survival = runpy.run_path(str(SURVIVAL))
    assert survival["kills"](2, 300)["kills"] == 2


def test_left_over_files_of_killed_processes_are_removed(tmp_path):
    (tmp_path / ".run[1].npz.0123.tmp").write_bytes(b"half of a file")
    (tmp_path / ".run1.npz.0123.tmp").write_bytes(b"of another")
    skh.ParticleFilter(LGSS, RULE, 5, rng=0).save(tmp_path / "run[1].npz")
    assert {p.name for p in tmp_path.iterdir()} == {"run[1].npz", ".run1.npz.0123.tmp"}


def test_a_full_disk_is_logged_and_the_run_goes_on(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(checkpoints, "WRITING_SHARE", 1.0)  # a file after every step
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done, total):
        limit = 100 if 2 <= done < 4 else soft
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))

    run = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0, "progress": fill}
    result = skh.particle_filter(LGSS, YS, RULE, 20, rng=0, **run)
    assert_same(result, skh.particle_filter(LGSS, YS, RULE, 20, rng=0))
    resumed = skh.particle_filter(LGSS, [*YS], RULE, 20, rng=0, checkpoint=run["checkpoint"])
    assert_same(result, resumed)
    assert "could not be written: [Errno 27] File too large" in caplog.text
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_writing_takes_a_bounded_share_of_the_time(tmp_path, monkeypatch):
    """By a clock that only writing moves: files become rarer as they grow."""
    now, written = [0.0], []

    def write_slowly(path, kind, tree, arrays):
        written.append(len(arrays["observations"]))
        now[0] += 0.1 * len(arrays["observations"])  # proportional to the result

    monkeypatch.setattr(checkpoints, "write_file", write_slowly)
    monkeypatch.setattr(checkpoints, "monotonic", lambda: now[0])

    def tick(done, total):
        now[0] += 1.0

    ys = np.zeros(400)
    run = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0, "progress": tick}
    skh.particle_filter(LGSS, ys, skh.MonteCarlo(), 2, rng=0, **run)
    assert written[-1] == 400
    assert sum(written) < 4 * 400  # not the half of 400 squared


def other(**changes):
    """Resume a run of 5 steps with other arguments."""
    given = {"model": LGSS, "ys": YS, "rule": RULE, "n": 20, "rng": 0, **changes}
    return lambda path: skh.particle_filter(**given, checkpoint=path)


MOVED = YS.copy()
MOVED[3] += 1e-9
OTHERS = {
    "series": (other(ys=MOVED), r"another series: the observation .* at t=3 differs"),
    "gap": (other(ys=[*YS[:2], None, *YS[3:]]), r"the observation .* at t=2 differs"),
    "times": (other(times=range(8)), r"the observation \(or its time\) at t=0 differs"),
    "shorter series": (other(ys=YS[:3]), r"has 5 steps of another series: ys has 3 observations"),
    "n": (other(n=30), r"is of a run with n=20, got n=30: pass the same, or another path"),
    "rule": (other(rule=skh.Systematic()), r"saved with rule=Stratified\(\): pass this rule"),
    "seed": (other(rng=1), r"of a run with another rng: pass the same seed"),
    "no seed": (other(rng=None), r"of a run with another rng: pass the same seed"),
    "quantiles": (other(quantiles=[0.5]), r"run with quantiles=\(\), got quantiles=\(0.5,\)"),
    "history": (other(history=True), r"run with history=False, got history=True"),
    "policy": (other(on_zero_likelihood="skip"), r"on_zero_likelihood='raise', got .*'skip'"),
    "model": (other(model=CASES["jump Markov"][0]), r"a model of class LinearGaussian"),
}


@pytest.mark.parametrize(("resume", "message"), OTHERS.values(), ids=OTHERS)
def test_checkpoints_of_other_runs_are_refused(resume, message, tmp_path):
    path = tmp_path / "run"
    skh.particle_filter(LGSS, YS[:5], RULE, 20, rng=0, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(skh.SavedFileError, match=message):
        resume(path)
    assert path.read_bytes() == before


# --- errors on the way ----------------------------------------------------------------------------


def test_observations_are_read_one_by_one_and_errors_carry_the_result_so_far():
    read = []

    def stream():
        for t, y in enumerate(YS):
            read.append(t)
            yield y
            if t == 4:
                raise KeyboardInterrupt

    def report(done, total):
        assert (len(read), total) == (done, None)

    with pytest.raises(KeyboardInterrupt) as caught:
        skh.particle_filter(LGSS, stream(), RULE, 20, rng=0, progress=report)
    assert_same(caught.value.result, skh.particle_filter(LGSS, YS[:5], RULE, 20, rng=0))
    with pytest.raises(ZeroDivisionError) as caught:
        skh.particle_filter(LGSS, (1 / t for t in range(3)), RULE, 20, rng=0)
    assert caught.value.result is None


def test_impossible_observations_are_skipped_if_so_asked(caplog):
    model = skh.models.nonlinear_benchmark()
    ys = [0.3, 1e200, 0.1, -1e200, 2.0]
    with pytest.raises(skh.ZeroLikelihoodError, match=r"at t=1 is zero at all 20") as caught:
        skh.particle_filter(model, ys, RULE, 20, rng=0)
    assert len(caught.value.result.means) == 1
    with caplog.at_level(logging.WARNING, "skh"):
        result = skh.particle_filter(model, ys, RULE, 20, rng=0, on_zero_likelihood="skip")
    assert result.skipped.tolist() == [False, True, False, True, False]
    assert [r.name for r in caplog.records] == ["skh", "skh"]
    assert "at t=3 is zero at all particles" in caplog.records[1].getMessage()
    gaps = skh.particle_filter(model, [0.3, None, 0.1, None, 2.0], RULE, 20, rng=0)
    np.testing.assert_array_equal(result.means, gaps.means)
    assert not gaps.skipped.any()


# --- real time ------------------------------------------------------------------------------------


def brownian(q=0.1):
    return skh.model_from_functions(
        ([0.0], 1.0),
        lambda t, x, dt: (x, q * dt),
        lambda t, x, y: -0.5 * (y - x[:, 0]) ** 2,
    )


class Carrying:
    """The same with records: the time since the start."""

    def prior(self):
        return skh.GaussianMixture([1.0], [[0.0]], 1.0)

    def initial_carry(self, x):
        return np.zeros(len(x))

    def transition(self, t, x, carry, dt):
        return x, 0.1 * dt

    def move(self, t, x, carry, x_next, dt):
        return carry + dt

    def log_likelihood(self, t, x, y, carry):
        return -0.5 * (y - x[:, 0]) ** 2, carry


TIMES = np.array([0.5, 0.7, 1.9, 2.0, 5.0])
OBSERVED = [0.1, 0.3, None, -0.2, 0.4]


def test_transitions_last_as_long_as_the_time_between_observations():
    """Against a model whose steps have these lengths by their index."""
    dts = np.diff(TIMES)
    fixed = skh.model_from_functions(
        ([0.0], 1.0),
        lambda t, x: (x, 0.1 * dts[t]),
        lambda t, x, y: -0.5 * (y - x[:, 0]) ** 2,
    )
    expected = skh.particle_filter(fixed, OBSERVED, RULE, 20, rng=0)
    for model in (brownian(), in_docstring(clock)["Brownian"](), Carrying()):
        result = skh.particle_filter(model, OBSERVED, RULE, 20, rng=0, times=TIMES)
        np.testing.assert_array_equal(result.means, expected.means)
        np.testing.assert_array_equal(result.times, TIMES)
        pf = skh.ParticleFilter(model, RULE, 20, rng=0)
        for t, y in zip(TIMES, OBSERVED, strict=True):
            belief = pf.step(y, t=t)
        np.testing.assert_array_equal(belief.mean, expected.means[-1])
        assert belief.time == 5.0
        p = pf.predict(t=7.0)
        np.testing.assert_allclose(p.covariances, 0.2)
        np.testing.assert_allclose(pf.predict(4, t=7.0).covariance, p.covariance, rtol=0.3)
    assert belief.carry[0] == pytest.approx(4.5)


def test_a_linear_model_with_uneven_times_agrees_with_kalman():
    """Brownian motion: any times between; a Kalman filter by hand."""
    model, ys = brownian(), [0.1, 0.3, 1.2, -0.2, 0.4]
    m, P, means = 0.0, 1.0, []
    for dt, y in zip([0.0, *np.diff(TIMES)], ys, strict=True):
        P += 0.1 * dt
        K = P / (P + 1.0)
        m, P = m + K * (y - m), (1 - K) * P
        means.append(m)
    result = skh.particle_filter(model, ys, n=50, rng=0, times=TIMES)
    np.testing.assert_allclose(result.means[:, 0], means, atol=0.01)


def shocked(t, x, rng, dt):
    return x + np.sqrt(0.1 * dt) * rng.standard_normal(x.shape)


@pytest.mark.parametrize(
    "other",
    [
        skh.from_simulator(([0.0], 1.0), shocked, lambda t, x, y: -0.5 * (y - x[:, 0]) ** 2),
        skh.from_simulator(
            ([0.0], 1.0),
            lambda t, x, u, dt: x + np.sqrt(0.1 * dt) * ndtri(u),
            lambda t, x, y: -0.5 * (y - x[:, 0]) ** 2,
            noise_dim=1,
        ),
        skh.gaussian_model(
            ([0.0], 1.0), lambda t, x: x, lambda t, x, dt: 0.1 * dt, lambda t, x: x, 1.0
        ),
        skh.gaussian_model(
            ([0.0], 1.0),
            lambda t, row, dt: row,
            lambda t, row, dt: 0.1 * dt,
            lambda t, row: row,
            1.0,
            batched=False,
        ),
    ],
    ids=["simulator", "noise_dim", "gaussian", "gaussian rows"],
)
def test_other_models_take_dt(other, tmp_path):
    """Brownian motion again; the filter can be saved, and predicts for a time."""
    ys = [0.1, 0.3, 1.2, -0.2, 0.4]
    expected = skh.particle_filter(brownian(), ys, n=50, rng=0, times=TIMES)
    result = skh.particle_filter(other, ys, n=50, rng=0, times=TIMES, history=True)
    np.testing.assert_allclose(result.means, expected.means, atol=0.04)
    pf = skh.ParticleFilter(other, n=50, rng=0, belief=result.history[-1])
    ahead = pf.predict(t=TIMES[-1] + 9.0).covariance - pf.belief.covariance
    np.testing.assert_allclose(ahead, 0.9, rtol=0.1)
    pf.save(tmp_path / "filter.npz")
    again = skh.ParticleFilter.load(tmp_path / "filter.npz", other)
    beliefs = [one.step(0.3, t=TIMES[-1] + 1.0) for one in (pf, again)]
    np.testing.assert_array_equal(beliefs[0].x, beliefs[1].x)
    with pytest.raises(TypeError, match="t must be the time of the observation"):
        skh.particle_filter(other, ys, n=5)


def test_wrapped_models_pass_the_time_on():
    class Robot:
        def prior(self):
            return np.array([0.0, 0.0, 0.1]), 0.01 * np.eye(3)

        def transition(self, t, s, dt):
            ahead = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), 0 * s[:, 2]], axis=1)
            return s + dt * ahead, 0.001 * dt

        def log_likelihood(self, t, s, y):
            return -0.5 * (s[:, 0] - y) ** 2 / 0.01

    charted = skh.geometry.Charted(Robot(), skh.geometry.SE2())
    result = skh.particle_filter(charted, [0.0, 1.0, 4.0], n=30, rng=0, times=[0.0, 1.0, 4.0])
    np.testing.assert_allclose(result.mean_states[:, 0], [0, 1, 4], atol=0.3)
    one = np.eye(1)
    inner = skh.RaoBlackwellized(
        prior=([0.0], 1e-4),
        z_prior=([1.0], 1e-4 * one),
        x_dynamics=lambda t, x, dt: (x, dt * one, 1e-4 * dt * one),
        z_dynamics=lambda t, x: (np.zeros(1), one, 1e-6 * one),
        observation=lambda t, x: (x, 0 * one, one),
    )
    result = skh.particle_filter(inner, [0.0, 2.0, 7.0], RULE, 30, rng=0, times=[0.0, 2.0, 7.0])
    np.testing.assert_allclose(result.means[:, 0], [0, 2, 7], atol=0.2)
    with ThreadPoolExecutor(2) as threads:
        for model in (brownian(), in_docstring(clock)["Brownian"](), Carrying(), charted):
            near = skh.parallel(model, threads, chunk=10)
            told, plain = (
                skh.particle_filter(each, OBSERVED, RULE, 20, rng=0, times=TIMES)
                for each in (near, model)
            )
            np.testing.assert_allclose(told.means, plain.means, rtol=1e-12)
    assert not skh.ParticleFilter(FLIGHT.model)._models.is_timed


DATES = [datetime(2024, 2, 29, 12, 0, s) for s in (0, 1, 3, 4, 9)]
EAST = timezone(timedelta(hours=5))


@pytest.mark.parametrize(
    "times",
    [
        np.array([0.0, 1, 3, 4, 9]),
        [0, 1, 3, 4, 9],
        (t for t in [0, 1, 3, 4, 9]),
        DATES,
        np.array(DATES, "datetime64[us]"),
        np.array(DATES, "datetime64[s]"),
        pd.DatetimeIndex(DATES),
        pd.Series(DATES),
        pd.DatetimeIndex(DATES).tz_localize("UTC").tz_convert("Asia/Tokyo"),
        [d.replace(tzinfo=UTC).astimezone(EAST) for d in DATES],
        (pd.Timestamp(d) for d in DATES),
    ],
    ids=lambda times: type(times).__name__,
)
def test_times_are_numbers_or_dates(times):
    expected = skh.particle_filter(brownian(), OBSERVED, RULE, 20, rng=0, times=[0, 1, 3, 4, 9])
    result = skh.particle_filter(brownian(), OBSERVED, RULE, 20, rng=0, times=times)
    np.testing.assert_array_equal(result.means, expected.means)
    if result.times.dtype.kind == "M":
        np.testing.assert_array_equal(result.times, np.array(DATES, "datetime64[ns]"))


def test_days_are_dates():
    days = [date(2024, 2, day) for day in (1, 2, 4, 5, 10)]
    midnights = [datetime(day.year, day.month, day.day) for day in days]
    for times in (days, iter(days), pd.Series(midnights).dt.date):
        result = skh.particle_filter(brownian(), OBSERVED, RULE, 20, rng=0, times=times)
        np.testing.assert_array_equal(result.times, np.array(midnights, "datetime64[ns]"))


def filtered(times, ys=OBSERVED, model=None):
    return lambda: skh.particle_filter(model or brownian(), ys, RULE, 5, rng=0, times=times)


def stepped(*times, model=None):
    def steps():
        pf = skh.ParticleFilter(model or brownian(), RULE, 5, rng=0)
        for t in times:
            pf.step(0.1, t=t)

    return steps


def started(**arguments):
    return lambda: skh.particle_filter(LGSS, YS, RULE, 5, rng=0, **arguments)


BAD = {
    "too few times": (filtered([1, 2]), ValueError, r"times .* each of the 5 observations, got 2"),
    "too few, lazily": (filtered(iter([1, 2])), ValueError, r"times must hold .*, got only 2"),
    "too many, lazily": (filtered(iter(range(9))), ValueError, r"each of 5 observations, got more"),
    "decreasing": (filtered([0, 2, 1, 3, 4]), ValueError, r"must increase, got 2.0 and then 1.0"),
    "equal": (filtered([0, 1, 1, 3, 4]), ValueError, r"must increase, got 1.0 and then 1.0 at 2"),
    "NaN": (filtered([0, 1, np.nan, 3, 4]), TypeError, r"times\[2\] must be a finite number or a"),
    "infinite": (filtered(np.array([0, 1, 2, 3, np.inf])), ValueError, r"times must be finite"),
    "text": (filtered("noon"), TypeError, r"times must hold the time of each observation, got 'n"),
    "texts": (filtered(list("abcde")), TypeError, r"times\[0\] must be a finite number or a date"),
    "dates in texts": (filtered(["2024-02-29"] * 5), TypeError, r"29': for dates in texts, np.da"),
    "array of texts": (filtered(np.array(list("abcde"))), TypeError, r"\(5,\): for dates in texts"),
    "one number": (
        filtered(3.0),
        TypeError,
        r"times must hold the time of each observation, got 3",
    ),
    "matrix": (filtered(np.ones((5, 2))), TypeError, r"must be a vector of numbers or dates, got"),
    "mixed": (filtered([0, *DATES[1:]]), TypeError, r"times must be all numbers or all dates"),
    "None among times": (filtered(iter([0, None])), TypeError, r"got None at 1"),
    "no date": (filtered(np.array(["NaT"] * 5, "M8[s]")), ValueError, r"dates from 1678 .* NaT"),
    "pandas' NaT": (filtered([pd.NaT] * 5), TypeError, r"times\[0\] must be a finite number or a"),
    "long ago": (
        filtered(np.arange(5).astype("M8[Y]") - np.timedelta64(900, "Y")),
        ValueError,
        r"dates from 1678",
    ),
    "no times": (filtered(None), TypeError, r"t must be the time of the observation, step\(y, t="),
    "backwards": (stepped(2.0, 1.0), ValueError, r"t must be later than the time before, 2.0, got"),
    "one missing": (stepped(1.0, None), TypeError, r"t must be the time of the observation"),
    "one missing, plain": (stepped(1.0, None, model=LGSS), ValueError, r"at every step or at none"),
    "one too many": (stepped(None, 1.0, model=LGSS), ValueError, r"at every step or at none, got"),
    "date after number": (stepped(1.0, DATES[0]), TypeError, r"of the kind of the time before, 1"),
    "time is a text": (stepped("noon"), TypeError, r"t must be a finite number or a date, got 'no"),
    "prediction": (
        lambda: skh.ParticleFilter(brownian(), RULE, 5).predict(2),
        TypeError,
        r"t must be the time to predict for, predict\(h, t=...\), after a first observation",
    ),
    "policy": (
        started(on_zero_likelihood="ignore"),
        ValueError,
        r'on_zero_likelihood must be "raise" or "skip", got \'ignore\'',
    ),
    "checkpoint in no folder": (
        started(checkpoint="/nowhere/run"),
        ValueError,
        r"checkpoint must be in a folder that exists, got /nowhere/run",
    ),
    "checkpoint is no path": (started(checkpoint=3), TypeError, r"checkpoint must be the path"),
    "seconds": (
        started(checkpoint="run", checkpoint_every=-1),
        ValueError,
        r"checkpoint_every must be a non-negative number, got -1",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [RULE, None], ids=["particle filter", "default"])
def test_a_filter_keeps_nothing_of_earlier_steps(rule):
    """So that a stream takes constant memory; benchmarks/survival.py measures it."""
    pf, seen = skh.ParticleFilter(LGSS, rule, 20, rng=0), []
    for y in YS:
        belief = pf.step(y)
        seen.append([weakref.ref(v) for v in (belief, belief.x, belief.w, belief.information)])
    del belief
    gc.collect()
    kept = [[ref() is not None for ref in refs] for refs in seen]
    assert kept[-1] == [True] * 4
    assert not np.any(kept[:-1])


def test_rows_of_long_series_are_kept_as_numbers():
    pf, builder = skh.ParticleFilter(LGSS, RULE, 5, rng=0), ResultBuilder(keeps_history=False)
    belief = pf.step(0.3)
    for _ in range(2500):
        builder.add(belief, summary(belief, np.array([0.5])))
    assert (len(builder.chunks), len(builder.rows)) == (2, 500)
    np.testing.assert_array_equal(builder.result().means, np.tile(belief.mean, (2500, 1)))
