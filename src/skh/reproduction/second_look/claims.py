"""Claims about a second look, decided by 95 % intervals of ratios paired by data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from skh.reproduction.claim import Claim, Verdict, as_text, listed, together
from skh.reproduction.engine.record import Record
from skh.reproduction.second_look.cases import BROAD, CASES, TITLES
from skh.reproduction.second_look.equal_particles import Equal, equal_particles
from skh.reproduction.second_look.tasks import (
    AGAIN,
    DEFAULT_AT,
    GUIDED,
    LOOKS,
    NOT_GUIDED,
    PLAIN,
    RULES,
)
from skh.reproduction.statistics import MissingError, Ratio, interval, log_ratios, ratio, select

TINY = 1e-9  # a bound below errors of the log-evidence, so that their logarithms exist
ROBOTS = ("laser", "depth", "radar", "field-map")  # sharp likelihoods that robots have
Cell = tuple[str, int]  # a model and N


def at_most(found: Ratio, limit: float) -> bool | None:
    """Whether a ratio is at most ``limit``; None if its interval contains the limit."""
    if found.high <= limit:
        return True
    return False if found.low > limit else None


def relative(records: Sequence[Record], cell: Cell, field: str = "rmse") -> Ratio:
    """A second look relative to the default rule in one cell."""
    model, n = cell
    of_cell = [
        replace(r, **{field: max(abs(getattr(r, field)), TINY)})
        for r in select(records, model=model, n=n, rule=(LOOKS, PLAIN))
    ]
    return ratio(select(of_cell, rule=LOOKS), select(of_cell, rule=PLAIN), field)


def name_of(cell: Cell) -> str:
    """The name of a cell in tables."""
    return f"{TITLES[cell[0]]}, N = {cell[1]}"


def cells_of(records: Sequence[Record], models: Iterable[str]) -> list[Cell]:
    """The cells that have records of a second look, in the order of the models."""
    found = {(r.model, r.n) for r in records if r.rule == LOOKS}
    cells = [(model, n) for model in models for n in sorted({n for m, n in found if m == model})]
    if not cells:
        raise MissingError(f"rule = {LOOKS}")
    return cells


def within(records: Sequence[Record], *, limits: Mapping[Cell, float]) -> Verdict:
    """Compare the RMSE in each cell with the default rule's, each with its own limit."""
    found = {cell: relative(records, cell) for cell in limits}
    text = {name_of(cell): f"{r} (limit {limits[cell]:g})" for cell, r in found.items()}
    floor = {name_of(cell): _reference_share(records, cell) for cell in limits}
    large = {name: f"{share:.2g}" for name, share in floor.items() if share > 0.1}
    note = f"; error of the reference relative to that of a second look {listed(large)}"
    return Verdict(
        f"RMSE relative to the default rule's: {listed(text)}{note if large else ''}",
        together(at_most(r, limits[cell]) for cell, r in found.items()),
        as_text(text),
    )


def _reference_share(records: Sequence[Record], cell: Cell) -> float:
    """Median error of the reference relative to the median error of a second look."""
    model, n = cell
    errors = [r.rmse for r in records if r.model == model and r.rule == "reference"]
    own = np.median([r.rmse for r in select(records, model=model, n=n, rule=LOOKS)])
    return float(np.median(errors) / own) if errors else 0.0


def in_every_data_set(records: Sequence[Record], *, cells: Sequence[Cell], limit: float) -> Verdict:
    """The largest ratio over single data sets in some cells."""
    worst = {cell: float(np.exp(_pairs(records, cell, LOOKS).max())) for cell in cells}
    text = {name_of(cell): f"{value:.3g}" for cell, value in worst.items()}
    return Verdict(
        f"largest ratio in a single data set: {listed(text)} (limit {limit:g})",
        all(value <= limit for value in worst.values()),
        as_text(text),
    )


def _pairs(records: Sequence[Record], cell: Cell, rule: str) -> np.ndarray:
    """log(RMSE / default's RMSE) in each data set of a cell."""
    of_cell = select(records, model=cell[0], n=cell[1])
    return log_ratios(select(of_cell, rule=rule), select(of_cell, rule=PLAIN), "rmse")


def nothing_lost(records: Sequence[Record], *, limit: float) -> Verdict:
    """The geometric mean over all cells of broad likelihoods, its interval over data sets."""
    cells = cells_of(records, BROAD)
    logs = [_pairs(records, cell, LOOKS) for cell in cells]
    common = min(len(of_cell) for of_cell in logs)
    found = interval(np.mean([of_cell[:common] for of_cell in logs], axis=0))
    each = {name_of(cell): f"{np.exp(x.mean()):.3g}" for cell, x in zip(cells, logs, strict=True)}
    text = f"geometric mean over {len(cells)} cells {found} (limit {limit:g}); {listed(each)}"
    return Verdict(text, at_most(found, limit), as_text(each))


def no_worse_than_another_seed(records: Sequence[Record]) -> Verdict:
    """The worst pair, beside the worst of the default rule against itself with another seed."""
    cells = cells_of(records, BROAD)
    worst = {
        rule: max((float(_pairs(records, cell, rule).max()), cell) for cell in cells)
        for rule in (LOOKS, AGAIN)
    }
    text = {rule: f"{np.exp(x):.3g} ({name_of(cell)})" for rule, (x, cell) in worst.items()}
    return Verdict(
        f"worst ratio in a single data set: {listed(text)}",
        worst[LOOKS][0] <= worst[AGAIN][0],
        as_text(text),
    )


def evidence(records: Sequence[Record]) -> Verdict:
    """The error of the log-evidence in every cell; above one only if significantly so."""
    cells = cells_of(records, CASES)
    found = {name_of(cell): relative(records, cell, "log_evidence_error") for cell in cells}
    above = {name: r for name, r in found.items() if r.low > 1}
    open_ = {name: r for name, r in found.items() if r.mean > 1 >= r.low}
    text = "absolute error relative to the default rule's: at most 1 in "
    text += f"{len(found) - len(above) - len(open_)} of {len(found)} cells"
    text += f", significantly above in {listed(above)}" if above else ""
    text += f", above within noise in {listed(open_)}" if open_ else ""
    holds = False if above else None if open_ else True
    return Verdict(text, holds, as_text(found))


def time_of_steps(records: Sequence[Record], *, kind: str, limit: float) -> Verdict:
    """Time per step without the likelihood, relative to the default rule's in the same run."""
    steps = select(records, rule=kind)
    plain = select(records, rule=DEFAULT_AT + kind)
    found = {}
    for cell in sorted({(r.model, r.n) for r in steps}):
        ours, theirs = ([r for r in rs if (r.model, r.n) == cell] for rs in (steps, plain))
        found[name_of(cell)] = ratio(ours, theirs, "rule_seconds")
    logs = [np.log(r.mean) for r in found.values()]
    runs = [r.batches for r in found.values()]  # a cell with a single such run says little
    mean = float(np.exp(np.average(logs, weights=runs)))
    text = f"{mean:.3g} in the mean of {sum(runs)} runs in {len(found)} cells (limit {limit:g})"
    return Verdict(f"{kind}: {text}; {listed(found)}", mean <= limit, as_text(found))


def below_everywhere(records: Sequence[Record], *, models: Sequence[str], rival: str) -> Verdict:
    """The RMSE below a rival's in every cell of some models."""
    found = {}
    for model, n in cells_of(records, models):
        of_cell = select(records, model=model, n=n)
        ours, theirs = select(of_cell, rule=LOOKS), select(of_cell, rule=rival)
        found[name_of((model, n))] = ratio(ours, theirs, "rmse")
    holds = together(r.below_one for r in found.values())
    return Verdict(f"RMSE relative to {rival}'s: {listed(found)}", holds, as_text(found))


def never_more_evaluations(records: Sequence[Record]) -> Verdict:
    """No run evaluates the likelihood more than n times per step."""
    runs = select(records, rule=tuple(RULES))
    share = max(r.likelihood_evaluations / (r.n * r.steps) for r in runs)
    return Verdict(f"at most {share:.4g} n per step, over {len(runs)} runs", share <= 1.0)


def worth_many(records: Sequence[Record], *, cells: Sequence[Cell], limit: int) -> Verdict:
    """Random particles that have the RMSE of a second look, by a power law."""
    found: dict[str, Equal] = {name_of(cell): equal_particles(records, *cell) for cell in cells}
    holds = all(equal.particles >= limit for equal in found.values())
    return Verdict(
        f"bootstrap particles with the same RMSE: {listed(found)}", holds, as_text(found)
    )


def _asked(name: str, words: str, check: Callable[..., Verdict], **options: object) -> Claim:
    return Claim(f"Second look: {name}", f"(not in the paper) {words}", partial(check, **options))


def _limits(name: str, words: str, limits: Mapping[Cell, float]) -> Claim:
    return _asked(name, words, within, limits=limits)


LANDMARKS = (("range-bearing", 50), ("range-bearing-pose", 50))
CLAIMS = (
    _limits(
        "range-bearing, N = 50, at most 0.01 of the default rule's RMSE",
        "with precise sensors, a hundredth of the error",
        dict.fromkeys(LANDMARKS, 0.01),
    ),
    _asked(
        "range-bearing, at most 0.5 of the default rule's RMSE in every data set",
        "no data set is lost",
        in_every_data_set,
        cells=LANDMARKS,
        limit=0.5,
    ),
    _limits(
        "LGSS with d = 3, at most 0.1 (N = 50) and 0.5 (N = 20)",
        "a linear model, information learned",
        {("lgss3", 50): 0.1, ("lgss3", 20): 0.5},
    ),
    _limits(
        "LGSS with d = 15: told 0.15, learned 0.7 (N = 100) and 1 (N = 50)",
        "many dimensions, with and without the information told by the model",
        {("lgss15-told", 100): 0.15, ("lgss15", 100): 0.7, ("lgss15", 50): 1.0},
    ),
    _limits(
        "one landmark 0.05, coarser sensors 0.3, N = 50",
        "still with less information",
        {("one-landmark", 50): 0.05, ("coarse", 50): 0.3},
    ),
    _limits(
        "likelihoods with floors, at most 0.5",
        "outliers and likelihood fields are flat far from their peak",
        {(model, n): 0.5 for model in ("outliers", "likelihood-field") for n in (50, 100)},
    ),
    _limits(
        "outliers, the model gives residuals, at most 0.5",
        "errors of single measurements show the way where their sum is flat",
        {("outliers-told", n): 0.5 for n in (20, 50, 100)},
    ),
    _asked(
        "RMSE below the default rule's for four more sensors of robots",
        "laser beams, depth images, radar, a magnetic map, every N",
        below_everywhere,
        models=ROBOTS,
        rival=PLAIN,
    ),
    _asked(
        "nothing lost on broad likelihoods, at most 1.03",
        "seven models, N = 20, 50, 100, geometric mean",
        nothing_lost,
        limit=1.03,
    ),
    _asked(
        "the worst pair no worse than the default rule with another seed",
        "the largest ratio in a single data set of the seven broad models",
        no_worse_than_another_seed,
    ),
    _asked(
        "error of the log-evidence at most the default rule's in every cell",
        "the absolute error, all models and N",
        evidence,
    ),
    _asked(
        "time of a guided step at most 2.5 of the default rule's",
        "without the likelihood, in the same run",
        time_of_steps,
        kind=GUIDED,
        limit=2.5,
    ),
    _asked(
        "time of a step that is not guided at most 1.3 of the default rule's",
        "without the likelihood, in the same run",
        time_of_steps,
        kind=NOT_GUIDED,
        limit=1.3,
    ),
    _asked(
        "never more evaluations than asked for",
        "at most n per step, for every rule",
        never_more_evaluations,
    ),
    _asked(
        "50 evaluations equal a million random particles on range-bearing",
        "extrapolated by a power law from up to a million",
        worth_many,
        cells=LANDMARKS,
        limit=1_000_000,
    ),
)
