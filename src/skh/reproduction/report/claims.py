"""Judged claims as JSON, as Markdown and for the terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.table import Table

from skh.reproduction.claim import Judged


def as_json(judged: Sequence[Judged]) -> str:
    """All claims with the statistics behind their verdicts."""
    return json.dumps([_plain(j) for j in judged], indent=1)


def _plain(j: Judged) -> dict[str, object]:
    return {
        "experiment": j.experiment,
        "claim": j.claim.name,
        "words": j.claim.words,
        "measured": j.verdict.measured,
        "outcome": j.outcome,
        "statistics": dict(j.verdict.statistics),
    }


def as_markdown(judged: Sequence[Judged]) -> str:
    """All claims as a table in Markdown."""
    lines = ["| claim | the paper's words | measured | verdict |", "|---|---|---|---|"]
    for j in judged:
        words = f"“{j.claim.words}”" if j.claim.quoted else j.claim.words
        cells = (j.claim.name, words, j.verdict.measured, f"**{j.outcome}**")
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join(lines) + "\n"


def as_table(judged: Sequence[Judged]) -> Table:
    """All claims as a table for the terminal."""
    table = Table(title="The paper's claims", show_lines=True)
    for heading, share in (("claim", 3), ("the paper's words", 3), ("measured", 5)):
        table.add_column(heading, ratio=share)
    table.add_column("verdict", no_wrap=True)
    colour = {True: "green", False: "red", None: "yellow"}
    for j in judged:
        verdict = f"[{colour[j.verdict.holds]}]{j.outcome}[/]"
        # Brackets in the text are intervals, not markup.
        words, measured = (t.replace("[", "\\[") for t in (j.claim.words, j.verdict.measured))
        table.add_row(j.claim.name, words, measured, verdict)
    return table
