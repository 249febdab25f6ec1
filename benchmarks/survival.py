"""Streams that survive: memory of long streams, and kill -9 at random moments.

    python benchmarks/survival.py memory --steps 1000000          # a bootstrap filter, N = 100
    python benchmarks/survival.py memory --steps 10000 --default  # the default, N = 50
    python benchmarks/survival.py kills --kills 30

`kills` lets a process filter a series, with a checkpoint after every step, and ends it with kill -9
at a random moment; then it reads the checkpoint and starts the process again, until so many kills
are done.  At last the run is finished and compared with one that was not interrupted, to the bit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import fields
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import skh
from skh.files.container import read_file
from skh.filtering import checkpoint

MODEL, T = skh.models.lgss3(), 2000  # with a file per step, kills come long before the end
MAX_SECONDS = 1.0  # between the start of a run and its end by kill -9
SETTINGS = {"rule": skh.Stratified(), "n": 100, "rng": 1, "quantiles": [0.1, 0.9]}


@cache
def observations(steps: int) -> np.ndarray:
    return MODEL.simulate(steps, rng=0)[1]


def run(path: str | Path | None, steps: int) -> skh.FilterResult:
    """Filter the series, from the checkpoint on if there is one."""
    return skh.particle_filter(
        MODEL, observations(steps), **SETTINGS, checkpoint=path, checkpoint_every=0.0
    )


def kills(wanted: int, steps: int = T, seed: int = 0) -> dict[str, int]:
    """Kill a run so often; return how many kills came while a file was being written."""
    rng, counts = np.random.default_rng(seed), {"kills": 0, "while writing": 0, "steps": 0}
    with TemporaryDirectory() as folder:
        path, seen = Path(folder) / "run.npz", set()
        while counts["kills"] < wanted:
            if killed(path, steps, rng.uniform(0.0, MAX_SECONDS)):
                counts["kills"] += 1
            else:
                path.unlink()  # it was complete: begin again
                continue
            cut = set(path.parent.glob(".run.npz.*.tmp"))
            counts["while writing"] += bool(cut - seen)
            seen |= cut
            if path.exists():  # else the kill came before the first file
                counts["steps"] = len(read_file(path, "checkpoint").arrays["observations"])
        assert_equal(run(path, steps), run(None, steps))
    return counts


def killed(path: Path, steps: int, seconds: float) -> bool:
    """Run in a process of its own, and kill it after a while; False if it ended before."""
    command = [sys.executable, __file__, "child", str(path), "--steps", str(steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        child.stdout.readline()  # it is about to begin
        time.sleep(seconds)
        child.kill()
    return child.returncode != 0


def assert_equal(a: skh.FilterResult, b: skh.FilterResult) -> None:
    """Raise AssertionError if two results differ in a bit, apart from what depends on the clock."""
    for field in fields(a):
        if field.name not in ("seconds", "attributes"):
            u, v = getattr(a, field.name), getattr(b, field.name)
            same = u.tobytes() == v.tobytes() if isinstance(u, np.ndarray) else u == v
            assert same, field.name


def memory(steps: int, default: bool) -> None:
    """Print the memory of a stream, from which nothing is kept, at ten moments."""
    rule, n = (None, 50) if default else (skh.Stratified(), 100)
    ys, pf = observations(1000), skh.ParticleFilter(MODEL, rule, n, rng=1)
    began = time.monotonic()
    for k in range(steps):
        pf.step(ys[k % len(ys)])
        if (k + 1) % (steps // 10) == 0:
            print(f"{k + 1:9d} steps {resident():8.2f} MiB {time.monotonic() - began:8.1f} s")


def resident() -> float:
    """Memory of this process, in MiB (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["memory", "kills", "child"])
    parser.add_argument("path", nargs="?")
    parser.add_argument("--steps", type=int, default=T)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--default", action="store_true")
    given = parser.parse_args()
    if given.what == "memory":
        memory(given.steps, given.default)
    elif given.what == "child":
        observations(given.steps)
        run(None, 2)  # loads the compiled functions
        checkpoint.WRITING_SHARE = 1.0  # a file after every step: half of the time and more
        print("ready", flush=True)
        run(given.path, given.steps)
    else:
        counts = kills(given.kills, given.steps)
        print(*(f"{name}: {count}" for name, count in counts.items()), sep=", ")


if __name__ == "__main__":
    main()
