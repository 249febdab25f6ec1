"""What consoles and notebooks show of results, beliefs, filters and mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from skh._typing import Array
from skh.views.tables import deviations_of, n_looks, state_names, times_of
from skh.views.text import described, number, numbers

MOST_ROWS = 6  # coordinates in a table of a notebook
SPARK = (220.0, 34.0)  # width and height of a small curve, pixels
SPARK_POINTS = 220  # at most, one per pixel
LEFT = 'style="text-align:left"'
Rows = Sequence[tuple[str, str]]


def result_text(result: Any) -> str:
    """Two lines about a result."""
    T, d = result.means.shape
    run, particles = getattr(result, "attributes", {}), _range(result.n_particles)
    told = f", {run['rule']}, n={run['n']}" if {"rule", "n"} <= set(run) else ""
    return (
        f"FilterResult: {T} steps in {d} dimensions{told}\n"
        f"  log_evidence={number(result.log_evidence)}, "
        f"ess {number(result.ess.min())} to {number(result.ess.max())} of {particles} particles, "
        f"{int(result.n_likelihood_evaluations.sum())} likelihood evaluations"
    )


def _range(values: Any) -> str:
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def result_html(result: Any) -> str:
    """A table for notebooks: the run, and the last estimate of each coordinate with its course."""
    run = dict(getattr(result, "attributes", {}))
    T, d = result.means.shape
    rows = [(name, str(run[name])) for name in ("model", "rule", "n", "seed") if name in run]
    rows += [
        ("steps", f"{T}, {int((result.n_likelihood_evaluations > 0).sum())} with an observation"),
        ("log evidence", number(result.log_evidence)),
        ("ESS", f"{number(result.ess.min())} to {number(result.ess.max())}"),
        ("looks", f"{int(n_looks(result).sum())}"),
        ("evaluations", f"{int(result.n_likelihood_evaluations.sum())}"),
    ]
    return _block("FilterResult", rows) + _coordinates(result, d)


def _coordinates(result: Any, d: int) -> str:
    """A row for each coordinate: its last mean and deviation, and a small curve."""
    deviations = deviations_of(result.covariances)
    lines = []
    for k, name in enumerate(state_names(result)[:MOST_ROWS]):
        last = f"{number(result.means[-1, k])} ± {number(deviations[-1, k])}"
        curve = spark(times_of(result), result.means[:, k], deviations[:, k])
        lines.append(f"<tr><th {LEFT}>{escape(name)}</th><td>{last}</td><td>{curve}</td></tr>")
    more = f'<tr><td colspan="3">and {d - MOST_ROWS} more</td></tr>' if d > MOST_ROWS else ""
    return f"<table><tbody>{''.join(lines)}{more}</tbody></table>"


def spark(times: Any, mean: Array, deviation: Array) -> str:
    """A small curve of means with a band of two deviations, as SVG; empty for one step."""
    keep = np.unique(np.linspace(0, len(mean) - 1, SPARK_POINTS).astype(int))
    low, high = (mean + side * 2 * deviation for side in (-1, 1))
    bottom, top = float(np.min(low)), float(np.max(high))
    if len(keep) < 2 or not np.isfinite([bottom, top]).all():
        return ""
    width, height = SPARK
    x = np.linspace(0.0, width, len(keep))

    def y(values: Array) -> Array:
        share = (values[keep] - bottom) / (top - bottom) if top > bottom else 0.5 + 0.0 * x
        return np.asarray(height * (1.0 - share))

    band = _path([*zip(x, y(low), strict=True), *list(zip(x, y(high), strict=True))[::-1]])
    return (
        f'<svg width="{width:g}" height="{height:g}" role="img" aria-label="course of the mean">'
        f'<polygon points="{band}" fill="#3b75af" fill-opacity="0.25"/>'
        f'<polyline points="{_path(zip(x, y(mean), strict=True))}" fill="none" stroke="#3b75af" '
        'stroke-width="1.3"/></svg>'
    )


def _path(points: Any) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _block(title: str, rows: Rows) -> str:
    """A title above a table of two columns."""
    lines = (f"<tr><th {LEFT}>{escape(a)}</th><td {LEFT}>{escape(b)}</td></tr>" for a, b in rows)
    return f"<strong>{escape(title)}</strong><table><tbody>{''.join(lines)}</tbody></table>"


def belief_text(belief: Any) -> str:
    """One line about a belief."""
    n, d = belief.x.shape
    return (
        f"Belief(t={belief.t}, {n} particles in {d} dimensions, mean={numbers(belief.mean)}, "
        f"ess={number(belief.ess)})"
    )


def belief_html(belief: Any) -> str:
    """A table for notebooks: moments of a belief, and how its step went."""
    n, d = belief.x.shape
    deviation = deviations_of(belief.covariance[None])[0]
    rows = [
        ("particles", f"{n} in {d} dimensions"),
        ("mean", numbers(belief.mean)),
        ("standard deviation", numbers(deviation)),
        ("ESS", number(belief.ess)),
        ("log-evidence increment", number(belief.log_evidence_increment)),
        ("evaluations", str(belief.n_likelihood_evaluations)),
        *((f"look {k}", f"{look.n} points, {look.reason}") for k, look in enumerate(belief.looks)),
    ]
    return _block(f"Belief of step {belief.t}", rows)


def filter_text(name: str, model: Any, rule: Any, n: int, t: int) -> str:
    """One line about a filter."""
    return f"{name}({described(model)}, {described(rule)}, n={n}, t={t})"


def filter_html(name: str, model: Any, rule: Any, n: int, belief: Any) -> str:
    """A table for notebooks: the settings of a filter, and its belief."""
    rows = [("model", described(model)), ("rule", described(rule)), ("n", str(n))]
    return _block(name, rows) + ("no step yet" if belief is None else belief_html(belief))
