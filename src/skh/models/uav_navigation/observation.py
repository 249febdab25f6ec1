"""Sensor data of the UAV at one time."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from skh._typing import Array, Integers

MAX_PIXEL = 1e50  # pixels; their squares must not overflow


@dataclass(frozen=True, eq=False)
class Observation:
    """Inertial sensors, barometer and tracked points of the image.

    Missing sensors are NaN.  ``tracks`` (k,) are numbers that a tracker gives to the points it
    follows, unique over time; ``pixels`` (k, 2) are measured from the centre of the image.  Tracks
    that are not in an image end, all of them if it is empty, ``tracks=[]``; with ``tracks=None``
    there is no image at this time, and they continue.

    >>> Observation([0.0, 0.0, 9.81], [0.0, 0.0, 0.0], 40.0, [7], [[10.0, -20.0]]).tracks
    array([7])
    """

    accelerometer: Array  # (3,), m/s^2
    gyroscope: Array  # (3,), rad/s
    barometer: float  # m
    tracks: Integers | None
    pixels: Array

    def __init__(
        self,
        accelerometer: ArrayLike = (np.nan,) * 3,
        gyroscope: ArrayLike = (np.nan,) * 3,
        barometer: float = np.nan,
        tracks: ArrayLike | None = None,
        pixels: ArrayLike = (),
    ) -> None:
        object.__setattr__(self, "accelerometer", _three("accelerometer", accelerometer))
        object.__setattr__(self, "gyroscope", _three("gyroscope", gyroscope))
        object.__setattr__(self, "barometer", _one("barometer", barometer))
        ids = None if tracks is None else _tracks(tracks)
        object.__setattr__(self, "tracks", ids)
        object.__setattr__(self, "pixels", _pixels(pixels, 0 if ids is None else len(ids)))


def _tracks(value: ArrayLike) -> Integers:
    ids = np.asarray(value)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise ValueError(f"tracks must be integers with shape (k,), got {value!r}")
    if len(set(ids.tolist())) < len(ids) or (ids < 0).any():
        raise ValueError(f"tracks must be distinct and non-negative, got {value!r}")
    return ids.astype(np.int64)


def _pixels(value: ArrayLike, k: int) -> Array:
    places = np.array(value, dtype=np.float64)
    places = places.reshape(0, 2) if places.size == 0 else places
    if places.shape != (k, 2) or not (np.abs(places) < MAX_PIXEL).all():
        raise ValueError(
            f"pixels must be finite with shape ({k}, 2), a row per track, and below {MAX_PIXEL:g}, "
            f"got {value!r}"
        )
    return places


def _one(name: str, value: float) -> float:
    if not isinstance(value, Real) or isinf(value):
        raise ValueError(f"{name} must be a finite number, or NaN if missing, got {value!r}")
    return float(value)


def _three(name: str, value: ArrayLike) -> Array:
    """Convert to three numbers, all NaN if one is."""
    array = np.array(value, dtype=np.float64)
    if array.shape != (3,) or np.isinf(array).any():
        raise ValueError(f"{name} must be three finite numbers, or NaN if missing, got {value!r}")
    return np.full(3, np.nan) if np.isnan(array).any() else array
