"""Claims about Wean Hall: tracking, starts anywhere, a kidnapped robot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from skh.reproduction.claim import Claim, Verdict, as_text, listed, together
from skh.reproduction.engine.record import Record
from skh.reproduction.robots.claims import not_above
from skh.reproduction.robots.statistics import reference_errors, sizes
from skh.reproduction.robots.tables import spread_text
from skh.reproduction.statistics import MissingError, median_interval, select
from skh.reproduction.wean_hall.log import FILES
from skh.reproduction.wean_hall.statistics import Cell, cells, evaluations, right, tracking
from skh.reproduction.wean_hall.tasks import ANYWHERE, KIDNAPPED, KLD, OURS, WeanHall

LIMIT = 0.025  # metres
OFTEN = 0.9  # share of the seeds that must be right
THIRD = 1 / 3


def accurate(records: Sequence[Record], log: str) -> Verdict:
    """Whether the default's median distance to the references is small at N = 30."""
    values = reference_errors(select(records, model=log), rule="default", n=WeanHall.claimed)
    low, high = median_interval(values)
    text = f"{log}: {spread_text(values)} m over {len(values)} seeds (limit {LIMIT} m)"
    holds = True if high <= LIMIT else False if low > LIMIT else None
    return Verdict(text, holds, {"median": float(np.median(values))})


def never_worse(records: Sequence[Record], log: str) -> Verdict:
    """Whether the default is not farther from the references than the PF, at each N."""
    of_log, parts, text = select(tracking(records), model=log), list[bool | None](), {}
    for n in sizes(of_log):
        ours, theirs = (reference_errors(of_log, rule=rule, n=n) for rule in ("default", "PF"))
        text[f"N={n}"] = f"{np.median(ours):.3g} and {np.median(theirs):.3g} m"
        parts.append(not_above(ours, theirs))
    return Verdict(f"{log}, default and PF: {listed(text)}", together(parts), as_text(text))


def described(records: Sequence[Record], cell: Cell) -> str:
    """How often a cell was right, and at what cost."""
    found = right(records, cell)
    cost = np.median(evaluations(records, cell))
    return f"{int(found.sum())} of {len(found)} right, {cost:,.0f} evaluations"


def starts(records: Sequence[Record], log: str) -> Verdict:
    """Whether starts anywhere find the pose, at a third of the cost of KLD-sampling.

    The cheapest KLD filter that is right as often counts.  If none of them is, the most expensive
    one counts: one that is right as often would cost more.
    """
    tried = cells(records, ANYWHERE + log)
    ours = [cell for cell in tried if cell[1] == OURS]
    if not ours:
        raise MissingError(f"starts anywhere on {log}")
    rivals = [cell for cell in tried if cell[1].startswith(KLD)]
    if not rivals:
        raise MissingError(f"starts anywhere with KLD-sampling on {log}")
    often = float(right(records, ours[0]).mean())
    cost = float(np.median(evaluations(records, ours[0])))
    as_good = [cell for cell in rivals if right(records, cell).mean() >= often]
    costs = [float(np.median(evaluations(records, cell))) for cell in as_good or rivals]
    least = min(costs) if as_good else max(costs, default=0.0)
    text = {f"{rule}, {n:,}": described(records, (m, rule, n)) for m, rule, n in tried}
    holds = often >= OFTEN and cost <= THIRD * least
    return Verdict(f"{log}: {listed(text)}", bool(holds), {"right": often, "evaluations": cost})


def found_again(records: Sequence[Record]) -> Verdict:
    """Whether a kidnapped robot is found again."""
    tried = cells(records, KIDNAPPED)
    if not tried:
        raise MissingError("kidnapped robots")
    text = {rule: described(records, (m, rule, n)) for m, rule, n in tried}
    often = [float(right(records, cell).mean()) for cell in tried if cell[1] == OURS]
    return Verdict(listed(text), bool(often and often[0] >= OFTEN), {"right": often[0]})


CLAIMS = (
    *(
        Claim(f"{log}: 30 points", f"(median distance at most {LIMIT} m)", check)
        for log in FILES
        for check in [partial(accurate, log=log)]
    ),
    *(
        Claim(f"{log}: never worse", "(not farther than random particles)", check)
        for log in FILES
        for check in [partial(never_worse, log=log)]
    ),
    *(
        Claim(f"{log}: anywhere", "(right in 9 of 10, a third of the cost of KLD)", check)
        for log in FILES
        for check in [partial(starts, log=log)]
    ),
    Claim("kidnapped", "(found again in 9 of 10)", found_again),
)
