"""Write the outputs of a run: table, figure, interactive report and saved result."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skh.app.input_error import InputError, one_line
from skh.app.run import Run

Writer = Callable[[Run, Path], None]


def write_outputs(
    run: Run, kinds: tuple[str, ...] = ("table", "plot", "report", "result")
) -> dict[str, Path]:
    """Write the files that the scenario asks for; return their paths by kind."""
    wanted = run.prepared.scenario.output_files()
    written = {kind: path for kind, path in wanted.items() if kind in kinds}
    for kind, path in written.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(WRITERS[kind], run, path)
        except ImportError as error:
            raise InputError(f"the {kind} cannot be written: {one_line(error)}", path) from error
        except OSError as error:
            what = error.strerror or one_line(error)
            raise InputError(f"the {kind} cannot be written: {what}", path) from error
    return written


def _write(writer: Writer, run: Run, path: Path) -> None:
    """Write a file under another name first: nobody finds half a file."""
    part = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        writer(run, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_table(run: Run, path: Path) -> None:
    """Write a row for each step: times, means, deviations, quantiles and diagnostics."""
    result: Any = run.result
    (result.to_parquet if path.suffix == ".parquet" else result.to_csv)(path)


def write_plot(run: Run, path: Path) -> None:
    """Draw means with bands, ESS and evidence."""
    result: Any = run.result
    result.plot().savefig(path, dpi=150)


def write_report(run: Run, path: Path) -> None:
    """Write the interactive report."""
    from skh.report import write_run_html

    write_run_html(run.result, path)


def write_result(run: Run, path: Path) -> None:
    """Save all of the result."""
    result: Any = run.result
    result.save(path)


WRITERS: dict[str, Writer] = {
    "table": write_table,
    "plot": write_plot,
    "report": write_report,
    "result": write_result,
}
