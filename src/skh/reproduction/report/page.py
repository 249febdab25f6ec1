"""Write the report as one self-contained HTML file."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from skh import __version__
from skh.reproduction.claim import Claim, Judged
from skh.reproduction.engine.results import Results
from skh.reproduction.report.assets import SCRIPT, STYLE
from skh.reproduction.report.tables import COLUMNS, Row

Pictures = Mapping[str, Sequence[tuple[str, str]]]


def page_of(
    results: Mapping[str, Results],
    judged: Sequence[Judged],
    pictures: Pictures,
    folder: Path,
    rows: Mapping[str, Sequence[Row]],
    notes: Sequence[str],
) -> str:
    """The HTML of the report; figures are read from ``folder``."""
    body = [
        "<h1>Sequential Kernel Herding, reproduced</h1>",
        "<p>The experiments of the paper's section 4, of its paragraph on runtimes and of its "
        f"appendix B, and those of the default rule, run by <b>skh {__version__}</b>. Ratios are "
        "geometric means over batches, with 95% intervals in brackets. Click on a heading to sort "
        "a table.</p>",
        *(f'<p class="note">{escape(note)}</p>' for note in notes),
        "<h2>Claims</h2>",
        _tally(judged),
        _claims(judged),
    ]
    for name, result in results.items():
        body += [f'<h2 id="{name}">{escape(name)}</h2>', f"<p>{_size(result)}</p>"]
        body += [_figure(folder / f"{p}.svg", p, caption) for p, caption in pictures.get(name, ())]
        body.append(_medians(rows[name]))
    body += ["<h2>How this was made</h2>", *(_making(n, r) for n, r in results.items())]
    return _document("\n".join(body), results)


def _document(body: str, results: Iterable[str]) -> str:
    links = "".join(f'<a href="#{name}">{escape(name)}</a>' for name in results)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n<title>skh reproduce: report</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<nav>{links}</nav>\n<main>\n{body}\n</main>\n"
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _tally(judged: Sequence[Judged]) -> str:
    outcomes = [j.outcome for j in judged]
    parts = [f"{outcomes.count(o)} {o}" for o in ("holds", "does not hold", "undecided")]
    return f"<p>{len(judged)} claims: {', '.join(parts)}.</p>"


def _claims(judged: Sequence[Judged]) -> str:
    rows = [
        _cells(
            ("Claim", f"<b>{escape(j.claim.name)}</b><br><small>{escape(j.experiment)}</small>"),
            ("The paper's words", _words(j.claim)),
            ("Measured", _measured(j)),
            ("Verdict", f'<span class="{_colour(j)}">{j.outcome}</span>'),
        )
        for j in judged
    ]
    return _table(("Claim", "The paper's words", "Measured", "Verdict"), rows, "claims")


def _words(claim: Claim) -> str:
    """The words of a claim, marked as a quotation or as a remark."""
    return f"<q>{escape(claim.words)}</q>" if claim.quoted else f"<i>{escape(claim.words)}</i>"


def _measured(j: Judged) -> str:
    """The measured values, one per line, and the statistics in a foldable part."""
    text = escape(j.verdict.measured)
    if "; " in text:
        text = text.replace(": ", ":<br>", 1).replace("; ", "<br>")
    if not j.verdict.statistics:
        return text
    lines = "<br>".join(f"{escape(str(k))}: {_number(v)}" for k, v in j.verdict.statistics.items())
    return f"{text}<details><summary>statistics</summary><small>{lines}</small></details>"


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))


def _colour(j: Judged) -> str:
    return {True: "yes", False: "no", None: "open"}[j.verdict.holds]


def _size(result: Results) -> str:
    hours = result.seconds / 3600
    time = f"{hours:.1f} core-hours" if hours > 1 else f"{60 * hours:.1f} core-minutes"
    records = f"{len(result.records):,} records, {time}"
    if result.complete:
        return f"All {result.tasks:,} tasks, {records}."
    return (
        f"<b>{result.finished:,} of {result.tasks:,} tasks so far</b> "
        f"({result.tasks - result.finished:,} are missing), {records}."
    )


def _figure(path: Path, name: str, caption: str) -> str:
    data = b64encode(path.read_bytes()).decode()
    return (
        f'<figure id="figure-{name}"><div class="wide"><img alt="{escape(caption)}" '
        f'src="data:image/svg+xml;base64,{data}"></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _medians(rows: Sequence[Row]) -> str:
    cells = [
        _cells(
            *((heading, escape(text)) for heading, text in zip(COLUMNS, row.texts, strict=True)),
            values=row.values,
        )
        for row in rows
    ]
    table = _table(COLUMNS, cells, "numbers")
    return f"<details><summary>Table of medians ({len(rows)} rows)</summary>{table}</details>"


def _table(headings: Sequence[str], rows: Sequence[str], kind: str) -> str:
    head = "".join(f'<th><button type="button">{escape(h)}</button></th>' for h in headings)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cells(*cells: tuple[str, str], values: Sequence[float | str] = ()) -> str:
    sort = [f' data-value="{escape(str(v))}"' for v in values] or [""] * len(cells)
    return "".join(
        f'<td data-label="{escape(label)}"{value}>{text}</td>'
        for (label, text), value in zip(cells, sort, strict=True)
    )


def _making(name: str, result: Results) -> str:
    known = {**result.fingerprint, "machine": result.machine}
    text = escape(json.dumps(known, indent=1, ensure_ascii=False))
    versions = ", ".join(f"{k} {v}" for k, v in result.fingerprint["versions"].items())
    machine = f"{result.machine['processor']}, {result.machine['cores']} cores"
    return (
        f"<h3>{escape(name)}</h3><p>{escape(versions)}; {escape(machine)}</p>"
        f"<details><summary>Configuration</summary><pre>{text}</pre></details>"
    )
