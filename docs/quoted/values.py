"""Values that pages quote: `values("bench: FCFW / ms")` looks them up in the records.

    claims: total | holds | undecided | does not hold
    claim: NAME / STATISTIC [/ K ...]      all numbers of a statistic, or some, counted from 1;
                                           "measured" is the sentence of its verdict
    bench: ROW                             what was measured
    bench: ROW / UNIT                      the first number of the row's details with that unit
    calibration: SHARE                     of `benchmarks/numerical_error.py table`, in per cent
    cell: TABLE / ROW / COLUMN [/ K]       the K-th number in a cell of a table
    ratio: TABLE / ROW / ROW / COLUMNS     how many times larger the first row is, least and most;
                                           of all rows with these parts in their names, pair by pair

Names of claims, statistics and rows may be cut to a part that no other one has.  Rows of a table
are named by their first cell, or by as many as tell them apart: "odometry, bootstrap filter".
"""

import json
import re
from functools import cache
from pathlib import Path

from marks import NUMBER
from tables import ROOT, table

BENCHMARKS = ROOT / "benchmarks" / "results.md"
CLAIMS = ROOT / "results" / "claims.json"


def values(source):
    """The numbers that a source such as ``claims: holds`` names."""
    kind, _, rest = source.partition(": ")
    if kind not in KINDS:
        raise KeyError(f"unknown source {source!r}; known are {', '.join(KINDS)}")
    try:
        found = KINDS[kind](*rest.split(" / "))
        return found if isinstance(found, list) else [found]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise KeyError(f"no record has {source!r}: {error}") from error


def numbers_in(text):
    """All numbers in a text; those without a point are integers.

    >>> numbers_in("0.45 [0.439, 1,024]")
    [0.45, 0.439, 1024]
    """
    found = (number.replace(",", "") for number in re.findall(NUMBER, text))
    return [int(number) if number.isdigit() else float(number) for number in found]


def rows_of(text):
    """The cells of a Markdown table by the names of rows, a dictionary by heading each."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head, _, *rows = [
        [cell.strip(" *") for cell in line.strip().strip("|").split("|")] for line in lines
    ]
    return {name_of(row, rows): dict(zip(head, row, strict=True)) for row in rows}


def name_of(row, rows):
    """As many cells of a row as tell it from the others.

    >>> name_of(["PF", "50", "1.2"], [["PF", "20", "1.3"], ["PF", "50", "1.2"]])
    'PF, 50'
    """
    size = next(k for k in range(1, len(row) + 1) if [r[:k] for r in rows].count(row[:k]) == 1)
    return ", ".join(row[:size])


def named(entries, part):
    """The entry whose name is or contains the part; there must be one.

    >>> named({"herding": 1, "greedy herding": 2}, "herding")
    1
    """
    found = [part] if part in entries else [name for name in entries if part in name]
    if len(found) != 1:
        raise KeyError(f"{part!r} is part of {found or 'no name'}")
    return entries[found[0]]


@cache
def judged():
    """The claims of all experiments."""
    return json.loads(Path(CLAIMS).read_text())


def claims(which):
    """How many claims there are, or have an outcome."""
    return sum(which in ("total", claim["outcome"]) for claim in judged())


def claim(name, statistic, *places):
    """The numbers of a statistic that decided a claim."""
    found = named({claim["claim"]: claim for claim in judged()}, name)
    numbers = numbers_in(
        str(named({"measured": found["measured"], **found["statistics"]}, statistic))
    )
    return [numbers[int(k) - 1] for k in places] if places else numbers


def bench(row, unit=None):
    """A measured value of a benchmark, or a number among its details."""
    found = named(rows_of(BENCHMARKS.read_text()), row)
    if unit is None:
        return numbers_in(found["measured"])[0]
    return float(re.search(rf"({NUMBER}) {unit}\b", found[""])[1])


def cell(name, row, column, k="1"):
    """A number in a cell of a table."""
    return numbers_in(named(rows_of(table(name)), row)[column])[int(k) - 1]


def ratio(name, above, below, *columns):
    """The least and the most of the ratios of rows, or the only one."""
    rows = rows_of(table(name))
    pairs = zip(
        *([rows[row] for row in rows if part in row] for part in (above, below)), strict=True
    )
    ratios = [
        numbers_in(up[column])[0] / numbers_in(down[column])[0]
        for up, down in pairs
        for column in columns
    ]
    return ratios if len(ratios) == 1 else [min(ratios), max(ratios)]


def calibration(share):
    """A share of the runs of the study of numerical errors, in per cent."""
    import numerical_error as study

    return float(100 * named(study.shares(study.read(study.RECORD)), share))


KINDS = {
    "calibration": calibration,
    "claims": claims,
    "claim": claim,
    "bench": bench,
    "cell": cell,
    "ratio": ratio,
}
