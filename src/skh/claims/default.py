"""Claims about the default rule, by medians over the batches of each cell (model, N)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from skh.claims.claim import Claim, Verdict
from skh.claims.statistics import MissingError, Ratio, ratio, select
from skh.claims.synthetic import SKH
from skh.claims.synthetic import TITLES as PAPERS
from skh.experiments.record import Record

TITLES = {
    **PAPERS,
    "volatility": "Stochastic volatility",
    "bearings": "Bearings only",
    "lorenz63": "Lorenz 63",
    "localisation": "Localisation",
}
TINY = 1e-12  # an error of exactly zero has no logarithm


@dataclass(frozen=True)
class Against:
    """The default rule relative to a rival in one cell."""

    medians: float  # ratio of the medians: what decides
    paired: Ratio  # geometric mean of the ratios batch by batch, with its interval
    rival: str

    def __str__(self) -> str:
        return f"{self.medians:.3g} of {self.rival}'s; batch by batch {self.paired}"


def median(records: Sequence[Record], field: str) -> float:
    """The median of a field over the batches of a cell."""
    return float(np.median([getattr(r, field) for r in records]))


def against(cell: Sequence[Record], rival: Sequence[Record], name: str, field: str) -> Against:
    """The default rule of a cell and the records of its rival there."""
    ours = select(cell, rule="default")
    medians = median(ours, field) / median(rival, field)
    return Against(medians, ratio(ours, rival, field), name)


def cells(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each cell, by its name."""
    found: dict[str, list[Record]] = {}
    for r in sorted(records, key=lambda r: (list(TITLES).index(r.model), r.n)):
        found.setdefault(f"{TITLES[r.model]}, N={r.n}", []).append(r)
    return found


def below_everywhere(records: Sequence[Record], *, rival: str, field: str = "rmse") -> Verdict:
    """The default rule against one rival in every cell."""
    records = _absolute(records)
    found = {
        name: against(cell, select(cell, rule=rival), rival, field)
        for name, cell in cells(records).items()
    }
    return _verdict(found, 1.0, f"median {_words(field)} relative to {rival}")


def near_the_best_fixed(records: Sequence[Record], *, limit: float) -> Verdict:
    """The default rule against the best of the paper's configurations, chosen in hindsight."""
    found = {}
    for name, cell in cells(records).items():
        if any(r.rule in SKH for r in cell):
            best, of_best = best_fixed(cell)
            found[name] = against(cell, of_best, best, "rmse")
    if not found:
        raise MissingError("rule = SKH-FW or SKH-FCFW")
    return _verdict(found, limit, "median RMSE relative to the best fixed configuration")


def best_fixed(cell: Sequence[Record]) -> tuple[str, list[Record]]:
    """The fixed configuration with the lowest median RMSE in a cell."""
    fixed: dict[str, list[Record]] = {}
    for r in cell:
        if r.rule in SKH:
            fixed.setdefault(f"{r.rule}, σ²={r.sigma2:g}", []).append(r)
    best = min(fixed, key=lambda name: median(fixed[name], "rmse"))
    return best, fixed[best]


def in_one_cell(records: Sequence[Record], *, model: str, n: int, limit: float) -> Verdict:
    """The default rule relative to the particle filter in one cell."""
    cell = select(records, model=model, n=n)
    found = against(cell, select(cell, rule="PF"), "PF", "rmse")
    return Verdict(
        f"median RMSE {found}",
        found.medians <= limit,
        {"ratio of medians": found.medians, "limit": limit, "batches": found.paired.batches},
    )


def _verdict(found: dict[str, Against], limit: float, what: str) -> Verdict:
    """Every cell must be within the limit; those that are not are named."""
    worse = {name: a for name, a in found.items() if not a.medians <= limit}
    ratios = [a.medians for a in found.values()]
    text = f"{what}: {min(ratios):.3g} to {max(ratios):.3g}; "
    text += f"at most {limit:g} in {len(found) - len(worse)} of {len(found)} cells"
    if worse:
        text += f", above in {'; '.join(f'{name}: {a}' for name, a in worse.items())}"
    return Verdict(text, not worse, {name: str(a) for name, a in found.items()})


def _absolute(records: Sequence[Record]) -> list[Record]:
    return [replace(r, log_evidence_error=max(abs(r.log_evidence_error), TINY)) for r in records]


def _words(field: str) -> str:
    return {"rmse": "RMSE", "log_evidence_error": "error of the log-evidence"}[field]


def _asked(name: str, words: str, check: Callable[..., Verdict], **options: object) -> Claim:
    return Claim(name, f"(not in the paper) {words}", partial(check, **options))


def _factor(model: str, n: int, limit: float) -> Claim:
    return _asked(
        f"Default rule: {TITLES[model]}, N = {n}, at most {limit:g} of the PF's RMSE",
        "the median error falls to a given part of the particle filter's",
        in_one_cell,
        model=model,
        n=n,
        limit=limit,
    )


CLAIMS = (
    _asked(
        "Default rule: RMSE below the PF's in every cell",
        "without tuning, better than the particle filter for every model and N",
        below_everywhere,
        rival="PF",
    ),
    _asked(
        "Default rule: RMSE below Hilbert-sorted SQMC's in every cell",
        "without tuning, better than SQMC for every model and N",
        below_everywhere,
        rival="SQMC",
    ),
    _asked(
        "Default rule: RMSE at most 1.05 of the best fixed configuration's, further models",
        "as good as the best of SKH-FW and SKH-FCFW with σ² = 0.01, 0.1, 1, chosen in hindsight",
        near_the_best_fixed,
        limit=1.05,
    ),
    _asked(
        "Default rule: error of the log-evidence not above the PF's in any cell",
        "the absolute error of the log-evidence is no larger than the particle filter's",
        below_everywhere,
        rival="PF",
        field="log_evidence_error",
    ),
    _factor("nonlinear", 100, 0.13),
    _factor("lgss3", 100, 0.4),
    _factor("volatility", 100, 0.06),
    _factor("lgss15", 50, 0.75),
)
