"""The numbers that pages quote without a record, in `unrecorded.json`, by page.

``given`` are settings, versions, thresholds and numbers of other people; ``by hand`` are
measurements of which no record was kept.  The second list is a debt, and should become shorter.
Pages in docs/research report what was tried once, and are not held to it.
"""

import json
from pathlib import Path

from unmarked import unmarked

LEDGER = Path(__file__).with_name("unrecorded.json")
RESEARCH = "docs/research/"


def ledger():
    """Both lists of each page."""
    return json.loads(LEDGER.read_text())


def undeclared(name, text):
    """Numbers of a page, with the first lines of its tables, that have neither mark nor entry."""
    if name.startswith(RESEARCH):
        return []
    numbers, tables = unmarked(text)
    known = {number for numbers in ledger().get(name, {}).values() for number in numbers}
    return [number for number in dict.fromkeys(numbers) if number not in known] + tables


def write(pages):
    """Add new numbers of pages, by name, as measured by hand; remove those that are gone."""
    old, new = ledger() if LEDGER.exists() else {}, {}
    for name, text in pages.items():
        found = [] if name.startswith(RESEARCH) else list(dict.fromkeys(unmarked(text)[0]))
        given = [number for number in found if number in old.get(name, {}).get("given", [])]
        by_hand = [number for number in found if number not in given]
        new[name] = {"given": given, "by hand": by_hand}
    kept = {name: lists for name, lists in new.items() if lists["given"] or lists["by hand"]}
    lines = [f" {json.dumps(name)}: {json.dumps(lists)}" for name, lists in kept.items()]
    LEDGER.write_text("{\n" + ",\n".join(lines) + "\n}\n")
