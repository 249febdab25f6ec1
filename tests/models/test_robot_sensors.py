"""Robots with precise sensors: likelihoods by SciPy and by slow geometry, simulations, errors."""

from dataclasses import replace
from math import atan2, dist, hypot

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import oracles
import skh
from skh.models import robot_sensors as robots
from skh.models.robot_sensors import depth_images, grid_map, kernels

PLAIN = {
    "counts": skh.models.counts(),
    "position": skh.models.range_bearing(),
    "pose": skh.models.range_bearing(heading=True),
    "outliers": robots.RangeBearing(outliers=0.05),
    "residuals": robots.ResidualRangeBearing(heading=True),
    "radar": skh.models.radar(),
    "field": skh.models.field_map(),
    "laser": skh.models.laser_beams(),
    "likelihood field": skh.models.likelihood_field(),
    "depth": skh.models.depth_camera(),
}
SEEN = {"counts": 1, "radar": 4, "field": 1, "laser": 16, "likelihood field": 16, "depth": 192}


@pytest.mark.parametrize("name", PLAIN)
def test_simulation_has_its_shape_and_its_seed(name):
    model = PLAIN[name]
    states, ys = model.simulate(6, rng=3)
    assert states.shape == (6, model.prior().d)
    assert ys.shape == (6, SEEN.get(name, 6))
    np.testing.assert_array_equal(ys, model.simulate(6, rng=3)[1])
    assert isinstance(model, skh.Model)


@pytest.mark.parametrize("name", PLAIN)
def test_simulated_steps_follow_the_transition(name):
    model = PLAIN[name]
    states = model.simulate(1_500, rng=1)[0] if "depth" not in name else model.simulate(300)[0]
    means, covariance = model.transition(0, states[:-1])
    d = states.shape[1]
    L = np.linalg.cholesky(np.asarray(covariance) * (np.eye(d) if np.ndim(covariance) == 0 else 1))
    v = np.linalg.solve(L, (states[1:] - means).T)
    np.testing.assert_allclose(v.mean(axis=1), 0, atol=0.25)
    np.testing.assert_allclose(np.cov(v), np.eye(d).squeeze(), atol=0.35)


def normal_with_floor(residual, noise, share, width):
    if share == 0:
        return stats.norm.logpdf(residual, 0, noise)
    return np.log((1 - share) * stats.norm.pdf(residual, 0, noise) + share / width)


def turn(angle):
    return atan2(np.sin(angle), np.cos(angle))


def range_bearing_density(model, x, y):
    total = 0.0
    for k, landmark in enumerate(model.landmarks):
        heading = x[2] if model.heading else 0.0
        angle = atan2(landmark[1] - x[1], landmark[0] - x[0]) - heading
        far, bearing = y[k] - dist(landmark, x[:2]), turn(y[len(model.landmarks) + k] - angle)
        total += normal_with_floor(far, model.range_noise, model.outliers, 20)
        total += normal_with_floor(bearing, model.bearing_noise, model.outliers, 2 * np.pi)
    return total


def expected(name, model, x, y):
    """The log-likelihood of one state, written out."""
    if name == "counts":
        return stats.poisson.logpmf(y[0], 4 * np.exp(x[0]))
    if name == "radar":
        total = 0.0
        for k, east in enumerate((0.0, 60.0)):
            far = hypot(x[0] - east, x[2])
            rate = ((x[0] - east) * x[1] + x[2] * x[3]) / far
            total += stats.norm.logpdf(y[k], far, 0.1) + stats.norm.logpdf(y[2 + k], rate, 0.05)
        return total
    if name == "field":
        vectors, phases = model.spectrum
        waves = [np.cos(v @ x + p) for v, p in zip(vectors.T, phases, strict=True)]
        return stats.norm.logpdf(y[0], sum(waves) * (2 / 24) ** 0.5, 0.05)
    return range_bearing_density(model, x, y)


@pytest.mark.parametrize("name", [n for n in PLAIN if n not in ("laser", "depth")][:6])
def test_likelihoods(name):
    model = PLAIN[name]
    states, ys = model.simulate(5, rng=2)
    x = states + 0.01
    for t, y in enumerate(ys):
        direct = [expected(name, model, state, y) for state in x]
        np.testing.assert_allclose(model.log_likelihood(t, x, y), direct, rtol=1e-9)


@pytest.mark.parametrize("name", [n for n in PLAIN if n not in ("laser", "likelihood field")])
def test_observations_follow_the_likelihood(name):
    """The mean score over draws is zero."""
    model, rng = PLAIN[name], np.random.default_rng(0)
    x, step = model.prior().mean + 0.1, 1e-5
    pair = np.array([x - step, x + step])
    scores = [
        np.diff(model.log_likelihood(1, pair, model.observe(1, x, rng)))[0] / (2 * step)
        for _ in range(800)
    ]
    assert abs(np.mean(scores)) < 4 * np.std(scores) / len(scores) ** 0.5


def slow_range(grid, pose, angle, longest):
    """March along a beam in tiny steps."""
    direction = np.array([np.cos(pose[2] + angle), np.sin(pose[2] + angle)])
    for far in np.arange(0, longest, 2e-4):
        column, row = np.floor((pose[:2] + far * direction - grid.origin) / grid.resolution)
        inside = 0 <= row < len(grid.occupied) and 0 <= column < grid.occupied.shape[1]
        if inside and grid.occupied[int(row), int(column)]:
            return far
    return longest


def test_beams_end_where_a_slow_march_ends():
    grid, rng = robots.office(), np.random.default_rng(4)
    poses = np.column_stack([rng.uniform(-3, 3, (12, 2)), rng.uniform(-4, 4, 12)])
    angles = np.array([0.0, 2.5])
    slow = [[slow_range(grid, pose, a, 9.0) for a in angles] for pose in poses]
    np.testing.assert_allclose(grid.ranges(poses, angles, 9.0), slow, atol=3e-4)


def test_beams_along_the_axes_and_out_of_the_map():
    occupied = np.zeros((3, 4), dtype=bool)
    occupied[1, 3] = True
    grid = robots.GridMap(occupied, 0.5, (-1.0, 2.0))
    pose = np.array([[-0.75, 2.75, 0.0]])
    ways = grid.ranges(pose, np.array([0.0, np.pi / 2, np.pi, -np.pi / 2]), 7.0)
    np.testing.assert_allclose(ways, [[1.25, 7.0, 7.0, 7.0]])
    inside = grid.ranges(np.array([[0.75, 2.75, 0.3]]), np.array([0.0]), 7.0)
    np.testing.assert_array_equal(inside, [[0.0]])


def test_distances_to_obstacles():
    occupied = np.zeros((21, 21), dtype=bool)
    occupied[10, 10] = True
    grid = robots.GridMap(occupied, 0.1, (0.0, 0.0))
    centres = np.array([[1.05, 1.05], [1.35, 1.45], [0.05, 1.05], [-5.0, 1.05]])
    np.testing.assert_allclose(grid.distances(centres), [0.0, 0.5, 1.0, 1.0], atol=1e-12)


def test_ends_of_beams_lie_on_obstacles():
    model = robots.LikelihoodField(outliers=0.0)
    pose = np.array([[2.0, 0.3, 0.4]])
    ends = model.ends(pose, model.ranges(pose)[0])
    assert model.grid.distances(ends).max() < 0.1
    y = model.ranges(pose)[0]
    best = model.log_likelihood(0, pose, y)[0]
    away = pose + np.random.default_rng(0).normal(size=(50, 3)) * [0.3, 0.3, 0.1]
    assert best > model.log_likelihood(0, away, y).max()


def test_laser_beams_have_independent_errors():
    model = PLAIN["laser"]
    x = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 2.0]])
    y = model.observe(0, x[0], np.random.default_rng(0))
    direct = stats.norm.logpdf(y, model.ranges(x), 0.05).sum(axis=1)
    np.testing.assert_allclose(model.log_likelihood(0, x, y), direct, rtol=1e-9)


def test_a_charted_laser_equals_the_plain_one_while_no_heading_wraps():
    model = PLAIN["laser"]
    _, ys = model.simulate(4, rng=0)
    charted = skh.geometry.Charted(model, skh.geometry.SE2())
    results = [
        skh.particle_filter(m, ys, skh.Stratified(), 200, rng=1).means for m in (model, charted)
    ]
    np.testing.assert_allclose(*results, atol=1e-9)


def slow_depth(p, u):
    """Depth of a scene by a march of signed distances (sphere tracing)."""
    low, high = depth_images.ROOM[:3], depth_images.ROOM[3:]
    far = 0.0
    for _ in range(4_000):
        x = p + far * u
        distances = [np.minimum(x - low, high - x).min()]
        for box in depth_images.BOXES:
            distances.append(np.linalg.norm(np.maximum(np.maximum(box[:3] - x, x - box[3:]), 0)))
        for sphere in depth_images.SPHERES:
            distances.append(dist(x, sphere[:3]) - sphere[3])
        if min(distances) < 1e-9:
            break
        far += min(distances)
    return far


def test_depths_end_where_sphere_tracing_ends():
    model = replace(PLAIN["depth"], pixels=(5, 4))
    for p in (np.array([0.0, 0.0, 1.8]), np.array([0.4, -0.5, 1.2])):
        slow = [slow_depth(p, u) for u in model.rays]
        np.testing.assert_allclose(model.depths(p[None])[0], slow, atol=1e-6)


def test_pixels_are_seen_and_independent():
    model = PLAIN["depth"]
    assert model.rays.shape == (192, 3)
    np.testing.assert_allclose(np.linalg.norm(model.rays, axis=1), 1)
    x = model.simulate(2, rng=0)[0]
    y = model.observe(0, x[0], np.random.default_rng(1))
    direct = normal_with_floor(y - model.depths(x), 0.2, 0.1, 12.0).sum(axis=1)
    np.testing.assert_allclose(model.log_likelihood(0, x, y), direct, rtol=1e-9)


@given(st.floats(-1e3, 1e3), st.floats(0.01, 1.0), st.just(0.0) | st.floats(1e-300, 1))
def test_a_floor_is_never_below_the_share_of_outliers(residual, noise, share):
    from skh.models.robot_sensors.noise import log_floored_density

    found = log_floored_density(np.array([residual]), noise, share, 10.0)[0]
    if share > 0:
        assert found >= np.log(share / 10.0) - 1e-12
    else:
        np.testing.assert_allclose(found, stats.norm.logpdf(residual, 0, noise))


def test_counts_of_zero_and_overflow():
    model = PLAIN["counts"]
    np.testing.assert_allclose(model.log_likelihood(0, np.zeros((1, 1)), 0.0), [-4.0])
    assert model.log_likelihood(0, np.full((1, 1), 800.0), 1.0)[0] == -np.inf


BAD = {
    "range_noise": lambda: robots.RangeBearing(range_noise=0.0),
    "outliers": lambda: robots.RangeBearing(outliers=1.5),
    "landmarks": lambda: robots.RangeBearing(landmarks=((1.0, 2.0, 3.0),)),
    "stations": lambda: robots.Radar(stations=()),
    "acceleration": lambda: robots.Radar(acceleration=-1.0),
    "length": lambda: robots.FieldMap(length=0.0),
    "resolution": lambda: robots.GridMap(np.ones((2, 2), dtype=bool), 0.0, (0.0, 0.0)),
    "occupied": lambda: robots.GridMap(np.ones(3), 1.0, (0.0, 0.0)),
    "an occupied cell": lambda: (
        robots.GridMap(np.zeros((2, 2), dtype=bool), 1.0, (0.0, 0.0)).distance_field
    ),
    "step_noise": lambda: robots.LaserBeams(step_noise=0.0),
    "width": lambda: robots.DepthCamera(width=0.0),
    "rate": lambda: skh.models.Counts(rate=0.0),
    "persistence": lambda: skh.models.Counts(persistence=1.0),
    "y": lambda: skh.models.range_bearing().log_likelihood(0, np.zeros((1, 2)), np.zeros(3)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_are_named(name):
    with pytest.raises(ValueError, match=f"{name} "):
        BAD[name]()


def test_a_map_must_be_a_grid_map():
    with pytest.raises(TypeError, match="grid must be a GridMap"):
        robots.LaserBeams(grid=np.ones((2, 2)))


def test_compiled_ray_casting_equals_its_python_source(monkeypatch):
    grid, camera = robots.office(0.5), replace(PLAIN["depth"], pixels=(4, 3))
    poses = np.array([[2.0, 0.3, 0.4], [-1.0, -2.0, 2.5], [20.0, 0.0, 3.0]])
    positions = np.array([[0.0, 0.0, 1.8], [0.5, 1.5, 2.8]])

    def cast():
        return grid.ranges(poses, np.arange(4) * np.pi / 2, 9.0), camera.depths(positions)

    compiled = cast()
    for module in (kernels, depth_images, grid_map):
        oracles.run_by_python(module, monkeypatch)
    for a, b in zip(cast(), compiled, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_rays_along_an_axis_miss_or_hit_boxes():
    low, high = np.zeros(3), np.ones(3)
    along = np.array([1.0, 0.0, 0.0])
    hit = kernels.box_crossings(low, high, np.array([-1.0, 0.5, 0.5]), along)
    assert hit == (1.0, 2.0)
    enter, leave = kernels.box_crossings(low, high, np.array([-1.0, 2.0, 0.5]), along)
    assert enter > leave
    assert kernels.box_crossings.py_func(low, high, np.array([-1.0, 2.0, 0.5]), along)[0] == np.inf
    behind = kernels.sphere_crossing(low, 0.5, np.array([2.0, 0.0, 0.0]), along)
    assert behind == np.inf
