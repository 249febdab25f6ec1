"""Write the outputs of ``skh localize``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from skh.app.localize.animation import write_animation
from skh.app.localize.figures import write_errors, write_path
from skh.app.localize.metrics import metrics_of
from skh.app.localize.run import LocalizeRun
from skh.app.outputs import write_files
from skh.report import write_run_html
from skh.trajectory import write_tum

PLANAR_NAMES = ("x", "y", "heading")
SPATIAL_NAMES = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


def write_localize_outputs(
    run: LocalizeRun, kinds: tuple[str, ...] | None = None
) -> dict[str, Path]:
    """Write the files that the scenario asks for; return their paths by kind."""
    files = run.setup.scenario.output_files()
    wanted = {kind: path for kind, path in files.items() if kinds is None or kind in kinds}
    return write_files(wanted, LOCALIZE_WRITERS, run)


def write_trajectory(run: LocalizeRun, path: Path) -> None:
    """Write the estimated poses as a TUM file."""
    write_tum(path, run.trajectory)


def write_covariances(run: LocalizeRun, path: Path) -> None:
    """Write a row per step: its time, and the upper triangle of the covariance."""
    names = names_of(run)
    i, j = np.triu_indices(len(names))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        pairs = zip(i.tolist(), j.tolist(), strict=True)
        table.writerow(["time", *(f"{names[a]}*{names[b]}" for a, b in pairs)])
        for t, S in zip(run.times.tolist(), run.covariances, strict=True):
            table.writerow([repr(t), *(f"{value:.9g}" for value in S[i, j])])


def write_metrics(run: LocalizeRun, path: Path) -> None:
    """Write what `metrics_of` says."""
    path.write_text(json.dumps(metrics_of(run), indent=2) + "\n", encoding="utf-8")


def write_report(run: LocalizeRun, path: Path) -> None:
    """Write the interactive report of the filter."""
    scenario = run.setup.scenario
    write_run_html(
        run.result,
        path,
        times=run.times,
        names=names_of(run),
        title=f"{scenario.format} log {scenario.log_path.name}",
        settings=settings_of(run),
        truth=None if run.setup.in_space else run.true_planar,
    )


def names_of(run: LocalizeRun) -> tuple[str, ...]:
    """Names of the coordinates."""
    return SPATIAL_NAMES if run.setup.in_space else PLANAR_NAMES


def settings_of(run: LocalizeRun) -> dict[str, str | int | float]:
    """The settings of a scenario, as its file names them, and the models that were made of them."""
    scenario = run.setup.scenario
    start = scenario.start
    points = start.n if run.setup.prior is None else None
    given = {"pose": start.pose, "deviation": start.deviation, "n": points}
    sections: dict[str, Any] = {
        "log": scenario.log,
        "map": {} if scenario.map is None else {"file": scenario.map},
        "motion": scenario.motion,
        "sensor": scenario.sensor,
        "start": {key: value for key, value in given.items() if value is not None},
        "steps": scenario.steps,
        "filter": vars(scenario.filter),
    }
    flat = {f"{name}.{key}": v for name, part in sections.items() for key, v in part.items()}
    return {key: v if isinstance(v, int | float) else str(v) for key, v in flat.items()}


LOCALIZE_WRITERS = {
    "trajectory": write_trajectory,
    "covariances": write_covariances,
    "metrics": write_metrics,
    "path": write_path,
    "errors": write_errors,
    "report": write_report,
    "animation": write_animation,
}
