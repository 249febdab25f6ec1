"""Three filters share one slow service: eight requests at a time, each with a time-out.

    python examples/asyncio_likelihood.py

`skh.parallel` is for likelihoods that are functions.  Where they are coroutines, a filter asks and
is told (docs/ask_and_tell.md), and asyncio does what the workers of an executor would do: it limits
how many requests are under way, gives up those that take too long and sends them again.  A step
that cannot be finished is cancelled, and the filter goes on without that observation.
"""

from __future__ import annotations

import asyncio

import numpy as np

import skh

OBJECTS, N, T = 3, 60, 8  # filters, particles, observations of each
SLOTS = 8  # requests that the service takes at the same time
TIMEOUT, ATTEMPTS = 0.1, 3  # seconds per request, requests per particle
NOISE = 0.3  # metres
OUTAGE = 5  # the step at which the service does not answer for the last object


class Service:
    """Stand in for a renderer somewhere else, which now and then takes far too long."""

    def __init__(self) -> None:
        self.slots = asyncio.Semaphore(SLOTS)
        self.requests = self.late = 0

    async def log_likelihood(self, t: int, x: np.ndarray, y: np.ndarray, dead: bool) -> float:
        """One particle, by as many requests as it takes."""
        for _ in range(ATTEMPTS):
            async with self.slots:
                try:
                    return await asyncio.wait_for(self._request(x, y, dead), TIMEOUT)
                except TimeoutError:
                    self.late += 1
        raise TimeoutError(f"no answer to {ATTEMPTS} requests at t={t}")

    async def _request(self, x: np.ndarray, y: np.ndarray, dead: bool) -> float:
        self.requests += 1
        hangs = dead or self.requests % 100 == 0
        await asyncio.sleep(10.0 if hangs else 0.001)
        return float(-0.5 * ((y - x[:2]) ** 2).sum() / NOISE**2)


def model() -> skh.Model:
    """Constant velocity in the plane; the likelihood is that of the service."""
    F = np.kron([[1, 0], [1, 1]], np.eye(2))
    prior = (np.zeros(4), np.eye(4))
    return skh.model_from_functions(prior, lambda t, x: (x @ F, 0.03), lambda t, x, y: np.nan)


async def track(service: Service, k: int, ys: np.ndarray) -> list[skh.Belief]:
    """Filter the observations of one object."""
    pf, beliefs = skh.ParticleFilter(model(), n=N, rng=k), []
    for t, y in enumerate(ys):
        dead = t == OUTAGE and k == OBJECTS - 1
        question = pf.ask()
        try:
            while question is not None:
                async with asyncio.TaskGroup() as tasks:
                    calls = [
                        tasks.create_task(service.log_likelihood(t, x, y, dead)) for x in question.x
                    ]
                question = pf.tell([call.result() for call in calls])
        except* TimeoutError as errors:
            print(f"object {k}: {errors.exceptions[0]}, without it")
            pf.cancel()  # as before the step
            pf.step(None)
        beliefs.append(pf.belief)
    return beliefs


async def main() -> None:
    """Track all objects at the same time and print how far off the filters are."""
    rng, service = np.random.default_rng(1), Service()
    paths = np.cumsum(np.tile(rng.normal(0, 0.5, (OBJECTS, 1, 2)), (1, T, 1)), axis=1)
    ys = paths + NOISE * rng.standard_normal(paths.shape)
    tracks = await asyncio.gather(*(track(service, k, ys[k]) for k in range(OBJECTS)))
    off = np.array([[b.mean[:2] for b in beliefs] for beliefs in tracks]) - paths
    print(f"RMSE {np.sqrt((off**2).sum(axis=-1).mean()):.2f} m")
    print(f"{service.requests} requests, {service.late} of them without an answer")


if __name__ == "__main__":
    asyncio.run(main())
