"""`make bench`: every performance claim of this library, measured in one run.

    python benchmarks/bench.py               # all rows, peers included
    python benchmarks/bench.py --no-peers    # only rows that need no other package

Prints the table as it goes and writes ``results.md`` and ``results.png`` beside this file.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from pathlib import Path

import against
import before
import before_outside
import numpy as np
import own
from figure import draw
from timing import Row, pin

HERE = Path(__file__).parent


def processor() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def line(row: Row) -> str:
    """A row of the table in Markdown."""
    bound = f"{'>=' if row.at_least else '<='} {row.bound:g}" if row.bound else "reported"
    verdict = "yes" if row.ok else "**no**"
    value = f"{row.value:.3g} {row.unit}"
    return f"| {row.name} | {bound} | {value} | {verdict} | {row.detail} |"


def table(rows: list[Row]) -> str:
    """All rows in Markdown, with the machine and versions."""
    missed = [row.name for row in rows if not row.ok]
    verdict = f"Not kept: {'; '.join(missed)}." if missed else "All bounds are kept."
    head = [
        "# Benchmarks",
        "",
        "![bounds and what was measured](results.png)",
        "",
        "Written by `make bench`; see `NOTES.md` for where the time goes and what was tried.",
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}; one thread unless said, medians of interleaved runs, "
        "in seconds of computing time (on an idle machine: on the clock).",
        '"The limit" is `numpy.exp` on 2 N M doubles; d = 2, K = 100 components, N = 100 points, '
        "M = 10,000 search points unless said.",
        "",
        verdict,
        "",
        "| | bound | measured | kept | |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *map(line, rows), ""])


def main() -> None:
    """Run all sections."""
    pin()
    start = time.perf_counter()
    rows: list[Row] = []
    sections = (
        own.SECTIONS
        + before.SECTIONS
        + before_outside.SECTIONS
        + ([] if "--no-peers" in sys.argv else against.SECTIONS)
    )
    for section in sections:
        for row in section():
            rows.append(row)
            print(line(row), flush=True)
    (HERE / "results.md").write_text(table(rows))
    draw(rows, HERE / "results.png")
    print(f"{time.perf_counter() - start:.0f} s; written: results.md, results.png in {HERE.name}/")


if __name__ == "__main__":
    main()
