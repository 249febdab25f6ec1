"""MRCLAM folders and MATLAB files: what is read, what is noted, what is refused."""

import gzip

import numpy as np
import pytest
from scipy.io import savemat

import skh
from real_data import real_data
from robot_files import LANDMARKS, circle_drive, landmark_mat, mrclam, stereo_mat
from skh.geometry import Pose, rotation
from skh.robotics import (
    Landmarks,
    read_landmark_log,
    read_mrclam,
    read_stereo_log,
    timeline_of,
)


def test_barcodes_become_landmarks(tmp_path):
    log = read_mrclam(mrclam(tmp_path / "data"), robot=1)
    assert set(log.sightings.ids) == {6, 7, 8, 9}
    np.testing.assert_array_equal(log.landmarks.of([7]), LANDMARKS[1:2])
    np.testing.assert_array_equal(log.robots.ids, [2])
    assert log.notes == ("1 sightings of unknown barcodes are left out",)
    np.testing.assert_allclose(log.truth.poses, circle_drive()[3], atol=1e-8)
    np.testing.assert_allclose(log.odometry.forward, 0.5)


def test_a_landmark_is_where_the_robot_saw_it(tmp_path):
    """Sightings, truth and landmarks are in one frame, and rows of landmarks are their ids."""
    steps = timeline_of(read_mrclam(mrclam(tmp_path / "data")))
    errors = []
    for pose, y in zip(steps.truth, steps.observations, strict=True):
        direction = pose[2] + y[:, 2]
        ends = pose[:2] + y[:, 1:2] * np.column_stack([np.cos(direction), np.sin(direction)])
        errors.append(ends - LANDMARKS[y[:, 0].astype(int)])
    assert np.concatenate(errors).std() < 0.1


def test_compressed_files_and_a_missing_truth(tmp_path):
    folder = mrclam(tmp_path / "data")
    path = folder / "Robot1_Odometry.dat"
    (folder / "Robot1_Odometry.dat.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    (folder / "Robot1_Groundtruth.dat").unlink()
    log = read_mrclam(folder)
    assert log.truth is None
    assert "Robot1_Groundtruth.dat is missing" in log.notes[-1]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("Robot1_Odometry.dat", lambda s: s + "1 2\n", r"Odometry.dat, line 35 must be 3 numbers"),
        ("Robot1_Odometry.dat", lambda s: s.replace("0.5", "fast", 1), r"line 5 .* got 'fast'"),
        ("Robot1_Odometry.dat", lambda s: "# nothing\n", "must have lines of 3 numbers"),
        ("Robot1_Odometry.dat", lambda s: s + "1248446180 0 0\n", "two logs in one file"),
        ("Barcodes.dat", lambda s: "6 1\n7 2\n", "must have the barcodes that were seen"),
        ("Barcodes.dat", lambda s: s + "10 63\n", r"line 11: each barcode .* got 63 again"),
        (
            "Landmark_Groundtruth.dat",
            lambda s: s + s[s.index("6 ") :],
            r"line 9: each subject must be there once, got 6 again",
        ),
        (
            "Landmark_Groundtruth.dat",
            lambda s: s.replace("6 ", "6.5 ", 1),
            "line 5: subject must be a whole number, got 6.5",
        ),
        (
            "Robot1_Measurement.dat",
            lambda s: s + "1248446189 60 -1 0\n",
            r"Measurement.dat, line \d+: range must not be negative, got -1",
        ),
        (
            "Robot1_Measurement.dat",
            lambda s: "1248446189 14 1 0\n",
            "Robot1_Measurement.dat must have sightings of landmarks, got none",
        ),
    ],
)
def test_damaged_files_are_refused_by_line(tmp_path, name, change, message):
    folder = mrclam(tmp_path / "data")
    path = folder / name
    path.write_text(change(path.read_text()))
    with pytest.raises(ValueError, match=message):
        read_mrclam(folder)


def test_missing_robots_and_folders_are_refused(tmp_path):
    folder = mrclam(tmp_path / "data")
    with pytest.raises(ValueError, match=r"robot must be one of \[1\], got 3"):
        read_mrclam(folder, robot=3)
    with pytest.raises(ValueError, match="must be the folder of a MRCLAM data set"):
        read_mrclam(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"with files RobotN_Odometry\.dat"):
        read_mrclam(tmp_path)
    (folder / "Barcodes.dat").unlink()
    with pytest.raises(ValueError, match=r"with the file Barcodes.dat, which is missing"):
        read_mrclam(folder)


def test_lost_in_the_woods(tmp_path):
    log = read_landmark_log(landmark_mat(tmp_path / "log.mat"))
    assert (log.offset, log.range_variance) == (0.2, 0.0009)
    assert log.sightings.ranges.min() > 0
    assert len(log.truth) == 29
    assert "not valid at 1 of 30" in log.notes[0]
    np.testing.assert_array_equal(log.landmarks.ids, [1, 2, 3, 4])
    steps = timeline_of(log)
    assert np.isfinite(steps.truth).all()  # between neighbours, 0.4 s apart
    errors = skh.scores.ate(log.truth.trajectory, log.truth.trajectory)
    assert errors.max == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"om": None},
            "must be a log of ranges and bearings with the field 'om', which is missing",
        ),
        ({"r": np.zeros((30, 3))}, "field 'r' must have size 30 x 4, got 30 x 3"),
        ({"r": np.zeros((30, 4))}, "field 'r' must have ranges that are not 0, got none"),
        ({"t": np.zeros((30, 1))}, "field 't' must increase, got 0.0 after 0.0 at 2"),
        ({"v": np.full((30, 1), np.nan)}, r"field 'v' must be finite, got nan at \(1,\)"),
        ({"r_var": -1.0}, "field 'r_var' must be positive, got -1"),
        ({"d": [1.0, 2.0]}, "field 'd' must be one number"),
        ({"l": "text"}, "field 'l' must be an array of numbers"),
        ({"v": np.zeros((15, 2))}, "field 'v' must be a row or a column"),
    ],
)
def test_fields_are_checked(tmp_path, changes, message):
    path = landmark_mat(tmp_path / "log.mat", **changes)
    with pytest.raises(ValueError, match=message):
        read_landmark_log(path)


def test_files_that_are_cut_short_or_foreign_are_refused(tmp_path):
    path = landmark_mat(tmp_path / "log.mat")
    whole = path.read_bytes()
    for end in (0, 50, 130, 1000, len(whole) - 30):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=r"log\.mat"):
            read_landmark_log(path)
    path.write_text("time,x\n" * 50)
    with pytest.raises(ValueError, match="must be a MATLAB file of version 5 to 7"):
        read_landmark_log(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(200))
    with pytest.raises(ValueError, match=r"save -v7"):
        read_landmark_log(path)
    savemat(path, {"x": 1.0})
    with pytest.raises(ValueError, match=r"\(fields: x\)"):
        read_stereo_log(path)


def test_a_stereo_log_and_its_wrong_sign(tmp_path):
    log = read_stereo_log(stereo_mat(tmp_path / "log.mat"))
    assert log.pixels.shape == (12, 20, 4)
    variances = log.pixel_covariance().diagonal()
    np.testing.assert_allclose(variances, log.pixel_variances, rtol=0.5)
    negated = read_stereo_log(stereo_mat(tmp_path / "log.mat", sign=-1.0))
    np.testing.assert_array_equal(negated.turn_rates, log.turn_rates)
    assert "wrong sign" in negated.notes[0]
    steps = timeline_of(log)
    assert [y is None for y in steps.observations].index(True) == 5
    position, turn = log.truth.positions[0], np.eye(3)
    for control in steps.controls:
        position = position + control.dt * turn @ control.velocity
        turn = turn @ rotation.exp(control.dt * control.turn_rate)
    np.testing.assert_allclose(position, log.truth.positions[-1], atol=1e-9)
    assert isinstance(steps.truth, Pose)
    blind = read_stereo_log(stereo_mat(tmp_path / "log.mat", r_i_vk_i=None))
    assert blind.truth is None
    np.testing.assert_array_equal(blind.pixel_covariance(), np.diag(log.pixel_variances))


def test_stereo_fields_are_checked(tmp_path):
    path = stereo_mat(tmp_path / "log.mat", C_c_v=2 * np.eye(3))
    with pytest.raises(ValueError, match="field 'C_c_v' must be a rotation"):
        read_stereo_log(path)
    path = stereo_mat(tmp_path / "log.mat", y_k_j=np.zeros((4, 12, 19)))
    with pytest.raises(ValueError, match="field 'y_k_j' must have size 4 x 12 x 20"):
        read_stereo_log(path)


def test_landmarks_are_found_by_their_numbers():
    marks = Landmarks([6, 9], [[0.0, 1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match="ids must be numbers of landmarks, got 7"):
        marks.of([6, 7])
    with pytest.raises(ValueError, match=r"ids must be whole numbers, got 6.5"):
        Landmarks([6.5], [[0.0, 1.0]])


@pytest.mark.parametrize(("robot", "sightings"), [(1, 2578), (2, 3818)])
def test_real_mrclam(robot, sightings):
    log = read_mrclam(real_data("mrclam", "MRCLAM_Dataset7"), robot)
    assert len(log.sightings) == sightings
    seen, poses = log.rows_seen, log.truth.at(log.sightings.times, 0.5)
    x, y = (log.landmarks.positions[seen.ids] - poses[:, :2]).T
    error = np.hypot(x, y) - seen.ranges
    assert np.nanmedian(abs(error)) < 0.15


def test_real_woods():
    log = read_landmark_log(real_data("lost_in_the_woods", "dataset2.mat"))
    assert len(log.odometry) == 12_609
    seen, poses = log.rows_seen, log.truth.at(log.sightings.times, 0.05)
    ahead = np.column_stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])])
    x, y = (log.landmarks.positions[seen.ids] - poses[:, :2] - log.offset * ahead).T
    assert np.nanstd(np.hypot(x, y) - seen.ranges) < 0.04


def test_real_starry_night():
    log = read_stereo_log(real_data("starry_night", "dataset3.mat"))
    assert log.notes == ()
    np.testing.assert_allclose(log.pixel_covariance().diagonal(), log.pixel_variances, rtol=0.01)
