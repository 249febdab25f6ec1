"""Renew the numbers on pages from the records: `make numbers`.

    python docs/quoted/renew.py             # write all pages anew; says what has no record
    python docs/quoted/renew.py --take      # the other way round, for tables in benchmarks/tables
    python docs/quoted/renew.py --declare   # all that has no mark is given: given.json

With ``--take`` the rows on pages become the kept tables, after a table was edited on its page.
"""

import sys
from datetime import date
from functools import cache

import ledger
from marks import TABLE, renewed
from tables import COMPUTED, KEPT, ROOT, table
from values import values

from skh.reproduction.catalogue import EXPERIMENTS
from skh.reproduction.engine.results import load
from skh.reproduction.robots import pages as experiments


def pages():
    """Every page of the site, and the README."""
    found = ROOT.glob("docs/**/*.md")
    return [ROOT / "README.md", *sorted(page for page in found if "_build" not in page.parts)]


def texts():
    """The text of each page by its name in the repository."""
    return {page.relative_to(ROOT).as_posix(): page.read_text() for page in pages()}


@cache
def archive():
    """The records of each experiment whose records are archived; those on robots apart."""
    folders = ROOT / "results", ROOT / "results" / "robots"
    results = [load(folder, EXPERIMENTS) for folder in folders]
    return {name: found.records for of in results for name, found in of.items()}


def section(name):
    """What a page says of an experiment; nothing if there are no records of it."""
    return experiments.section_of(name, archive().get(name, []))


def current(text):
    """A page with the numbers of the records."""
    return renewed(experiments.renewed(text, section), values, table)


def renew():
    """Write all pages with the numbers of the records."""
    for page in pages():
        before = page.read_text()
        after = current(before)
        if after != before:
            page.write_text(after)
            print(f"{page.relative_to(ROOT)}: renewed")
    for name, text in texts().items():
        if missing := ledger.undeclared(name, text):
            print(f"{name}: no record of {', '.join(missing)}")


def take():
    """Keep the tables of pages that are not computed, with the command that they had."""
    for page in pages():
        for found in TABLE.finditer(page.read_text()):
            if found[2] not in COMPUTED and found[3].strip() != table(found[2]):
                file = KEPT / f"{found[2]}.md"
                command = file.read_text().splitlines()[0].split(";")[0]
                file.write_text(f"{command}; {date.today()} -->\n\n{found[3].strip()}\n")
                print(f"{file.relative_to(ROOT)}: taken from {page.relative_to(ROOT)}")


if __name__ == "__main__":
    if "--declare" in sys.argv:
        ledger.write(texts())
    elif "--take" in sys.argv:
        take()
    else:
        renew()
