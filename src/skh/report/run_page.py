"""Write the report of one filter run as a single interactive HTML file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

from skh.files.atomic import as_path, replace_file
from skh.filtering.result import FilterResult
from skh.report.run_data import centres_of, data_of
from skh.report.run_inputs import RunInputs, check_inputs, check_result, check_title
from skh.report.run_summary import coordinate_rows, facts_of, reason_rows

SCRIPTS = ("format", "data", "axes", "view", "canvas", "charts", "particles", "readout", "controls")
# Nothing is fetched: what a title or a name could smuggle in would not be loaded either.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def write_run_html(
    result: FilterResult,
    path: str | PathLike[str],
    *,
    observations: Iterable[Any] | None = None,
    observation_names: Sequence[str] | None = None,
    times: Any = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
    truth: Any = None,
) -> None:
    """Write an interactive report of a run: one HTML file that needs no network.

    It shows the filtered state with its bands, effective sample sizes, looks and evidence and, with
    ``history=True``, the particles at the time under the cursor, those of each look apart.

    Parameters
    ----------
    result : FilterResult
        Bands are its quantiles, or the mean plus and minus two standard deviations.
    path : str or path
        File to write, in an existing folder; an old one is replaced as a whole or not at all.
    observations : T observations
        Drawn if they are numbers or vectors of equal length; None or NaN: nothing was measured.
    observation_names : m strings
        Of the numbers of one observation.
    times : T increasing numbers or dates
        By default those of the result; without any, steps are numbered from zero.
    names : d strings
        Of the coordinates, or of those of (x, z); by default those of the result.
    title : str
    settings : mapping
        Names and values to list, may be nested; by default the attributes of the result.
    truth : (T, d) array
        True states, NaN where unknown; for charted models the states of ``result.mean_states``.

    Examples
    --------
    >>> import tempfile, skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(5, rng=0)
    >>> result = skh.particle_filter(model, ys, skh.Stratified(), 20, rng=1, history=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skh.report.write_run_html(result, f"{folder}/run.html", observations=ys, truth=states)
    """
    check_result(result)
    file, heading = as_path("path", path), check_title(title)
    inputs = check_inputs(result, names, times, observations, observation_names, truth, settings)
    remarks = []
    if observations is not None and inputs.observations.values is None:
        remarks.append("The observations are not vectors of equal length: they are not drawn.")
    page = _page(result, inputs, heading, remarks).encode()
    replace_file(file, lambda new: new.write(page))


def _page(result: FilterResult, inputs: RunInputs, title: str, remarks: Sequence[str]) -> str:
    """The whole page."""
    centres = centres_of(result)
    data = data_of(result, centres, inputs)
    about = inputs.settings
    parts = [
        _header(title, facts_of(result, inputs.observations.missing), [*centres.remarks, *remarks]),
        _board(inputs.names, data),
        "<h2>In numbers</h2>",
        _table(*coordinate_rows(centres, inputs.names, inputs.truth)),
        _table(*reason_rows(result)),
        '<details id="steps"><summary>Table of the steps in view</summary></details>',
        "<h2>Settings</h2>",
        _table(("setting", "value"), about) if about else "<p>None were given.</p>",
    ]
    return _document(title, "\n".join(parts), data)


def _header(title: str, facts: Sequence[tuple[str, str]], remarks: Sequence[str]) -> str:
    items = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts)
    notes = "".join(f'<p class="note">{escape(remark)}</p>' for remark in remarks)
    return f'<header><h1>{escape(title)}</h1><dl class="facts">{items}</dl>{notes}</header>'


def _board(names: Sequence[str], data: Mapping[str, Any]) -> str:
    """The charts; those without data are left out."""
    d = data["d"]
    fields = {
        "coordinates": _options(names),
        "single": "hidden" if len(names) == 1 else "",
        "particles": _options(names[:d]),
        "against": _options(["weight", *names[:d]], first=-1),
        "strips": "".join(_strip(*strip) for strip in _strips(data)),
    }
    template = asset("board.html")
    for name, text in fields.items():
        template = template.replace(f"<!--{name}-->", text)
    return template


def _strips(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    strips = [
        ("ess", "effective sample size"),
        ("looks", "likelihood evaluations"),
        ("evidence", "log-evidence increment"),
    ]
    names = data["observedNames"]
    label = f"observation {names[0]}" if len(names) == 1 else "observation"
    return ([("observed", label)] if data["observed"] else []) + strips


def _strip(name: str, label: str) -> str:
    label = escape(label)
    return (
        f'<figure><figcaption><b>{label}</b> <output id="{name}-value" aria-live="off"></output>'
        "</figcaption>"
        f'<canvas id="{name}" class="time" role="img" aria-label="{label} over time"></canvas>'
        f'<div class="legend" id="{name}-legend"></div></figure>'
    )


def _options(labels: Sequence[str], first: int = 0) -> str:
    return "".join(
        f'<option value="{k}">{escape(label)}</option>' for k, label in enumerate(labels, first)
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; on a narrow screen each row of a wide one becomes a block of labelled lines."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in headings)
    lines = (
        "".join(
            f'<td data-label="{escape(h)}">{escape(cell)}</td>'
            for h, cell in zip(headings, row, strict=True)
        )
        for row in rows
    )
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    kind = ' class="wide"' if len(headings) > 2 else ""
    return f"<table{kind}><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _document(title: str, body: str, data: Mapping[str, Any]) -> str:
    # In a script "</" would end it; "<" only occurs within strings.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    script = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('run.css')}</style>\n</head>\n<body>\n"
        f"<main>\n{body}\n</main>\n"
        f'<script type="application/json" id="data">{text}</script>\n'
        f'<script>\n"use strict";\n(() => {{\n{script}\n}})();\n</script>\n</body>\n</html>\n'
    )


def asset(name: str) -> str:
    """The text of a file that comes with the package."""
    return (files("skh.report") / "assets" / name).read_text(encoding="utf-8")
