"""Laser models: integration over ranges, marching along beams, SciPy's densities, Hessians."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

import oracles
from skh.models import GridMap, office
from skh.models.robot_sensors import kernels
from skh.robotics import BeamModel, LikelihoodFieldModel
from skh.robotics.sensors import laser, laser_kernels

ANGLES = np.linspace(-np.pi, np.pi, 60, endpoint=False)
GRID = office()
BEAMS = BeamModel(GRID, ANGLES, 15.0, 0.7, 0.2, 0.05, 0.1, 0.1, 0.3, 20, mount=(0.1, 0.2, 0.3))
FIELD = LikelihoodFieldModel(GRID, ANGLES, 15.0, 0.8, z_rand=0.2, sigma_hit=0.15, max_beams=20)
STATE = np.array([2.0, 0.3, 0.4])
NEAR = STATE + 0.2 * np.random.default_rng(0).standard_normal((6, 3))


def one_beam(sensor, **changes):
    return replace(sensor, angles=np.zeros(1), mount=(0.0, 0.0, 0.0), **changes)


def marched(grid, x, y, angle, longest, step=2e-3):
    """Range of a beam by small steps."""
    for way in np.arange(0.0, longest, step):
        i = int(np.floor((y + way * np.sin(angle) - grid.origin[1]) / grid.resolution))
        j = int(np.floor((x + way * np.cos(angle) - grid.origin[0]) / grid.resolution))
        if (
            0 <= i < grid.occupied.shape[0]
            and 0 <= j < grid.occupied.shape[1]
            and grid.occupied[i, j]
        ):
            return way
    return longest


def sensor_pose(state, mount):
    c, s = np.cos(state[2]), np.sin(state[2])
    return (
        state[0] + c * mount[0] - s * mount[1],
        state[1] + s * mount[0] + c * mount[1],
        state[2] + mount[2],
    )


@pytest.mark.parametrize("state", [[2.0, 0.0, 0.0], [6.7, 0.0, 0.0], [-6.0, 0.0, 3.0]])
def test_the_density_of_a_range_integrates_to_one(state):
    beam = one_beam(BEAMS)

    def density(z):
        return float(np.exp(beam.log_likelihood([state], [z])[0]))

    expected = GRID.ranges([state], [0.0], 15.0)[0, 0]
    inside = integrate.quad(density, 0, 15.0 - 1e-9, points=[expected, expected + 0.3], limit=300)[
        0
    ]
    assert inside + density(15.0) == pytest.approx(1.0, abs=1e-6)
    assert density(15.0) == density(np.inf) == pytest.approx(0.05 / 1.05)


def test_beams_have_the_densities_of_scipy_at_marched_ranges():
    y = BEAMS.observe(STATE, np.random.default_rng(1))
    values = BEAMS.log_likelihood(NEAR, y)
    w = np.array([0.7, 0.2, 0.05, 0.1]) / 1.05
    for state, value in zip(NEAR[:3], values[:3], strict=True):
        total = 0.0
        x, yy, heading = sensor_pose(state, BEAMS.mount)
        for k in BEAMS.beams:
            far = marched(GRID, x, yy, heading + ANGLES[k], 15.0)
            z = y[k]
            hit = stats.truncnorm(-far / 0.1, (15.0 - far) / 0.1, far, 0.1).pdf(z)
            short = stats.truncexpon(far * 0.3, 0, 1 / 0.3).pdf(z)
            total += np.log(w[2] if z >= 15.0 else w @ [hit, short, 0.0, 1 / 15.0])
        assert value == pytest.approx(total, abs=0.05 * 20)  # steps of 2 mm, deviation 10 cm
    assert len(BEAMS.beams) == 20
    assert values[0] == pytest.approx(replace(BEAMS, power=0.5).log_likelihood(NEAR[:1], y)[0] * 2)


def test_the_field_has_the_densities_of_scipy_at_interpolated_distances():
    y = FIELD.observe(STATE, np.random.default_rng(2))
    y[FIELD.beams[3]] = np.nan
    y[FIELD.beams[4]] = np.inf
    used = [k for k in FIELD.beams if np.isfinite(y[k]) and y[k] < 15.0]
    for state, value in zip(NEAR, FIELD.log_likelihood(NEAR, y), strict=True):
        directions = state[2] + ANGLES[used]
        ends = state[:2] + y[used, None] * np.stack(
            [np.cos(directions), np.sin(directions)], axis=1
        )
        outside = np.maximum(np.abs(ends) - 7.0, 0.0)  # of a map from -7 m to 7 m
        d = np.minimum(GRID.distances(ends) + np.hypot(*outside.T), 2.0)
        p = 0.8 * stats.norm.pdf(d, 0, 0.15) + 0.2 / 15.0
        assert value == pytest.approx(np.log(p).sum(), rel=1e-9)


def test_beams_outside_of_the_map_and_single_cells():
    tiny = GridMap(np.array([[True]]), 1.0, (5.0, -0.5))
    field = LikelihoodFieldModel(tiny, [0.0], 20.0)
    assert np.isfinite(field.log_likelihood([[0.0, 0.0, 0.0], [90.0, 0.0, 0.0]], [5.0])).all()
    beam = BeamModel(tiny, [0.0], 20.0, z_short=0.0)
    here, away = beam.log_likelihood([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], [5.0])
    assert here > away + 3


def test_impossible_ranges_have_likelihood_zero():
    sure = BeamModel(GRID, [0.0], 15.0, 1.0, 0.0, 0.0, 0.0, sigma_hit=0.01)
    field = LikelihoodFieldModel(GRID, [0.0], 15.0, 1.0, z_rand=0.0, sigma_hit=0.01)
    for sensor in (sure, field):
        assert sensor.log_likelihood([STATE], [1.0])[0] == -np.inf
        assert np.isfinite(sensor.information([STATE], [1.0])).all()


def test_the_unit_of_length_does_not_matter():
    y = BEAMS.observe(STATE, np.random.default_rng(6))
    for unit in (1e-12, 1e12):
        metres = np.array([unit, unit, 1.0])
        small = GridMap(GRID.occupied, GRID.resolution * unit, (-7.0 * unit, -7.0 * unit))
        for sensor in (BEAMS, FIELD):
            lengths = {"max_range": 15.0 * unit, "sigma_hit": sensor.sigma_hit * unit}
            lengths |= {"lambda_short": 0.3 / unit, "mount": np.array(sensor.mount) * metres}
            if sensor is FIELD:
                lengths["max_distance"] = 2.0 * unit
            scaled = replace(sensor, grid=small, **lengths)
            used = np.sum(y[sensor.beams] < 15.0)
            there = scaled.log_likelihood(NEAR * metres, y * unit) + used * np.log(unit)
            np.testing.assert_allclose(there, sensor.log_likelihood(NEAR, y), rtol=1e-6)


def averaged_hessian(sensor, state, scans, h):
    """Minus the second differences of the log-likelihood over steps h, averaged over scans."""
    E = np.diag(h)
    pairs = [(a, b) for a in range(3) for b in range(3)]
    corners = [state + s * E[a] + t * E[b] for a, b in pairs for s in (1, -1) for t in (1, -1)]
    values = np.mean([sensor.log_likelihood(np.array(corners), y) for y in scans], axis=0)
    pp, pm, mp, mm = values.reshape(9, 4).T
    return -((pp - pm - mp + mm) / 4).reshape(3, 3) / np.outer(h, h)


@pytest.mark.parametrize("kind", [BeamModel, LikelihoodFieldModel])
def test_information_is_about_the_expected_hessian(kind):
    """The map consists of cells, so it holds for wide steps, and roughly."""
    angles = np.linspace(-np.pi, np.pi, 120, endpoint=False)
    weights = {"z_hit": 0.9, "z_short": 0.0, "z_max": 0.0, "z_rand": 0.1}
    sensor = kind(office(0.05), angles, 15.0, **weights, sigma_hit=0.2, max_beams=120)
    rng = np.random.default_rng(3)
    scans = [sensor.observe(STATE, rng) for _ in range(40)]
    F = np.mean([sensor.information(STATE[None], y)[0] for y in scans], axis=0)
    H = averaged_hessian(sensor, STATE, scans, np.array([0.08, 0.08, 0.02]))
    sd = np.sqrt(H.diagonal())
    np.testing.assert_allclose(F.diagonal() / sd**2, 1.0, atol=0.45)
    assert np.linalg.eigvalsh(F / np.outer(sd, sd)).min() > 0.2
    assert (sensor.information(NEAR, np.full(120, np.nan)) == 0).all()
    assert sensor.information(STATE[None] + [[90.0, 0, 0]], scans[0])[0, 0, 0] < 0.1 * F[0, 0]


def test_kernels_run_by_python_give_the_same(monkeypatch):
    y = BEAMS.observe(STATE, np.random.default_rng(5))
    compiled = [(m.log_likelihood(NEAR, y), m.information(NEAR, y)) for m in (BEAMS, FIELD)]
    monkeypatch.setattr(laser_kernels, "cast_beam", kernels.cast_beam.py_func)
    monkeypatch.setattr(kernels, "first_crossing", kernels.first_crossing.py_func)
    oracles.run_by_python(laser_kernels, monkeypatch)
    oracles.run_by_python(laser, monkeypatch)
    by_python = [(m.log_likelihood(NEAR, y), m.information(NEAR, y)) for m in (BEAMS, FIELD)]
    for one, other in zip(compiled, by_python, strict=True):
        np.testing.assert_allclose(one[0], other[0], rtol=1e-10)
        np.testing.assert_allclose(one[1], other[1], rtol=1e-8, atol=1e-8)


BAD = {
    "grid": (lambda: BeamModel(None, [0.0]), "grid must be a GridMap, got None"),
    "no beams": (lambda: BeamModel(GRID, []), "angles must have at least one beam"),
    "weight": (lambda: BeamModel(GRID, [0.0], z_rand=-0.1), "z_rand must be .* got -0.1"),
    "deviation": (lambda: BeamModel(GRID, [0.0], sigma_hit=0.0), "sigma_hit must be .* got 0.0"),
    "beams": (lambda: BeamModel(GRID, [0.0], max_beams=0), "max_beams must be .* got 0"),
    "distance": (lambda: LikelihoodFieldModel(GRID, [0.0], max_distance=0.0), "max_distance"),
    "ranges": (lambda: BEAMS.log_likelihood(NEAR, [1.0]), r"y must have 60 ranges, got .*\(1,\)"),
    "negative": (lambda: BEAMS.log_likelihood(NEAR, np.full(60, -1.0)), "ranges >= 0, got -1.0"),
    "states": (lambda: BEAMS.log_likelihood([[0.0]], np.ones(60)), r"states must have shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name):
    call, message = BAD[name]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
