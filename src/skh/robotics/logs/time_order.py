"""The order of time stamps: small disorder is sorted, a clock that jumps back is refused."""

from __future__ import annotations

import numpy as np

from skh._typing import Array, Indices

LARGEST_STEP_BACK = 1.0  # seconds; loggers of several processes write lines this late


def in_order(times: Array, where: str) -> Indices:
    """Indices that sort ``times``; a ValueError if time jumps back, as in two logs in one file."""
    late = np.maximum.accumulate(times) - times
    if len(times) and late.max() > LARGEST_STEP_BACK:
        i = int(late.argmax())
        raise ValueError(
            f"{where}: times must increase, got {times[i]} up to {late[i]:.3g} s after later ones "
            f"(reading {i + 1}): are these two logs in one file?"
        )
    return np.argsort(times, kind="stable")


def last_of_equal(times: Array) -> Array:
    """Mask of the last reading at each time, for sorted times."""
    return np.append(np.diff(times) > 0, True)[: len(times)]


def disorder_notes(times: Array, order: Indices, name: str) -> tuple[str, ...]:
    """What was sorted or left out, in words."""
    moved = int((np.diff(times) < 0).sum())
    double = int((np.diff(times[order]) == 0).sum())
    notes = [f"{moved} {name} were written out of order; they are sorted by time"] * (moved > 0)
    notes += [f"{double} {name} have the time of the next one and are left out"] * (double > 0)
    return tuple(notes)
