"""With NUMBA_DISABLE_JIT=1 Python runs the kernels, and the results are the same."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import skh

SCRIPT = "import test_uncompiled; print(*map(float, test_uncompiled.numbers()))"


def numbers():
    """Results of single and double precision, of moved points, and of a pose."""
    model, ys = skh.models.lgss3(), [0.5, -0.3]
    p = skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [2.0, 1.0]], 1.0)
    kernel, flight = skh.GaussianKernel(1.0), skh.models.survey_flight(1, rng=0)
    return [
        *skh.particle_filter(model, ys, n=8, rng=0).means.ravel(),
        *skh.particle_filter(model, ys, skh.QuasiMonteCarlo("hilbert"), 8, rng=0).means.ravel(),
        skh.FWQuad(kernel, skh.FullyCorrective(), 50)(p, 5, rng=0).mmd,
        *skh.FWQuad(kernel, skh.Herding(), 2000)(p, 3, rng=0).x.ravel(),
        *skh.particle_filter(flight.model, flight.observations, n=5, rng=0).means.ravel(),
    ]


def test_results_of_uncompiled_kernels_are_the_same():
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path, "SKH_THREADS": "2"},
    )
    uncompiled = np.array(run.stdout.split(), dtype=np.float64)
    np.testing.assert_allclose(uncompiled, numbers(), rtol=1e-9, atol=1e-9)
