"""CARMEN logs: all kinds of messages, the Wean Hall dialect, and damaged lines."""

import numpy as np
import pytest

from real_data import real_data
from robot_files import carmen_lines, wean_log
from skh.robotics import read_carmen_log

TIMES = np.array([0.5, 1.0, 1.5])
POSES = np.array([[1.0, 2.0, 0.1], [1.5, 2.0, 0.2], [2.0, 2.1, 3.2]])
RANGES = np.arange(1.0, 13.0).reshape(3, 4)


def lasers(mount=0.25):
    ahead = np.column_stack([np.cos(POSES[:, 2]), np.sin(POSES[:, 2]), np.zeros(3)])
    return POSES + mount * ahead


def written(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", ["log.txt", "log.gz"])
def test_the_wean_hall_dialect_is_in_centimetres(tmp_path, name):
    log = read_carmen_log(wean_log(tmp_path / name, TIMES, POSES, lasers(), RANGES))
    np.testing.assert_allclose(log.scans.ranges, RANGES)
    np.testing.assert_allclose(log.scans.poses, POSES, atol=1e-7)
    np.testing.assert_allclose(log.scans.mount, [0.25, 0, 0], atol=1e-6)
    np.testing.assert_allclose(log.scans.angles, [-np.pi / 2, -np.pi / 4, 0, np.pi / 4])
    np.testing.assert_allclose(log.odometry.times, TIMES - 0.01)
    assert log.truth is None


def test_a_standard_log(tmp_path):
    log = read_carmen_log(
        written(tmp_path / "log", carmen_lines(TIMES, POSES, lasers(0.1), RANGES))
    )
    np.testing.assert_allclose(log.scans.ranges, RANGES)
    np.testing.assert_allclose(log.scans.times, TIMES)
    np.testing.assert_allclose(log.scans.mount, [0.1, 0, 0], atol=1e-4)
    np.testing.assert_allclose(log.odometry.poses, POSES)


def test_poses_twice_leave_the_mount_to_the_parameters(tmp_path):
    log = read_carmen_log(written(tmp_path / "log", carmen_lines(TIMES, POSES, POSES, RANGES)))
    assert log.scans.mount == (0.1, 0.0, 0.0)


def test_corrected_poses_are_the_truth(tmp_path):
    corrected = POSES + np.array([[0, 0, 0], [0.5, 1.0, 0.3], [3.0, 0.1, 1.0]])
    lines = carmen_lines(TIMES, POSES, corrected, RANGES)
    log = read_carmen_log(written(tmp_path / "log", lines))
    np.testing.assert_allclose(log.truth.poses, corrected)
    np.testing.assert_allclose(log.scans.poses, POSES)
    assert len(log.truth.trajectory) == 3


def test_raw_and_robot_lasers_have_their_own_angles(tmp_path):
    raw = "RAWLASER1 0 -1.0 2.0 0.5 30.0 0.01 0 3 1.0 2.0 3.0 2 7 8 0.7 host 0.8"
    odom = "ODOM 1 2 0.1 0 0 0 0.5 host 0.5"
    log = read_carmen_log(written(tmp_path / "log", [odom, raw]))
    np.testing.assert_allclose(log.scans.angles, [-1.0, -0.5, 0.0])
    assert (log.scans.longest, log.scans.poses) == (30.0, None)
    robot = (
        "ROBOTLASER1 0 -1.0 2.0 0.5 30.0 0.01 0 3 1.0 2.0 3.0 0 1.2 2.0 0.0 1.0 2.0 0.0 "
        "0 0 0 0 0 0.7 host 0.8"
    )
    log = read_carmen_log(written(tmp_path / "log", ["TRUEPOS 5 6 0 1 2 0 0.7 host 0.7", robot]))
    np.testing.assert_allclose(log.scans.mount, [0.2, 0, 0])
    np.testing.assert_allclose(log.odometry.poses, [[1, 2, 0]])
    np.testing.assert_allclose(log.truth.poses, [[5, 6, 0]])
    assert log.scans.times == [0.7]


def test_the_resolution_of_a_laser_that_sees_less_than_half_a_circle(tmp_path):
    lines = carmen_lines(TIMES, POSES, POSES, RANGES)
    path = written(tmp_path / "log", ["PARAM laser_front_laser_resolution 0.5 host 0", *lines])
    np.testing.assert_allclose(
        np.rad2deg(read_carmen_log(path).scans.angles), [-0.75, -0.25, 0.25, 0.75]
    )
    path = written(tmp_path / "log", ["PARAM laser_front_laser_resolution 45 host 0", *lines])
    np.testing.assert_allclose(read_carmen_log(path).scans.angles[0], -np.pi / 2)


def test_a_rear_laser_looks_back(tmp_path):
    lines = [line.replace("FLASER", "RLASER") for line in carmen_lines(TIMES, POSES, POSES, RANGES)]
    path = written(tmp_path / "log", ["PARAM robot_rearlaser_offset 0.3", *lines])
    assert read_carmen_log(path, laser="RLASER").scans.mount == (-0.3, 0.0, np.pi)


def test_lines_out_of_order_are_sorted_and_the_last_of_equal_ones_counts(tmp_path):
    order, times = [1, 0, 2, 2], TIMES[[1, 0, 2, 2]]
    lines = carmen_lines(times, POSES[order], POSES[order], RANGES[[1, 0, 0, 2]])
    log = read_carmen_log(written(tmp_path / "log", lines))
    np.testing.assert_allclose(log.scans.ranges, RANGES)
    assert "1 scans were written out of order" in log.notes[0]
    assert "1 scans have the time of the next one" in log.notes[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.replace("FLASER 4", "FLASER 9", 1), r"line 5 \(FLASER\) must be"),
        (lambda s: s.replace("FLASER 4", "FLASER 99", 1), "words after 99 readings"),
        (lambda s: s.replace("FLASER 4", "FLASER x", 1), "got 'x' for the number of readings"),
        (lambda s: s.replace("ODOM 1.000000", "ODOM nan", 1), r"line 4 \(ODOM\) .* got 'nan'"),
        (lambda s: s.replace("FLASER 4 1.0", "FLASER 4 -1.0", 1), "must not be negative, got -1"),
        (lambda s: s + "ODOM 1 2 3\n", r"line 10 \(ODOM\) must be .* got 3 of 7 numbers"),
        (lambda s: s + s.replace("1.500000", "0.000000"), "are these two logs in one file"),
        (lambda s: "a b c\n", "must be a CARMEN log with lines FLASER .* got lines: a"),
        (lambda s: "", "got lines: none"),
        (
            lambda s: "\n".join(map(str, range(1000, 2000))),
            r"got lines: 1000, .* 1007 and 992 others",
        ),
        (lambda s: "x" * 5000, r"got lines: x{20}$"),
        (lambda s: "\0\0", "must be a text file, got binary data"),
        (lambda s: s + "FLASER 1 1 0 0 0 0 0 0 1.6\n", "all scans must have 4 ranges .* got 1"),
    ],
)
def test_a_damaged_log_is_refused_by_line(tmp_path, change, message):
    lines = carmen_lines(3.0 * TIMES, POSES, POSES, RANGES)
    text = "\n".join(lines).replace("1.500000 host", "1.500000 host") + "\n"
    path = tmp_path / "log"
    path.write_text(change(text))
    if "two logs" in message:
        path.write_text(text + text)
    with pytest.raises(ValueError, match=message):
        read_carmen_log(path)


def test_the_named_laser_must_be_there(tmp_path):
    path = written(tmp_path / "log", carmen_lines(TIMES, POSES, POSES, RANGES))
    with pytest.raises(ValueError, match="with lines RLASER, got lines: FLASER, ODOM"):
        read_carmen_log(path, laser="RLASER")
    raw = "RAWLASER1 0 -1.0 2.0 0.5 30.0 0.01 0 1 1.0 0 0.7 host 0.8"
    with pytest.raises(ValueError, match="must have lines ODOM"):
        read_carmen_log(written(tmp_path / "log", [raw]))


@pytest.mark.parametrize(("number", "scans"), [(1, 713), (3, 1241)])
def test_wean_hall(number, scans):
    log = read_carmen_log(real_data("wean_hall", f"robotdata{number}.log.gz"))
    assert len(log.scans) == scans
    assert log.scans.ranges.shape == (scans, 180)
    np.testing.assert_allclose(log.scans.mount, [0.25, 0, 0], atol=1e-6)
