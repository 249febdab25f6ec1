"""What brings FCFW level with the default on Wean Hall: its free weights, not its kernel.

    SKH_DATA=/path/to/the/data python benchmarks/wean_weights.py   # ten minutes, one process

The table of docs/wean_hall.md.  Rows take one part of the default after the other into FCFW.
Seeds are not those of the study, whose references are read from results/robots.  The rows were
chosen after a look at some fifteen variants on log 3, with three of these seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import skh
from skh.filtering.plans import Plan
from skh.frank_wolfe.fully_corrective import FullyCorrective
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.results import load
from skh.reproduction.robots.runs import filtered, moment_records
from skh.reproduction.robots.statistics import reference_errors
from skh.reproduction.rule_wrappers import Whitened
from skh.reproduction.statistics import select
from skh.reproduction.wean_hall.log import FILES
from skh.reproduction.wean_hall.tasks import WeanHall
from skh.rules.base import Rule

RESULTS = Path(__file__).parents[1] / "results" / "robots"
SEEDS, SIZES = range(100, 105), (50, 200)
STUDY = WeanHall()
DEFAULT = skh.default_rule()
KERNEL = skh.GaussianKernel(STUDY.sigma2_fcfw)
POINTS = STUDY.search_points
VARIANTS: dict[str, Rule | Plan] = {
    "FCFW of the paper": STUDY.rule("FCFW"),
    "its kernel that of the default": skh.FWQuad(step=FullyCorrective(), search_points=POINTS),
    "its weights protected": Whitened(skh.FWQuad(KERNEL, DEFAULT.step, POINTS)),
    "its kernel, and points moved": skh.FWQuad(
        step=FullyCorrective(), search_points=POINTS, refine=DEFAULT.refine
    ),
    "`default_rule()`, weights free": replace(DEFAULT, step=FullyCorrective()),
    "`default_rule()`": DEFAULT,
    "what a filter does without a rule": skh.default_plan(),
}


def errors(records: Sequence[Record], log: str, name: str, n: int) -> tuple[list[float], float]:
    """Median distance to the references of each seed, and the mean effective sample size."""
    found, ess, loaded = list[float](), list[float](), STUDY.load(log)
    references = select(records, model=log, rule="reference")
    for seed in SEEDS:
        result = filtered(loaded, VARIANTS[name], n, seed)
        start = replace(references[0], rule=name, n=n, seed=seed)
        made = moment_records(start, loaded, result, loaded.moments(STUDY.moments))
        found += reference_errors([*references, *made], rule=name).tolist()
        ess.append(float(result.ess.mean()))
    return found, float(np.mean(ess))


def main() -> None:
    """Print a row for each log, N and variant."""
    records = load(RESULTS, [STUDY.name])[STUDY.name].records
    print("| log, N | rule | distance, m: median (lowest, highest) | mean ESS |")
    print("|---" * 4 + "|")
    for log in FILES:
        for n in SIZES:
            for name in VARIANTS:
                apart, ess = errors(records, log, name, n)
                spread = f"{np.median(apart):.4f} ({min(apart):.4f}, {max(apart):.4f})"
                print(f"| {log[4:]}, {n} | {name} | {spread} | {ess:.0f} |", flush=True)


if __name__ == "__main__":
    main()
