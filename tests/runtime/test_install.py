"""A second process finds the kernels that the first one compiled."""

import subprocess
import sys

FIRST_CALL = """
import skh
from skh import _numba
p = skh.GaussianMixture([0.5, 0.5], [[0.0], [1.0]], 1.0)
for step in (skh.Herding(), skh.FullyCorrective()):
    skh.FWQuad(skh.GaussianKernel(1.0), step, 50)(p, 5, rng=0)
print([sum(f.stats.cache_misses.values()) for f in (
    _numba.gaussian_sums.add_gaussians, _numba.single_precision.single_precision_steps,
    _numba.vertex_search.combine_and_search, _numba.simplex_qp.solve
)])
"""


def test_a_second_process_finds_the_compiled_code_on_disk():
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
        )
    assert run.stdout.split() == ["[0,", "0,", "0,", "0]"]


def test_import_does_not_load_optional_modules():
    code = "import sys, skh; print(*sys.modules); assert 'models' in dir(skh); skh.models.lgss3()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    late = {"rich", "matplotlib", "scipy.linalg", "scipy.special", "skh.models", "skh.geometry"}
    assert not late & set(run.stdout.split())
