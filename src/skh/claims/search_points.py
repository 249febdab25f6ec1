"""Claims of appendix B, and a question that it does not ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skh.claims.claim import Claim, Number, Verdict, together
from skh.claims.statistics import MissingError, Ratio, fit, medians, ratio, select
from skh.experiments.record import Record
from skh.experiments.search_points import STEPS, SUFFIX


def _models(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(r.model for r in records))


def more_points_help(records: Sequence[Record]) -> Verdict:
    """The MMD with the most search points relative to the fewest, and the slope between."""
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
    text = "; ".join(f"{label}: {r}" for label, r in ratios.items())
    return Verdict(
        f"MMD with the most relative to the fewest search points: {text}",
        together(r.below_one for r in ratios.values()),
        {**{label: str(r) for label, r in ratios.items()}, **slopes},
    )


def sobol_search(records: Sequence[Record]) -> Verdict:
    """The MMD with Sobol search points relative to random ones, over all M."""
    ratios = {
        f"{rule}, {model}": _over_m(records, model, rule)
        for model in _models(records)
        for rule in STEPS
    }
    text = "; ".join(f"{label}: {r}" for label, r in ratios.items())
    return Verdict(
        f"MMD with Sobol relative to random search points: {text}",
        together(r.below_one for r in ratios.values()),
        {label: str(r) for label, r in ratios.items()},
    )


def _over_m(records: Sequence[Record], model: str, rule: str) -> Ratio:
    cell = select(records, model=model)
    # Paired by (batch, n): M takes the place of n, which is the same for all.
    return ratio(
        [as_size(r) for r in select(cell, rule=rule + SUFFIX)],
        [as_size(r) for r in select(cell, rule=rule)],
        "mmd",
    )


def as_size(record: Record) -> Record:
    """The record with M in the place of n."""
    return replace(record, n=record.m)


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
