"""Renew the numbers on pages from the records of a run.

    python -m skh.reproduction.robots.pages results docs/starry_night.md docs/mrclam.md

Replaces what is between ``<!-- records of NAME -->`` and ``<!-- end of records -->`` by the tables
and the verdicts of the experiment NAME, and leaves it alone where the folder has no records of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from skh.reproduction.catalogue import EXPERIMENTS
from skh.reproduction.claim import judge
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.results import load
from skh.reproduction.engine.store import write_atomically

HEADING = re.compile(r"^## (.*)\n", re.MULTILINE)  # of a table; pages have their own
MARKED = re.compile(r"(<!-- records of (\S+) -->\n)(.*?)(<!-- end of records -->)", re.DOTALL)


def renewed(text: str, section: Callable[[str], str]) -> str:
    r"""Replace what is marked on a page by ``section(name)``, unless that is empty.

    >>> renewed("<!-- records of a -->\nold\n<!-- end of records -->", lambda name: "new\n")
    '<!-- records of a -->\nnew\n<!-- end of records -->'
    """
    return MARKED.sub(lambda found: found[1] + (section(found[2]) or found[3]) + found[4], text)


def section_of(name: str, records: Sequence[Record]) -> str:
    """The tables of an experiment, and what its claims measured."""
    if not records:
        return ""
    entry = EXPERIMENTS[name]
    made = entry.tables(records) if entry.tables else ""
    parts = [HEADING.sub(r"*\1*\n", made)]
    judged = judge(name, entry.claims, records)
    verdicts = (f"- {j.claim.name}: *{j.outcome}*. {j.verdict.measured}.\n" for j in judged)
    parts.append("".join(verdicts))
    return "\n".join(parts)


def main(out: Path, pages: Sequence[Path]) -> None:
    """Renew pages from the records in a folder."""
    records = {name: result.records for name, result in load(out, EXPERIMENTS).items()}
    for page in pages:
        before = page.read_text(encoding="utf-8")
        after = renewed(before, lambda name: section_of(name, records.get(name, [])))
        write_atomically(page, after)
        print(f"{page}: {'renewed' if after != before else 'as it was'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
