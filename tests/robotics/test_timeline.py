"""Timelines: steps at readings, controls between them, thresholds, gaps and truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_files import circle_drive
from skh.robotics import (
    BodyStep,
    Odometry,
    PlanarPath,
    RangeSensor,
    Scans,
    Sightings,
    VelocityOdometry,
    merge,
    timeline_of,
)


def scans_at(times):
    return Scans(times, np.ones((len(times), 2)), [0.0, 1.0])


def composed(start, steps):
    """The pose after steps seen from each other."""
    x, y, h = start
    for dx, dy, turn in steps:
        x, y = x + np.cos(h) * dx - np.sin(h) * dy, y + np.sin(h) * dx + np.cos(h) * dy
        h += turn
    return np.array([x, y, h])


@given(seed=st.integers(0, 1000), many=st.integers(2, 20))
def test_controls_together_are_the_whole_way(seed, many):
    """Whatever the times of readings, composed steps by velocities and by poses are the same."""
    rng = np.random.default_rng(seed)
    t = np.append(0.0, np.cumsum(rng.uniform(0.01, 0.5, 30)))
    drive = VelocityOdometry(t, rng.normal(size=31), rng.normal(size=31))
    times = np.unique(rng.uniform(0, t[-1], many))
    steps = merge(drive, scans_at(times))
    whole = merge(drive, scans_at(times[[0, -1]])).controls
    ways = composed(np.zeros(3), [c.pose for c in steps.controls])
    np.testing.assert_allclose(ways[:2], whole[0].pose[:2], atol=1e-9)
    np.testing.assert_allclose(np.sum([c.dt for c in steps.controls]), times[-1] - times[0])


def test_poses_are_interpolated_and_headings_wrap():
    odometry = Odometry([0.0, 1.0], [[0, 0, 3.1], [1, 0, -3.1]])
    steps = merge(odometry, scans_at([0.0, 0.5, 1.0]))
    turns = [c.turn for c in steps.controls]
    np.testing.assert_allclose(turns, (np.pi - 3.1) * np.ones(2))
    assert isinstance(steps.controls[0], BodyStep)
    assert steps.controls[0].dt == 0.5


def test_sightings_of_one_moment_are_one_observation():
    t, v, w, _ = circle_drive()
    seen = Sightings([1.0, 1.0, 1.1, 2.0], [0, 1, 2, 0], np.ones(4), np.zeros(4))
    steps = merge(VelocityOdometry(t, v, w), seen)
    assert [len(y) for y in steps.observations] == [2, 1, 1]
    steps = merge(VelocityOdometry(t, v, w), seen, window=0.2)
    assert [len(y) for y in steps.observations] == [3, 1]
    np.testing.assert_allclose(steps.times, [1.1, 2.0])


def test_ranges_without_bearings_are_what_a_range_sensor_takes():
    drive = VelocityOdometry([0.0, 1.0, 2.0], forward=[1.0] * 3, turning=[0.0] * 3)
    seen = Sightings([0.5, 1.5, 1.5], ids=[1, 1, 0], ranges=[2.5, 1.5, 1.5])
    steps = merge(drive, seen[1:])
    np.testing.assert_array_equal(steps.observations[0], [[1, 1.5], [0, 1.5]])
    beacons = RangeSensor([[0.0, 0.0], [3.0, 0.0]], range_noise=0.1)
    here, there = beacons.log_likelihood([[1.5, 0, 0], [1, 0, 0]], steps.observations[0])
    assert here > there + 10


def test_several_sensors_share_the_steps():
    t, v, w, _ = circle_drive()
    seen = Sightings([1.0, 2.0], [0, 1], np.ones(2), np.zeros(2))
    steps = merge(VelocityOdometry(t, v, w), [scans_at([1.0, 1.5]), seen])
    present = [[part is not None for part in y] for y in steps.observations]
    assert present == [[True, True], [True, False], [False, True]]


def test_thresholds_skip_readings_until_something_happened():
    times = np.arange(0.0, 10.0, 0.1)
    x = np.where(times < 5, 0.0, times - 5.0)  # stands, then drives 1 m/s
    odometry = Odometry(times, np.column_stack([x, 0 * x, 0 * x]))
    steps = merge(odometry, scans_at(times), min_way=0.49)
    np.testing.assert_allclose(steps.times, [0.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5])
    steps = merge(odometry, scans_at(times), min_way=0.49, max_wait=1.99)
    np.testing.assert_allclose(steps.times[:3], [0.0, 2.0, 4.0])
    steps = merge(odometry, scans_at(times), min_wait=2.0)
    np.testing.assert_allclose(steps.times, [0.0, 2.0, 4.0, 6.0, 8.0])
    steps = merge(odometry, scans_at(times), min_way=0.49, min_wait=1.0)
    np.testing.assert_allclose(steps.times, [0.0, 5.5, 6.5, 7.5, 8.5, 9.5])
    turn = Odometry(times, np.column_stack([0 * x, 0 * x, 4 * x]))
    assert len(merge(turn, scans_at(times), min_turn=1.99)) == 10
    assert len(merge(odometry, scans_at(times), min_way=0.0)) == len(times)


def test_gaps_have_steps_without_observations():
    t, v, w, _ = circle_drive(60)
    steps = merge(VelocityOdometry(t, v, w), scans_at([0.0, 1.0, 4.0]), max_gap=1.0)
    np.testing.assert_allclose(steps.times, [0, 1, 2, 3, 4])
    assert [y is None for y in steps.observations] == [False, False, True, True, False]
    assert len(steps.first(3)) == 3
    assert len(steps.first(3).controls) == 2


def test_truth_is_interpolated_and_unknown_in_gaps():
    t, v, w, poses = circle_drive(30)
    keep = (t < 2) | (t > 4)
    truth = PlanarPath(t[keep], poses[keep])
    steps = merge(VelocityOdometry(t, v, w), scans_at([0.5, 3.0, 5.0]), truth=truth)
    np.testing.assert_array_equal(np.isnan(steps.truth[:, 0]), [False, True, False])
    np.testing.assert_allclose(steps.truth[2], poses[25], atol=1e-12)


def test_readings_outside_the_odometry_are_left_out_and_noted():
    odometry = Odometry([1.0, 2.0], np.zeros((2, 3)))
    steps = merge(odometry, scans_at([0.0, 1.5, 3.0]))
    assert steps.notes == ("2 readings before or after the odometry are left out",)
    with pytest.raises(ValueError, match=r"overlap the odometry, which lasts from 1.0 to 2.0 s"):
        merge(odometry, scans_at([5.0]))


def test_wrong_arguments_are_refused():
    odometry = Odometry([1.0, 2.0], np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"times must increase, got 1.0 after 1.0 at index 1"):
        Odometry([1.0, 1.0], np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"times must not decrease, got 0.5 after 1.0"):
        Sightings([1.0, 0.5], [1, 2], [1, 1], [0, 0])
    with pytest.raises(TypeError, match="odometry must be Odometry or VelocityOdometry"):
        merge(None, scans_at([1.0]))
    with pytest.raises(TypeError, match="readings must be Scans or Sightings"):
        merge(odometry, [odometry])
    with pytest.raises(ValueError, match="at least one sensor"):
        merge(odometry, [])
    with pytest.raises(ValueError, match="min_way must be a non-negative number, got -1"):
        merge(odometry, scans_at([1.0]), min_way=-1)
    with pytest.raises(ValueError, match="max_gap must be a positive number, got 0"):
        merge(odometry, scans_at([1.0]), max_gap=0)
    with pytest.raises(TypeError, match="log must be what a reader"):
        timeline_of(odometry)
    with pytest.raises(ValueError, match="odometry must have at least one reading"):
        merge(Odometry([], np.empty((0, 3))), scans_at([1.0]))


def test_rows_are_selected():
    odometry = Odometry([1.0, 2.0, 3.0], np.arange(9.0).reshape(3, 3))
    np.testing.assert_array_equal(odometry.between(1.5, 3).times, [2, 3])
    scans = scans_at([1.0, 2.0])[1:]
    assert (len(scans), len(scans.angles)) == (1, 2)
    assert np.isnan(Odometry([], np.empty((0, 3))).at([1.0])).all()
