"""The command ``skh localize``."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as ScreenTable

from skh.app import options
from skh.app.input_error import InputError
from skh.app.localize.metrics import metrics_of
from skh.app.localize.outputs import write_localize_outputs
from skh.app.localize.run import LocalizeRun, localize
from skh.app.localize.scenario import read_localize_scenario
from skh.app.localize.setup import Setup, set_up
from skh.app.localize.template import LOCALIZE_TEMPLATE
from skh.app.run import StoppedRunError
from skh.app.run_command import KEPT_NONE, write_template
from skh.app.stopping import Terminated, errors_in_one_line, say_error
from skh.app.summary import printed_files

KEPT_KINDS = ("trajectory", "covariances")
UNITS = {"ate_m": "m", "rpe_m": "m", "rpe_rad": "rad"}


def localize_command(
    what: Annotated[str | None, typer.Argument(help="localize.toml")] = None,
    init: Annotated[
        bool, typer.Option("--init", help="Write a commented scenario, to a file or here.")
    ] = False,
    rule: options.RuleName = None,
    n: options.Number = None,
    seed: options.Seed = None,
    steps: Annotated[int | None, typer.Option(help="Only the first so many.")] = None,
    out: Annotated[
        str | None, typer.Option(help="Folder for the outputs.", show_default="localize")
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Find where a robot was, from its log: a trajectory, metrics, pictures, an animation."""
    with errors_in_one_line(debug):
        if init:
            write_template(what, LOCALIZE_TEMPLATE, "skh localize")
            return
        if what is None:
            raise InputError("name a localize.toml; skh localize --init writes one")
        given: dict[str, dict[str, Any]] = {
            "filter": {"rule": rule, "n": n, "seed": seed},
            "log": {"steps": steps},
            "outputs": {"folder": out},
        }
        overrides = {
            name: {key: value for key, value in section.items() if value is not None}
            for name, section in given.items()
        }
        setup = set_up(read_localize_scenario(Path(what), overrides))
        console = Console()
        for note in setup.notes:
            console.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
        finished = localize_or_keep(setup)
        console.print(metrics_table(finished))
        console.print(end_of(finished), soft_wrap=True, highlight=False)
        written = write_localize_outputs(finished)
        console.print(printed_files(written, finished.seconds), soft_wrap=True, highlight=False)


def localize_or_keep(setup: Setup) -> LocalizeRun:
    """Run; if that is stopped at a step, write the trajectory of the steps before and say so."""
    try:
        return localize(setup, progress=True)
    except StoppedRunError as error:
        raise InputError(f"{error}{keep(setup, error.result, error.seconds)}") from error
    except KeyboardInterrupt as error:
        say_error(f"Interrupted{keep(setup, getattr(error, 'result', None), 0.0) or KEPT_NONE}.")
        raise typer.Exit(128 + signal.SIGINT) from None
    except Terminated as error:
        say_error(f"Terminated{keep(setup, getattr(error, 'result', None), 0.0) or KEPT_NONE}.")
        raise typer.Exit(128 + signal.SIGTERM) from None


def keep(setup: Setup, result: Any, seconds: float) -> str:
    """Write the steps that were completed; return what to say about it."""
    if result is None:
        return ""
    written = write_localize_outputs(LocalizeRun(setup, result, seconds), KEPT_KINDS)
    files = " and ".join(map(str, written.values()))
    steps = f"{len(result.means)} of {len(setup.timeline)} steps"
    return f"; the first {steps} are in {files}" if files else f"; {steps} were done"


def metrics_table(run: LocalizeRun) -> ScreenTable:
    """Errors to the truth, if there is one."""
    found, scenario = metrics_of(run), run.setup.scenario
    title = f"{scenario.log_path.name}: {found['steps']} steps, {found['duration']:.0f} s"
    screen = ScreenTable(title=title, title_justify="left", title_style="bold")
    for heading in ("", "RMSE", "median", "largest"):
        screen.add_column(heading, justify="right" if heading else "left")
    for key, label in (("ate_m", "position error"), ("rpe_m", "error of a step")):
        if key in found:
            cells = (found[key][name] for name in ("rmse", "median", "max"))
            screen.add_row(label, *(f"{cell:.3f} {UNITS[key]}" for cell in cells))
    if "ate_m" not in found:
        screen.add_row("no truth in this log", "", "", "")
    return screen


def end_of(run: LocalizeRun) -> str:
    """Say in one line where the robot was at the end, and what the run cost."""
    found = metrics_of(run)
    x, y, heading = run.planar[-1]
    median = found.get("nees", {}).get("median")
    nees = "" if median is None else f"NEES {median:.2f} at the median; "
    return (
        f"{nees}at the end x {x:.2f} m, y {y:.2f} m, heading {heading:.2f} rad; "
        f"ESS {found['ess_median']:.1f} at the median; "
        f"{found['likelihood_evaluations']:,} likelihood evaluations"
    )
