"""Benchmarks against other packages, each run by a script in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from problems import KERNEL, mixture, rule
from timing import Row, best_of, medians

import skh
from skh.frank_wolfe.vertex_search import Target

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".peers"
NEEDS = {
    "particles": ["particles==0.4", "numpy<2"],
    "coreax": ["coreax==1.0.0"],
    "goodpoints": ["goodpoints>=0.6,<0.7"],
}


def environment(peer: str) -> Path:
    """Path of the Python of a peer's environment, which is created on first use."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    if not (ENVIRONMENTS / f"{peer}.ready").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENTS / peer], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *NEEDS[peer]], check=True)
        (ENVIRONMENTS / f"{peer}.ready").touch()
    return python


def ask(peer: str, script: str, **arrays: Any) -> dict[str, Any]:
    """Run a peer's script on these arrays; return its JSON output."""
    python = environment(peer)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.npz"
        np.savez(path, **arrays)
        command = [python, HERE / "peers" / script, path]
        env = os.environ | {"JAX_ENABLE_X64": "1"}  # double precision, as ours
        run = subprocess.run(command, text=True, capture_output=True, check=True, env=env)
    answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return answer


def particles() -> Iterator[Row]:
    nonlinear, linear = skh.models.nonlinear_benchmark(), skh.models.lgss3()
    y1, y3 = nonlinear.simulate(100, rng=0)[1], linear.simulate(100, rng=0)[1]
    bootstrap, sqmc = skh.Systematic(), skh.QuasiMonteCarlo("hilbert")

    def run(model: skh.Model, ys: Any, rule: skh.Rule, n: int) -> float:
        def whole() -> None:
            pf = skh.ParticleFilter(model, rule, n, rng=0)
            for y in ys:
                pf.step(y)

        return medians(whole, repeats=9)[0] / len(ys)

    rivals = (
        ("bootstrap step, N = 100", "bootstrap 100", (nonlinear, y1, bootstrap, 100)),
        ("bootstrap step, N = 100,000", "bootstrap 100000", (nonlinear, y1[:20], bootstrap, 10**5)),
        ("SQMC step, N = 100, d = 1", "sqmc 1", (nonlinear, y1, sqmc, 100)),
        ("SQMC step, N = 100, d = 3", "sqmc 3", (linear, y3, sqmc, 100)),
    )

    def one_round() -> list[float]:
        theirs = ask("particles", "particles_filter.py", y1=y1, y3=y3, A=linear.A, C=linear.C)
        return [run(*ours) for *_, ours in rivals] + [theirs[key] for _, key, _ in rivals]

    seconds = best_of(3, one_round)
    for (name, *_), ours, peer in zip(rivals, seconds[:4], seconds[4:], strict=True):
        detail = f"{1e6 * ours:.0f} against {1e6 * peer:.0f} us"
        yield Row(name, ours / peer, 0.5, "x particles", detail=detail)


def error_of(p: skh.GaussianMixture, x: np.ndarray) -> float:
    """Exact MMD of equally weighted points."""
    return skh.mmd(KERNEL, p, x, np.full(len(x), 1 / len(x)))


GREEDY = skh.Herding(greedy=True)  # the rule of coreax


def fed(p: skh.GaussianMixture, x: np.ndarray, n: int) -> Callable[[], object]:
    """Herding alone, given search points and their mean map, as the peer is."""
    ours = rule(GREEDY)
    target = Target.of(ours.kernel, p, x)
    return lambda: ours.step.start(target, n).run(n)


def coreax() -> Iterator[Row]:
    n, M, errors, seconds = 100, 10_000, [], []
    for seed in range(5):
        p = mixture(seed=seed)
        x = skh.MonteCarlo()(p, M, rng=seed).x
        theirs = ask("coreax", "coreax_herding.py", x=x, mu=KERNEL.mean_map(p, x), n=n)
        ours = medians(fed(p, x, n), lambda p=p, seed=seed: rule(GREEDY)(p, n, rng=seed))
        steps = GREEDY, skh.Herding(), skh.LineSearch(), skh.FullyCorrective()
        found = [rule(step)(p, n, rng=seed).mmd for step in steps]
        errors.append([*found, error_of(p, x[theirs["chosen"]])])
        seconds.append([*ours, theirs["seconds"]])
    *mmds, other = np.mean(errors, axis=0)
    mine, all_of_it, peer = np.min(seconds, axis=0)  # the clock rate varies
    for name, time in (
        ("greedy herding, N = 100, M = 10,000, both given the mean map", mine),
        ("the same, ours with drawing and mean map", all_of_it),
    ):
        detail = f"{1e3 * time:.2f} against {1e3 * peer:.1f} ms"
        yield Row(name, peer / time, 10.0, "x faster than coreax", at_least=True, detail=detail)
    names = "its MMD", "MMD of the paper's herding", "MMD of line search", "MMD of FCFW"
    for name, mmd in zip(names, mmds, strict=True):
        # coreax uses the same rule in single precision: equal up to rounding.
        ratio = round(mmd / other, 3)
        bound = 0.0 if "paper" in name else 1.0
        detail = f"{mmd:.4f} against {other:.4f}, mean of 5 mixtures"
        yield Row(name, ratio, bound, "x coreax's", at_least=not bound, detail=detail)


def goodpoints() -> Iterator[Row]:
    """For each setting g, one of our rules that is at least as accurate, and herding."""
    p, n, M = mixture(), 128, 16_384
    x = skh.MonteCarlo()(p, M, rng=0).x
    unsearched = skh.Refined(skh.QuasiMonteCarlo("hilbert"), KERNEL, skh.Refine(2))
    herding, full = rule(M=M), rule(skh.FullyCorrective(), M)
    rivals = (
        ("0", "Sobol points, moved twice", unsearched, 10.0),
        ("0", "herding", herding, 0.0),
        ("2", "herding", herding, 10.0),
        ("4", "FCFW", full, 10.0),
        ("4", "herding", herding, 0.0),
    )
    theirs: dict[str, Any] = {}

    def one_round() -> list[float]:
        theirs.update(ask("goodpoints", "goodpoints_thinning.py", x=x))
        mine = [medians(lambda ours=ours: ours(p, n, rng=0))[0] for _, _, ours, _ in rivals]
        return mine + [theirs[g]["seconds"] for g, *_ in rivals]

    seconds = best_of(2, one_round)
    for (g, name, ours, bound), mine, peer in zip(rivals, seconds[:5], seconds[5:], strict=True):
        mmd = float(np.mean([ours(p, n, rng=seed).mmd for seed in range(3)]))
        other = float(np.mean([error_of(p, x[chosen]) for chosen in theirs[g]["chosen"]]))
        yield Row(
            f"{name}, N = 128, M = 16,384, against g = {g}",
            peer / mine,
            *(bound, "x faster than goodpoints"),
            at_least=True,
            detail=f"{1e3 * mine:.2f} against {1e3 * peer:.1f} ms",
        )
        yield Row(
            f"its MMD, against g = {g}",
            mmd / other,
            *(bound / 10, "x goodpoints's"),
            at_least=not bound,
            detail=f"{mmd:.4f} against {other:.4f}",
        )


SECTIONS: list[Callable[[], Iterator[Row]]] = [particles, coreax, goodpoints]
