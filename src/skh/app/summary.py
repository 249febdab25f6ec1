"""What a command prints of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table as ScreenTable

from skh.app.outputs import names_of
from skh.app.run import Run
from skh.views.tables import state_names

MOST_STATES = 8  # coordinates of the state in the printed table


def summary_table(run: Run) -> ScreenTable:
    """The filtered states at the end of the series, and how the run went."""
    result, choice = run.result, run.prepared.scenario.filter
    screen = ScreenTable(title=_title(run), title_justify="left", title_style="bold")
    for heading in ("state", "mean at the end", "sd at the end", "mean over time"):
        screen.add_column(heading, justify="left" if heading == "state" else "right")
    sd = np.sqrt(np.diagonal(result.covariances, axis1=1, axis2=2))
    names = state_names(result, names_of(run))
    for k, mean in enumerate(result.means.T[:MOST_STATES]):
        cells = (mean[-1], sd[-1, k], mean.mean())
        screen.add_row(names[k], *(f"{cell:.4g}" for cell in cells))
    d = result.means.shape[1]
    if d > MOST_STATES:
        screen.add_row(f"... {d - MOST_STATES} more", "", "", "")
    evaluations, ess = int(result.n_likelihood_evaluations.sum()), result.ess
    screen.caption_justify = "left"
    screen.caption = (
        f"log-evidence {result.log_evidence:.2f}; ESS {np.median(ess):.1f} of {choice.n} at the "
        f"median step, {ess.min():.1f} at the worst; {evaluations} likelihood evaluations"
    )
    return screen


def _title(run: Run) -> str:
    scenario, table = run.prepared.scenario, run.prepared.table
    missing = int(np.isnan(table.values).all(axis=1).sum())
    gaps = f", {missing} without a measurement" if missing else ""
    return f"{scenario.model.use}: {len(table)} steps of {', '.join(table.names)}{gaps}"


def printed_files(written: dict[str, Path], seconds: float) -> str:
    """The paths of the files, one per line."""
    width = max(map(len, ("       ", *written)))
    lines = [f"{kind:>{width}}: {path}" for kind, path in written.items()]
    return "\n".join([*lines, f"({seconds:.1f} s)"])
