"""Filter a table by a model, as a scenario says."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from skh._runtime.progress import Report
from skh.app.input_error import InputError, one_line
from skh.app.model_loading import error_in, load_model
from skh.app.read_table import read_table
from skh.app.scenario import FilterChoice, Scenario
from skh.app.table import Table
from skh.files.container import SavedFileError
from skh.filtering.model_checks import ZeroLikelihoodError
from skh.filtering.model_protocols import as_carrying, prior_of
from skh.filtering.parallel import parallel
from skh.filtering.result import FilterResult
from skh.filtering.series import particle_filter
from skh.frank_wolfe.default import default_rule
from skh.rules.sampling import MonteCarlo, QuasiMonteCarlo, Stratified, Systematic

RULES: dict[str, Any] = {
    "default": None,
    "default_rule": default_rule(),
    "MonteCarlo": MonteCarlo(),
    "Stratified": Stratified(),
    "Systematic": Systematic(),
    "SQMC": QuasiMonteCarlo(),
}


@dataclass(frozen=True, eq=False)
class Prepared:
    """A scenario with its model and its data, all of them checked."""

    scenario: Scenario
    model: Any
    table: Table


@dataclass(frozen=True, eq=False)
class Run:
    """The result of a scenario."""

    prepared: Prepared
    result: FilterResult
    seconds: float


class StoppedRunError(InputError):
    """A run that ended at a step, with the result of the steps before (None at the first)."""

    def __init__(self, message: str, result: FilterResult | None, seconds: float) -> None:
        super().__init__(message)
        self.result, self.seconds = result, seconds


def prepare(scenario: Scenario) -> Prepared:
    """Read and check everything that a scenario names; nothing is written."""
    check_outputs(scenario)
    table = read_table(scenario.data_path, scenario.columns)
    model = load_model(scenario.model, scenario.folder, table)
    check_states(scenario, model)
    return Prepared(scenario, model, table)


def check_states(scenario: Scenario, model: Any) -> None:
    """Refuse names of states that do not fit the model."""
    names = scenario.model.states
    if not names:
        return
    d = prior_of(as_carrying(model)).d
    if len(set(names)) != d or len(names) != d:
        what = f"[model] states must be {d} different names, one per coordinate, got {list(names)}"
        raise InputError(what, scenario.path)


def check_outputs(scenario: Scenario) -> None:
    """Refuse outputs that cannot be written or that would replace an input."""
    folder = scenario.folder / scenario.outputs.folder
    for part in (folder, *folder.parents):
        if part.exists() and not part.is_dir():
            raise InputError("the outputs need a folder here, but this is a file", part)
    inputs = [scenario.data_path, scenario.folder / scenario.model.use.partition(":")[0]]
    inputs += [scenario.path] if scenario.path else []
    for kind, path in scenario.output_files().items():
        if any(path.resolve() == other.resolve() for other in inputs):
            raise InputError(f"the {kind} would replace this input", path)


def run(prepared: Prepared, progress: bool | Report = False) -> Run:
    """Filter the table; an error at a step is a `StoppedRunError`."""
    choice, start = prepared.scenario.filter, perf_counter()
    try:
        with spread_out(prepared.model, choice) as model:
            result = particle_filter(
                model,
                prepared.table.values,
                RULES[choice.rule],
                choice.n,
                rng=choice.seed,
                quantiles=choice.quantiles,
                history=prepared.scenario.outputs.report is not None,  # it shows particles
                progress=progress,
                **options_of(prepared),
            )
    except Exception as error:
        so_far = getattr(error, "result", None)
        message = explained(prepared, error, 0 if so_far is None else len(so_far.means))
        raise StoppedRunError(message, so_far, perf_counter() - start) from error
    return Run(prepared, result, perf_counter() - start)


def options_of(prepared: Prepared) -> dict[str, Any]:
    """The options of `particle_filter` that the scenario uses."""
    path = prepared.scenario.output_files().get("checkpoint")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    given = {"times": prepared.table.times, "checkpoint": path}
    policy = {"on_zero_likelihood": prepared.scenario.filter.on_zero_likelihood}
    return {name: value for name, value in given.items() if value is not None} | policy


def explained(prepared: Prepared, error: Exception, t: int) -> str:
    """Say in one line what went wrong at a step, and where."""
    place = f"t={t} ({prepared.table.place(min(t, len(prepared.table) - 1))})"
    if isinstance(error, ZeroLikelihoodError):
        skip = 'on_zero_likelihood = "skip" goes on without such observations'
        return f"{place}: no particle explains this observation: all likelihoods are zero; {skip}"
    if isinstance(error, SavedFileError):  # the checkpoint is of another run
        return str(error)
    use = prepared.scenario.model.use
    path = prepared.scenario.folder / use.partition(":")[0]
    if path.suffix == ".py":
        return str(error_in(path, error, f"at {place}: "))
    return f"{use}: at {place}: {type(error).__name__}: {one_line(error)}"


@contextmanager
def spread_out(model: Any, choice: FilterChoice) -> Iterator[Any]:
    """Yield the model with its likelihoods evaluated by workers, if the scenario wants that."""
    if choice.executor == "none":
        yield model
        return
    make = ThreadPoolExecutor if choice.executor == "threads" else ProcessPoolExecutor
    workers = partial(make, choice.workers)  # called again after a pool broke
    with parallel(
        model, workers, chunk=choice.chunk, timeout=choice.timeout, retries=choice.retries
    ) as spread:
        yield spread
