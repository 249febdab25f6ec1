"""coreax 1.0: `KernelHerding` on given search points, fed the exact mean map; prints JSON.

The fairest setting we know: compiled by `jax.jit` and run once before the clock starts, double
precision as ours, the mean map given by ``HerdingState`` (its own default would compute M^2 kernels
and stands for another target), ``unique=False`` since ours may repeat a point.  The caller sets
JAX_ENABLE_X64.
"""

import json
import sys
import time
from statistics import median

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from coreax import Data, SquaredExponentialKernel
from coreax.solvers import KernelHerding
from coreax.solvers.coresubset import HerdingState

if __name__ == "__main__":
    data = np.load(sys.argv[1])
    x, mu, n = jnp.asarray(data["x"]), jnp.asarray(data["mu"]), int(data["n"])
    solver = KernelHerding(n, kernel=SquaredExponentialKernel(length_scale=1.0), unique=False)

    @eqx.filter_jit
    def reduce(x, mu):
        """The indices of the coreset."""
        coreset, _ = solver.reduce(Data(x), HerdingState(mu))
        return coreset.unweighted_indices

    chosen = np.asarray(reduce(x, mu).block_until_ready())
    times = []
    for _ in range(9):
        start = time.process_time()
        reduce(x, mu).block_until_ready()
        times.append(time.process_time() - start)
    print(
        json.dumps({"version": "coreax 1.0", "seconds": median(times), "chosen": chosen.tolist()})
    )
