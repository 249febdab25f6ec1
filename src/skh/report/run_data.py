"""The data of a run's page: what its scripts read, ready for JSON.

Arrays are coordinate-major, ``(D, T)``; D counts x and the hidden part z.  Bands and particles are
kept relative to the means, in units of the largest deviation of their coordinate: single precision
then shows a cloud of millimetres at a distance of a million metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.result import FilterResult
from skh.report.packing import Packed, packed, scales
from skh.report.run_inputs import RunInputs

MAX_PARTICLE_NUMBERS = 1_250_000  # coordinates and weights that a page keeps: below 7 MB of text
MAX_BANDS = 3  # pairs of quantiles that can be told apart
STEPS_WITHOUT_LOOKS = -1  # their reason


class Centres(NamedTuple):
    """What the page calls the mean: (D, T), its deviations (D, T), and remarks about it."""

    means: Array
    deviations: Array
    remarks: list[str]


def centres_of(result: FilterResult) -> Centres:
    """Return the means of (x, z): coordinates, or mean states if they are rows like them."""
    S = result.covariances if result.joint_covariances is None else result.joint_covariances
    deviations = np.sqrt(np.maximum(np.diagonal(S, axis1=1, axis2=2), 0.0)).T
    means, remarks = result.means, []
    if isinstance(result.mean_states, np.ndarray) and result.mean_states.shape == means.shape:
        means = result.mean_states
        remarks.append(
            "States are in charts: lines are mean states; bands and particles are drawn around "
            "them by their coordinates in the chart of each step."
        )
    elif result.mean_states is not None:
        remarks.append(
            "States are in charts: shown are coordinates, each in the chart of its step; "
            "result.mean_states has the states."
        )
    if result.z_means is not None:
        means = np.hstack([means, result.z_means])
    return Centres(np.asarray(means, dtype=np.float64).T, deviations, remarks)


class Band(NamedTuple):
    """Lower and upper ends relative to the means, (D, T), with a label for each coordinate."""

    lower: Array
    upper: Array
    labels: list[str]


def bands_of(result: FilterResult, deviations: Array) -> tuple[list[Band], Array | None, str]:
    """Return bands from wide to narrow, and the middle quantile with its label, if there is one.

    Without two quantiles the band is the mean plus and minus two deviations; so it is for z.
    """
    D, T = deviations.shape
    d, k = result.means.shape[1], result.quantiles.shape[1]
    q = np.sort(result.quantiles, axis=1).transpose(1, 2, 0) - result.means.T
    levels = np.sort(result.quantile_levels) if len(result.quantile_levels) == k else None
    around = [Band(-2.0 * deviations, 2.0 * deviations, ["mean ± 2 sd"] * D)]
    pairs = min(k // 2, MAX_BANDS)
    for i in range(pairs):
        lower, upper = np.full((2, D, T), np.nan) if i else (around[0].lower, around[0].upper)
        band = Band(lower.copy(), upper.copy(), [_pair(levels, i)] * d + ["mean ± 2 sd"] * (D - d))
        band.lower[:d], band.upper[:d] = q[i], q[k - 1 - i]
        around = [*around, band] if i else [band]
    if k % 2 == 0:
        return around, None, ""
    middle = np.full((D, T), np.nan)
    middle[:d] = q[k // 2]
    return around, middle, "middle quantile" if levels is None else _level(levels[k // 2])


def _pair(levels: Array | None, i: int) -> str:
    """Label of the i-th widest pair of quantiles."""
    if levels is None:
        return "outer quantiles" if i == 0 else "inner quantiles"
    return f"{_percent(levels[i])} to {_percent(levels[-1 - i])}"


def _level(level: float) -> str:
    return "median" if level == 0.5 else f"{_percent(level)} quantile"


def _percent(level: float) -> str:
    return f"{100 * level:.4g}%"


def kept_steps(history: Sequence[Belief], d: int) -> int:
    """Every how many steps the particles are kept, so that the page does not become too large."""
    numbers = sum(belief.n_particles for belief in history) * (d + 1)
    return -(-numbers // MAX_PARTICLE_NUMBERS) or 1


def particles_of(result: FilterResult) -> tuple[Array, dict[str, Any]] | None:
    """Return deviations (d, total) of the particles from the mean of their step, and the rest."""
    if result.history is None:
        return None
    every = kept_steps(result.history, result.means.shape[1])
    kept = result.history[::every]
    offsets = np.concatenate([(b.x - b.mean).T for b in kept], axis=1)
    starts = np.cumsum([0, *(b.n_particles for b in kept)])
    w = np.concatenate([b.w for b in kept])
    return offsets, {"every": every, "starts": packed(starts, "i4"), "w": packed(w, "f4")}


def looks_of(result: FilterResult) -> dict[str, Any]:
    """Return how many points each look of each step has, its ESS, and why it was taken."""
    looks = result.looks or ((),) * len(result.means)
    reasons = sorted({step[0].reason for step in looks if step})
    place = {reason: k for k, reason in enumerate(reasons)}
    of_step = [place[step[0].reason] if step else STEPS_WITHOUT_LOOKS for step in looks]
    return {
        "starts": packed(np.cumsum([0, *map(len, looks)]), "i4"),
        "sizes": packed([look.n for step in looks for look in step], "i4"),
        "ess": packed([look.ess for step in looks for look in step], "f4"),
        "error": packed([step[0].error if step else np.nan for step in looks], "f4"),
        "reason": packed(of_step, "i4"),
        "reasons": reasons,
    }


def data_of(result: FilterResult, centres: Centres, inputs: RunInputs) -> dict[str, Any]:
    """Return everything that the scripts of the page read."""
    bands, middle, middle_label = bands_of(result, centres.deviations)
    particles = particles_of(result)
    offsets = [band.lower for band in bands] + [band.upper for band in bands]
    offsets += [] if middle is None else [middle]
    unit = scales(centres.deviations, *offsets)
    d = result.means.shape[1]
    if particles is not None:
        unit[:d] = np.maximum(unit[:d], scales(particles[0]))

    def scaled(array: Array) -> Packed:
        return packed(array / unit[: len(array), None], "f4")

    return {
        "T": len(result.means),
        "d": d,
        "unit": unit.tolist(),
        "means": packed(centres.means, "f8"),
        "sd": scaled(centres.deviations),
        "bands": [
            {"lower": scaled(b.lower), "upper": scaled(b.upper), "labels": b.labels} for b in bands
        ],
        "middle": None if middle is None else scaled(middle),
        "middleLabel": middle_label,
        "particles": particles and {**particles[1], "x": scaled(particles[0])},
        "looks": looks_of(result),
        **packed_inputs(inputs),
        **series_of(result),
    }


def packed_inputs(inputs: RunInputs) -> dict[str, Any]:
    """Return what the caller says about the run."""
    names, times, (observed, missing, observed_names), truth, _ = inputs
    return {
        "names": names,
        "times": None if times is None else packed(times.values, "f8"),
        "dates": times is not None and times.dates,
        "missing": packed(missing, "i4"),
        "observed": None if observed is None else packed(observed, "f8"),
        "observedNames": observed_names,
        "truth": None if truth is None else packed(truth, "f8"),
    }


def series_of(result: FilterResult) -> dict[str, Packed]:
    """Return one number per step of each diagnostic."""
    return {
        "ess": packed(result.ess, "f4"),
        "mmd": packed(result.mmd, "f4"),
        "count": packed(result.n_particles, "i4"),
        "evaluations": packed(result.n_likelihood_evaluations, "i4"),
        "increments": packed(result.log_evidence_increments, "f8"),
    }
