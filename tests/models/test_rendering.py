"""Rendered images: exact intersections, windows, densities by SciPy, simulation, errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import skh
from pages import on_page
from skh.geometry import SE3, Pose, rotation
from skh.models.rendering import (
    InverseDepthCamera,
    RenderedFlight,
    Scene,
    TellingFlight,
    VoxelMap,
    kernels,
)
from skh.models.robot_sensors.kernels import box_crossings, sphere_crossing

SMALL = InverseDepthCamera(pixels=(12, 8))
SHARP = InverseDepthCamera(pixels=(12, 8), blur=1 / 12)  # windows of one pixel
EMPTY = Scene(boxes=(), spheres=(), pillars=())
FLIGHT = RenderedFlight(camera=SMALL)


def one(position, turn=(0.0, 0.0, 0.0)):
    return Pose(np.array([position], dtype=float), rotation.exp(np.array([turn], dtype=float)))


def ways(camera, scene, pose):
    """Ways along the rays to the first surface."""
    return 1.0 / camera.images(scene, pose)[0].ravel() / camera.rays[:, 0]


def directions(camera, pose):
    return camera.rays @ pose.rotation[0].T


@given(
    st.tuples(*[st.floats(1.0, 2.5)] * 3),
    st.tuples(*[st.floats(-3.0, 3.0)] * 3),
)
def test_walls_are_where_they_are(place, turn):
    pose = one(place, turn)
    found = ways(SHARP, EMPTY_MAP, pose)
    hall = np.array(EMPTY.hall)
    exact = [
        box_crossings(hall[:3], hall[3:], pose.position[0], u)[1] for u in directions(SHARP, pose)
    ]
    # Corners are rounded by interpolation, and rays stop 0.01 voxels before a wall.
    np.testing.assert_allclose(found, exact, rtol=0.02, atol=0.12)
    assert np.median(abs(found - exact)) < 0.01


EMPTY_MAP = EMPTY.voxels(0.1)


def test_spheres_and_boxes_are_where_they_are():
    scene = Scene(boxes=((4.0, 1.0, 0.0, 5.0, 3.0, 3.5),), spheres=((4.0, 5.5, 1.5, 0.8),))
    scene = Scene(boxes=scene.boxes, spheres=scene.spheres, pillars=())
    fine = scene.voxels(0.1)
    for turn in (-0.4, 0.0, 0.4):
        pose = one((1.5, 4.0, 1.5), (0.0, 0.0, turn))
        found, p = ways(SHARP, fine, pose), pose.position[0]
        exact = []
        for u in directions(SHARP, pose):
            hall, box = np.array(scene.hall), np.array(scene.boxes[0])
            enter, leave = box_crossings(box[:3], box[3:], p, u)
            far = [box_crossings(hall[:3], hall[3:], p, u)[1]]
            far += [enter] if enter <= leave and leave > 0 else []
            far += [sphere_crossing(np.array([4.0, 5.5, 1.5]), 0.8, p, u)]
            exact.append(min(far))
        error = abs(found - exact)
        assert np.mean(error < 0.03) > 0.85  # all but a few that graze an edge
        assert np.median(error) < 0.01


def test_distances_are_negative_in_solids_and_exact_outside():
    scene = Scene()
    points = np.array([[1.3, 6.3, 0.6], [9.0, 4.0, 0.4], [-0.2, 4.0, 1.0], [8.1, 6.2, 2.5]])
    np.testing.assert_allclose(scene.distances(points), [-0.6, -0.4, -0.2, 0.3], atol=1e-12)


def test_images_do_not_depend_on_how_many_are_rendered_at_once():
    poses, images = FLIGHT.simulate(7, rng=0)
    together = FLIGHT.log_likelihood(0, poses, images[2])
    for k in range(7):
        alone = Pose(poses.position[k : k + 1], poses.rotation[k : k + 1])
        assert FLIGHT.log_likelihood(0, alone, images[2])[0] == together[k]


def test_windows_are_averaged_twice_in_both_directions():
    pose, plain = one((2.0, 4.0, 1.5)), SHARP.images(EMPTY_MAP, one((2.0, 4.0, 1.5)))[0]
    blurred = InverseDepthCamera(pixels=(12, 8), blur=0.25)
    assert blurred.window == 3
    padded = np.full((8, 12), np.nan)
    for _ in range(2):
        for i in range(8):
            for j in range(12):
                padded[i, j] = plain[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2].mean()
        plain = padded.copy()
    np.testing.assert_allclose(blurred.images(EMPTY_MAP, pose)[0], plain, rtol=1e-12)


def test_the_likelihood_is_the_tempered_product_of_student_t_densities():
    poses, images = FLIGHT.simulate(3, rng=1)
    y = images[1].copy()
    y[2, 3] = np.nan
    found = FLIGHT.log_likelihood(1, poses, y)
    residual = (y - SMALL.images(FLIGHT.scene, poses)) / SMALL.noise
    each = stats.t.logpdf(residual, SMALL.freedom) - np.log(SMALL.noise)
    expected = SMALL.patches / 96 * np.nansum(each, axis=(1, 2))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_errors_are_student_t_and_as_correlated_as_they_say():
    camera = InverseDepthCamera(pixels=(40, 30), blur=0.125)
    rng = np.random.default_rng(0)
    fields = np.array([camera.errors(rng) for _ in range(200)])
    assert stats.kstest(fields[:, 15, 20] / camera.noise, stats.t(4).cdf).pvalue > 0.01
    # The Gaussian fields: averages over the image have the variance of so many independent pixels.
    gaussian = InverseDepthCamera(pixels=(40, 30), blur=0.125, freedom=60)
    fields = np.array([gaussian.errors(rng) for _ in range(100)]) / gaussian.noise
    assert 1 / fields.mean(axis=(1, 2)).var() == pytest.approx(gaussian.patches, rel=0.4)


def test_information_is_the_curvature_of_the_likelihood_at_the_true_pose():
    camera = InverseDepthCamera(pixels=(24, 18), freedom=1000, blur=0.2)
    flight = TellingFlight(scene=EMPTY_MAP, camera=camera)
    pose = Pose(flight.start.position, flight.start.rotation)
    h = np.full(6, 1e-3)
    F = flight.camera.information(flight.scene, pose, h)
    np.testing.assert_allclose(F, F.T)
    y = camera.images(flight.scene, Pose(pose.position[None], pose.rotation[None]))[0]
    for k in range(6):
        xi = np.zeros((3, 6))
        xi[0, k], xi[2, k] = -1e-3, 1e-3
        around = Pose(np.tile(pose.position, (3, 1)), np.tile(pose.rotation, (3, 1, 1)))
        low, middle, high = flight.log_likelihood(0, SE3().plus(around, xi), y)
        assert (2 * middle - low - high) / 1e-6 == pytest.approx(F[k, k], rel=0.25)


def test_simulated_steps_follow_the_odometry():
    poses, _ = FLIGHT.simulate(40, rng=2)
    expected = [
        FLIGHT.transition(t, Pose(poses.position[t : t + 1], poses.rotation[t : t + 1]))[0]
        for t in range(39)
    ]
    errors = np.array(
        [
            SE3().minus(Pose(poses.position[t + 1 : t + 2], poses.rotation[t + 1 : t + 2]), e)[0]
            for t, e in enumerate(expected)
        ]
    )
    sd = np.sqrt(np.diag(FLIGHT.step_covariance))
    np.testing.assert_allclose(errors.std(axis=0) / sd, 1, atol=0.4)
    again = FLIGHT.simulate(40, rng=2)[0]
    np.testing.assert_array_equal(again.position, poses.position)


def test_a_filter_finds_the_pose():
    poses, images = FLIGHT.simulate(5, rng=3)
    result = skh.particle_filter(FLIGHT.charted(), images, skh.Stratified(), 300, rng=0)
    odometry = skh.particle_filter(FLIGHT.charted(), [None] * 5, skh.Stratified(), 300, rng=0)
    found, blind = (
        np.linalg.norm(r.mean_states.position - poses.position, axis=1).mean()
        for r in (result, odometry)
    )
    assert found < 0.7 * blind


def test_the_code_on_the_page_runs():
    result = on_page("docs/rendering.md")["result"]
    assert result.mean_states.position.shape == (5, 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: InverseDepthCamera(noise=0.0), "noise must be"),
        (lambda: InverseDepthCamera(width=4.0), "width must be an angle of view below pi"),
        (lambda: InverseDepthCamera(pixels=(0, 4)), "pixels must be"),
        (lambda: Scene().voxels(-1.0), "spacing must be"),
        (lambda: VoxelMap(np.zeros((3, 3))), "distances must have shape"),
        (lambda: RenderedFlight(controls=np.zeros((2, 5))), "controls must"),
        (lambda: RenderedFlight(way_noise=-1.0), "way_noise must be"),
        (lambda: FLIGHT.transition(59, one((1, 1, 1))), "t must be below"),
        (lambda: FLIGHT.log_likelihood(0, one((1, 1, 1)), np.zeros(3)), "y must have shape"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_places_outside_the_map_and_in_solids_are_near():
    inside = SHARP.images(EMPTY_MAP, one((-5.0, 4.0, 1.0)))
    assert np.isfinite(inside).all()
    assert kernels.distance_at(EMPTY_MAP.cells, -99.0, 5.0, 5.0) < 0
