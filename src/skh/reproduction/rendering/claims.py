"""Claims about rendered images: few placed particles against many random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from skh.reproduction.claim import Claim, Verdict, as_text, listed, together
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.claims import not_above
from skh.reproduction.robots.statistics import of_runs, reference_errors
from skh.reproduction.robots.tables import spread_text

MANY = 2_000
SIZES = (30, 50, 100, 200)


def as_accurate(records: Sequence[Record], *, n: int, many: int, reference: bool) -> Verdict:
    """The default with ``n`` particles against ``many`` random ones, medians over seeds."""
    errors = reference_errors if reference else partial(of_runs, field="rmse")
    ours, theirs = errors(records, rule="default", n=n), errors(records, rule="PF", n=many)
    what = "median distance to the reference" if reference else "RMSE to the truth"
    text = f"{what} [m]: default, N={n} {spread_text(ours)}; PF, N={many:,} {spread_text(theirs)}"
    return Verdict(text, not_above(ours, theirs))


def of_the_time(records: Sequence[Record], *, n: int, many: int, limit: float) -> Verdict:
    """Time of a run of the default relative to that of many random particles."""
    ours, theirs = (
        float(np.median(of_runs(records, "seconds", rule=rule, n=size)))
        for rule, size in (("default", n), ("PF", many))
    )
    text = f"{ours:.3g} s and {theirs:.3g} s, {ours / theirs:.3g} of the time (limit {limit:g})"
    return Verdict(text, ours <= limit * theirs, {"ratio": ours / theirs})


def never_worse(records: Sequence[Record], *, sizes: Sequence[int]) -> Verdict:
    """The default against as many random particles, RMSE to the truth."""
    parts, text = list[bool | None](), dict[str, str]()
    for n in sizes:
        ours, theirs = (of_runs(records, "rmse", rule=rule, n=n) for rule in ("default", "PF"))
        text[f"N={n}"] = f"{np.median(ours):.3g} and {np.median(theirs):.3g}"
        parts.append(not_above(ours, theirs))
    measured = f"RMSE to the truth [m], medians of default and PF: {listed(text)}"
    return Verdict(measured, together(parts), as_text(text))


def dear(records: Sequence[Record], *, low: float, high: float) -> Verdict:
    """Milliseconds of one likelihood, over the runs of random particles."""
    seconds, evaluations = (
        of_runs(records, field, rule="PF")
        for field in ("likelihood_seconds", "likelihood_evaluations")
    )
    each = float(np.median(1e3 * seconds / evaluations))
    return Verdict(f"{each:.3g} ms per particle", low <= each <= high, {"ms": each})


def _claim(name: str, words: str, check: Callable[..., Verdict], **options: object) -> Claim:
    return Claim(f"Rendering: {name}", f"(not in the paper) {words}", partial(check, **options))


CLAIMS = (
    _claim("a likelihood takes 1 to 5 ms", "rendering is dear", dear, low=1.0, high=5.0),
    _claim(
        "50 placed particles at least as accurate as 2,000 random ones",
        "RMSE to the truth, medians over seeds",
        as_accurate,
        n=50,
        many=MANY,
        reference=False,
    ),
    _claim(
        "50 placed particles at least as near to the reference as 2,000 random ones",
        "median distance to 20,000 random particles",
        as_accurate,
        n=50,
        many=MANY,
        reference=True,
    ),
    _claim(
        "100 placed particles at least as accurate as 2,000 random ones",
        "RMSE to the truth, medians over seeds",
        as_accurate,
        n=100,
        many=MANY,
        reference=False,
    ),
    _claim(
        "50 placed particles in a tenth of the time of 2,000 random ones",
        "by the clock, everything included",
        of_the_time,
        n=50,
        many=MANY,
        limit=0.1,
    ),
    _claim(
        "100 placed particles in a tenth of the time of 2,000 random ones",
        "by the clock, everything included",
        of_the_time,
        n=100,
        many=MANY,
        limit=0.1,
    ),
    _claim(
        "placed particles never worse than as many random ones",
        "RMSE to the truth, N = 30, 50, 100, 200",
        never_worse,
        sizes=SIZES,
    ),
)
