"""Evaluate likelihoods concurrently, each by its own request to a slow service.

    python examples/ask_tell.py

`step(y)` calls the model's likelihood and waits for it.  Here the filter asks where it needs the
likelihood, and asyncio runs all requests at once; some of them fail and are sent again.
"""

from __future__ import annotations

import asyncio
import time

import numpy as np

import skh

LATENCY = 0.01  # seconds per request
N, T = 100, 12  # particles, observations
NOISE = 0.3  # metres


async def render_and_compare(t: int, x: np.ndarray, y: np.ndarray) -> float:
    """Stand in for a service that compares an image with its prediction at one state."""
    await asyncio.sleep(LATENCY)
    if (t + int(1e6 * abs(x[0]))) % 10 == 0:
        raise ConnectionError("busy")
    return float(-0.5 * ((y - x[:2]) ** 2).sum() / NOISE**2)


async def evaluated(t: int, x: np.ndarray, y: np.ndarray, attempts: int = 3) -> float:
    """One log-likelihood; a state that cannot be evaluated is treated as impossible."""
    for _ in range(attempts):
        try:
            return await render_and_compare(t, x, y)
        except ConnectionError:
            t += 1  # another attempt, another moment
    return -np.inf


def model() -> skh.Model:
    """Constant velocity in the plane; the likelihood is evaluated by the service."""

    def transition(t: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x @ np.kron([[1, 0], [1, 1]], np.eye(2)), np.diag([0.01, 0.01, 0.01, 0.01])

    def elsewhere(t: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        raise RuntimeError("the service evaluates the likelihood")

    return skh.model_from_functions((np.zeros(4), np.eye(4)), transition, elsewhere)


async def track(ys: np.ndarray) -> list[skh.Belief]:
    """Filter all observations."""
    pf, beliefs = skh.ParticleFilter(model(), n=N, rng=0), []
    for y in ys:
        question = pf.ask()
        while question is not None:
            values = await asyncio.gather(*(evaluated(question.t, x, y) for x in question.x))
            question = pf.tell(values)
        beliefs.append(pf.belief)
    return beliefs


def main() -> None:
    """Track an object and print how far off the filter is."""
    path = np.cumsum(np.tile([0.5, 0.2], (T, 1)), axis=0)
    ys = path + NOISE * np.random.default_rng(1).standard_normal((T, 2))
    start = time.perf_counter()
    beliefs = asyncio.run(track(ys))
    seconds = time.perf_counter() - start
    off = np.array([b.mean[:2] for b in beliefs]) - path
    n = sum(b.n_likelihood_evaluations for b in beliefs)
    print(f"RMSE {np.sqrt((off**2).sum(axis=1).mean()):.2f} m")
    print(f"{n} likelihoods, {1e3 * LATENCY:.0f} ms or more each, in {seconds:.1f} s")


if __name__ == "__main__":
    main()
