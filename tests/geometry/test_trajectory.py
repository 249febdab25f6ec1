"""Trajectories and their scores against known values and evo."""

import numpy as np
import pytest
from evo.core import metrics
from evo.core.trajectory import PoseTrajectory3D
from scipy.spatial.transform import Rotation

from skh.geometry import SE2, SE3, Pose, in_space, paths_of, rotation, wrap
from skh.scores import ate, nees, nis, pose_estimate, rpe
from skh.trajectory import Trajectory, align, associate, read_tum, write_tum


def wandering(T=60, seed=0, noise=0.0):
    """A curved path with turns, and the same with noise."""
    t = np.arange(T) * 0.1
    positions = np.stack([3 * np.sin(t), 2 * np.cos(0.7 * t), 0.3 * t], axis=1)
    turns = np.stack([0.3 * np.sin(t), 0.2 * t, t], axis=1)
    rng = np.random.default_rng(seed)
    xi = noise * rng.normal(size=(T, 6))
    return Trajectory(t, *SE3().plus(Pose(positions, rotation.exp(turns)), xi))


def moved(path, R, shift, scale=1.0):
    return Trajectory(path.times, scale * path.positions @ R.T + shift, R @ path.rotations)


R0, SHIFT = rotation.exp([0.3, -0.5, 2.0]), np.array([1.0, -2.0, 3.0])


def test_tum_files_come_back(tmp_path):
    path = wandering()
    write_tum(tmp_path / "a.txt", path)
    text = (tmp_path / "a.txt").read_text()
    (tmp_path / "b.txt").write_text("# time x y z qx qy qz qw\n\n" + text)
    for name in ("a.txt", "b.txt"):
        again = read_tum(tmp_path / name)
        np.testing.assert_array_equal(again.times, path.times)
        np.testing.assert_array_equal(again.positions, path.positions)
        np.testing.assert_allclose(again.rotations, path.rotations, atol=1e-14)


def test_a_known_line_of_a_tum_file(tmp_path):
    (tmp_path / "a.txt").write_text("0.5 1 2 3 0 0 0.70710678118654757 0.70710678118654757\n")
    path = read_tum(tmp_path / "a.txt")
    np.testing.assert_allclose(path.rotations[0] @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(path.positions, [[1, 2, 3]])


def test_comments_of_a_tum_file(tmp_path):
    (tmp_path / "a.txt").write_text("# time and pose\n0.5 1 2 3 0 0 0 1 # start\n\n")
    np.testing.assert_array_equal(read_tum(tmp_path / "a.txt").positions, [[1, 2, 3]])


def test_a_pose_is_paired_once_with_the_nearest():
    def at(times):
        return Trajectory(times, np.zeros((len(times), 3)), np.tile(np.eye(3), (len(times), 1, 1)))

    reference, estimate = associate(at([0.0, 1.0, 2.0, 3.0]), at([-0.004, 0.003, 1.0]))
    np.testing.assert_array_equal(reference.times, [0.0, 1.0])
    np.testing.assert_array_equal(estimate.times, [0.003, 1.0])


def test_errors_of_a_shifted_path():
    path = wandering()
    shifted = moved(path, np.eye(3), [3.0, 4.0, 0.0])
    errors = ate(path, shifted)
    assert (errors.rmse, errors.mean, errors.median, errors.max) == pytest.approx((5.0,) * 4)
    assert errors.std == pytest.approx(0, abs=1e-12)
    assert rpe(path, shifted).rmse == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_alignment_undoes_a_motion(scale):
    path = wandering()
    away = moved(path, R0, SHIFT, scale)
    assert ate(path, away).rmse > 1
    assert ate(path, away, aligned=True, scale=True).rmse == pytest.approx(0, abs=1e-12)
    back = align(path, away, scale=True)
    np.testing.assert_allclose(back.rotations, path.rotations, atol=1e-12)
    np.testing.assert_allclose(back.positions, path.positions, atol=1e-12)
    if scale != 1:
        assert ate(path, away, aligned=True).rmse > 1


def test_relative_errors_of_a_drift():
    """The estimate drifts by 0.01 rad and 0.02 m per frame."""
    path = wandering(31)
    extra = np.array([0.02, 0.0, 0.0, 0.0, 0.0, 0.01])
    chart, pose = SE3(), Pose(path.positions[0], path.rotations[0])
    poses = [pose]
    for i in range(30):
        there = rotation.log(path.rotations[i].T @ path.rotations[i + 1])
        step = path.rotations[i].T @ (path.positions[i + 1] - path.positions[i])
        forward = step + path.rotations[i].T @ path.rotations[i + 1] @ extra[:3]
        turned = Pose(pose.position + pose.rotation @ forward, pose.rotation @ rotation.exp(there))
        pose = chart.plus(turned, np.r_[0, 0, 0, extra[3:]])
        poses.append(pose)
    drifting = Trajectory.of(path.times, poses)
    np.testing.assert_allclose(rpe(path, drifting).values, 0.02, atol=1e-12)
    np.testing.assert_allclose(rpe(path, drifting, part="rotation").values, 0.01, atol=1e-12)
    assert len(rpe(path, drifting, delta=5).values) == 6
    assert len(rpe(path, drifting, delta=5, all_pairs=True).values) == 26


def test_association_takes_the_nearest_times():
    path = wandering(20)
    late = Trajectory(path.times + 0.004, path.positions, path.rotations)
    few = late.at(np.array([0, 3, 7]))
    a, b = associate(path, few)
    np.testing.assert_array_equal(a.times, path.times[[0, 3, 7]])
    np.testing.assert_array_equal(b.times, few.times)
    b, a = associate(few, path)
    np.testing.assert_array_equal(a.times, path.times[[0, 3, 7]])
    with pytest.raises(ValueError, match=r"within 0\.001 s"):
        associate(path, few, 0.001)
    one = path.at(np.array([4]))
    assert len(associate(one, one)[0]) == 1


def test_normalised_errors_of_a_known_covariance():
    rng = np.random.default_rng(0)
    L = np.array([[2.0, 0.0], [1.0, 0.5]])
    e = rng.normal(size=(20_000, 2)) @ L.T
    right = nees(e, L @ L.T)
    low, high = right.interval()
    assert low < right.mean < high
    assert high - low < 0.05
    assert nees(e, 4 * L @ L.T).mean == pytest.approx(right.mean / 4)
    each = nees(e, np.tile(L @ L.T, (len(e), 1, 1)))
    np.testing.assert_allclose(each.values, right.values)


def test_the_covariance_of_a_pose_has_the_order_of_ros():
    """Turns about the body's x axis are turns about the fixed y axis after a quarter turn."""
    quarter = rotation.exp([0.0, 0.0, np.pi / 2])
    xi = np.zeros((2, 6))
    xi[:, 0], xi[:, 3] = [1.0, -1.0], [0.2, -0.2]
    centre = Pose(np.ones(3), quarter)
    estimate = pose_estimate(SE3().plus(centre, xi), [1.0, 1.0])
    expected = np.zeros((6, 6))
    expected[0, 0], expected[4, 4], expected[0, 4], expected[4, 0] = 1.0, 0.04, 0.2, 0.2
    np.testing.assert_allclose(estimate.covariance, expected, atol=1e-12)
    np.testing.assert_allclose(estimate.position, [1, 1, 1])
    np.testing.assert_allclose(estimate.quaternion, [0, 0, 0.5**0.5, 0.5**0.5], atol=1e-12)


def test_normalised_errors_of_poses_with_any_heading():
    """The truth is one more draw; 500 particles, roll with ten times the spread."""
    rng, sd = np.random.default_rng(0), np.array([1.0, 0.5, 0.2, 0.2, 0.02, 0.02])
    errors, covariances = [], []
    for heading in np.linspace(-3, 3, 200):
        centre = Pose(rng.normal(size=3), rotation.exp([0.0, 0.0, heading]))
        cloud = SE3().plus(centre, sd * rng.normal(size=(501, 6)))
        estimate = pose_estimate(Pose(*(part[1:] for part in cloud)), np.ones(500))
        errors.append(estimate.error(Pose(*(part[0] for part in cloud))))
        covariances.append(estimate.covariance)
    found = nees(errors, covariances)
    low, high = found.interval(0.999)
    assert low < found.mean < high


def test_a_trajectory_of_estimates_and_of_stacked_poses(tmp_path):
    path = wandering(3)
    poses = Pose(path.positions, path.rotations)
    single = [Pose(p, R) for p, R in zip(*poses, strict=True)]
    estimates = [pose_estimate(Pose(p[None], R[None]), [1.0]) for p, R in single]
    for made in (poses, single, estimates):
        again = Trajectory.of(path.times, made)
        np.testing.assert_allclose(again.positions, path.positions, atol=1e-15)
        np.testing.assert_allclose(again.rotations, path.rotations, atol=1e-14)


def test_a_tum_file_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "a.txt").write_text(AT_1, encoding="utf-8-sig")
    np.testing.assert_array_equal(read_tum(tmp_path / "a.txt").times, [1700000000.5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ate(ONE, None), "estimate must be a Trajectory, got None"),
        (lambda: pose_estimate("here", [1, 1]), "poses must be a Pose, such as"),
        (lambda: Trajectory.of([0.0], np.zeros((1, 3))), "poses must be a Pose or single poses"),
    ],
)
def test_wrong_types_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def line(text):
    def read(folder):
        (folder / "a.txt").write_text(text)
        read_tum(folder / "a.txt")

    return read


def binary(folder):
    (folder / "a.txt").write_bytes(b"# H\xf6he\n" + AT_1.encode())
    read_tum(folder / "a.txt")


AT_1, ZEROS = "1700000000.5 1 2 3 0 0 0 1\n", np.zeros((2, 3))
ONE, TWO, EYES = wandering(10), wandering(9), np.tile(np.eye(3), (2, 1, 1))
LATER = Trajectory(ONE.times + 100, ONE.positions, ONE.rotations)
FLAT = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]) + 1e-16
LINE = Trajectory([0, 1], np.eye(3)[:2], EYES)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (line("0 1 2 3 0 0 0 1\n1 2 3\n"), r"a.txt, line 2 must be 'time x y z.*got '1 2 3'"),
        (line("0 1 2 3 0 0 0 one\n"), r"line 1 must be 'time x y z"),
        (line("# nothing\n"), r"a.txt must hold at least one pose"),
        (line("#\n0 1 2 3 0 0 0 0\n"), r"a.txt, line 2 must be .* a quaternion that is not zero"),
        (
            line(f"#\n{AT_1}#\n{AT_1}"),
            r"line 4: times must increase, got 1700000000.5 after 1700000000.5",
        ),
        (line("0 nan 2 3 0 0 0 1\n"), r"a.txt, line 1 must be .* eight finite numbers"),
        (lambda folder: binary(folder), r"a.txt must be text in UTF-8"),
        (lambda _: Trajectory([2.0, 1.0], ZEROS, EYES), r"times must increase, got 1.0 after 2.0"),
        (lambda _: Trajectory.of([], []), r"times must hold at least one time"),
        (lambda _: Trajectory([0, 1], np.zeros((2, 2)), EYES), r"positions must have shape \(2, 3"),
        (lambda _: Trajectory([], np.zeros((0, 3)), EYES[:0]), r"times must hold at least one"),
        (lambda _: Trajectory([0, 1], np.zeros((2, 3)), 2 * EYES), r"rotations must hold rot"),
        (lambda _: ate(ONE, TWO), r"estimate must have one pose for each of the 10 .* got 9"),
        (lambda _: ate(ONE, ONE, scale=True), r"scale=True needs aligned=True"),
        (lambda _: rpe(ONE, ONE, delta=10), r"delta must be below the number of poses, 10, got 10"),
        (lambda _: rpe(ONE, ONE, part="turn"), r"part must be 'translation' or 'rotation'"),
        (lambda _: associate(ONE, TWO, -1), r"max_difference must be a non-negative number"),
        (lambda _: nees(np.zeros((4, 2)), np.eye(3)), r"covariances must have shape \(2, 2\) or"),
        (lambda _: ate(ONE, LATER), r"times of reference, got 100.0 instead of 0.0 at index 0"),
        (lambda _: rpe(ONE, LATER), r"times of reference, got 100.0 instead of 0.0 at index 0"),
        (
            lambda _: nees(np.zeros((4, 2)), 0 * np.eye(2)),
            r"positive definite, got an eigenvalue 0",
        ),
        (
            lambda _: nees(np.zeros((2, 2)), np.stack([np.eye(2), np.diag([1.0, 0.0])])),
            r"positive definite, got an eigenvalue 0 of matrix 1",
        ),
        (lambda _: nees(np.zeros((4, 3)), FLAT), r"covariances must be positive definite, got"),
        (lambda _: nees(np.zeros((0, 2)), np.eye(2)), r"errors must hold at least one row"),
        (lambda _: nis([1.0], np.eye(1)), r"innovations must have shape \(n, d\)"),
        (lambda _: nees([[1.0]], [[1.0]]).interval(1.0), r"level must be between 0 and 1, got 1.0"),
        (lambda _: align(LINE, LINE), r"do not all lie on a line"),
        (lambda _: pose_estimate(Pose(np.zeros((2, 3)), EYES), [1.0]), r"w must have one row per"),
    ],
)
def test_bad_input_is_named(call, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        call(tmp_path)


# --- against evo ---------------------------------------------------------------------------------


def test_scores_are_those_of_evo():
    def as_evo(path):
        q = path.quaternions[:, [3, 0, 1, 2]]
        return PoseTrajectory3D(path.positions.copy(), q, path.times.copy())

    truth, estimate = wandering(200), moved(wandering(200, noise=0.05), R0, SHIFT, 1.1)
    Relation, Unit = metrics.PoseRelation, metrics.Unit
    relations = {"translation": Relation.translation_part, "rotation": Relation.rotation_angle_rad}
    for options in ({}, {"aligned": True}, {"aligned": True, "scale": True}):
        theirs = as_evo(estimate)
        if options:
            theirs.align(as_evo(truth), correct_scale="scale" in options)
        metric = metrics.APE(Relation.translation_part)
        metric.process_data((as_evo(truth), theirs))
        ours = ate(truth, estimate, **options)
        for name, value in metric.get_all_statistics().items():
            if name in ("rmse", "mean", "median", "std", "max"):
                assert getattr(ours, name) == pytest.approx(value, rel=1e-12), name
        for part, relation in relations.items():
            for delta, all_pairs in ((1, False), (7, False), (7, True)):
                metric = metrics.RPE(relation, delta, Unit.frames, all_pairs=all_pairs)
                metric.process_data((as_evo(truth), theirs))
                ours = rpe(truth, estimate, delta=delta, part=part, all_pairs=all_pairs, **options)
                assert len(ours.values) == len(metric.error)
                np.testing.assert_allclose(ours.values, metric.error, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("mirror", [1.0, -1.0], ids=["noisy", "mirrored"])
def test_alignment_is_that_of_scipy(mirror):
    path, away = wandering(), moved(wandering(noise=0.05), R0, SHIFT)
    away = Trajectory(away.times, away.positions * [1.0, 1.0, mirror], away.rotations)
    middle = path.positions.mean(axis=0)
    x, y = away.positions - away.positions.mean(axis=0), path.positions - middle
    R = Rotation.align_vectors(y, x)[0].as_matrix()
    for scale, s in ((False, 1.0), (True, np.sum(y * (x @ R.T)) / np.sum(x**2))):
        back = align(path, away, scale=scale)
        np.testing.assert_allclose(back.positions, s * x @ R.T + middle, atol=1e-10)
        np.testing.assert_allclose(back.rotations, R @ away.rotations, atol=1e-10)


def test_statistics_and_relative_errors_by_their_definitions():
    path, away = wandering(20), wandering(20, noise=0.05)
    e = [np.linalg.norm(a - b) for a, b in zip(path.positions, away.positions, strict=True)]
    found = ate(path, away)
    expected = np.mean(e), np.std(e), np.median(e), np.max(e)
    assert (found.mean, found.std, found.median, found.max) == pytest.approx(expected)
    T, S = (
        [
            np.block([[R, p[:, None]], [0, 0, 0, 1]])
            for p, R in zip(q.positions, q.rotations, strict=True)
        ]
        for q in (path, away)
    )
    for all_pairs, start in ((False, (0, 7)), (True, range(13))):
        E = [
            np.linalg.inv(np.linalg.solve(T[i], T[i + 7])) @ np.linalg.solve(S[i], S[i + 7])
            for i in start
        ]
        options = {"delta": 7, "all_pairs": all_pairs}
        lengths = [np.linalg.norm(M[:3, 3]) for M in E]
        angles = [Rotation.from_matrix(M[:3, :3]).magnitude() for M in E]
        np.testing.assert_allclose(rpe(path, away, **options).values, lengths, atol=1e-10)
        turned = rpe(path, away, part="rotation", **options).values
        np.testing.assert_allclose(turned, angles, atol=1e-10)


def test_interval_of_a_single_error_in_the_plane_is_that_of_an_exponential():
    """Half a chi-square of two degrees of freedom."""
    interval = nees([[0.0, 0.0]], np.eye(2)).interval(0.9)
    assert interval == pytest.approx((-np.log(0.95), -np.log(0.05)), rel=1e-12)


def test_poses_in_the_plane_are_poses_in_space():
    states = np.array([[1.0, 2.0, 3.0], [1.5, 2.0, -3.0]])
    path = Trajectory.of([0.0, 0.1], in_space(states))
    np.testing.assert_array_equal(path.positions, [[1, 2, 0], [1.5, 2, 0]])
    np.testing.assert_allclose(path.rotations[:, 0, 0], np.cos(states[:, 2]), rtol=1e-14)
    np.testing.assert_allclose(path.rotations[:, 1, 0], np.sin(states[:, 2]), rtol=1e-14)
    estimate = pose_estimate(in_space(states), [0.5, 0.5])
    heading = np.arctan2(*estimate.rotation[1::-1, 0])
    assert abs(wrap(heading - np.pi)) < 1e-12  # from 3 to -3 rad across pi
    seen = [0, 1, 5]
    plane = SE2().minus(states, [1.25, 2.0, np.pi])
    np.testing.assert_allclose(estimate.covariance[np.ix_(seen, seen)], plane.T @ plane / 2)
    assert not estimate.covariance[2:5].any()


def test_the_median_of_normalised_errors_is_robust_to_outliers():
    errors = np.random.default_rng(0).standard_normal((4_000, 3))
    errors[:100] *= 1e3
    found = nees(errors, np.eye(3))
    assert found.mean > 1e3
    assert found.median == pytest.approx(1, abs=0.1)


def small_path(size=1.0):
    rng = np.random.default_rng(0)
    return Trajectory(np.arange(9.0), size * rng.normal(size=(9, 3)), np.tile(np.eye(3), (9, 1, 1)))


WRONG = {
    "aligned": (lambda p: ate(p, p, aligned="no"), "aligned must be True or False, got 'no'"),
    "scale of ate": (lambda p: ate(p, p, aligned=True, scale=1), "scale must be True or False"),
    "scale": (lambda p: align(p, p, scale="no"), "scale must be True or False, got 'no'"),
    "all_pairs": (lambda p: rpe(p, p, all_pairs="no"), "all_pairs must be True or False"),
    "no trajectories": (lambda p: associate(1, 2), "reference must be a Trajectory, got 1"),
    "no result": (lambda p: paths_of(None), "result must be a FilterResult, got None"),
}


@pytest.mark.parametrize("case", WRONG)
def test_lax_types_are_named(case):
    call, message = WRONG[case]
    with pytest.raises(TypeError, match=message):
        call(small_path())


def test_poses_at_indices_a_mask_or_a_slice():
    path = small_path()
    for index in ([2, 4, -1], path.times % 3 == 2, slice(2, None, 3), np.array([2, 5, 8], "u1")):
        some = path.at(index)
        np.testing.assert_array_equal(some.positions, path.positions[index])
        np.testing.assert_array_equal(some.times, path.times[index])


@pytest.mark.parametrize(
    "index", ["ab", None, 1.0, [0.5], [0, [1]], True, [True, False], slice("a"), {0: 1}]
)
def test_indices_of_poses_are_integers(index):
    with pytest.raises(TypeError, match=r"index must be increasing indices, a mask or .* 9 poses"):
        small_path().at(index)


@pytest.mark.parametrize(
    "index",
    [3, [9], [-10], [2, 1], [1, 1], [0, -9], [[0, 1]], [2**63], slice(0), np.zeros(9, bool)],
)
def test_indices_of_poses_increase_and_exist(index):
    with pytest.raises(ValueError, match=r"index must be increasing indices, .* 9 poses, got"):
        small_path().at(index)


@pytest.mark.parametrize("size", [1e-12, 1e-8, 1.0, 1e12])
def test_alignment_does_not_depend_on_units(size):
    path = small_path(size)
    shifted = Trajectory(path.times, path.positions + 3 * size, path.rotations)
    np.testing.assert_allclose(align(path, shifted).positions, path.positions, atol=1e-9 * size)
