"""Values that pages quote: `values("bench: FCFW / ms")` looks them up in the records.

    claims: total | holds | undecided | does not hold
    claim: NAME / STATISTIC [/ K]          all numbers of a statistic, or the K-th one, from 1
    bench: ROW                             what was measured
    bench: ROW / UNIT                      the first number of the row's details with that unit
    calibration: SHARE                     of `benchmarks/numerical_error.py table`, in per cent
    cell: TABLE / ROW / COLUMN [/ K]       the K-th number in a cell of a table

Names of claims, statistics and rows may be cut to a part that no other one has.
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
    """The cells of a Markdown table by its first column, a dictionary by heading each."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip(" *") for cell in line.strip().strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[2:]}


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


def claim(name, statistic, k=None):
    """The numbers of a statistic that decided a claim."""
    statistics = named({claim["claim"]: claim["statistics"] for claim in judged()}, name)
    numbers = numbers_in(str(named(statistics, statistic)))
    return numbers if k is None else numbers[int(k) - 1]


def bench(row, unit=None):
    """A measured value of a benchmark, or a number among its details."""
    found = named(rows_of(BENCHMARKS.read_text()), row)
    if unit is None:
        return numbers_in(found["measured"])[0]
    return float(re.search(rf"({NUMBER}) {unit}\b", found[""])[1])


def cell(name, row, column, k="1"):
    """A number in a cell of a table."""
    return numbers_in(named(rows_of(table(name)), row)[column])[int(k) - 1]


def calibration(share):
    """A share of the runs of the study of numerical errors, in per cent."""
    import numerical_error as study

    return float(100 * named(study.shares(study.read(study.RECORD)), share))


KINDS = {"calibration": calibration, "claims": claims, "claim": claim, "bench": bench, "cell": cell}
