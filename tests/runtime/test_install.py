"""A second process finds the kernels that the first one compiled."""

import subprocess
import sys

FIRST_CALL = """
import skh
from skh import _compiled
p = skh.GaussianMixture([0.5, 0.5], [[0.0], [1.0]], 1.0)
for step in (skh.Herding(), skh.FullyCorrective()):
    skh.FWQuad(skh.GaussianKernel(1.0), step, 50)(p, 5, rng=0)
print([sum(f.stats.cache_misses.values()) for f in (
    _compiled.bumps.add_bumps, _compiled.rough.rough_steps,
    _compiled.base.combine_and_search, _compiled.qp.solve
)])
"""


def test_a_second_process_finds_the_compiled_code_on_disk():
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
        )
    assert run.stdout.split() == ["[0,", "0,", "0,", "0]"]
