"""What errors of sightings and pixels are at the true poses of real logs.

    python benchmarks/log_noise.py > benchmarks/tables/log-noise.md     # needs SKH_DATA; seconds

Deviations are robust: 1.48 times the median distance from the median.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from quoted import Row, print_rows

from skh.geometry import wrap
from skh.robotics.logs.data_sets import data_file
from skh.robotics.logs.mrclam import read_mrclam
from skh.robotics.logs.stereo_mat import read_stereo_log


def robust(residuals: np.ndarray) -> float:
    return 1.48 * float(np.nanmedian(np.abs(residuals - np.nanmedian(residuals))))


def sightings() -> Iterator[Row]:
    """Ranges and bearings of two robots of MRCLAM, data set 7."""
    for robot in (1, 2):
        log = read_mrclam(data_file("mrclam", "MRCLAM_Dataset7"), robot)
        seen = log.sightings
        known = np.isin(seen.ids, log.landmarks.ids)
        poses = log.truth.at(seen.times[known])
        places = log.landmarks.positions[np.searchsorted(log.landmarks.ids, seen.ids[known])]
        away = places - poses[:, :2]
        bearings = wrap(seen.bearings[known] - np.arctan2(away[:, 1], away[:, 0]) + poses[:, 2])
        yield f"robot {robot}, range, m", robust(seen.ranges[known] - np.hypot(*away.T))
        yield f"robot {robot}, bearing, rad", robust(bearings)


def pixels() -> Iterator[Row]:
    """Correlations of left and right image of Starry Night."""
    covariance = read_stereo_log(data_file("starry_night", "dataset3.mat")).pixel_covariance()
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    yield "left and right image, correlation in u", float(correlations[0, 2])
    yield "left and right image, correlation in v", float(correlations[1, 3])


if __name__ == "__main__":
    print_rows(Path(__file__).name, (sightings, pixels))
