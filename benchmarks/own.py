"""The rows that need no peer: this library against `numpy.exp`, and against itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from problems import mixture, rule
from timing import Row, Work, medians

import skh

N, M = 100, 10_000


def limit(n: int = N, m: int = M) -> Work:
    """`numpy.exp` on the 2 n m doubles that FW-Quad with n components cannot avoid."""
    x = -5 * np.random.default_rng(0).random(2 * n * m)
    out = np.empty_like(x)
    return lambda: np.exp(x, out=out)


def call(p: skh.GaussianMixture, step: object = None, n: int = N, m: int = M) -> Work:
    """One whole call of FW-Quad: search points, mean map, search, MMD."""
    return lambda: rule(step, m)(p, n, rng=0)


def against_the_limit() -> Iterator[Row]:
    p = mixture()
    fcfw = skh.FullyCorrective()
    unit, herding, line, full = medians(
        limit(), call(p), call(p, skh.LineSearch()), call(p, fcfw), repeats=31
    )
    ms = f"limit {1e3 * unit:.2f} ms"
    yield Row(
        "herding, everything included",
        herding / unit,
        2.0,
        "x limit",
        detail=f"{1e3 * herding:.2f} ms; {ms}",
    )
    yield Row("line search", line / herding, 1.2, "x herding", detail=f"{1e3 * line:.2f} ms")
    yield Row("FCFW", full / unit, 8.0, "x limit", detail=f"{1e3 * full:.2f} ms; {ms}")
    half, whole = medians(call(p, fcfw), call(p, fcfw, 2 * N), repeats=9)
    yield Row("FCFW, N 100 -> 200", whole / half, 3.0, detail=f"{1e3 * whole:.1f} ms")


def growth() -> Iterator[Row]:
    p = mixture()
    base, more_n, more_m = medians(call(p), call(p, n=2 * N), call(p, m=5 * M))
    yield Row("herding, N 100 -> 200", more_n / base, 2.1, detail=f"{1e3 * more_n:.2f} ms")
    yield Row("herding, M 10,000 -> 50,000", more_m / base, 5.5, detail=f"{1e3 * more_m:.2f} ms")
    model = skh.models.nonlinear_benchmark()
    _, ys = model.simulate(40, rng=0)
    short, long = medians(
        lambda: skh.particle_filter(model, ys[:10], rule(), 50, rng=0),
        lambda: skh.particle_filter(model, ys, rule(), 50, rng=0),
        repeats=9,
    )
    yield Row("filter, T 10 -> 40", long / short, 4.2, detail="linear would be 4")


def dimensions() -> Iterator[Row]:
    shared = {d: mixture(d=d, kind="shared") for d in (2, 6, 15)}
    two, six, fifteen, full = medians(
        *(call(p) for p in shared.values()), call(mixture(d=6, kind="full"))
    )
    yield Row("d = 6, shared covariance", six / two, 3.0, "x d=2", detail=f"{1e3 * six:.2f} ms")
    yield Row(
        "d = 15, shared covariance", fifteen / two, 5.0, "x d=2", detail=f"{1e3 * fifteen:.2f} ms"
    )
    yield Row(
        "d = 6, one covariance per component",
        full / six,
        4.0,
        "x shared",
        detail=f"{1e3 * full:.2f} ms",
    )


class Silent:
    """A model with the likelihood taken out, which is what a filter adds to its rule."""

    def __init__(self, model: skh.Model) -> None:
        self.prior, self.transition = model.prior, model.transition

    def log_likelihood(self, t: int, x: np.ndarray, y: object) -> np.ndarray:
        """Nothing is measured, so nothing is computed."""
        return np.zeros(len(x))


def filter_step() -> Iterator[Row]:
    model = Silent(skh.models.nonlinear_benchmark())
    kept = skh.ParticleFilter(model, rule(), 50, rng=0)
    for _ in range(5):
        kept.step(0.0)
    p, pf = kept.predict(), skh.ParticleFilter(model, rule(), 50, rng=0)
    pf.step(0.0)
    step, quad = medians(lambda: pf.step(0.0), call(p, n=50), repeats=101)
    yield Row(
        "SKH-FW step, N = 50, nonlinear benchmark",
        step / quad,
        1.3,
        "x its FW-Quad call",
        detail=f"{1e3 * step:.2f} ms; likelihood excluded",
    )


def fresh_process() -> Iterator[Row]:
    code = (
        "import time; start = time.perf_counter()\n"
        "import numpy as np, skh\n"
        "rng = np.random.default_rng(0)\n"
        "p = skh.GaussianMixture(rng.random(100), rng.normal(size=(100, 2)), rng.random(100))\n"
        "skh.FWQuad(skh.GaussianKernel(1.0))(p, 100, rng=0)\n"
        "print(time.perf_counter() - start)"
    )

    def seconds(cache: str) -> float:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        run = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            text=True,
            capture_output=True,
            check=True,
        )
        return float(run.stdout.split()[-1])

    with tempfile.TemporaryDirectory() as cache:
        first = seconds(cache)
        again = sorted(seconds(cache) for _ in range(5))[2]
    yield Row("import + first call, kernels compiled before", again, 1.5, "s")
    yield Row("import + first ever call", first, 30.0, "s", detail="with a word to the user")


def memory() -> Iterator[Row]:
    for name, step, bound in (("herding", "Herding", 30.0), ("FCFW", "FullyCorrective", 150.0)):
        code = (
            "import json, resource, sys, numpy as np, skh\n"
            "sys.path.insert(0, sys.argv[1])\n"
            "from problems import mixture, rule\n"
            f"step, p = skh.{step}(), mixture(K=200)\n"
            "rule(step, 100)(p, 5, rng=0)\n"
            "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
            "before = peak()\n"
            "rule(step, 50_000)(p, 200, rng=0)\n"
            "print(json.dumps(peak() - before))"
        )
        here = str(Path(__file__).resolve().parent)
        run = subprocess.run(
            [sys.executable, "-c", code, here], text=True, capture_output=True, check=True
        )
        yield Row(
            f"peak memory of {name}, N = 200, M = 50,000",
            json.loads(run.stdout),
            bound,
            "MB",
            detail="growth of the resident set",
        )


SECTIONS: list[Callable[[], Iterator[Row]]] = [
    against_the_limit,
    growth,
    dimensions,
    filter_step,
    fresh_process,
    memory,
]
