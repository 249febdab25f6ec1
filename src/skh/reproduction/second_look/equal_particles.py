"""How many random particles have the RMSE of a second look, by a power law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skh.reproduction.engine.record import Record
from skh.reproduction.second_look.tasks import BOOTSTRAP, LOOKS
from skh.reproduction.statistics import MissingError, medians, select

FLATTEST = -0.1  # a slope above it has no meaning: more particles do not help


@dataclass(frozen=True)
class Equal:
    """Random particles that have the same RMSE; beyond those measured, extrapolated."""

    particles: float
    measured_up_to: int
    slope: float  # of log RMSE against log N, over the two largest sizes

    def __str__(self) -> str:
        how = "extrapolated" if self.particles > self.measured_up_to else "interpolated"
        return f"{self.particles:.2g} ({how}, RMSE ~ N^{self.slope:.2f})"


def equal_particles(records: Sequence[Record], model: str, n: int) -> Equal:
    """Interpolate log RMSE linearly in log N; extrapolate with the last slope.

    Medians over the data sets on which random particles were run.
    """
    random = select(records, model=model, rule=BOOTSTRAP)
    curve = medians(random, "rmse")
    if len(curve) < 2:
        raise MissingError(f"two sizes of {BOOTSTRAP} on {model}")
    batches = tuple({r.batch for r in random})
    ours = select(records, model=model, rule=LOOKS, n=n, batch=batches)
    target = float(np.log(np.median([r.rmse for r in ours])))
    log_n, log_error = np.log(list(curve)), np.log(list(curve.values()))
    k = int(np.clip(np.searchsorted(-log_error, -target), 1, len(curve) - 1))  # errors decrease
    slope = float((log_error[k] - log_error[k - 1]) / (log_n[k] - log_n[k - 1]))
    slope = min(slope, FLATTEST)
    particles = float(np.exp(log_n[k] + (target - log_error[k]) / slope))
    return Equal(particles, max(curve), slope)
