"""Tables that pages quote, by name: computed from records, or kept as they were printed.

A table that is computed has a function in `COMPUTED`.  Any other is a file of benchmarks/tables,
whose first line says which command printed it and when.
"""

import sys
from functools import cache
from pathlib import Path

import studies

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "tables"
sys.path.append(str(ROOT / "benchmarks"))


@cache
def table(name):
    """The Markdown of a table."""
    if name in COMPUTED:
        return COMPUTED[name]()
    file = KEPT / f"{name}.md"
    if not file.exists():
        raise KeyError(f"no table {name!r}: neither computed nor in {KEPT.relative_to(ROOT)}")
    return "\n".join(line for line in file.read_text().splitlines() if line.startswith("|"))


def markdown(head, rows):
    """A Markdown table of a heading and rows of cells."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in (head, *rows)]
    return "\n".join([lines[0].replace("|  |", "| |"), "|---" * len(head) + "|", *lines[1:]])


def numerical_error():
    """Calibration of `result.numerical_error`."""
    import numerical_error as study

    return "\n".join(study.table_lines(study.read(study.RECORD)))


COMPUTED = {
    "second-look": lambda: markdown(*studies.second_look()),
    "default-rule": lambda: markdown(*studies.default_rule()),
    "uav": lambda: markdown(*studies.uav()),
    "uav-step": lambda: markdown(*studies.uav_step()),
    "numerical-error": numerical_error,
}
