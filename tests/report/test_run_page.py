"""The page of a run: the data that it holds, what it says without a script, and bad inputs."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from math import floor, log10

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import GAP, NAMES, Robot, guided, moved, plain

import skh
from pages import on_page
from skh.report import run_data, write_run_html
from skh.report.packing import number, resolved


def written(result, path, **options):
    """The page as text."""
    assert write_run_html(result, path, **options) is None
    return path.read_text(encoding="utf-8")


def data_in(page):
    """The data of a page, with its arrays unpacked."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return unpacked(json.loads(text[1]))


def unpacked(value):
    if isinstance(value, list):
        return [unpacked(v) for v in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (code := next(iter(value))) in ("f8", "f4", "i4"):
        return np.frombuffer(b64decode(value[code]), dtype=f"<{code}")
    return {name: unpacked(v) for name, v in value.items()}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    result, states, ys = guided()
    path = tmp_path_factory.mktemp("page") / "run.html"
    options = {"observations": ys, "truth": states, "names": NAMES}
    return data_in(written(result, path, **options))


def test_means_bands_and_diagnostics_are_those_of_the_result(data):
    result, states, ys = guided()
    T, d = result.means.shape
    unit = np.array(data["unit"])[:, None]
    means = data["means"].reshape(d, T)
    np.testing.assert_array_equal(means, result.means.T)
    widest, narrow = data["bands"]
    for band, rows in ((widest, (0, 4)), (narrow, (1, 3))):
        for end, row in zip(("lower", "upper"), rows, strict=True):
            shown = means + unit * band[end].reshape(d, T)
            np.testing.assert_allclose(shown, result.quantiles[:, row].T, atol=2e-7 * unit.max())
    sd = np.sqrt(np.diagonal(result.covariances, axis1=1, axis2=2)).T
    np.testing.assert_allclose(unit * data["sd"].reshape(d, T), sd, rtol=1e-6)
    np.testing.assert_array_equal(data["increments"], result.log_evidence_increments)
    np.testing.assert_allclose(data["ess"], result.ess, rtol=1e-6)
    np.testing.assert_array_equal(data["evaluations"], result.n_likelihood_evaluations)
    np.testing.assert_array_equal(np.flatnonzero(data["missing"]), GAP)
    np.testing.assert_array_equal(data["observed"].reshape(-1, T), ys.T)
    np.testing.assert_array_equal(data["truth"].reshape(d, T), states.T)
    assert data["names"] == list(NAMES)


def test_particles_and_their_looks_are_those_of_the_history(data):
    result, *_ = guided()
    kept, unit = data["particles"], np.array(data["unit"])
    assert kept["every"] == 1
    x = kept["x"].reshape(2, -1)
    several = 0
    for t, belief in enumerate(result.history):
        rows = slice(kept["starts"][t], kept["starts"][t + 1])
        near = belief.mean + unit * x[:, rows].T
        np.testing.assert_allclose(near, belief.x, atol=1e-6 * unit.max())
        np.testing.assert_allclose(kept["w"][rows], belief.w, rtol=1e-6, atol=1e-40)
        looks = slice(data["looks"]["starts"][t], data["looks"]["starts"][t + 1])
        assert list(data["looks"]["sizes"][looks]) == [look.n for look in belief.looks]
        reason = data["looks"]["reason"][t]
        assert (reason >= 0) == bool(belief.looks)
        if belief.looks:
            assert data["looks"]["reasons"][reason] == belief.looks[0].reason
        several += len(belief.looks) > 1
    assert several > 20


@pytest.mark.parametrize("exponent", [-12, 0, 12])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_no_digits_are_lost_in_any_unit_or_far_from_zero(tmp_path, exponent, shift):
    result = moved(plain()[0], 10.0**exponent, shift * 10.0**exponent)
    data = data_in(written(result, tmp_path / "run.html"))
    unit, kept = np.array(data["unit"]), data["particles"]
    x = kept["x"].reshape(3, -1)
    for t, belief in enumerate(result.history):
        shown = unit * x[:, kept["starts"][t] : kept["starts"][t + 1]].T
        np.testing.assert_allclose(shown, belief.x - belief.mean, atol=1e-7 * unit.max())
    assert unit.max() < 100 * 10.0**exponent


def test_bands_without_quantiles_are_two_deviations(tmp_path):
    data = data_in(written(plain()[0], tmp_path / "run.html"))
    (band,) = data["bands"]
    np.testing.assert_allclose(band["upper"], 2 * data["sd"], rtol=1e-6)
    np.testing.assert_allclose(band["lower"], -2 * data["sd"], rtol=1e-6)
    assert band["labels"] == ["mean ± 2 sd"] * 3
    assert data["middle"] is None


@pytest.mark.parametrize(("levels", "bands"), [((0.5,), 1), ((0.9, 0.1), 1), ((0.1, 0.5, 0.9), 1)])
def test_few_quantiles_in_any_order(tmp_path, levels, bands):
    result = plain(quantiles=levels)[0]
    data = data_in(written(result, tmp_path / "run.html"))
    assert len(data["bands"]) == bands
    assert (data["middle"] is not None) == (len(levels) % 2 == 1)
    assert (data["bands"][0]["lower"] <= data["bands"][0]["upper"]).all()


def test_levels_names_and_settings_that_a_result_knows_are_used(tmp_path):
    result = plain(quantiles=(0.1, 0.5, 0.9))[0]
    times = 10.0 + np.arange(len(result.means))
    known = {"state_names": ("a", "b", "c"), "attributes": {"seed": 1}, "times": times}
    page = written(replace(result, **known), tmp_path / "run.html")
    data = data_in(page)
    assert data["bands"][0]["labels"] == ["10% to 90%"] * 3
    assert data["middleLabel"] == "median"
    assert data["names"] == ["a", "b", "c"]
    np.testing.assert_array_equal(data["times"], times)
    assert '<td data-label="setting">seed</td><td data-label="value">1</td>' in page


def test_one_coordinate_may_be_given_as_a_vector(tmp_path):
    model = skh.models.nonlinear_benchmark()
    states, ys = model.simulate(4, rng=0)
    result = skh.particle_filter(model, ys, skh.Stratified(), 10, rng=0)
    data = data_in(written(result, tmp_path / "run.html", truth=states[:, 0]))
    np.testing.assert_array_equal(data["truth"], states[:, 0])
    assert data["names"] == ["x"]


def test_without_history_there_are_no_particles(tmp_path):
    page = written(plain(history=False)[0], tmp_path / "run.html")
    assert data_in(page)["particles"] is None
    assert "particle_filter(..., history=True)" in page


def test_a_long_run_with_history_stays_small(tmp_path, monkeypatch):
    """2,000 steps of 100 particles in 3 coordinates; in more of them, steps are left out."""
    result = plain(100, 2000)[0]
    path = tmp_path / "run.html"
    data = data_in(written(result, path))
    assert data["particles"]["every"] == 1
    assert path.stat().st_size < 6e6
    monkeypatch.setattr(run_data, "MAX_PARTICLE_NUMBERS", 300_000)
    kept = data_in(written(result, path))["particles"]
    assert kept["every"] == 3
    assert len(kept["w"]) == 667 * 100
    np.testing.assert_allclose(kept["w"][100:200], result.history[3].w, rtol=1e-6, atol=1e-37)


def test_charted_states_are_rows_and_the_page_says_so(tmp_path):
    model = skh.geometry.Charted(Robot(), skh.geometry.SE2())
    result = skh.particle_filter(model, [0.1, 0.2, -0.1], skh.Stratified(), 30, rng=0)
    page = written(result, tmp_path / "run.html", names=("east", "north", "heading"))
    np.testing.assert_array_equal(data_in(page)["means"].reshape(3, 3), result.mean_states.T)
    assert "lines are mean states" in page
    flight = skh.models.survey_flight(2, rng=0)
    result = skh.particle_filter(flight.model, flight.observations, skh.Stratified(), 10, rng=0)
    page = written(result, tmp_path / "run.html", observations=flight.observations)
    np.testing.assert_array_equal(data_in(page)["means"].reshape(-1, 2)[:6], result.means.T)
    assert "coordinates, each in the chart of its step" in page
    assert "observations are not vectors of equal length" in page


def test_hidden_parts_have_bands_but_no_particles(tmp_path):
    model = skh.rao_blackwellize(skh.models.lgss3(), [0])
    states, ys = skh.models.lgss3().simulate(6, rng=0)
    levels = (0.1, 0.9)
    rule = skh.Stratified()
    result = skh.particle_filter(model, ys, rule, 10, rng=0, history=True, quantiles=levels)
    data = data_in(written(result, tmp_path / "run.html", truth=states[:, :1]))
    assert data["names"] == ["x", "z0", "z1"]
    unit = np.array(data["unit"])[:, None]
    sd = np.sqrt(np.diagonal(result.z_covariances, axis1=1, axis2=2)).T
    upper = unit * data["bands"][0]["upper"].reshape(3, -1)
    np.testing.assert_allclose(upper[1:], 2 * sd, rtol=1e-6)
    assert data["bands"][0]["labels"][1:] == ["mean ± 2 sd"] * 2
    assert len(data["particles"]["x"]) == 60
    assert np.isnan(data["truth"].reshape(3, -1)[1:]).all()


def test_titles_names_and_settings_cannot_break_the_page(tmp_path):
    evil = "</script><script>alert(1)</script>\"'<!--"
    page = written(
        plain()[0],
        tmp_path / "run.html",
        title=evil,
        names=(evil, "b", "c"),
        settings={evil: evil},
    )
    assert "alert(1)</script>" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert data_in(page)["names"][0] == evil
    assert "&lt;/script&gt;" in page


def test_the_page_is_self_contained(tmp_path):
    page = written(plain()[0], tmp_path / "run.html")
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "http:" not in page
    assert "https:" not in page
    assert "default-src 'none'" in page


def test_settings_are_listed_with_their_parts(tmp_path):
    settings = {"model": "lgss3", "rule": {"name": "Stratified", "n": 20}, "tolerance": 1 / 3}
    page = written(plain()[0], tmp_path / "run.html", settings=settings, title="A <run>")
    assert "<title>A &lt;run&gt;</title>" in page
    for name, value in (("rule.n", "20"), ("tolerance", "0.333333"), ("model", "lgss3")):
        row = f'<td data-label="setting">{name}</td><td data-label="value">{value}</td>'
        assert row in page


def test_the_text_summary_has_the_figures_of_the_run(tmp_path):
    result, states, ys = guided()
    page = written(result, tmp_path / "run.html", truth=states, observations=ys)
    assert "40 (3 without observation)" in page
    assert f"<dd>{number(result.log_evidence, 6)}</dd>" in page
    assert f"{int(result.n_likelihood_evaluations.sum()):,}" in page
    rmse = np.sqrt(np.mean((result.means - states) ** 2, axis=0))
    for error in rmse:
        assert f'<td data-label="RMSE">{number(float(error), 3)}</td>' in page


def test_the_code_on_the_page_about_it_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = on_page("docs/run_report.md")["result"]
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "Robot by range and bearing" in page
    np.testing.assert_array_equal(data_in(page)["means"].reshape(2, -1), result.means.T)


DAYS = [date(2020, 1, 1) + timedelta(days=k) for k in range(30)]


@pytest.mark.parametrize(
    "times",
    [
        DAYS,
        np.array(DAYS, dtype="datetime64[D]"),
        pd.date_range("2020-01-01", periods=30),
        [datetime(2020, 1, 1 + k, 2, tzinfo=timezone(timedelta(hours=2))) for k in range(30)],
    ],
    ids=["dates", "numpy", "pandas", "time zone"],
)
def test_dates_become_milliseconds_in_utc(tmp_path, times):
    data = data_in(written(plain()[0], tmp_path / "run.html", times=times))
    assert data["dates"]
    start = datetime(2020, 1, 1, tzinfo=UTC).timestamp() * 1000
    np.testing.assert_array_equal(data["times"], start + 86_400_000 * np.arange(30))


def test_observations_of_any_kind(tmp_path):
    result, _, ys = plain()

    def observed(series):
        return data_in(written(result, tmp_path / "run.html", observations=series))

    expected = np.asarray(ys, dtype=float).ravel()
    np.testing.assert_array_equal(observed(pd.Series(expected))["observed"], expected)
    table = pd.DataFrame({"y": expected})
    np.testing.assert_array_equal(observed(table)["observed"], expected)
    np.testing.assert_array_equal(observed(iter(expected))["observed"], expected)
    some = [None, "image", *expected[2:]]
    assert observed(some)["observed"] is None
    assert list(np.flatnonzero(observed(some)["missing"])) == [0]
    ragged = [np.zeros(k % 3 + 1) for k in range(30)]
    assert observed(ragged)["observed"] is None


def test_observations_have_the_names_that_the_caller_gives(tmp_path):
    result, _, ys = guided()
    path, names = tmp_path / "run.html", ("range", "bear<ing>")
    two = {"observations": np.hstack([ys[:, :1], ys[:, :1]])}
    assert data_in(written(result, path, **two))["observedNames"] == ["y0", "y1"]
    named = data_in(written(result, path, **two, observation_names=names))
    assert named["observedNames"] == list(names)
    one = written(result, path, observations=ys[:, 0], observation_names=names[1:])
    assert "<b>observation bear&lt;ing&gt;</b>" in one
    for wrong, options in ((("range",), two), (("y", "y"), two), (names, {})):
        with pytest.raises(ValueError, match="observation_names"):
            skh.report.write_run_html(result, path, **options, observation_names=wrong)


@given(st.floats(-1e300, 1e300, allow_subnormal=False))
def test_numbers_are_printed_to_four_digits_and_are_short(x):
    text = number(x)
    assert float(text) == pytest.approx(x, rel=6e-4)
    assert len(text) <= 11


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_a_number_is_resolved_to_a_tenth_of_its_deviation(x, scale):
    if x == 0 or floor(log10(abs(x)) - log10(scale)) > 12:  # beyond double precision
        return
    assert abs(float(resolved(x, scale)) - x) <= max(0.1 * scale, 6e-3 * abs(x) * (abs(x) < scale))


BAD = {
    "result": ({"result": 3}, TypeError, "result must be a FilterResult"),
    "path": ({"path": 3}, TypeError, "path must be the path of a file, got 3"),
    "bytes": ({"path": b"x"}, TypeError, "path must be the path of a file"),
    "folder": ({"path": "."}, ValueError, "got the folder"),
    "no folder": ({"path": "nowhere/run.html"}, ValueError, "path must be in a folder that exists"),
    "title": ({"title": 3}, TypeError, "title must be a string, got 3"),
    "one name": ({"names": "abc"}, TypeError, "names must be a sequence of 3 strings, got 'abc'"),
    "numbers": ({"names": [1, 2, 3]}, TypeError, "names must be strings"),
    "few names": ({"names": ["a"]}, ValueError, "names must hold 3 names"),
    "same names": ({"names": ["a", "b", "a"]}, ValueError, "names must differ"),
    "few times": ({"times": [0, 1]}, ValueError, r"times must have shape \(30,\)"),
    "text": ({"times": ["a"] * 30}, TypeError, "times must be an array of real numbers"),
    "back": ({"times": [*range(29), 3]}, ValueError, "times must increase, got 28.0 at step 28"),
    "no time": ({"times": [*range(29), np.nan]}, ValueError, "finite, got nan at step 29"),
    "no date": (
        {"times": np.array(["NaT"] * 30, "M8[D]")},
        ValueError,
        "finite, got nan at step 0",
    ),
    "few ys": (
        {"observations": [0.0] * 3},
        ValueError,
        r"one per step .* \(30\), got 3",
    ),
    "one y": (
        {"observations": 3.0},
        TypeError,
        "observations must be a series, .* got 3.0",
    ),
    "truth": ({"truth": np.zeros((30, 2))}, ValueError, r"truth must have shape \(30, 3\)"),
    "vector": (
        {"truth": np.zeros(30)},
        ValueError,
        r"truth must have shape \(30, 3\), got \(30,\)",
    ),
    "infinite": ({"truth": np.full((30, 3), np.inf)}, ValueError, "truth must be finite"),
    "letters": ({"truth": "abc"}, TypeError, "truth must be an array of real numbers"),
    "settings": ({"settings": [1]}, TypeError, "settings must be a mapping"),
    "key": ({"settings": {1: 2}}, TypeError, "settings must have names that are strings, got 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_inputs_are_named_and_nothing_is_written(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    options, error, message = BAD[case]
    options = {"result": plain()[0], "path": "run.html", **options}
    with pytest.raises(error, match=message):
        write_run_html(options.pop("result"), options.pop("path"), **options)
    assert list(tmp_path.iterdir()) == []
