"""The numbers that pages quote without a record, in `given.json`, by page.

They are settings, versions, thresholds, facts of data sets and numbers of other people; what was
measured has a record.  Pages in docs/research report what was tried once, and are not held to it.
"""

import json
from pathlib import Path

from unmarked import unmarked

LEDGER = Path(__file__).with_name("given.json")
RESEARCH = "docs/research/"


def ledger():
    """The numbers that are given, of each page."""
    return json.loads(LEDGER.read_text())


def undeclared(name, text):
    """Numbers of a page, with the first lines of its tables, that are neither marked nor given."""
    if name.startswith(RESEARCH):
        return []
    numbers, tables = unmarked(text)
    given = ledger().get(name, [])
    return [number for number in dict.fromkeys(numbers) if number not in given] + tables


def write(pages):
    """Declare all unmarked numbers of pages, by name, as given; remove those that are gone."""
    found = {
        name: list(dict.fromkeys(unmarked(text)[0]))
        for name, text in pages.items()
        if not name.startswith(RESEARCH)
    }
    lines = [f" {json.dumps(name)}: {json.dumps(of)}" for name, of in found.items() if of]
    LEDGER.write_text("{\n" + ",\n".join(lines) + "\n}\n")
