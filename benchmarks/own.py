"""Benchmarks without peers: this library against `numpy.exp`, and against itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from problems import mixture, rule
from timing import Row, Work, growth_of, medians, pin

import skh
from skh.filtering.plans import OneLook
from skh.reproduction.rule_wrappers import Whitened

N, M = 100, 10_000


def limit(pieces: int = 1) -> Work:
    """`numpy.exp` on 2 N M doubles: all exponentials of FW-Quad with N components."""
    x = -5 * np.random.default_rng(0).random(2 * N * M // pieces)
    out = np.empty_like(x)

    def exponentials() -> None:
        for _ in range(pieces):
            np.exp(x, out=out)

    return exponentials


def call(p: skh.GaussianMixture, step: object = None, n: int = N, m: int = M) -> Work:
    """One whole call of FW-Quad: search points, mean map, search, MMD."""
    return lambda: rule(step, m)(p, n, rng=0)


def against_the_limit() -> Iterator[Row]:
    """Medians of ratios over several rounds, since the clock rate varies between rounds."""
    p, fcfw = mixture(), skh.FullyCorrective()

    def one_round() -> list[float]:
        # The limit runs alone, since it is faster with its numbers in the cache.
        limits = [medians(limit(pieces), repeats=9)[0] for pieces in (1, 200)]
        return limits + medians(call(p), call(p, skh.LineSearch()), call(p, fcfw), repeats=9)

    rounds = np.array([one_round() for _ in range(7)])
    unit, cached, herding, line, full = np.median(rounds, axis=0)
    to_limit = np.median(rounds / rounds[:, :1], axis=0)

    def detail(seconds: float) -> str:
        return (
            f"{1e3 * seconds:.2f} ms; limit {1e3 * unit:.2f} ms in one array; in pieces of 10,000 "
            f"that stay in the cache {1e3 * cached:.2f} ms, so {seconds / cached:.2f} x that"
        )

    yield Row("herding, everything included", to_limit[2], 1.0, "x limit", detail=detail(herding))
    yield Row("line search", line / herding, 1.2, "x herding", detail=f"{1e3 * line:.2f} ms")
    yield Row("FCFW", to_limit[4], 2.0, "x limit", detail=detail(full))
    factor, whole = growth_of(call(p, fcfw), call(p, fcfw, 2 * N), 15)
    yield Row("FCFW, N 100 -> 200", factor, 2.0, detail=f"{1e3 * whole:.1f} ms")


def growth() -> Iterator[Row]:
    p = mixture()
    base, more_n, more_m = medians(call(p), call(p, n=2 * N), call(p, m=5 * M))
    yield Row("herding, N 100 -> 200", more_n / base, 2.1, detail=f"{1e3 * more_n:.2f} ms")
    yield Row("herding, M 10,000 -> 50,000", more_m / base, 5.5, detail=f"{1e3 * more_m:.2f} ms")
    model = skh.models.nonlinear_benchmark()
    _, ys = model.simulate(400, rng=0)
    factor, _ = growth_of(
        lambda: skh.particle_filter(model, ys[:100], rule(), 50, rng=0),
        lambda: skh.particle_filter(model, ys, rule(), 50, rng=0),
        9,
    )
    # The first step is cheaper (the prior has one component): hence slightly more than 4.
    yield Row("filter, T 100 -> 400", factor, 4.2, detail="linear would be 4")


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
    """A model with a constant likelihood, to time the filter without it."""

    def __init__(self, model: skh.Model) -> None:
        self.prior, self.transition = model.prior, model.transition

    def log_likelihood(self, t: int, x: np.ndarray, y: object) -> np.ndarray:
        """Zero for every particle."""
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


def default_rule() -> Iterator[Row]:
    """The default rule against herding: whole filters, and one call on a mixture."""
    for name, model in (
        ("LGSS d=3", skh.models.lgss3()),
        ("nonlinear benchmark", skh.models.nonlinear_benchmark()),
        ("JMLS", skh.models.jmls()),
    ):
        _, ys = model.simulate(15, rng=0)
        ours, plain = medians(
            lambda model=model, ys=ys: skh.particle_filter(model, ys, skh.default_rule(), N, rng=0),
            lambda model=model, ys=ys: skh.particle_filter(model, ys, rule(), N, rng=0),
            repeats=9,
        )
        detail = f"{1e3 * ours / len(ys):.2f} ms per step"
        yield Row(f"default rule, N = 100, {name}", ours / plain, 3.0, "x herding", detail=detail)
    p = mixture()
    ours, plain = medians(lambda: skh.default_rule()(p, N, rng=0), call(p))
    detail = f"{1e3 * ours:.2f} ms"
    yield Row("default rule, N = 100, mixture d=2", ours / plain, 3.0, "x herding", detail=detail)


def second_look() -> Iterator[Row]:
    """Whole filters that look twice, at every step and at none, against the default rule alone."""
    for name, model, bound in (
        ("guided: range and bearing", skh.models.range_bearing(), 2.5),
        ("not guided: stochastic volatility", skh.models.stochastic_volatility(), 1.3),
    ):
        _, ys = model.simulate(15, rng=0)
        works = [
            lambda rule=rule, model=model, ys=ys: skh.particle_filter(model, ys, rule, 50, rng=0)
            for rule in (skh.SecondLook(), skh.default_rule())
        ]
        looks, plain = medians(*works, repeats=9)
        detail = f"{1e3 * looks / len(ys):.2f} ms per step"
        yield Row(f"second look, N = 50, {name}", looks / plain, bound, "x default", detail=detail)


FIRST_CALLS = {  # what a new process does; bounds of the first ever time and of later ones
    ("first call", "first ever call"): (
        "rng = np.random.default_rng(0)\n"
        "p = skh.GaussianMixture(rng.random(100), rng.normal(size=(100, 2)), rng.random(100))\n"
        "skh.FWQuad(skh.GaussianKernel(1.0))(p, 100, rng=0)\n",
        10.0,
        0.6,
    ),
    ("first call of the default rule", "first ever call of the default rule"): (
        "rng = np.random.default_rng(0)\n"
        "p = skh.GaussianMixture(np.ones(50), rng.normal(size=(50, 2)), 0.3 * np.eye(2))\n"
        "skh.default_rule()(p, 50, rng=0)\n",
        10.0,
        0.6,
    ),
    ("first steps of the default plan", "first ever steps of the default plan"): (
        "class Walk:\n"
        "    def prior(self): return skh.GaussianMixture([1.0], np.zeros((1, 2)), np.eye(2))\n"
        "    def transition(self, t, x): return 0.9 * x, 0.3 * np.eye(2)\n"
        "    def log_likelihood(self, t, x, y): return -0.5 * ((x - y) ** 2).sum(axis=1)\n"
        "ys = np.random.default_rng(2).normal(size=(5, 2))\n"
        "skh.particle_filter(Walk(), ys, n=50, rng=0)\n",
        10.0,
        0.6,
    ),
}


def fresh_process() -> Iterator[Row]:
    """Import and first call, with an empty folder of compiled kernels and with a full one."""
    for (name, ever), (code, first_bound, bound) in FIRST_CALLS.items():
        with tempfile.TemporaryDirectory() as cache:
            first = _fresh_seconds(code, cache)
            again = sorted(_fresh_seconds(code, cache) for _ in range(5))[2]
        yield Row(f"import + {name}, kernels compiled before", again, bound, "s")
        yield Row(f"import + {ever}", first, first_bound, "s", detail="with a word to the user")


def _fresh_seconds(code: str, cache: str) -> float:
    timed = (
        "import time; start = time.perf_counter()\n"
        f"import numpy as np, skh\n{code}"
        "print(time.perf_counter() - start)"
    )
    run = subprocess.run(
        [sys.executable, "-c", timed],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        text=True,
        capture_output=True,
        check=True,
    )
    return float(run.stdout.split()[-1])


def memory() -> Iterator[Row]:
    p = mixture(K=200)
    for name, step, bound in (
        ("herding", skh.Herding(), 30.0),
        ("FCFW", skh.FullyCorrective(), 150.0),
    ):
        call(p, step, 5, 100)()
        tracemalloc.start()
        call(p, step, 200, 50_000)()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        yield Row(f"peak memory of {name}, N = 200, M = 50,000", peak, bound, "MB")


def two_threads() -> Iterator[Row]:
    """Best of many runs, in turns of twenty: two threads are as slow as the busier core."""
    code = (
        "import sys, time, numpy as np, skh\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from problems import mixture, rule\n"
        "p, best, points = mixture(), {1: 9.0, 2: 9.0}, {}\n"
        "for turn in range(1_000):\n"
        "    n = 1 + turn // 20 % 2\n"
        "    skh.set_threads(n)\n"
        "    start = time.perf_counter()\n"
        "    points[n] = rule(M=50_000)(p, 100, rng=0)\n"
        "    best[n] = min(best[n], time.perf_counter() - start)\n"
        "same = all((getattr(points[1], a) == getattr(points[2], a)).all() for a in ('x', 'w'))\n"
        "print(skh.get_threads(), best[1], best[2], int(same))"
    )
    pin(2)
    run = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        text=True,
        capture_output=True,
        check=True,
    )
    pin()
    threads, one, two, same = (float(word) for word in run.stdout.split())
    what = "the same points to the bit" if same else "OTHER POINTS"
    detail = f"{1e3 * one:.1f} and {1e3 * two:.1f} ms at best; {what}"
    if threads < 2:
        detail += "; this machine has one core"
    yield Row("two threads, M = 50,000", one / two if same else 0.0, 1.7, "x faster", True, detail)


def at_the_means(p: skh.GaussianMixture, n: int, *, rng: object = None) -> skh.WeightedPoints:
    """A rule at no cost, to time the filter's own work."""
    return skh.WeightedPoints(p.means, p.weights, np.arange(len(p)))


def rao_blackwell_step() -> Iterator[Row]:
    """Six dimensions in the particles, sixteen in Kalman filters, a matrix per particle."""
    rng = np.random.default_rng(0)
    n_x, n_z, m = 6, 16, 3
    A_x, A_z, C = (0.1 * rng.normal(size=(N, k, n_z)) for k in (n_x, n_z, m))
    model = skh.RaoBlackwellized(
        (np.zeros(n_x), np.eye(n_x)),
        (np.zeros(n_z), np.eye(n_z)),
        lambda t, x: (x, A_x[: len(x)], np.eye(n_x)),
        lambda t, x: (np.zeros(n_z), A_z[: len(x)], np.eye(n_z)),
        lambda t, x: (np.zeros(m), C[: len(x)], np.eye(m)),
    )
    pf = skh.ParticleFilter(model, skh.Stratified(), N, rng=0)
    pf.step(np.zeros(m))
    pf._plan = OneLook(at_the_means)  # from now on N particles at no cost
    step, quad = medians(lambda: pf.step(np.zeros(m)), call(mixture()), repeats=31)
    assert pf.belief is not None
    assert pf.belief.n_particles == N
    yield Row(
        "Rao-Blackwellized step, n_x = 6, n_z = 16, without its rule",
        step / quad,
        1.0,
        "x FW-Quad",
        detail=f"{1e3 * step:.2f} ms",
    )


def uav() -> Iterator[Row]:
    """Section 4.3: a full covariance per component in six dimensions, and a whole filter."""
    n, flight = 50, skh.models.survey_flight(200, rng=0)
    pf = skh.ParticleFilter(flight.model, skh.Stratified(), n, rng=0)
    for y in flight.observations[:60]:
        pf.step(y)
    p, placing = pf.predict(), Whitened(skh.FWQuad(skh.GaussianKernel(1.0)))
    works = limit(), lambda: placing(p, n, rng=0)
    rounds = np.array([[medians(w, repeats=9)[0] for w in works] for _ in range(7)])
    rounds[:, 0] *= n / N
    unit, herding = np.median(rounds, axis=0)
    yield Row(
        "UAV, herding at N = 50",
        np.median(rounds[:, 1] / rounds[:, 0]),
        4.0,
        "x limit",
        detail=f"{1e3 * herding:.2f} ms; limit {1e3 * unit:.2f} ms",
    )

    def filtered() -> None:
        pf = skh.ParticleFilter(flight.model, skh.Stratified(), 200, rng=0)
        for y in flight.observations:
            pf.step(y)

    (seconds,) = medians(filtered, repeats=3)
    yield Row("UAV, PF with N = 200, 2,000 steps", 10 * seconds, 20.0, "s", detail="from 200 steps")


SECTIONS: list[Callable[[], Iterator[Row]]] = [
    against_the_limit,
    growth,
    dimensions,
    two_threads,
    filter_step,
    default_rule,
    second_look,
    rao_blackwell_step,
    uav,
    fresh_process,
    memory,
]
