"""What the sensors of the UAV say at one time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from skh._checks import Array, Integers


@dataclass(frozen=True, eq=False)
class Observation:
    """Inertial sensors, barometer and tracked points of the image.

    A sensor that says nothing is NaN; an image without tracks is empty.  ``tracks`` (k,) are
    numbers that a tracker gives to the points it follows, never the same for another point;
    ``pixels`` (k, 2) are measured from the centre of the image.

    >>> Observation([0.0, 0.0, 9.81], [0.0, 0.0, 0.0], 40.0, [7], [[10.0, -20.0]]).tracks
    array([7])
    """

    accelerometer: Array = field(default_factory=lambda: np.full(3, np.nan))  # m/s^2
    gyroscope: Array = field(default_factory=lambda: np.full(3, np.nan))  # rad/s
    barometer: float = np.nan  # m
    tracks: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    pixels: Array = field(default_factory=lambda: np.empty((0, 2)))

    def __init__(
        self,
        accelerometer: ArrayLike = (np.nan,) * 3,
        gyroscope: ArrayLike = (np.nan,) * 3,
        barometer: float = np.nan,
        tracks: ArrayLike = (),
        pixels: ArrayLike = (),
    ) -> None:
        object.__setattr__(self, "accelerometer", _three("accelerometer", accelerometer))
        object.__setattr__(self, "gyroscope", _three("gyroscope", gyroscope))
        object.__setattr__(self, "barometer", float(barometer))
        ids = np.asarray(tracks)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ValueError(f"tracks must be whole numbers (k,), got {tracks!r}")
        if len(set(ids.tolist())) < len(ids) or (ids < 0).any():
            raise ValueError(f"tracks must be different numbers from 0 on, got {tracks!r}")
        places = np.asarray(pixels, dtype=np.float64).reshape(-1, 2) if ids.size == 0 else pixels
        places = np.asarray(places, dtype=np.float64)
        if places.shape != (len(ids), 2) or not np.isfinite(places).all():
            raise ValueError(
                f"pixels must be finite with shape ({len(ids)}, 2), a row per track, got {pixels!r}"
            )
        object.__setattr__(self, "tracks", ids.astype(np.int64))
        object.__setattr__(self, "pixels", places)


def _three(name: str, value: ArrayLike) -> Array:
    """Three numbers, or NaN in all of them where one is NaN."""
    array = np.array(value, dtype=np.float64)
    if array.shape != (3,) or np.isinf(array).any():
        raise ValueError(f"{name} must be three numbers, NaN where silent, got {value!r}")
    return np.full(3, np.nan) if np.isnan(array).any() else array
