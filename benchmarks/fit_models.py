"""Maximum likelihood for all models of `skh.models`, on data that they simulate.

    python benchmarks/fit_models.py            # some minutes; writes what fit_models.json lacks
    python benchmarks/fit_models.py table      # prints the table of docs/parameters.md, from it

Each search starts far from the truth.  Of models without parameters the noise of the transition is
fitted, as a factor.  A true parameter may well lie two standard errors from its estimate.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import skh

RECORD = Path(__file__).with_suffix(".json")
SEED, STEPS = 20, 30  # of data sets that no search was developed on
POSITIVE, SHARE, STABLE = (0, None), (0, 1), (-1, 1)
MODELS = skh.models


@dataclass(frozen=True)
class Case:
    """A model of named parameters, the true ones, and where the search starts."""

    make_model: Callable[..., Any]
    truth: Mapping[str, float]
    start: Mapping[str, float]
    bounds: Mapping[str, Any]
    n: int = 50
    steps: int = STEPS
    simulate: Callable[[], Any] | None = None

    def data(self) -> Any:
        """Observations of the true model."""
        if self.simulate is not None:
            return self.simulate()
        return self.make_model(**self.truth).simulate(self.steps, rng=SEED)[1]


class Noisier:
    """A model whose transitions have their noise times a factor."""

    def __init__(self, model: Any, factor: float) -> None:
        self.model, self.factor = model, factor
        self.prior, self.log_likelihood = model.prior, model.log_likelihood
        self.simulate = model.simulate

    def transition(self, t: int, x: np.ndarray) -> tuple[np.ndarray, Any]:
        """The model's, with covariances times the factor's square."""
        means, S = self.model.transition(t, x)
        return means, self.factor**2 * S


def noisier(make_model: Callable[[], Any], factor: float) -> Noisier:
    """Return a model without parameters with one."""
    return Noisier(make_model(), factor)


def linear(make_model: Callable[[], Any], gain: float, noise: float) -> Any:
    """A linear model: factors of its dynamics and of the deviation of its process noise."""
    model = make_model()
    return replace(model, A=gain * model.A, Q=noise**2 * model.Q)


def jump_markov(noise: float) -> Any:
    """The jump-Markov model with its observation noise times a factor."""
    model = MODELS.jmls()
    return replace(model, R=noise**2 * model.R)


def flight(way_noise: float, turn_noise: float) -> Any:
    """The rendered flight with a small camera."""
    camera = MODELS.InverseDepthCamera(pixels=(24, 18))
    model = MODELS.RenderedFlight(camera=camera, way_noise=way_noise, turn_noise=turn_noise)
    return model.charted()


def images() -> Any:
    """Images of that flight."""
    camera = MODELS.InverseDepthCamera(pixels=(24, 18))
    return MODELS.RenderedFlight(camera=camera).simulate(20, rng=SEED)[1]


def drone(pixel: float) -> Any:
    """The drone with inertial sensors, barometer and camera, given the noise of its pixels."""
    survey = MODELS.survey_flight(40, rng=SEED)
    return MODELS.uav(replace(survey.parameters, pixel=pixel), survey.start)


def with_factor(make_model: Callable[[], Any]) -> Case:
    """A case of a model without parameters."""
    return Case(partial(noisier, make_model), {"factor": 1}, {"factor": 2}, {"factor": POSITIVE})


BEARINGS = Case(
    MODELS.RangeBearing,
    {"range_noise": 0.02, "step_noise": 0.2},
    {"range_noise": 0.05, "step_noise": 0.3},
    {"range_noise": POSITIVE, "step_noise": POSITIVE},
)
LINEAR = {"gain": 1.0, "noise": 1.0}, {"gain": 0.8, "noise": 2.0}, {"noise": POSITIVE}
SENSOR = {"noise": POSITIVE, "step_noise": POSITIVE}
CASES = {
    "stochastic volatility": Case(
        MODELS.stochastic_volatility,
        {"persistence": 0.9, "noise": 0.3, "scale": 0.6},
        {"persistence": 0.5, "noise": 0.5, "scale": 1.0},
        {"persistence": STABLE, "noise": POSITIVE, "scale": POSITIVE},
        steps=200,
    ),
    "counts": Case(
        MODELS.counts,
        {"rate": 4.0, "persistence": 0.9, "noise": 0.3},
        {"rate": 2.0, "persistence": 0.7, "noise": 0.5},
        {"rate": POSITIVE, "persistence": STABLE, "noise": POSITIVE},
        steps=100,
    ),
    "LGSS3": Case(partial(linear, MODELS.lgss3), *LINEAR, steps=100),
    "LGSS15": Case(partial(linear, MODELS.lgss15), *LINEAR, n=100, steps=100),
    "jump-Markov": Case(
        jump_markov,
        {"noise": 1.0},
        {"noise": 2.0},
        {"noise": POSITIVE},
        steps=100,
        simulate=lambda: MODELS.jmls().simulate(100, rng=SEED)[-1],
    ),
    "nonlinear benchmark": with_factor(MODELS.nonlinear_benchmark),
    "Lorenz63": with_factor(MODELS.lorenz63),
    "bearings only": with_factor(MODELS.bearings_only),
    "localisation": with_factor(MODELS.localisation),
    "range-bearing": BEARINGS,
    "range-bearing, residuals": replace(BEARINGS, make_model=MODELS.ResidualRangeBearing),
    "range-bearing, outliers": Case(
        MODELS.RangeBearing,
        {"range_noise": 0.02, "outliers": 0.05},
        {"range_noise": 0.05, "outliers": 0.2},
        {"range_noise": POSITIVE, "outliers": SHARE},
        n=100,
    ),
    "radar": Case(
        MODELS.Radar,
        {"range_noise": 0.1, "acceleration": 1.0},
        {"range_noise": 0.2, "acceleration": 2.0},
        {"range_noise": POSITIVE, "acceleration": POSITIVE},
        n=100,
    ),
    "map of a field": Case(
        MODELS.FieldMap,
        {"noise": 0.05, "step_noise": 0.2},
        {"noise": 0.1, "step_noise": 0.4},
        SENSOR,
        n=100,
    ),
    "laser beams": Case(
        MODELS.LaserBeams,
        {"noise": 0.05, "step_noise": 0.1},
        {"noise": 0.1, "step_noise": 0.2},
        SENSOR,
        n=100,
    ),
    "likelihood field": Case(
        MODELS.LikelihoodField,
        {"step_noise": 0.1},
        {"step_noise": 0.2},
        {"step_noise": (0, 0.5)},
        n=100,
    ),
    "depth camera": Case(
        MODELS.DepthCamera,
        {"noise": 0.2, "step_noise": 0.15},
        {"noise": 0.4, "step_noise": 0.3},
        SENSOR,
        n=100,
    ),
    "rendered flight": Case(
        flight,
        {"way_noise": 0.03, "turn_noise": 0.02},
        {"way_noise": 0.06, "turn_noise": 0.04},
        {"way_noise": POSITIVE, "turn_noise": POSITIVE},
        n=100,
        simulate=images,
    ),
    "drone": Case(
        drone,
        {"pixel": 2.0},
        {"pixel": 4.0},
        {"pixel": POSITIVE},
        simulate=lambda: MODELS.survey_flight(40, rng=SEED).observations,
    ),
}


def measured(case: Case) -> dict[str, Any]:
    """Fit one case."""
    ys, began = case.data(), process_time()
    fit = skh.fit(case.make_model, ys, case.start, bounds=case.bounds, n=case.n, rng=0)
    return {
        "n": case.n,
        "steps": len(ys),
        "truth": dict(case.truth),
        "parameters": fit.parameters,
        "standard_errors": fit.standard_errors,
        "shifts": fit.numerical_error.parameters,
        "noise": fit.noise,
        "message": fit.message,
        "filters": fit.n_filters,
        "seconds": process_time() - began,
    }


def rounded(value: Any) -> Any:
    """Numbers to four digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    return float(f"{value:.4g}") if isinstance(value, float) else value


def measure(names: list[str]) -> None:
    """Measure what the record lacks, and write it after each model."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for name in names:
        if name not in record:
            record[name] = rounded(measured(CASES[name]))
            RECORD.write_text(json.dumps(record, indent=1) + "\n")
            print(name, json.dumps(record[name]), flush=True)


def table(record: dict[str, Any]) -> str:
    """A row for each parameter of each model."""
    lines = [
        "| model | particles | parameter | true | estimate | standard error | shift by more "
        "particles | evidence varies by | filter runs | seconds |",
        "|---" * 10 + "|",
    ]
    for name in filter(record.get, CASES):
        row = record[name]
        head = f"{name}, T = {row['steps']} | {row['n']}"
        tail = f"{row['noise']:.2g} | {row['filters']} | {row['seconds']:.0f}"
        for key, true in row["truth"].items():
            estimate, error = row["parameters"][key], row["standard_errors"][key]
            numbers = f"{true:g} | {estimate:.3g} | {error:.2g} | {row['shifts'][key]:+.2f}"
            lines.append(f"| {head} | {key} | {numbers} | {tail} |")
            head, tail = " | ", " | | "
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        print("<!-- table parameters-models -->\n" + table(json.loads(RECORD.read_text())))
    else:
        measure(sys.argv[1:] or list(CASES))
