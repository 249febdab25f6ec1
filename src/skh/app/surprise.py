"""Name the observation that a model explains far worse than all others."""

from __future__ import annotations

import numpy as np

from skh.app.run import Run

FAR = 20.0  # below the median, in distances between the median and the lower quartile
LEAST_SURPRISE = 10.0  # below the median, in any case: about four and a half standard deviations
FEWEST_ROWS = 8  # with fewer nothing is usual


def surprise(run: Run) -> str:
    """Say which row is far less likely than the others; nothing if none is.

    Rows are compared by their log-evidence increments.
    """
    result, table = run.result, run.prepared.table
    seen = np.flatnonzero(result.n_likelihood_evaluations > 0)
    if len(seen) < FEWEST_ROWS:
        return ""
    increments = result.log_evidence_increments[seen]
    usual, worst = float(np.median(increments)), int(np.argmin(increments))
    spread = usual - float(np.quantile(increments, 0.25))
    if usual - increments[worst] <= max(LEAST_SURPRISE, FAR * spread):
        return ""
    t = int(seen[worst])
    time = "" if table.times is None else f" ({table.time_name} {_shown(table.times[t])})"
    return (
        f"note: {table.place(t)}{time} is far less likely than other rows: log-evidence "
        f"{increments[worst]:.1f}, at the median {usual:.1f}. If the measurement is wrong, empty "
        "its cell, or use a likelihood with heavy tails."
    )


def _shown(time: float | np.datetime64) -> str:
    """A time without digits that say nothing."""
    if isinstance(time, np.datetime64):
        return str(time).removesuffix(".000000").removesuffix("T00:00:00")
    return f"{time:g}"
