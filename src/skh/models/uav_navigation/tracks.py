"""Assignment of tracked points to landmark slots, the same for all particles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skh._typing import Array, Indices, Integers

MAJORITY = 0.5
FLAT_SLOPE = 0.05  # least descent of a ray per metre for a landmark to start on it


def assign(
    slots: Integers, tracks: Integers, pixels: Array
) -> tuple[Integers, Array, NDArray[np.bool_], Indices]:
    """Slots after an image: track numbers (L,), pixels (L, 2), which continue (L,), which are new.

    Tracks that are not in the image end.  New ones take free slots in order; those without a free
    slot wait for a later image.
    """
    places = {int(track): pixel for track, pixel in zip(tracks, pixels, strict=True)}
    after = np.where(np.isin(slots, tracks), slots, -1)
    going_on = after >= 0
    waiting = [track for track in tracks.tolist() if track not in set(after.tolist())]
    new = np.flatnonzero(~going_on)[: len(waiting)]
    after[new] = waiting[: len(new)]
    there = np.zeros((len(slots), 2))
    for slot in np.flatnonzero(after >= 0):
        there[slot] = places[int(after[slot])]
    return after, there, going_on, new


def ray_is_flat(R: Array, pixel: Array, focal: float) -> bool:
    """Whether most particles see a pixel near or above the horizon: no landmark starts there."""
    u, v = pixel / focal
    down = R[:, 2, 2] + v * R[:, 2, 1] - u * R[:, 2, 0]
    return bool(np.median(down) < FLAT_SLOPE)


def weak_tracks(gated: NDArray[np.bool_], log_l: Array) -> Indices:
    """Slots whose pixel was gated in most particles, weighted by likelihood (all a model knows).

    Such a track has jumped to another point: it ends, and starts anew at the next image.
    """
    if not gated.any() or log_l.max() == -np.inf:
        return np.empty(0, dtype=np.intp)
    w = np.exp(log_l - log_l.max())
    return np.flatnonzero(w @ gated > MAJORITY * w.sum())
