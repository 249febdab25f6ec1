"""Parameters: maximum likelihood and posteriors, beside exact answers and the package `particles`.

    python benchmarks/parameters.py                # half an hour, one process; goes on where it was
    python benchmarks/parameters.py ar1 lgss3      # some parts
    python benchmarks/parameters.py table          # prints the tables of the page, from the record

Exact answers are those of the Kalman filter and, for the volatility of GBP/USD, of a filter on a
grid of 400 points (which a filter with 200,000 particles only approaches).  The rates and the peer
are those of the package `particles`, in an environment of its own.  Seconds are of the processor.
The record is parameters.json: delete an entry, or all of it, to measure it anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from against import HERE, environment
from parameter_models import (
    AR_BOUNDS,
    AR_PRIOR,
    SV_BOUNDS,
    SV_PRIOR,
    Function,
    best,
    exact_posterior,
    kalman,
    noisy_autoregression,
    on_grid,
    rotation,
    scalar_kalman,
    standard_errors,
    volatility,
)
from parameter_tables import tables
from scipy import optimize

import skh
from skh.inference import stages

RECORD = Path(__file__).with_suffix(".json")
STARTS = 20
FRESH_SEED = 20  # of the data sets of linear models; the search was developed on 0 to 3
DAYS = 250  # of GBP/USD, where there are peers; maximum likelihood has all 750 as well
PMMH_DRAWS = 3000
MILLISECOND = 1e-3  # what a likelihood costs where it is expensive

Entry = tuple[str, Callable[[], Any]]  # its name in the record, and what measures it


def peer(*arguments: Any) -> Any:
    """Run `particles`; return its JSON output."""
    command = [environment("particles"), HERE / "peers" / "particles_posterior.py"]
    env = os.environ | {"PYTHONPATH": ""}
    run = subprocess.run(
        [*command, *map(str, arguments)], text=True, stdout=subprocess.PIPE, check=True, env=env
    )
    return json.loads(run.stdout.splitlines()[-1])


@cache
def returns() -> np.ndarray:
    """Returns of GBP/USD in percent."""
    return np.array(peer("returns"))


def fitted(make_model: Any, ys: Any, start: Any, bounds: Any, f: Any, top: float) -> dict[str, Any]:
    """Fit, and compare with the exact evidence ``f(**parameters)`` and its maximum."""
    began = process_time()
    fit = skh.fit(make_model, ys, start, bounds=bounds, rng=0)
    seconds = process_time() - began
    names, x = list(fit.parameters), np.array(list(fit.parameters.values()))
    exact = standard_errors(lambda v: f(**dict(zip(names, v, strict=True))), x)
    return {
        "missed": float(top - f(**fit.parameters)),
        "parameters": fit.parameters,
        "standard_errors": (np.array(list(fit.standard_errors.values())) / exact).tolist(),
        "message": fit.message,
        "filters": fit.n_filters,
        "likelihoods": fit.n_likelihood_evaluations,
        "seconds": seconds,
    }


def scattered(truth: Mapping[str, float]) -> list[dict[str, float]]:
    """Random starts: rho and gain uniform, noises times a lognormal factor."""
    rng, starts = np.random.default_rng(1), []
    for _ in range(STARTS):
        start = {name: value * np.exp(rng.normal()) for name, value in truth.items()}
        start |= {"rho": rng.uniform(-0.5, 0.98)} if "rho" in truth else {}
        start |= {"gain": rng.uniform(0.3, 1.3)} if "gain" in truth else {}
        starts.append(start)
    return starts


def ar1() -> Iterator[Entry]:
    """Maximum likelihood of AR(1) with noise, T = 100, from random starts."""
    truth = {"rho": 0.9, "q": 0.5, "r": 0.7}
    ys = noisy_autoregression(**truth).simulate(100, rng=FRESH_SEED)[1]

    def f(rho: float, q: float, r: float) -> float:
        return float(scalar_kalman(rho, q, r, ys[:, 0]))

    top = best(lambda v: f(np.tanh(v[0]), *np.exp(v[1:])), [1.0, -1.0, -0.3])[0]
    for k, start in enumerate(scattered(truth)):
        yield f"{k}", lambda s=start: fitted(noisy_autoregression, ys, s, AR_BOUNDS, f, top)


def lgss3() -> Iterator[Entry]:
    """Maximum likelihood of LGSS3, T = 100: gain of the dynamics and their noise."""
    truth, bounds = {"gain": 1.0, "q": 1.0}, {"q": (0, None)}
    ys = rotation(**truth).simulate(100, rng=FRESH_SEED)[1]

    def f(gain: float, q: float) -> float:
        return kalman(gain, q, ys)

    top = best(lambda v: f(v[0], np.exp(v[1])), [1.0, 0.0])[0]
    for k, start in enumerate(scattered(truth)):
        yield f"{k}", lambda s=start: fitted(rotation, ys, s, bounds, f, top)


def gbpusd() -> Iterator[Entry]:
    """Maximum likelihood of the volatility of GBP/USD, and what peers take for 250 days."""
    two = [{"rho": 0.9, "sigma": 0.3, "mu": -1.0}, {"rho": 0.2, "sigma": 0.7, "mu": -1.0}]
    yield f"fit {len(returns())}", lambda: volatility_fit(returns(), two)
    yield "bootstrap", lambda: bootstrap_fit(returns()[:DAYS])
    yield "large", lambda: large_filter(returns())
    yield "smc2", lambda: peer("smc2", DAYS, 0, 100)
    yield f"fit {DAYS}", lambda: volatility_fit(returns()[:DAYS], two)


def volatility_optimum(ys: np.ndarray) -> tuple[float, Function]:
    """The largest exact log-evidence, from two starts, and the evidence of free parameters."""

    def f(v: np.ndarray) -> float:
        return on_grid(np.tanh(v[0]), np.exp(v[1]), v[2], ys)

    starts = [np.arctanh(0.9), np.log(0.3), -1.0], [-0.1, np.log(0.65), -1.4]
    return max(best(f, start)[0] for start in starts), f


def volatility_fit(ys: np.ndarray, starts: Any) -> dict[str, Any]:
    """Fit GBP/USD from several starts."""
    top = volatility_optimum(ys)[0]

    def f(**parameters: float) -> float:
        return on_grid(**parameters, ys=ys)

    return fitted(volatility, ys, starts, SV_BOUNDS, f, top) | {"optimum": top}


def bootstrap_fit(ys: np.ndarray, n: int = 1000) -> dict[str, Any]:
    """Nelder-Mead on a bootstrap filter with common random numbers."""
    (top, f), counted, began = volatility_optimum(ys), [0], process_time()

    def estimate(v: np.ndarray) -> float:
        counted[0] += 1
        model = volatility(np.tanh(v[0]), np.exp(v[1]), v[2])
        return -skh.particle_filter(model, ys, skh.Systematic(), n, rng=0).log_evidence

    options = {"xatol": 1e-2, "fatol": 1e-2, "maxfev": 120}
    start = [np.arctanh(0.9), np.log(0.3), -1.0]
    end = optimize.minimize(estimate, start, method="Nelder-Mead", options=options).x
    seconds, likelihoods = process_time() - began, counted[0] * n * len(ys)
    found = {"missed": top - f(end), "n": n, "filters": counted[0]}
    return found | {"likelihoods": likelihoods, "seconds": seconds}


def large_filter(ys: np.ndarray, n: int = 200_000) -> dict[str, Any]:
    """A filter with very many particles at the exact optimum: how far it is from the grid."""
    optima = [best_point(ys, start) for start in ([1.5, -1.2, -1.0], [-0.1, -0.4, -1.4])]
    top, v = max(optima, key=lambda found: found[0])
    model = volatility(np.tanh(v[0]), np.exp(v[1]), v[2])
    run = skh.particle_filter(model, ys, skh.Systematic(), n, rng=0)
    return {"n": n, "optimum": top, "off": run.log_evidence - top}


def best_point(ys: np.ndarray, start: list[float]) -> tuple[float, np.ndarray]:
    """The optimum of the grid that is reached from a start."""
    return best(lambda v: on_grid(np.tanh(v[0]), np.exp(v[1]), v[2], ys), start)


def exact() -> Iterator[Entry]:
    """The posterior of a linear model: delayed acceptance against long exact chains."""
    ys = noisy_autoregression(0.9, 0.5, 0.7).simulate(50, rng=3)[1]

    @cache
    def long() -> tuple[np.ndarray, np.ndarray]:
        draws = exact_posterior(ys[:, 0]).reshape(-1, len(AR_PRIOR))
        return draws.mean(axis=0), draws.std(axis=0)

    def compared(seed: int) -> dict[str, Any]:
        found = skh.sample_posterior(noisy_autoregression, ys, AR_PRIOR, draws=500, rng=seed)
        means, sds = (np.array(list(d.values())) for d in (found.means, found.standard_deviations))
        ess = np.array(list(found.ess.values()))
        errors = np.array([error_of_deviation(x) for x in found.draws.values()])
        return {
            "means": ((means - long()[0]) / (sds / np.sqrt(ess))).tolist(),  # in their errors
            "deviations": ((sds - long()[1]) / errors).tolist(),
            "ratios": (sds / long()[1]).tolist(),
            "ess": ess.tolist(),
            "r_hat": max(found.r_hat.values()),
        }

    for seed in range(4):
        yield f"{seed}", lambda seed=seed: compared(seed)


def error_of_deviation(x: np.ndarray) -> float:
    """Monte Carlo error of the standard deviation of chains (chains, draws)."""
    squares = (x - x.mean()) ** 2
    size = skh.effective_sample_size(squares, ranks=False)
    return float(squares.std() / np.sqrt(size) / (2 * x.std()))


def posterior() -> Iterator[Entry]:
    """The posterior of GBP/USD: seconds and likelihoods per effective draw beside PMMH."""
    for seed in range(3):
        yield f"pmmh {seed}", lambda seed=seed: chain_summary(peer("pmmh", DAYS, seed, PMMH_DRAWS))
        yield f"cheap {seed}", lambda seed=seed: sampled(seed, 0.0)
        yield f"expensive {seed}", lambda seed=seed: sampled(seed, MILLISECOND)


def chain_summary(found: dict[str, Any]) -> dict[str, Any]:
    """Effective size and means of a peer's chain."""
    draws = {name: np.array(x)[PMMH_DRAWS // 10 :] for name, x in found.pop("draws").items()}
    ess = min(skh.effective_sample_size(x[None]) for x in draws.values())
    return found | {"ess": ess, "means": {name: float(x.mean()) for name, x in draws.items()}}


class Priced(skh.models.StochasticVolatility):
    """Volatility that counts its likelihoods."""

    counted = 0

    def log_likelihood(self, t: int, x: Any, y: Any) -> Any:
        Priced.counted += len(x)
        return super().log_likelihood(t, x, y)


def priced_volatility(rho: float, sigma: float, mu: float) -> Priced:
    """Stochastic volatility that counts its likelihoods."""
    return Priced(rho, sigma, float(np.exp(mu / 2)))


def sampled(seed: int, price: float) -> dict[str, Any]:
    """Sample the posterior; the library's clock sees likelihoods that take ``price`` seconds."""
    Priced.counted = 0
    stages.perf_counter = lambda: perf_counter() + price * Priced.counted
    began = process_time()
    draws = 300 if price else 500
    found = skh.sample_posterior(
        priced_volatility, returns()[:DAYS], SV_PRIOR, draws=draws, rng=seed
    )
    seconds = process_time() - began
    stages.perf_counter = perf_counter
    return {
        "seconds": seconds + price * Priced.counted,
        "likelihoods": Priced.counted,
        "ess": min(found.ess.values()),
        "draws": draws,
        "r_hat": max(found.r_hat.values()),
        "accepted": float(found.accepted.mean()),
        "means": found.means,
        "stages": [found.first_stage, found.second_stage],
    }


PARTS: dict[str, Callable[[], Iterator[Entry]]] = {
    f.__name__: f for f in (ar1, lgss3, gbpusd, exact, posterior)
}


def rounded(value: Any) -> Any:
    """Numbers to four digits."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def measure(parts: list[str]) -> None:
    """Measure what the record lacks of some parts, and write it after each entry."""
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for part in parts:
        known = record.setdefault(part, {})
        for name, run in PARTS[part]():
            if name not in known:
                known[name] = rounded(run())
                RECORD.write_text(json.dumps(record, indent=1) + "\n")
                print(part, name, json.dumps(known[name]), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        print(tables(json.loads(RECORD.read_text())))
    else:
        measure(sys.argv[1:] or list(PARTS))
