"""Claims of section 4.3, on simulated flights.

The error of a filter is the distance of its position to the mean of the reference filters at the
same time; that of a single reference filter is to the mean of the others.  A ratio compares
medians over the runs of each flight, with an interval over the flights, which share one path but
differ in noise and landmarks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import isnan

import numpy as np

from skh._typing import Array
from skh.reproduction.claim import Claim, Verdict, all_below_one, as_text, listed, ratios_below_one
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import (
    MissingError,
    Ratio,
    interval,
    median_interval,
    ratio,
    select,
)
from skh.reproduction.uav.tasks import REFERENCE, STEP

SKH = ("SKH-FW", "SKH-FCFW", "default", "smoothed")
EXACT = SKH[:3]  # rules that approximate the predictive mixture as it is, without smoothing it
SMALLEST = 1e-6  # metres, a bound below errors, so that their logarithms exist
PAPER_RULE, PAPER_LIKELIHOOD = 0.15, 0.2  # seconds per step at N = 50


def positions(records: Iterable[Record]) -> Array:
    """Estimated positions, of shape (k, 3)."""
    return np.array([(r.x, r.y, r.z) for r in records])


def whole(records: Sequence[Record]) -> list[Record]:
    """The records of whole runs, whose position is that at the end."""
    return [r for r in records if isnan(r.time)]


def moments(records: Sequence[Record]) -> list[float]:
    """The times at which positions were recorded."""
    return sorted({r.time for r in records if not isnan(r.time)})


def errors(records: Sequence[Record], **where: object) -> Array:
    """Distances of the selected records, all of one flight and time, to the reference."""
    chosen = select(records, **where)
    (model,), (time,) = ({getattr(r, key) for r in chosen} for key in ("model", "time"))
    at_time = [r for r in records if r.time == time or isnan(time)]
    reference = positions(select(at_time, model=model, rule=REFERENCE))
    if where.get("rule") != REFERENCE:
        return np.asarray(np.linalg.norm(positions(chosen) - reference.mean(axis=0), axis=1))
    if len(reference) < 2:
        raise MissingError("two runs of the reference")
    others = (reference.sum(axis=0) - reference) / (len(reference) - 1)
    return np.asarray(np.linalg.norm(reference - others, axis=1))


def by_flight(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each flight that has a reference."""
    flights: dict[str, list[Record]] = defaultdict(list)
    for r in records:
        if r.model != STEP:
            flights[r.model].append(r)
    found = {m: of for m, of in flights.items() if any(r.rule == REFERENCE for r in of)}
    if not found:
        raise MissingError("a run of the reference")
    return {model: found[model] for model in sorted(found)}


def end_ratio(records: Sequence[Record], a: tuple[str, int], b: tuple[str, int]) -> Ratio:
    """The ratio of the median errors at the end of two pairs (rule, n), over flights."""
    medians = [
        [np.median(errors(of_flight, rule=rule, n=n)) for rule, n in (a, b)]
        for of_flight in by_flight(whole(records)).values()
    ]
    ours, other = np.log(np.maximum(medians, SMALLEST)).T
    return interval(ours - other)


def median_error(records: Sequence[Record], rule: str, n: int) -> float:
    """The median error over all flights and runs, of records of one time."""
    flights = by_flight(records).values()
    return float(np.median(np.concatenate([errors(of, rule=rule, n=n) for of in flights])))


def sizes(records: Sequence[Record]) -> list[int]:
    """The numbers of particles, without that of the reference."""
    found = sorted({r.n for r in records if r.rule != REFERENCE})
    if not found:
        raise MissingError("a run of any rule")
    return found


def few_beat_many_in_one_step(records: Sequence[Record], *, rule: str) -> Verdict:
    """Compare single steps of a rule with the fewest particles and of the PF with the most."""
    few, many = sizes(records)[0], sizes(records)[-1]
    cell = select(records, model=STEP)
    found = ratio(
        [replace(r, n=0) for r in select(cell, rule=rule, n=few)],  # pairs have the same n
        [replace(r, n=0) for r in select(cell, rule="PF", n=many)],
        "rmse",
    )
    gain = ratio(select(cell, rule="PF", n=few), select(cell, rule=rule, n=few), "rmse").mean
    text = f"error of the filtered pose in one step, {rule} at N={few} / PF at N={many}: {found}; "
    text += f"{few} placed particles are worth {few * gain**2:.0f} random ones"
    return Verdict(text, found.below_one, {"ratio": str(found), "worth": few * gain**2})


def few_beat_many(records: Sequence[Record], *, rule: str, rival: str = "PF") -> Verdict:
    """Compare a rule with the fewest particles and a rival with the most."""
    few, many = sizes(records)[0], sizes(records)[-1]
    found = end_ratio(records, (rule, few), (rival, many))
    ends = whole(records)
    ours, theirs = median_error(ends, rule, few), median_error(ends, rival, many)
    text = f"error at the end, {rule} at N={few} / {rival} at N={many}: {found}; "
    text += f"medians of all runs {ours:.3g} m and {theirs:.3g} m"
    return Verdict(text, found.below_one, {"ratio": str(found), rule: ours, rival: theirs})


def placing_pays(records: Sequence[Record]) -> Verdict:
    """Compare placed with as many random particles, both smoothed."""
    ratios = {
        f"N={n}": end_ratio(records, ("smoothed", n), ("smoothed PF", n)) for n in sizes(records)
    }
    return ratios_below_one("error at the end, smoothed / smoothed PF", ratios)


def best_with_few(records: Sequence[Record], *, rule: str) -> Verdict:
    """Compare a rule with all random and quasi-random rules at the smallest N."""
    few = sizes(records)[0]
    ratios = {
        other: end_ratio(records, (rule, few), (other, few)) for other in ("PF", "QMC", "SQMC")
    }
    text = f"error at the end at N={few}: {listed(ratios, f'{rule} / {{}}: {{}}')}"
    return Verdict(text, all_below_one(ratios.values()), as_text(ratios))


def like_a_reference(records: Sequence[Record], *, rule: str) -> Verdict:
    """Compare a rule with the most particles and single reference filters on the first flight.

    The claim holds if the interval of its median error is below the largest error of a reference.
    """
    model, first = next(iter(by_flight(whole(records)).items()))
    many, single = sizes(records)[-1], errors(first, rule=REFERENCE)
    if len(single) < 3:  # two references have the same distance to each other
        raise MissingError("three runs of the reference")
    found, largest = errors(first, rule=rule, n=many), float(single.max())
    ours, (low, high) = float(np.median(found)), median_interval(found)
    return Verdict(
        f"{model}, error at the end: median of {rule} at N={many} {ours:.3g} m "
        f"[{low:.3g}, {high:.3g}]; single reference filters ({len(single)}): median "
        f"{np.median(single):.3g} m, largest {largest:.3g} m",
        True if high <= largest else False if low > largest else None,
        {rule: ours, "largest": largest},
    )


def errors_accumulate(records: Sequence[Record]) -> Verdict:
    """Compare the median error of each rule at the end with that at a quarter of the time."""
    times = moments(records)
    if len(times) < 4:
        raise MissingError("four moments of a run")
    few, first, grown = sizes(records)[0], times[len(times) // 4 - 1], {}
    early, late = ([r for r in records if r.time == t] for t in (first, times[-1]))
    for rule in dict.fromkeys(r.rule for r in records if r.rule != REFERENCE):
        before = max(median_error(early, rule, few), SMALLEST)
        grown[rule] = median_error(late, rule, few) / before
    text = f"median error at {times[-1]:g} s relative to {first:g} s, N={few}"
    holds = all(factor > 1 for factor in grown.values())
    return Verdict(f"{text}: {listed(grown, '{} {:.2g}', ', ')}", holds, grown)


def time_per_step(records: Sequence[Record]) -> Verdict:
    """The time per step of the rule and of the rest, and those of the paper."""
    few = sizes(records)[0]
    cell = [r for r in select(whole(records), rule="SKH-FW", n=few) if not isnan(r.seconds)]
    if not cell:
        raise MissingError("a run of SKH-FW")
    placing = float(np.median([r.rule_seconds / r.steps for r in cell]))
    rest = float(np.median([(r.seconds - r.rule_seconds) / r.steps for r in cell]))
    return Verdict(
        f"SKH-FW at N={few}, M={cell[0].m}: rule {1e3 * placing:.2g} ms, model {1e3 * rest:.2g} ms "
        f"per step (the paper: {1e3 * PAPER_RULE:g} ms and {1e3 * PAPER_LIKELIHOOD:g} ms at N=50)",
        placing <= PAPER_RULE,
        {"rule": placing, "model": rest, "share of the rule": placing / (placing + rest)},
    )


def _each(
    check: Callable[..., Verdict], title: str, words: str, rules: Sequence[str] = SKH
) -> list[Claim]:
    return [Claim(title.format(rule), words, partial(check, rule=rule)) for rule in rules]


CLAIMS = (
    *_each(
        few_beat_many,
        "UAV: {} with N = 50 beats the PF with N = 200",
        "the error for SKH-FW with 50 particles is still much lower than the PF with 200 particles",
    ),
    *_each(
        best_with_few,
        "UAV: {} beats PF and QMC with few particles",
        "significant improvements over the bootstrap PF and the QMC methods for small number of "
        "particles",
    ),
    *_each(
        like_a_reference,
        "UAV: {} with N = 200 is as good as one reference filter",
        "SKH-FW even gives similar errors for the last time step with only N=200 particles as one "
        "of the reference PFs (using N=100,000 particles)",
    ),
    Claim(
        "UAV: smoothed, N = 50 placed particles beat N = 200 random ones",
        "(not in the paper: the same where the random ones are smoothed as well)",
        partial(few_beat_many, rule="smoothed", rival="smoothed PF"),
    ),
    Claim(
        "UAV: smoothed, placed particles beat as many random ones",
        "(not in the paper: what placing is worth beside smoothing)",
        placing_pays,
    ),
    *_each(
        few_beat_many_in_one_step,
        "UAV, single steps: {} with N = 50 beats the PF with N = 200",
        "(not in the paper: what the quadrature does at one step, from the same mixture)",
        EXACT,
    ),
    Claim(
        "UAV: errors accumulate",
        "all methods accumulate errors over time ... since there is no absolute position reference",
        errors_accumulate,
    ),
    Claim(
        "UAV: time per step of the rule and of the likelihood",
        "an average of 0.2 s per time step for N=50 particles ... The overhead of ... FW-Quad with "
        "N=50 is about 0.15 s per time step for FW",
        time_per_step,
    ),
)
