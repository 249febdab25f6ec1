"""How good an estimated path is: errors to the truth, consistency, effort."""

from __future__ import annotations

from typing import Any

import numpy as np

from skh._typing import Array
from skh.app.localize.run import LocalizeRun
from skh.geometry.charts import Pose, in_space
from skh.scores import Consistency, Errors, ate, nees, rpe
from skh.trajectory import Trajectory

LEAST_EIGENVALUE = 1e-10  # of correlations; below, a covariance is singular


def metrics_of(run: LocalizeRun) -> dict[str, Any]:
    """Errors to the truth, if there is one, and how the run went."""
    result = run.result
    seen = [y is not None for y in run.setup.timeline.observations[: len(run.times)]]
    found: dict[str, Any] = {
        "steps": len(run.times),
        "steps_with_observation": int(np.sum(seen)),
        "duration": float(run.times[-1] - run.times[0]),
        "seconds": run.seconds,
        "likelihood_evaluations": int(result.n_likelihood_evaluations.sum()),
        "log_evidence": result.log_evidence,
        "ess_median": float(np.median(result.ess)),
    }
    if run.errors is None:
        return found
    return found | _errors(run, run.errors)


def _errors(run: LocalizeRun, errors: Array) -> dict[str, Any]:
    known = np.isfinite(errors).all(axis=1)
    if known.sum() < 2:
        return {"steps_with_truth": int(known.sum())}
    truth, estimate = _true_trajectory(run, known), run.trajectory.at(known)
    return {
        "steps_with_truth": int(known.sum()),
        "ate_m": _statistics(ate(truth, estimate)),
        "rpe_m": _statistics(rpe(truth, estimate)),
        "rpe_rad": _statistics(rpe(truth, estimate, part="rotation")),
        "nees": _consistency(errors[known], run.covariances[known]),
    }


def _consistency(errors: Array, covariances: Array) -> dict[str, Any]:
    """NEES per dimension; a singular covariance, of few different particles, counts as infinite."""
    regular = np.array([_is_regular(S) for S in covariances])
    if not regular.any():
        return {"singular_steps": len(regular)}
    found = nees(errors[regular], covariances[regular])
    values = np.append(found.values, np.full((~regular).sum(), np.inf))
    median = Consistency(values, found.d).median
    return {
        "median": median if np.isfinite(median) else None,
        "mean": found.mean,
        "d": found.d,
        "singular_steps": int((~regular).sum()),
    }


def _is_regular(S: Array) -> bool:
    sd = np.sqrt(np.diagonal(S))
    if not (sd > 0).all():
        return False
    return bool(np.linalg.eigvalsh(S / np.outer(sd, sd))[0] > LEAST_EIGENVALUE)


def _true_trajectory(run: LocalizeRun, known: Any) -> Trajectory:
    truth, T = run.setup.truth, len(run.times)
    if isinstance(truth, Pose):
        return Trajectory(run.times, truth.position[:T], truth.rotation[:T]).at(known)
    return Trajectory.of(run.times[known], in_space(truth[:T][known]))


def _statistics(errors: Errors) -> dict[str, float]:
    names = ("rmse", "mean", "median", "max")
    return {name: float(getattr(errors, name)) for name in names}
