"""Tables that pages quote, by name: computed from records, or kept as they were printed.

A table that is computed has a function in `COMPUTED`.  Any other, and what a command prints, is a
file of benchmarks/tables whose first line says which command wrote it and when, or that of a real
log in results/robots.
"""

import json
import sys
from functools import cache, partial
from pathlib import Path

import studies

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "tables"
LOGS = ROOT / "results" / "robots" / "tables"  # of studies of real logs, by their names
PARAMETERS = [f"parameters-{part}" for part in ("linear", "gbpusd", "exact", "posterior")]
sys.path.append(str(ROOT / "benchmarks"))


@cache
def table(name):
    """The Markdown of a table."""
    if name in COMPUTED:
        return COMPUTED[name]()
    if (kept := KEPT / f"{name}.md").exists():
        return kept.read_text().split("\n", 1)[1].strip()
    if (log := LOGS / f"{name}.md").exists():
        return "\n".join(line for line in log.read_text().splitlines() if line.startswith("|"))
    raise KeyError(f"no table {name!r}: neither computed nor in {KEPT.relative_to(ROOT)}")


def markdown(head, rows):
    """A Markdown table of a heading and rows of cells."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (head, *rows)]
    return "\n".join([lines[0].replace("|  |", "| |"), "|---" * len(head) + "|", *lines[1:]])


def numerical_error():
    """Calibration of `result.numerical_error`."""
    import numerical_error as study

    return "\n".join(study.table_lines(study.read(study.RECORD)))


def smoothing(part):
    """One of the tables of smoothing and score."""
    import inference as study

    return "\n".join(study.TABLES[part](json.loads(study.RECORD.read_text())[part]))


def break_even():
    """Costs of a likelihood from which on placing pays."""
    import break_even as study

    return study.table(json.loads(study.RECORD.read_text()))


def parameters(name):
    """One of the tables of fits and posteriors."""
    import parameter_tables as study

    record = json.loads((ROOT / "benchmarks" / "parameters.json").read_text())
    return "\n".join(study.TABLES[name](record))


def all_models():
    """Fits of all models of `skh.models`."""
    import fit_models as study

    return study.table(json.loads(study.RECORD.read_text()))


def elsewhere():
    """Single numbers of the comparison with other packages."""
    import elsewhere as study

    record = json.loads(study.RECORDED.read_text())
    return markdown(["what", "value"], study.details(record))


COMPUTED = {
    "second-look": lambda: markdown(*studies.second_look()),
    "default-rule": lambda: markdown(*studies.default_rule()),
    "wean-hall": lambda: markdown(*studies.wean_hall()),
    "uav": lambda: markdown(*studies.uav()),
    "uav-step": lambda: markdown(*studies.uav_step()),
    "uav-truth": lambda: markdown(*studies.uav_truth()),
    "elsewhere-details": elsewhere,
    "break-even": break_even,
    "numerical-error": numerical_error,
    "parameters-models": all_models,
    **{part: partial(smoothing, part) for part in ("smoothing", "score", "pruning")},
    **{name: partial(parameters, name) for name in PARAMETERS},
}
