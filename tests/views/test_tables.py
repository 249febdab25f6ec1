"""Tables and labelled arrays of results hold the numbers of the result."""

import csv
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import skh
from skh.views.attributes import seed_of
from skh.views.tables import columns
from skh.views.text import described

MODEL = skh.models.lgss3()
YS = [*MODEL.simulate(5, rng=0)[1][:4], None]


@pytest.fixture(scope="module")
def result():
    levels = (0.05, 0.5, 0.95)
    return skh.particle_filter(MODEL, YS, skh.Stratified(), 20, rng=1, quantiles=levels)


def test_a_table_that_cannot_be_written_leaves_the_old_one(result, tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    result.to_csv(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: 1 / 0)  # the disk fails
    with pytest.raises(ZeroDivisionError):
        result.to_csv(path, names=["a", "b", "c"])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_has_the_numbers_of_the_result(result):
    table = result.to_dataframe()
    assert len(table) == 5
    for k in range(3):
        np.testing.assert_array_equal(table[f"x{k}_mean"], result.means[:, k])
        sd = np.sqrt(result.covariances[:, k, k])
        np.testing.assert_array_equal(table[f"x{k}_sd"], sd)
        np.testing.assert_array_equal(table[f"x{k}_q0.95"], result.quantiles[:, 2, k])
    assert table["log_evidence_increment"].sum() == pytest.approx(result.log_evidence)
    assert table["n_looks"].tolist() == [1, 1, 1, 1, 0]
    assert table["n_likelihood_evaluations"].tolist() == [20] * 4 + [0]
    assert table.attrs == dict(result.attributes)


def test_labelled_arrays_have_the_numbers_of_the_result(result):
    data = result.to_xarray(names=["a", "b", "c"])
    assert dict(data.sizes) == {"time": 5, "state": 3, "state2": 3, "quantile": 3}
    np.testing.assert_array_equal(data["means"].sel(state="b"), result.means[:, 1])
    np.testing.assert_array_equal(
        data["covariances"].sel(state="a", state2="c"), result.covariances[:, 0, 2]
    )
    chosen = data["quantiles"].sel(quantile=0.5, state="c")
    np.testing.assert_array_equal(chosen, result.quantiles[:, 1, 2])
    np.testing.assert_array_equal(data["ess"], result.ess)
    assert data.attrs["rule"] == "Stratified()"


def test_files_give_the_numbers_back_to_the_bit(result, tmp_path):
    result.to_csv(tmp_path / "run.csv", names=["a", "b, c", "d"])
    with (tmp_path / "run.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [float(row["b, c_mean"]) for row in read] == result.means[:, 1].tolist()
    assert read[0]["mmd"] == ""  # not computed
    result.to_parquet(tmp_path / "run.parquet")
    table = pd.read_parquet(tmp_path / "run.parquet")
    pd.testing.assert_frame_equal(table, result.to_dataframe())
    assert table.attrs == dict(result.attributes)
    data = result.to_xarray()
    assert xr.Dataset.from_dict(data.to_dict()).identical(data)


def test_tables_have_looks_and_real_times():
    ys = MODEL.simulate(3, rng=0)[1]
    result = skh.particle_filter(MODEL, ys, n=20, rng=0)
    times = np.array(["2024-01-01", "2024-01-02", "2024-01-05"], dtype="datetime64[s]")
    object.__setattr__(result, "times", times)
    table = result.to_dataframe()
    assert table["look"].tolist() == [step[-1].reason for step in result.looks]
    assert table["n_looks"].tolist() == result.n_looks.tolist()
    assert all(table["n_looks"] >= [len(step) for step in result.looks])  # a pilot may be all of it
    np.testing.assert_array_equal(table["time"].to_numpy(), times)
    np.testing.assert_array_equal(result.to_xarray()["time"].to_numpy(), times)


def test_names_of_a_model_are_those_of_its_coordinates(tmp_path):
    class Named:
        state_names = ("level", "slope", "season")
        prior, transition = MODEL.prior, MODEL.transition
        log_likelihood = MODEL.log_likelihood

    result = skh.particle_filter(Named(), YS, skh.Stratified(), 5, rng=0)
    assert result.state_names == Named.state_names
    assert "slope_mean" in result.to_dataframe()
    result.to_csv(str(tmp_path / "run.csv"))
    assert (tmp_path / "run.csv").read_text().startswith("step,level_mean,level_sd,slope_mean")


def test_hidden_parts_and_poses_have_columns():
    hidden = skh.rao_blackwellize(MODEL, [0])
    result = skh.particle_filter(hidden, YS, skh.Stratified(), 10, rng=0)
    table = result.to_dataframe()
    np.testing.assert_array_equal(table["z1_mean"], result.z_means[:, 1])
    np.testing.assert_array_equal(table["z0_sd"], np.sqrt(result.z_covariances[:, 0, 0]))
    assert result.to_xarray()["joint_covariances"].shape == (5, 3, 3)
    flight = skh.models.survey_flight(2, rng=0)
    result = skh.particle_filter(flight.model, flight.observations[:2], skh.Stratified(), 5, rng=1)
    table = result.to_dataframe()
    np.testing.assert_array_equal(table["state_position_2"], result.mean_states.position[:, 2])
    np.testing.assert_array_equal(table["state_rotation_0_1"], result.mean_states.rotation[:, 0, 1])
    assert result.to_xarray()["mean_states_rotation"].shape == (2, 3, 3)


def test_attributes_are_plain_and_say_how_to_run_again():
    first = skh.particle_filter(MODEL, YS, skh.MonteCarlo(), 20)  # a random seed
    again = skh.particle_filter(MODEL, YS, skh.MonteCarlo(), 20, rng=int(first.attributes["seed"]))
    np.testing.assert_array_equal(first.means, again.means)
    assert all(isinstance(value, str | int | float) for value in first.attributes.values())
    assert set(first.attributes) >= {"model", "rule", "n", "seed", "skh", "numpy", "python", "date"}
    assert (
        skh.particle_filter(MODEL, YS, n=20, rng=3).attributes["rule"]
        == "SecondLook(Regularized(default_rule()))"
    )
    assert seed_of(None, np.random.default_rng(2**100)) == str(2**100)
    generator = np.random.default_rng(0)
    assert seed_of(generator, generator) == "Generator(PCG64)"
    assert seed_of([1, 2], np.random.default_rng([1, 2])) == "(1, 2)"


def test_descriptions_are_one_short_line():
    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0), len)
    for value in (model, MODEL, skh.FWQuad(skh.GaussianKernel(0.1)), object(), skh.Stratified, [1]):
        assert "0x" not in described(value)
        assert "\n" not in described(value)
        assert len(described(value)) <= 200
    assert described(skh.Refined(skh.Stratified())) == "Refined(Stratified())"


class Seconds(NamedTuple):
    rule: np.ndarray
    likelihood: np.ndarray


def test_what_else_a_result_knows_of_its_steps_has_columns(result):
    known = replace(result)
    parts = {"n_looks": np.array([2, 2, 1, 1, 0]), "skipped": np.arange(5) == 3}
    for name, value in {**parts, "seconds": Seconds(np.ones(5), np.zeros(5))}.items():
        object.__setattr__(known, name, value)
    table, data = known.to_dataframe(), known.to_xarray()
    assert table["n_looks"].tolist() == [2, 2, 1, 1, 0]
    assert table["skipped"].tolist() == [False, False, False, True, False]
    assert table["seconds_rule"].tolist() == [1.0] * 5
    assert data["seconds_likelihood"].dims == data["skipped"].dims == ("time",)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pandas", lambda result: result.to_dataframe()),
        ("xarray", lambda result: result.to_xarray()),
        ("pyarrow", lambda result: result.to_parquet("run.parquet")),
    ],
)
def test_without_an_optional_package_an_error_names_the_extra(package, call, result, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"needs {package}: pip install .skh\[io\]"):
        call(result)
    assert "x0_mean" in columns(result)


def test_a_result_without_quantiles_or_attributes_has_a_table(result):
    quantiles = result.quantiles[:, :0]
    bare = replace(result, quantiles=quantiles, quantile_levels=(), attributes={}, looks=())
    assert "x0_q0.05" not in bare.to_dataframe()
    assert bare.to_xarray().attrs == {}


NAMES = {
    "a string": ("abc", TypeError, r"names must be a sequence of 3 strings, got 'abc'"),
    "numbers": ([1, 2, 3], TypeError, r"names must be a sequence of 3 strings, got \[1, 2, 3\]"),
    "too few": (["a", "b"], ValueError, r"names must be 3 different strings, got \['a', 'b'\]"),
    "twice": (["a", "b", "a"], ValueError, r"names must be 3 different strings"),
    "empty": (["a", "b", ""], TypeError, r"names must be a sequence of 3 strings"),
}


@pytest.mark.parametrize(("names", "kind", "message"), NAMES.values(), ids=NAMES)
def test_wrong_names_are_refused(names, kind, message, result, tmp_path):
    for call in (
        lambda: result.to_dataframe(names=names),
        lambda: result.to_xarray(names=names),
        lambda: result.to_csv(tmp_path / "run.csv", names=names),
        lambda: result.plot(names=names),
    ):
        with pytest.raises(kind, match=message):
            call()
    assert list(tmp_path.iterdir()) == []  # nothing was written


def test_wrong_names_of_a_model_are_refused():
    class Named:
        state_names = ("a", "b")
        prior, transition = MODEL.prior, MODEL.transition
        log_likelihood = MODEL.log_likelihood

    with pytest.raises(ValueError, match=r"model\.state_names must be 3 different strings"):
        skh.particle_filter(Named(), YS, skh.Stratified(), 5, rng=0)


def test_functions_name_their_states_within_charts_and_workers():
    given = ([0.0, 0.0], 1.0), lambda t, x: (x, 0.1), lambda t, x, y: -0.5 * (y - x[:, 0]) ** 2
    model = skh.model_from_functions(*given, state_names=["place", "heading"])
    charted = skh.geometry.Charted(model, skh.geometry.Angles(2, angles=[1]))
    with ThreadPoolExecutor(1) as threads:
        for each in (model, charted, skh.parallel(charted, threads, chunk=10)):
            result = skh.particle_filter(each, [0.1], skh.Stratified(), 10, rng=0)
            assert result.state_names == ("place", "heading")
    with pytest.raises(
        ValueError, match=r"state_names must be 2 different strings, got \['place'\]"
    ):
        skh.model_from_functions(*given, state_names=["place"])
    with pytest.raises(TypeError, match=r"state_names must be a sequence of 2 strings, got 'ab'"):
        skh.model_from_functions(*given, state_names="ab")


@pytest.mark.parametrize(
    ("last", "unit", "expected"),
    [
        ("1997-01-04", "ns", ["1997-01-03", "1997-01-04"]),
        ("1997-01-04", "D", ["1997-01-03", "1997-01-04"]),
        ("1997-01-04T16:30", "ns", ["1997-01-03T00:00", "1997-01-04T16:30"]),
        ("1997-01-04T00:00:07", "s", ["1997-01-03T00:00:00", "1997-01-04T00:00:07"]),
        ("1997-01-04T00:00:00.5", "ms", ["1997-01-03T00:00:00.000", "1997-01-04T00:00:00.500"]),
        (
            "1997-01-04T00:00:00.000000001",
            "ns",
            ["1997-01-03T00:00:00.000000000", "1997-01-04T00:00:00.000000001"],
        ),
    ],
)
def test_dates_in_files_have_the_digits_that_they_need(tmp_path, last, unit, expected):
    times = np.array(["1997-01-03", last], dtype=f"datetime64[{unit}]")
    result = skh.particle_filter(
        skh.models.lgss3(), [0.1, 0.2], skh.Stratified(), 10, rng=0, times=times
    )
    result.to_csv(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open() as file:
        assert [row["time"] for row in csv.DictReader(file)] == expected
    read = pd.read_csv(tmp_path / "run.csv", parse_dates=["time"])
    np.testing.assert_array_equal(read["time"].to_numpy(), times)
