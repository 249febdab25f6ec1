"""Likelihoods by workers: how much faster a filter is with them, and what a call costs.

    python benchmarks/parallel.py            # a minute; prints the table of docs/parallel.md

Times are by the clock, since waiting is what workers are for, and the best of several rounds in
which serial and parallel runs take turns: run it on an idle machine.  The rule is the default rule,
which looks once.  Two looks of 25 particles keep ten workers busy three times each, not five times
in all: 8.3 is then the most that they can gain.  "The pool alone" is the same calls without a
filter, split evenly beforehand: on a machine whose cores are taken, it gains as little.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
from bench import line
from timing import Row, best_of

import skh

N, STEPS, ROUNDS = 50, 2, 5
PAUSE = 0.02  # seconds per particle
ROUND_TRIPS = 200  # particles of a filter whose likelihood costs nothing


def transition(t: int, x: np.ndarray) -> tuple[np.ndarray, float]:
    return 0.9 * x, 0.2


def cheap(t: int, x: np.ndarray, y: float) -> float:
    return -0.5 * (y - x[0]) ** 2


def sleeping(t: int, x: np.ndarray, y: float) -> float:
    time.sleep(PAUSE)
    return cheap(t, x, y)


def computing(t: int, x: np.ndarray, y: float) -> float:
    end = time.process_time() + PAUSE
    while time.process_time() < end:
        pass
    return cheap(t, x, y)


def model(log_likelihood: Callable[..., float], executor: Executor | None = None) -> skh.Model:
    prior = ([0.0, 0.0], 1.0)
    return skh.model_from_functions(
        prior, transition, log_likelihood, batched=False, executor=executor
    )


def seconds(of: skh.Model, rule: skh.Rule, n: int = N) -> tuple[float, np.ndarray]:
    """Seconds of a filter by the clock, and its means."""
    start = time.perf_counter()
    result = skh.particle_filter(of, STEPS * [0.3], rule, n, rng=0)
    return time.perf_counter() - start, result.means


def pool_alone(log_likelihood: Callable[..., float], executor: Executor, workers: int) -> float:
    """Seconds of the calls of one step, one batch per worker."""
    start = time.perf_counter()
    size = N // workers
    for batch in [executor.submit(several, log_likelihood, size) for _ in range(workers)]:
        batch.result()
    return time.perf_counter() - start


def several(log_likelihood: Callable[..., float], size: int) -> None:
    for _ in range(size):
        log_likelihood(0, np.zeros(2), 0.3)


def speed_up(
    log_likelihood: Callable[..., float], executor: Executor, workers: int
) -> tuple[float, str]:
    """Ratio of serial to parallel seconds; the results must be the same to the bit."""
    serial, parallel = model(log_likelihood), model(log_likelihood, executor)
    rule = skh.default_rule()
    seconds(parallel, rule, 10)  # starts the workers

    def in_turn() -> tuple[float, float, float]:
        (slow, expected), (fast, found) = seconds(serial, rule), seconds(parallel, rule)
        assert np.array_equal(expected, found)
        return slow / STEPS, fast / STEPS, pool_alone(log_likelihood, executor, workers)

    slow, fast, bare = best_of(ROUNDS, in_turn)
    return slow / fast, (
        f"{1e3 * slow:.0f} ms per step without, {1e3 * fast:.0f} ms with them; "
        f"the pool alone: {slow / bare:.2f} x"
    )


def per_call(executor: Executor, chunk: int = 1) -> float:
    """Microseconds that workers add to a likelihood that costs nothing, per particle."""
    alone, shared = model(cheap), skh.parallel(model(cheap), executor, chunk=chunk)

    def in_turn() -> list[float]:
        return [seconds(of, skh.Stratified(), ROUND_TRIPS)[0] for of in (shared, alone)]

    in_turn()
    with_workers, without = best_of(ROUNDS, in_turn)
    return 1e6 * (with_workers - without) / ROUND_TRIPS / STEPS


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    import distributed

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(host="127.0.0.1", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


def rows() -> Iterator[Row]:
    """All rows of the table."""
    kinds = {"threads": ThreadPoolExecutor, "processes": processes}
    if find_spec("distributed"):  # of the extra `cluster`
        kinds["dask workers"] = dask
    for kind, likelihood, workers, bound in (
        ("processes", sleeping, 2, 1.8),
        ("processes", computing, 2, 1.8),
        ("threads", sleeping, 10, 9.0),
        ("dask workers", sleeping, 2, 0.0),
    ):
        if kind in kinds:
            with kinds[kind](workers) as executor:
                ratio, detail = speed_up(likelihood, executor, workers)
            name = f"20 ms of {likelihood.__name__} per particle, N = {N}: {workers} {kind}"
            yield Row(name, ratio, bound, "x serial", at_least=True, detail=detail)
    for kind, make in kinds.items():
        with make(2) as executor:
            for chunk in (1, 10):
                name = f"cost per particle, 2 {kind}, {chunk} per call"
                yield Row(name, per_call(executor, chunk), 0.0, "us", at_least=True)


def main() -> None:
    print("| | bound | measured | kept | |\n|---|---|---|---|---|")
    for row in rows():
        print(line(row), flush=True)


if __name__ == "__main__":
    main()
