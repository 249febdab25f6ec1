"""``skh localize`` on tiny logs of all formats: what it writes, and bad inputs in one line."""

import csv
import json
import re
import signal

import numpy as np
import pytest
from typer.testing import CliRunner

import skh
from robot_files import (
    box_map,
    circle_drive,
    landmark_mat,
    mrclam,
    scans_in,
    stereo_mat,
    wean_log,
    wean_map,
)
from skh.app.localize.animation import MOST_DOTS, shown_dots
from skh.app.localize.outputs import settings_of
from skh.app.localize.run import LocalizeRun, localize
from skh.app.localize.scenario import read_localize_scenario
from skh.app.localize.setup import set_up
from skh.app.localize.template import LOCALIZE_TEMPLATE
from skh.cli import app
from skh.models import GridMap
from skh.trajectory import read_tum

FILES = ("trajectory.tum", "covariances.csv", "metrics.json", "path.png", "errors.png")
PAGES = ("run.html", "particles.html")
CHEAP = '[filter]\nrule = "Stratified"\nn = 60\n'
QUIET = '[outputs]\npath = ""\nerrors = ""\nreport = ""\nanimation = ""\n'
LASER = (
    '[log]\nformat = "carmen"\nfile = "log.gz"\n[map]\nfile = "map.dat"\n'
    "[sensor]\npower = 0.3\n[start]\npose = [1.5, 1.0, 0.0]\n" + CHEAP
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = GridMap(box_map(), 0.1, (0.0, 0.0))
    times, _, _, poses = circle_drive(12, forward=0.8)
    poses = poses + np.array([1.5, 1.0, 0.0])
    angles = -np.pi / 2 + np.pi / 36 * np.arange(36)
    ranges, lasers = scans_in(grid, poses, angles, mount=0.2)
    wean_log(tmp_path / "log.gz", times, poses - [1.0, 0.5, 0.0], lasers - [1.0, 0.5, 0.0], ranges)
    wean_map(tmp_path / "map.dat", box_map())
    mrclam(tmp_path / "mrclam", T=12)
    known = np.isin(np.arange(8), [3, 4, 5], invert=True)  # the truth is unknown for 0.8 s
    landmark_mat(tmp_path / "woods.mat", T=8, true_valid=known.astype(float))
    stereo_mat(tmp_path / "stars.mat", T=8)
    (tmp_path / "laser.toml").write_text(LASER)
    for name, form, file in (
        ("mrclam", "mrclam", "mrclam"),
        ("woods", "landmark-mat", "woods.mat"),
        ("stars", "stereo-mat", "stars.mat"),
    ):
        text = f'[log]\nformat = "{form}"\nfile = "{file}"\n{CHEAP}'
        (tmp_path / f"{name}.toml").write_text(text)
    apart = [f"ODOM 0 0 0 0 0 0 {t} host {t}" for t in (0, 1)]
    apart += ["RAWLASER1 0 -1.5 3 0.1 80 0.01 0 2 1 1 0 9 host 9"]
    (tmp_path / "apart.log").write_text("\n".join(apart))
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["localize", *arguments])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


@pytest.mark.parametrize("name", ["mrclam", "woods", "stars"])
def test_logs_with_a_truth_are_scored(folder, name):
    output = run(f"{name}.toml", "--out", "out")
    for file in (*FILES, *PAGES):
        assert (folder / "out" / file).stat().st_size > 100, file
        assert str(file) in output
    metrics = json.loads((folder / "out" / "metrics.json").read_text())
    assert metrics["ate_m"]["rmse"] < 0.3
    assert metrics["steps_with_truth"] == metrics["steps"] - (3 if name == "woods" else 0)
    assert "position error" in output
    path = read_tum(folder / "out" / "trajectory.tum")
    assert len(path) == metrics["steps"]


def test_a_laser_on_a_map_follows_the_robot(folder):
    (folder / "laser.toml").write_text(LASER + QUIET)
    output = run("laser.toml")
    again = LASER.replace('log.gz"', 'log.gz"\ntruth = "localize/trajectory.tum"') + QUIET
    (folder / "scored.toml").write_text(again)
    run("scored.toml", "--out", "scored")
    metrics = json.loads((folder / "scored" / "metrics.json").read_text())
    assert metrics["ate_m"]["max"] < 1e-9  # the same run is its own truth
    assert "no truth in this log" in output
    times, _, _, poses = circle_drive(12, forward=0.8)
    path = read_tum(folder / "localize" / "trajectory.tum")
    np.testing.assert_allclose(path.times, times, atol=1e-6)
    error = np.hypot(*(path.positions[:, :2] - poses[:, :2] - [1.5, 1.0]).T)
    assert np.median(error) < 0.15
    text = (folder / "localize" / "covariances.csv").read_text()
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == ["time", "x*x", "x*y", "x*heading", "y*y", "y*heading", "heading*heading"]
    assert len(rows) == 13
    assert float(rows[5][1]) > 0


def test_the_numbers_are_those_of_the_library(folder):
    """The command gives what the library gives with the same models, to the bit."""
    setup = set_up(read_localize_scenario(folder / "woods.toml"))
    model = skh.robotics.localization_model(
        setup.prior, setup.motion, setup.sensor, setup.timeline.controls
    )
    ours = skh.particle_filter(model, setup.timeline.observations, skh.Stratified(), 60, rng=0)
    theirs = localize(setup).result
    np.testing.assert_array_equal(theirs.mean_states, ours.mean_states)
    log = skh.robotics.read_landmark_log(folder / "woods.mat")
    assert setup.sensor.range_noise == log.range_variance**0.5


def test_a_start_anywhere_finds_the_robot(folder):
    text = LASER.replace("pose = [1.5, 1.0, 0.0]", 'pose = "anywhere"\nn = 3000')
    (folder / "laser.toml").write_text(text + QUIET)
    run("laser.toml", "--seed", "1")
    x, y, _ = read_tum(folder / "localize" / "trajectory.tum").positions[-1]
    end = circle_drive(12, forward=0.8)[3][-1] + np.array([1.5, 1.0, 0.0])
    assert np.hypot(x - end[0], y - end[1]) < 0.3
    metrics = json.loads((folder / "localize" / "metrics.json").read_text())
    assert metrics["likelihood_evaluations"] > 3000


def test_the_report_says_what_was_run(folder):
    settings = settings_of(
        LocalizeRun(set_up(read_localize_scenario(folder / "laser.toml")), None, 0)
    )
    assert settings["map.file"] == "map.dat"
    assert settings["start.pose"] == "(1.5, 1.0, 0.0)"
    assert settings["filter.n"] == 60
    assert "start.n" not in settings  # of a start anywhere


def test_options_replace_keys_and_empty_names_are_not_written(folder):
    (folder / "woods.toml").write_text((folder / "woods.toml").read_text() + QUIET)
    run("woods.toml", "--steps", "3", "--n", "20", "--rule", "MonteCarlo", "--out", "short")
    assert len(read_tum(folder / "short" / "trajectory.tum")) == 3
    assert sorted(p.name for p in (folder / "short").iterdir()) == sorted(FILES[:3])


def test_unknown_landmarks_and_further_keys(folder):
    text = '[sensor]\nids = "unknown"\noutliers = 0.05\n[motion]\nnoise = [0.1, 0.0, 0.1]\n'
    (folder / "woods.toml").write_text((folder / "woods.toml").read_text() + text)
    setup = set_up(read_localize_scenario(folder / "woods.toml"))
    assert (setup.timeline.observations[0][:, 0] == -1).all()
    assert (setup.sensor.outliers, setup.motion.noise) == (0.05, (0.1, 0.0, 0.1))


def test_the_template_is_a_scenario(folder):
    assert "[log]" in run("--init")
    run("new.toml", "--init")
    assert (folder / "new.toml").read_text() == LOCALIZE_TEMPLATE
    assert read_localize_scenario(folder / "new.toml").start.pose == "anywhere"
    shown = re.sub(r"^# (\w+ = )", r"\1", LOCALIZE_TEMPLATE, flags=re.MULTILINE)
    for key in ("laser", "robot", "steps", "truth", "noise", "range_noise", "bearing_noise"):
        shown = re.sub(rf"^{key} = .*\n", "", shown, flags=re.MULTILINE)
    for key in ("outliers", "longest", "ids", "pixel_covariance"):
        shown = re.sub(rf"^{key} = .*\n", "", shown, flags=re.MULTILINE)
    (folder / "all.toml").write_text(shown)
    default, given = (read_localize_scenario(folder / f"{n}.toml") for n in ("new", "all"))
    assert (default.filter, default.outputs) == (given.filter, given.outputs)
    from skh.app.localize.setup import DRIVE_ALPHAS, LASER_DEFAULTS, START_DEVIATIONS

    assert given.motion["alpha"] == DRIVE_ALPHAS[:4]
    assert LASER_DEFAULTS.items() <= given.sensor.items()
    assert given.start.deviation == START_DEVIATIONS[2]
    assert given.start.n == default.start.n


CARMEN = '[log]\nformat = "carmen"\nfile = "log.gz"\n'
WOODS = '[log]\nformat = "landmark-mat"\nfile = "woods.mat"\n'
MAP = '[map]\nfile = "map.dat"\n'
BAD = {
    "no section": ("", "s.toml: [log] needs the key 'format'"),
    "no file": ('[log]\nformat = "carmen"\n', "s.toml:1: [log] needs the key 'file'"),
    "format": (CARMEN.replace("carmen", "bag"), "s.toml:2: [log] format must be one of 'carmen'"),
    "key": (WOODS + "[start]\npos = 1\n", "s.toml:5: [start] has no key 'pos'"),
    "section": (WOODS + "[maps]\n", "there is no section [maps]"),
    "no map": (CARMEN, "s.toml: [map] needs the key 'file' with the format 'carmen'"),
    "a map": (WOODS + MAP, "s.toml:4: [map] has no use with the format 'landmark-mat'"),
    "missing log": (WOODS.replace("woods.mat", "no.mat"), "s.toml:3: [log] file cannot be read"),
    "missing map": (
        CARMEN + MAP.replace("map", "no", 2).replace("[no]", "[map]"),
        "cannot be read",
    ),
    "missing truth": (
        WOODS + 'truth = "no.tum"\n',
        "s.toml:4: [log] truth cannot be read: No such",
    ),
    "foreign truth": (WOODS + 'truth = "map.dat"\n', "map.dat, line 1 must be 'time x y z"),
    "foreign log": (WOODS.replace("woods.mat", "map.dat"), "must be a MATLAB file"),
    "foreign map": (CARMEN + MAP.replace("map.dat", "woods.mat"), "must be a map"),
    "robot": (
        '[log]\nformat = "mrclam"\nfile = "mrclam"\nrobot = 4\n',
        "robot must be one of [1], got 4",
    ),
    "nothing at the same time": (
        '[log]\nformat = "carmen"\nfile = "apart.log"\n' + MAP,
        "apart.log: readings must overlap the odometry, which lasts from 0.0 to 1.0 s",
    ),
    "robot of another format": (
        WOODS + "robot = 1\n",
        "s.toml:4: [log] robot is not a key of the format 'landmark-mat'",
    ),
    "sensor": (
        WOODS + '[sensor]\nmodel = "beam"\n',
        "s.toml:5: [sensor] model must be one of 'range_bearing' for the format 'landmark-mat'",
    ),
    "key of another sensor": (
        WOODS + "[sensor]\nz_hit = 0.5\n",
        "s.toml:5: [sensor] z_hit is not a key of 'range_bearing'",
    ),
    "value": (WOODS + "[filter]\nn = 0\n", "s.toml:5: [filter] n must be a whole number above"),
    "alphas": (
        CARMEN + MAP + "[motion]\nalpha = [1, 2, 3, 4, 5]\n",
        "s.toml:6: [motion] alpha must have 4 numbers, got 5",
    ),
    "pose": (WOODS + '[start]\npose = "home"\n', "s.toml:5: [start] pose must be [x, y, heading]"),
    "anywhere": (
        WOODS + '[start]\npose = "anywhere"\n',
        "s.toml:5: [start] pose must be 'truth' or a pose without a map of cells",
    ),
    "truth": (
        CARMEN + MAP + '[start]\npose = "truth"\n',
        "s.toml:7: [start] pose must be a pose: the log has no true poses",
    ),
    "deviation": (
        WOODS + "[start]\ndeviation = [1, 1, 1, 1, 1, 1]\n",
        "s.toml:5: [start] deviation must have 3 numbers, got 6",
    ),
    "steps": (
        '[log]\nformat = "stereo-mat"\nfile = "stars.mat"\n[steps]\nmin_way = 1\n',
        "s.toml:5: [steps] min_way has no use: there is one step per image",
    ),
    "folder": (WOODS + '[outputs]\nfolder = "map.dat"\n', "map.dat: the outputs need a folder"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_inputs_end_with_one_line(folder, case):
    text, line = BAD[case]
    (folder / "s.toml").write_text(text)
    files = sorted(folder.rglob("*"))
    result = CliRunner().invoke(app, ["localize", "s.toml"])
    assert result.exit_code == 2, result.output + repr(result.exception)
    assert result.stderr.count("\n") == 1
    assert line in result.stderr
    assert sorted(folder.rglob("*")) == files


def test_no_file_and_outputs_that_replace_inputs(folder):
    assert "name a localize.toml" in CliRunner().invoke(app, ["localize"]).stderr
    assert "there is no such file" in CliRunner().invoke(app, ["localize", "x.toml"]).stderr
    (folder / "log.txt").write_bytes((folder / "log.gz").read_bytes())
    laser = LASER.replace("log.gz", "log.txt") + '[outputs]\nfolder = "."\ntrajectory = "log.txt"\n'
    (folder / "s.toml").write_text(laser)
    result = CliRunner().invoke(app, ["localize", "s.toml"])
    assert "log.txt: the trajectory would replace this input" in result.stderr


def test_a_step_that_nothing_explains_keeps_the_steps_before(folder, monkeypatch):
    setup = set_up(read_localize_scenario(folder / "woods.toml"))
    likelihood = type(setup.sensor).log_likelihood
    steps = iter(range(100))

    def failing(self, states, y):
        return likelihood(self, states, y) if next(steps) < 4 else np.full(len(states), -np.inf)

    monkeypatch.setattr(type(setup.sensor), "log_likelihood", failing)
    result = CliRunner().invoke(app, ["localize", "woods.toml"])
    assert result.exit_code == 2
    assert "no particle explains this observation" in result.stderr
    assert "the first 4 of 8 steps are in localize/trajectory.tum" in result.stderr
    assert len(read_tum(folder / "localize" / "trajectory.tum")) == 4


@pytest.mark.parametrize(("error", "number"), [(KeyboardInterrupt, signal.SIGINT)])
def test_an_interrupt_says_what_is_kept(folder, monkeypatch, error, number):
    def interrupted(self, states, y):
        raise error

    setup = set_up(read_localize_scenario(folder / "woods.toml"))
    monkeypatch.setattr(type(setup.sensor), "log_likelihood", interrupted)
    result = CliRunner().invoke(app, ["localize", "woods.toml"])
    assert result.exit_code == 128 + number
    assert "no step was complete" in result.stderr


def test_many_particles_are_resampled_by_weight():
    particles = np.column_stack([np.arange(1000.0), np.zeros((1000, 2))])
    w = np.where(np.arange(1000) < 500, 0.0, 1 / 500)
    dots = shown_dots(particles, w)
    assert dots.shape == (MOST_DOTS, 4)
    assert dots[:, 0].min() >= 500


@pytest.mark.xdist_group("browser")
def test_the_animation_moves(folder, browser):
    run("laser.toml")
    page = folder / "localize" / "particles.html"
    assert "http" not in page.read_text().replace("http-equiv", "")
    with browser.page(page) as opened:  # fails if the console has a message
        opened.settle()
        first = opened.text("#text")
        opened.see("show(5)")
        opened.settle()
        assert first.startswith("step 0, 0.00 s")
        assert opened.text("#text").startswith("step 5, 1.00 s")
