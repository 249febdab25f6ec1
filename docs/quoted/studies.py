"""Tables of the archived studies: a second look, the default rule, the UAV."""

from functools import cache
from pathlib import Path

import numpy as np

from skh.reproduction.default.claims import best_fixed
from skh.reproduction.engine.results import load
from skh.reproduction.robots.statistics import logs_of, reference_errors
from skh.reproduction.second_look.claims import relative
from skh.reproduction.second_look.tasks import LOOKS, PLAIN
from skh.reproduction.statistics import log_ratios, median, select
from skh.reproduction.synthetic.claims import SKH
from skh.reproduction.uav.claims import by_flight, errors, moments, whole
from skh.reproduction.uav.tasks import REFERENCE, STEP

RESULTS = Path(__file__).parents[2] / "results"
TWENTY_MODELS = {
    "range-bearing": "range and bearing to three landmarks, 2-d",
    "range-bearing-pose": "the same with an unknown heading, 3-d",
    "one-landmark": "one landmark only",
    "coarse": "coarser sensors",
    "radar": "radar: range and Doppler, 4-d",
    "lgss3": "LGSS d=3",
    "lgss15-told": "LGSS d=15, information told",
    "lgss15": "LGSS d=15, learned",
    "outliers": "range and bearing, 5 % outliers",
    "outliers-told": "the same, the model gives residuals",
    "likelihood-field": "likelihood field, SE(2)",
    "laser": "laser beams on a map, SE(2)",
    "depth": "depth images",
    "field-map": "magnetic map (contours)",
    "volatility": "stochastic volatility",
    "nonlinear": "nonlinear benchmark",
    "jmls": "JMLS",
    "bearings": "bearings only",
    "lorenz63": "Lorenz 63",
    "localisation": "localisation, two modes",
    "counts": "counts",
}
UAV_RULES = {
    "PF": "PF, stratified",
    "QMC": "Sobol",
    "SQMC": "Hilbert-sorted Sobol",
    "SKH-FW": "SKH-FW, σ² = 1",
    "SKH-FCFW": "SKH-FCFW, σ² = 0.3, 1, 3, 10",
    "default": "default rule",
    "smoothed PF": "PF, smoothed",
    "smoothed": "default rule, smoothed",
}
EIGHT_MODELS = {
    "lgss3": "LGSS d=3",
    "lgss15": "LGSS d=15",
    "jmls": "JMLS",
    "nonlinear": "nonlinear",
    "volatility": "stochastic volatility",
    "bearings": "bearings only",
    "lorenz63": "Lorenz 63",
    "localisation": "localisation",
}
SIZES = (50, 100, 200)  # of the UAV
EXTREMES = (("least", min), ("most", max))
RIVALS = ("default", "SQMC", "", "FCFW, four scales", "Refined Sobol")  # "": the best fixed one


@cache
def archived(experiment, folder="."):
    """The records of an experiment in results/, or in a folder there."""
    return load(RESULTS / folder, [experiment])[experiment].records


def two_digits(x):
    """Two decimals from 0.1 on, two significant digits below.

    >>> two_digits(0.5), two_digits(0.0123)
    ('0.50', '0.012')
    """
    return f"{x:.2f}" if x >= 0.1 else f"{x:.2g}"


def second_look():
    """A second look relative to the default rule, a row for each model."""
    head = ["model", "N = 20", "50", "100", "worst of 30, N = 50"]
    head += ["log-evidence error, N = 50", "steps guided, N = 50"]
    return head, [_second_look_row(archived("second-look"), model) for model in TWENTY_MODELS]


def _second_look_row(records, model):
    ratios = [relative(records, (model, n)) for n in (20, 50, 100)]
    cells = [f"{two_digits(r.mean)} [{two_digits(r.low)}, {two_digits(r.high)}]" for r in ratios]
    looks, plain = (select(records, model=model, n=50, rule=rule) for rule in (LOOKS, PLAIN))
    worst = float(np.exp(log_ratios(looks, plain, "rmse").max()))
    evidence = relative(records, (model, 50), "log_evidence_error").mean
    guided = np.mean([r.guided for r in looks])
    return [
        TWENTY_MODELS[model],
        *cells,
        two_digits(worst),
        two_digits(evidence),
        f"{100 * guided:.0f} %",
    ]


def default_rule():
    """The default rule and its rivals relative to the particle filter, a row for each cell."""
    head = ["model", "N", "PF's RMSE", "default", "sorted SQMC", "best fixed", "four scales"]
    head += ["Refined Sobol", "log-evidence error"]
    cells = [(model, n) for model in EIGHT_MODELS for n in (20, 50, 100, 200)]
    return head, [_default_row(*cell) for cell in cells]


def _default_row(model, n):
    cell = select(archived("default"), model=model, n=n)
    fixed = [r for r in (*cell, *archived("synthetic")) if (r.model, r.n) == (model, n)]
    best, of_best = best_fixed([r for r in fixed if r.rule in SKH])
    rule, sigma2 = best.removeprefix("SKH-").split(", σ²=")
    rivals = [select(cell, rule=name) if name else of_best for name in RIVALS]
    pf = select(cell, rule="PF")
    found = [median(of, "rmse") / median(pf, "rmse") for of in rivals]
    texts = [f"**{x:.3g}**" if x == min(found) else f"{x:.3g}" for x in found]
    texts[2] += f" ({rule}, {sigma2})"
    evidence = median(rivals[0], "log_evidence_error") / median(pf, "log_evidence_error")
    return [EIGHT_MODELS[model], n, f"{median(pf, 'rmse'):.3g}", *texts, f"{evidence:.2g}"]


def wean_hall():
    """Distances to the references, median and worst over seeds, a row for each log and N."""
    rules = ["PF", "SQMC", "FW", "FCFW", "default"]
    logs = logs_of(archived("wean-hall", "robots"))
    cells = [(log, n) for log in ("1", "3") for n in (30, 50, 100, 200)]
    return ["log, N", *rules], [
        [f"{log}, {n}", *(_of_seeds(logs[f"log {log}"], rule, n) for rule in rules)]
        for log, n in cells
    ]


def _of_seeds(records, rule, n):
    errors = reference_errors(records, rule=rule, n=n)
    return f"{np.median(errors):.3f} ({errors.max():.3f})"


def uav():
    """Errors of flights at the end and over time, in metres."""
    head = ["", "at the end, N = 50", "100", "200", "over time, N = 50", "100", "200"]
    rows = [
        [*(_end(rule, n) for n in SIZES), *(_over_time(rule, n) for n in SIZES)]
        for rule in UAV_RULES
    ]
    return head, _named_with_best(rows)


def _named_with_best(rows):
    """The rows with names of the rules, and the least number of each column bold."""
    columns = []
    for column in zip(*rows, strict=True):
        values = [float(cell.split()[0]) for cell in column]
        best = f"{column[values.index(min(values))].split()[0]}"
        columns.append([_bold(c) if c.split()[0] == best else c for c in column])
    return [[name, *row] for name, *row in zip(UAV_RULES.values(), *columns, strict=True)]


def _bold(cell):
    first, *rest = cell.split(" ", 1)
    return " ".join([f"**{first}**", *rest])


def _metres(x):
    return f"{x:.0f}" if x >= 9.95 else f"{x:.1f}"


def _end(rule, n):
    flights = by_flight(whole(archived("uav"))).values()
    ends = np.concatenate([errors(of, rule=rule, n=n) for of in flights])
    low, middle, high = map(_metres, np.quantile(ends, [0.25, 0.5, 0.75]))
    return f"{middle} ({low}–{high})"


def _over_time(rule, n):
    runs = []
    for of in by_flight(archived("uav")).values():
        at = [errors([r for r in of if r.time == t], rule=rule, n=n) for t in moments(of)]
        runs.append(np.sqrt(np.mean(np.square(at), axis=0)))
    return _metres(np.median(np.concatenate(runs)))


def uav_step():
    """Errors of single steps in standard deviations."""
    step = select(archived("uav"), model=STEP)
    rows = [
        [f"{median(select(step, rule=rule, n=n), 'rmse'):.3f}" for n in SIZES] for rule in UAV_RULES
    ]
    return ["", "N = 50", "100", "200"], _named_with_best(rows)


def uav_truth():
    """Distances to the truth at the end, medians over flights, and the costs of the reference."""
    records = archived("uav")
    last = moments(records)[-1]
    ends = [r for r in records if r.time == last and r.model != STEP]
    references = select(whole(records), rule=REFERENCE)
    steps = [r.seconds / r.steps for r in references if not np.isnan(r.seconds)]
    alone = errors(by_flight(whole(records))["flight-0"], rule=REFERENCE)
    rows = [(f"smoothed, N = {n}, m", _truth(ends, rule="smoothed", n=n)) for n in SIZES]
    rows += [("reference, m", _truth(ends, rule=REFERENCE))]
    rows += [("single reference, first flight, least, m", f"{alone.min():.2f}")]
    rows += [(f"reference, {which}, s per step", f"{f(steps):.2g}") for which, f in EXTREMES]
    return ["what", "value"], rows


def _truth(ends, **where):
    return f"{median(select(ends, **where), 'rmse'):.2f}"
