"""Processes forked from one with threads compute the same with one thread."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import multiprocessing
import skh

P = skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [2.0, 1.0]], 1.0)
RULE = skh.FWQuad(skh.GaussianKernel(1.0), search_points=9000)

def points(n):
    return RULE(P, n, rng=0).x.tobytes(), skh.get_threads()

def with_two(n):
    skh.set_threads(2)
    return points(n)

if __name__ == "__main__":
    expected = points(4)[0]
    skh.set_threads(2)
    if {started}:
        assert points(4)[0] == expected
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(points, [4, 4]).get(timeout=100)
        more = pool.map_async(with_two, [4, 4]).get(timeout=100)
    assert found == [(expected, 1)] * 2, found
    assert [x for x, _ in more] == [expected] * 2
    print(more[0][1], skh.get_threads())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="about forked processes")
@pytest.mark.parametrize("started", [True, False])
def test_forked_processes_use_one_thread(tmp_path, started):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{started}", str(started)))
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=True
    )
    in_child, in_parent = map(int, run.stdout.split())
    assert in_child == (1 if started else in_parent)
