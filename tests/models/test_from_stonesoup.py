"""Models of Stone Soup, against numbers recorded by it (see benchmarks/elsewhere.py)."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import skh

RECORDED = json.loads(Path(__file__).with_name("elsewhere.json").read_text())["stonesoup"]


class ConstantTurn:
    """Stands for the model of Stone Soup with that name, written for these tests."""

    def function(self, state, noise=False, time_interval=None):
        dt, x = time_interval.total_seconds(), state.state_vector
        px, vx, py, vy, w = x
        s, c = np.sin(w * dt), np.cos(w * dt)
        moved = [
            px + s / w * vx - (1 - c) / w * vy,
            c * vx - s * vy,
            py + (1 - c) / w * vx + s / w * vy,
            s * vx + c * vy,
            w,
        ]
        return np.array(moved)

    def covar(self, time_interval=None):
        dt, Q = time_interval.total_seconds(), np.zeros((5, 5))
        for k, q in enumerate((0.1, 0.2)):
            block = np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
            Q[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = q * block
        Q[4, 4] = 0.01 * dt
        return Q


class Angle(float):
    @staticmethod
    def mod_angle(values):
        return (values + np.pi) % (2 * np.pi) - np.pi


class BearingRange:
    def function(self, state, noise=False):
        dx, dy = state.state_vector[0] - 1.0, state.state_vector[2] - 2.0
        bearing = [Angle(a) for a in np.arctan2(dy, dx)]
        return np.array([bearing, list(np.hypot(dx, dy))], dtype=object)

    def covar(self):
        return np.diag([0.01, 0.25])


class ConstantVelocity:
    def matrix(self, time_interval):
        dt = time_interval.total_seconds()
        return np.kron(np.eye(2), [[1.0, dt], [0.0, 1.0]])

    def function(self, state, noise=False, time_interval=None):
        return self.matrix(time_interval) @ state.state_vector

    def covar(self, time_interval):
        dt = time_interval.total_seconds()
        block = np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
        return np.kron(np.diag([0.2, 0.1]), block)


class Position:
    def function(self, state, noise=False):
        return state.state_vector[[0, 2]]

    def covar(self):
        return np.diag([0.5, 0.3])


class Vector:
    """A GaussianState or a Detection."""

    def __init__(self, values, covar=None, timestamp=None):
        self.state_vector, self.timestamp = np.reshape(values, (-1, 1)), timestamp
        if covar is not None:
            self.covar = covar


START = datetime(2025, 1, 1)
SECONDS = (1.0, 2.0, 2.5, 4.0, 5.0, 7.0, 8.0, 8.5, 9.0, 12.0)


def test_stonesoup_functions_and_densities_are_those_of_the_package():
    recorded = RECORDED["nonlinear"]
    x, y = np.array(recorded["x"]), np.array(recorded["y"])
    prior = (np.zeros(5), np.eye(5))
    model = skh.from_stonesoup(ConstantTurn(), BearingRange(), prior, time_interval=0.5)
    means, Q = model.transition(0, x)
    assert means == pytest.approx(np.array(recorded["f"]), abs=1e-9)
    np.testing.assert_allclose(Q, recorded["Q"], atol=1e-9)
    assert model.h(0, x) == pytest.approx(np.array(recorded["h"]), abs=1e-9)
    assert model.log_likelihood(0, x, Vector(y)) == pytest.approx(recorded["log_likelihood"])


def test_stonesoup_log_evidence_is_that_of_its_kalman_filter():
    """Unequal times, the prior a second before the first; 20,000 particles: within 0.1."""
    recorded = RECORDED["linear"]
    prior = Vector([0.0, 1.0, 5.0, -1.0], np.diag([1.0, 0.5, 2.0, 0.5]), START)
    times = [START + timedelta(seconds=s) for s in SECONDS]
    model = skh.from_stonesoup(ConstantVelocity(), Position(), prior, timestamps=times)
    rule = skh.QuasiMonteCarlo("hilbert")
    result = skh.particle_filter(model, [Vector(y) for y in recorded["ys"]], rule, 20_000, rng=0)
    assert result.log_evidence == pytest.approx(recorded["log_evidence"], abs=0.1)
    assert result.means == pytest.approx(np.array(recorded["means"]), abs=0.1)


def test_stonesoup_predicts_nonlinear_priors_by_draws():
    prior = Vector([0.0, 1.0, 0.0, 2.0, 0.5], np.diag([1.0, 0.1, 1.0, 0.1, 1e-4]), START)
    times = [START + timedelta(seconds=1)]
    model = skh.from_stonesoup(ConstantTurn(), BearingRange(), prior, timestamps=times)
    one = timedelta(seconds=1)
    expected = ConstantTurn().function(Vector(prior.state_vector), time_interval=one)
    assert model.prior().mean == pytest.approx(expected[:, 0], abs=0.15)


def test_residuals_of_angles_are_wrapped():
    model = skh.from_stonesoup(
        ConstantTurn(), BearingRange(), (np.zeros(5), np.eye(5)), time_interval=timedelta(seconds=1)
    )
    x = np.array(
        [[-9.0, 0.0, 2.0 + e, 0.0, 0.1] for e in (1e-9, -1e-9)]
    )  # on both sides of the cut
    a, b = model.log_likelihood(0, x, [3.1, 10.0])
    assert a == pytest.approx(b)
    F = model.observation_metric(0, x)
    assert F[0] == pytest.approx(F[1], rel=1e-3, abs=1e-6)
    assert F[0][2, 2] == pytest.approx(1.0 / 0.01 / 10.0**2, rel=1e-4)
