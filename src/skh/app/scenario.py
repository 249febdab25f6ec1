"""Scenarios: what ``skh run`` is to do, as a TOML file or as arguments of the command.

A scenario has a section for each of its parts: model, data, filter and outputs.  Each key has a
check and a default; `parse` checks all of them before anything is read or computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skh.app import values
from skh.app.sections import Check, Place, Section, checked_sections, read_toml
from skh.app.table import Columns


@dataclass(frozen=True)
class ModelChoice:
    """Which model, and the arguments of the function that makes it."""

    use: str
    parameters: Section = field(default_factory=dict)
    states: tuple[str, ...] = ()  # names of the coordinates


@dataclass(frozen=True)
class FilterChoice:
    """How to filter."""

    rule: str = "default"
    n: int = 50
    seed: int = 0
    quantiles: tuple[float, ...] = (0.05, 0.95)
    on_zero_likelihood: str = "raise"
    executor: str = "none"
    workers: int = 2
    chunk: int = 1  # particles per call of a worker
    timeout: float | None = None  # seconds per particle
    retries: int = 0


@dataclass(frozen=True)
class Outputs:
    """Files to write, within a folder; None: not written."""

    folder: Path = Path("run")
    table: str | None = "table.csv"
    plot: str | None = "plot.png"
    report: str | None = "run.html"
    result: str | None = None
    checkpoint: str | None = None

    def files(self) -> dict[str, Path]:
        """The paths of the files to write, by kind."""
        kinds = ("table", "plot", "report", "result", "checkpoint")
        names = {kind: getattr(self, kind) for kind in kinds}
        return {kind: self.folder / name for kind, name in names.items() if name}


@dataclass(frozen=True)
class Scenario:
    """All that ``skh run`` needs to know; paths are absolute or relative to ``folder``."""

    model: ModelChoice
    data: Path
    columns: Columns = Columns()
    filter: FilterChoice = FilterChoice()
    outputs: Outputs = Outputs()
    folder: Path = Path()  # of the scenario
    path: Path | None = None  # of the scenario file

    @property
    def data_path(self) -> Path:
        """Where the data are."""
        return self.folder / self.data

    def output_files(self) -> dict[str, Path]:
        """Where the outputs go, by kind."""
        return {kind: self.folder / path for kind, path in self.outputs.files().items()}


SECTIONS: dict[str, dict[str, Check]] = {
    "model": {"use": values.text, "parameters": values.section, "states": values.texts},
    "data": {
        "file": values.text,
        "columns": values.texts,
        "inputs": values.texts,
        "times": values.text,
        "missing": values.texts,
        "separator": values.character,
        "decimal": values.one_of(".", ","),
        "date_format": values.date_format,
    },
    "filter": {
        "rule": values.rule_name,
        "n": values.positive,
        "seed": values.whole,
        "quantiles": values.levels,
        "on_zero_likelihood": values.one_of("raise", "skip"),
        "executor": values.one_of("none", "threads", "processes"),
        "workers": values.positive,
        "chunk": values.positive,
        "timeout": values.seconds,
        "retries": values.whole,
    },
    "outputs": {
        "folder": values.text,
        "table": values.file_name(".csv", ".parquet"),
        "plot": values.file_name(".png", ".svg", ".pdf"),
        "report": values.file_name(".html"),
        "result": values.file_name(".npz"),
        "checkpoint": values.file_name(".npz"),
    },
}
REQUIRED = {"model": "use", "data": "file"}


def read_scenario(path: Path, overrides: Mapping[str, Section] | None = None) -> Scenario:
    """Read and check a scenario file; ``overrides`` are sections that the command line gave."""
    content, text = read_toml(path)
    return parse(content, overrides or {}, path, text)


def parse(
    content: Mapping[str, Any],
    overrides: Mapping[str, Section],
    path: Path | None = None,
    text: str = "",
) -> Scenario:
    """Check the sections of a scenario and put them together."""
    return _scenario(
        checked_sections(content, overrides, SECTIONS, REQUIRED, Place(path, text)), path
    )


def _scenario(given: dict[str, dict[str, Any]], path: Path | None) -> Scenario:
    data, outputs = given["data"], given["outputs"]
    read = {"names": data.get("columns", ())}
    read |= {k: v for k, v in data.items() if k not in ("file", "columns")}
    if "folder" in outputs:
        outputs["folder"] = Path(outputs["folder"])
    return Scenario(
        ModelChoice(**given["model"]),
        Path(data["file"]),
        Columns(**read),
        FilterChoice(**given["filter"]),
        Outputs(**outputs),
        Path() if path is None else path.parent,
        path,
    )
