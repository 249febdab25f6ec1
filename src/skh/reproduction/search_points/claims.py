"""Claims of appendix B, and one that is not in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skh.reproduction.claim import Claim, Number, Verdict, ratios_below_one
from skh.reproduction.engine.record import Record
from skh.reproduction.search_points.tasks import STEPS, SUFFIX
from skh.reproduction.statistics import MissingError, Ratio, fit, medians, ratio, select


def _models(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(r.model for r in records))


def more_points_help(records: Sequence[Record]) -> Verdict:
    """Compare the MMD with the most and the fewest search points; the slopes are statistics."""
    ratios: dict[str, Ratio] = {}
    slopes: dict[str, Number] = {}
    for model in _models(records):
        for rule in STEPS:
            cell = select(records, model=model, rule=rule)
            few, many = min(r.m for r in cell), max(r.m for r in cell)
            if few == many:
                raise MissingError("only one M")
            label = f"{rule}, {model}, M={few:,} to {many:,}"
            ratios[label] = ratio(select(cell, m=many), select(cell, m=few), "mmd")
            slopes[f"{label}: slope"] = round(fit(medians(cell, "mmd", by="m")).slope, 3)
    found = ratios_below_one("MMD with the most relative to the fewest search points", ratios)
    return replace(found, statistics={**found.statistics, **slopes})


def sobol_search(records: Sequence[Record]) -> Verdict:
    """Compare the MMD with Sobol and with random search points, over all M."""
    ratios = {
        f"{rule}, {model}": _over_m(records, model, rule)
        for model in _models(records)
        for rule in STEPS
    }
    return ratios_below_one("MMD with Sobol relative to random search points", ratios)


def _over_m(records: Sequence[Record], model: str, rule: str) -> Ratio:
    """The ratio of Sobol to random search points, paired by batch and M."""
    cell = [replace(r, n=r.m) for r in select(records, model=model)]  # pairs have the same n
    return ratio(select(cell, rule=rule + SUFFIX), select(cell, rule=rule), "mmd")


CLAIMS = (
    Claim(
        "More search points give a smaller error",
        "the SKH procedure with M random search points is still consistent as long as M grows to "
        "infinity (with a term of O(1/M^(1/4)))",
        more_points_help,
    ),
    Claim(
        "Beyond the paper: Sobol search points are better than random ones",
        "(not in the paper, which draws its search points at random)",
        sobol_search,
    ),
)
