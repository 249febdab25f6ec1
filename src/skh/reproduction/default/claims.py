"""Claims about the default rule, decided by medians over batches in each cell (model, N)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from skh.reproduction.claim import Claim, Verdict, as_text, listed
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import MissingError, Ratio, median, ratio, select
from skh.reproduction.synthetic.claims import SKH
from skh.reproduction.synthetic.claims import TITLES as PAPERS

TITLES = {
    **PAPERS,
    "volatility": "Stochastic volatility",
    "bearings": "Bearings only",
    "lorenz63": "Lorenz 63",
    "localisation": "Localisation",
}
TINY = 1e-12  # a bound below errors, so that their logarithms exist
NAMES = {"rmse": "RMSE", "log_evidence_error": "error of the log-evidence"}


@dataclass(frozen=True)
class Against:
    """The default rule relative to a rival in one cell."""

    medians: float  # the ratio of the medians, which decides
    paired: Ratio  # the geometric mean of the ratios in each batch
    rival: str

    def __str__(self) -> str:
        return f"{self.medians:.3g} of {self.rival}'s; batch by batch {self.paired}"


def against(cell: Sequence[Record], rival: Sequence[Record], name: str, field: str) -> Against:
    """Compare the default rule in a cell with a rival's records there."""
    ours = select(cell, rule="default")
    return Against(median(ours, field) / median(rival, field), ratio(ours, rival, field), name)


def cells(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each cell."""
    found: dict[str, list[Record]] = {}
    for r in sorted(records, key=lambda r: (list(TITLES).index(r.model), r.n)):
        found.setdefault(f"{TITLES[r.model]}, N={r.n}", []).append(r)
    return found


def below_everywhere(records: Sequence[Record], *, rival: str, field: str = "rmse") -> Verdict:
    """Compare the default rule with one rival in every cell."""
    records = [replace(r, **{field: max(abs(getattr(r, field)), TINY)}) for r in records]
    found = {
        name: against(cell, select(cell, rule=rival), rival, field)
        for name, cell in cells(records).items()
    }
    return _verdict(found, 1.0, f"median {NAMES[field]} relative to {rival}")


def near_the_best_fixed(records: Sequence[Record], *, limit: float) -> Verdict:
    """Compare the default rule with the best of the paper's configurations in hindsight."""
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
    """Compare the default rule with the particle filter in one cell."""
    cell = select(records, model=model, n=n)
    found = against(cell, select(cell, rule="PF"), "PF", "rmse")
    return Verdict(
        f"median RMSE {found}",
        found.medians <= limit,
        {"ratio of medians": found.medians, "limit": limit, "batches": found.paired.batches},
    )


def _verdict(found: dict[str, Against], limit: float, what: str) -> Verdict:
    """Require every cell to be within the limit, and name those that are not."""
    worse = {name: a for name, a in found.items() if not a.medians <= limit}
    ratios = [a.medians for a in found.values()]
    text = f"{what}: {min(ratios):.3g} to {max(ratios):.3g}; "
    text += f"at most {limit:g} in {len(found) - len(worse)} of {len(found)} cells"
    text += f", above in {listed(worse)}" if worse else ""
    return Verdict(text, not worse, as_text(found))


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
