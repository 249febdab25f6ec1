"""Steps that went badly are reported to the logger ``skh``, and good ones are not."""

import logging
import subprocess
import sys

import numpy as np
import pytest

import skh


def sharp(width):
    """A random walk whose likelihood is ``width`` wide; its steps are 1 wide."""
    return skh.model_from_functions(
        prior=([0.0], 1.0),
        transition=lambda t, x: (x, 1.0),
        log_likelihood=lambda t, x, y: -0.5 * ((x[:, 0] - y) / width) ** 2,
    )


def kinds(caplog):
    return [record.kind for record in caplog.records if record.name == "skh"]


def test_a_broad_likelihood_is_not_reported(caplog):
    skh.particle_filter(sharp(1.0), np.zeros(20), skh.Stratified(), 50, rng=0)
    skh.particle_filter(sharp(1.0), np.zeros(5), n=50, rng=0)
    assert kinds(caplog) == []


def test_an_ess_near_one_is_reported_with_its_step(caplog):
    skh.particle_filter(sharp(1e-6), [0.0], skh.Stratified(), 50, rng=0)
    assert kinds(caplog) == ["ess"]
    [record] = caplog.records
    assert (record.levelno, record.t, record.count) == (logging.WARNING, 0, 1)
    assert record.getMessage().startswith("t=0: an ESS of 1.00 with 50 particles: the estimate")


def test_a_long_run_reports_the_first_the_tenth_and_the_hundredth_step(caplog):
    skh.particle_filter(sharp(1e-6), np.zeros(120), skh.Stratified(), 50, rng=0)
    assert kinds(caplog) == ["ess"] * 3
    assert [record.count for record in caplog.records] == [1, 10, 100]
    assert "(100 such steps so far)" in caplog.records[-1].getMessage()


def test_few_particles_and_steps_without_observations_are_not_reported(caplog):
    skh.particle_filter(sharp(1e-6), [0.0], skh.Stratified(), 9, rng=0)
    skh.particle_filter(sharp(1e-6), [None], skh.Stratified(), 50, rng=0)
    assert kinds(caplog) == []


def test_collapsed_particles_are_reported(caplog):
    def still(t, x):
        return x, 0.0

    model = skh.model_from_functions(([0.0, 0.0], 1.0), still, lambda t, x, y: -1e4 * x[:, 0] ** 2)
    skh.particle_filter(model, np.zeros(3), skh.Stratified(), 20, rng=0)
    assert set(kinds(caplog)) >= {"collapsed"}
    assert "all 20 particles are the same" in caplog.text


def test_a_known_start_is_not_a_collapse(caplog):
    model = skh.model_from_functions(
        ([0.0], 0.0), lambda t, x: (x, 1.0), lambda t, x, y: -0.5 * (x[:, 0] - y) ** 2
    )
    skh.particle_filter(model, [0.0, 0.1, 0.2], skh.Stratified(), 20, rng=0)
    assert kinds(caplog) == []


def test_a_constant_coordinate_is_not_a_collapse(caplog):
    def walk(t, x):
        return x, np.diag([0.0, 1.0])

    model = skh.model_from_functions(
        ([1.0, 0.0], np.diag([0.0, 1.0])), walk, lambda t, x, y: -0.5 * (x[:, 1] - y) ** 2
    )
    skh.particle_filter(model, [0.0, 0.1, 0.2], skh.Stratified(), 20, rng=0)
    assert kinds(caplog) == []


def test_a_sharp_step_that_cannot_be_guided_is_reported(caplog):
    """Two places of the predictive, both possible: one surrogate cannot describe both."""

    def two_peaks(t, x, y):
        return np.logaddexp(*(-0.5 * ((x[:, 0] - c) / 1e-3) ** 2 for c in (-30.0, 30.0)))

    prior = skh.GaussianMixture([0.5, 0.5], [[-30.0], [30.0]], 1.0)
    model = skh.model_from_functions(prior, lambda t, x: (x, 1.0), two_peaks)
    result = skh.particle_filter(model, [0.0], n=40, rng=0)
    assert not result.looks[0][-1].reason.startswith("guided")
    assert "unguided" in kinds(caplog)
    assert result.looks[0][-1].reason in caplog.text


def test_guided_sharp_steps_are_not_reported(caplog):
    result = skh.particle_filter(sharp(0.01), [0.1, 0.3], n=50, rng=0)
    assert result.looks[0][-1].reason.startswith("guided")
    assert kinds(caplog) == []


def test_a_handler_may_stop_a_step_and_the_filter_is_as_before():
    class Stop(logging.Handler):
        def emit(self, record):
            raise RuntimeError(record.getMessage())

    handler, pf = Stop(), skh.ParticleFilter(sharp(1e-6), skh.Stratified(), 50, rng=0)
    before = pf._rng.bit_generator.state
    logging.getLogger("skh").addHandler(handler)
    try:
        with pytest.raises(RuntimeError, match=r"t=0: an ESS of 1\.00"):
            pf.step(0.0)
    finally:
        logging.getLogger("skh").removeHandler(handler)
    assert (pf.t, pf.belief) == (0, None)
    assert pf._rng.bit_generator.state == before


def test_nothing_is_printed_unless_the_application_configures_logging():
    code = (
        "import logging, numpy as np, skh\n"
        "m = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0),\n"
        "    lambda t, x, y: -1e12 * (x[:, 0] - y) ** 2)\n"
        "pf = skh.ParticleFilter(m, skh.Stratified(), 50, rng=0)\n"
        "pf.step(0.0)\n"
        "logging.basicConfig()\n"
        "skh.ParticleFilter(m, skh.Stratified(), 50, rng=0, t=7).step(0.0)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    [line] = run.stderr.splitlines()
    assert line.startswith("WARNING:skh:t=7: an ESS of 1.00")
    assert run.stdout == ""
