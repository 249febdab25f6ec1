"""Write the outputs of a run: table, figure, interactive report and saved result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from skh.app.input_error import InputError, one_line
from skh.app.run import Run
from skh.app.scenario import Scenario
from skh.report import write_run_html

Writer = Callable[[Run, Path], None]
ALL_OUTPUTS = ("table", "plot", "report", "result")


def write_outputs(run: Run, kinds: tuple[str, ...] = ALL_OUTPUTS) -> dict[str, Path]:
    """Write the files that the scenario asks for; return their paths by kind."""
    wanted = run.prepared.scenario.output_files()
    return write_files(
        {kind: path for kind, path in wanted.items() if kind in kinds},  # no checkpoint
        WRITERS,
        run,
    )


def write_files(
    files: dict[str, Path], writers: Mapping[str, Callable[[Any, Path], None]], run: Any
) -> dict[str, Path]:
    """Write files by kind; return their paths.  A file that cannot be written is an error."""
    for kind, path in files.items():
        try:
            _write(writers[kind], run, path)
        except ImportError as error:
            raise InputError(f"the {kind} cannot be written: {one_line(error)}", path) from error
        except OSError as error:
            what = error.strerror or one_line(error)
            raise InputError(f"the {kind} cannot be written: {what}", path) from error
    return files


def _write(writer: Callable[[Any, Path], None], run: Any, path: Path) -> None:
    """Write a file elsewhere first: nobody finds half a file, and none replaces a whole one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=".skh-") as folder:
        part = Path(folder) / path.name
        writer(run, part)
        part.replace(path)


def write_table(run: Run, path: Path) -> None:
    """Write a row for each step: times, means, deviations, quantiles and diagnostics."""
    write = run.result.to_parquet if path.suffix == ".parquet" else run.result.to_csv
    write(path, names=names_of(run))


def write_plot(run: Run, path: Path) -> None:
    """Draw means with bands, ESS and evidence."""
    run.result.plot(names=names_of(run)).savefig(path, dpi=150)


def names_of(run: Run) -> tuple[str, ...] | None:
    """The names of the coordinates that the scenario gives; None if it gives none."""
    return run.prepared.scenario.model.states or None


def write_report(run: Run, path: Path) -> None:
    """Write the interactive report."""
    table, scenario = run.prepared.table, run.prepared.scenario
    write_run_html(
        run.result,
        path,
        observations=table.values,
        times=table.times,
        names=names_of(run),
        title=f"{scenario.model.use} on {scenario.data.name}",
        settings=settings_of(scenario),
    )


def settings_of(scenario: Scenario) -> dict[str, Any]:
    """The settings of a scenario, as its file names them."""
    model = {"model": scenario.model.use, **scenario.model.parameters}
    return {**model, "data": str(scenario.data), **asdict(scenario.filter)}


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
