"""Which tracked point is in which slot: the same bookkeeping for all particles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skh._typing import Array, Indices, Integers

MAJORITY = 0.5
FLAT_SLOPE = 0.05  # how far a ray must go down per metre ahead to meet the ground anywhere near


def assign(
    slots: Integers, tracks: Integers, pixels: Array
) -> tuple[Integers, Array, NDArray[np.bool_], Indices]:
    """Slots after an image: tracks (L,), their pixels (L, 2), which go on (L,), which are new.

    Tracks that are not in the image have ended.  New ones take free slots in the order in which
    they come; those for which there is none are left out, and may come in at a later image.
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
    """Whether most particles see a pixel near the horizon or above: no place to start a landmark.

    Such a track waits for another image.
    """
    u, v = pixel / focal
    down = R[:, 2, 2] + v * R[:, 2, 1] - u * R[:, 2, 0]
    return bool(np.median(down) < FLAT_SLOPE)


def weak_tracks(gated: NDArray[np.bool_], log_l: Array) -> Indices:
    """Slots whose pixel most particles, weighted by their likelihoods, found impossible.

    Their weights before this observation, which a model does not know, do not count.
    Such a track has jumped to another point.  It ends here, and starts as a new landmark at the
    next image.
    """
    if not gated.any() or log_l.max() == -np.inf:
        return np.empty(0, dtype=np.intp)
    w = np.exp(log_l - log_l.max())
    return np.flatnonzero(w @ gated > MAJORITY * w.sum())
