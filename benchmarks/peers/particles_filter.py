"""`particles` 0.4: the bootstrap filter and SQMC, through `particles.SMC`; prints JSON.

The fairest setting we know: vectorised model classes of the library's own kind, systematic
resampling at each step as in ours (``ESSrmin=1``), no collectors, no stored history, the first run
(which compiles its numba parts) left out, time of a whole run divided by the number of steps.
"""

import json
import sys
import time
from statistics import median

import numpy as np
import particles
from particles import distributions as dists
from particles import state_space_models as ssm


class Nonlinear(ssm.StateSpaceModel):
    """The nonlinear benchmark."""

    def PX0(self):
        return dists.Normal(scale=np.sqrt(5.0))

    def PX(self, t, xp):
        return dists.Normal(loc=0.5 * xp + 25 * xp / (1 + xp**2) + 8 * np.cos(1.2 * t))

    def PY(self, t, xp, x):
        return dists.Normal(loc=0.05 * x**2)


class Linear(ssm.StateSpaceModel):
    """The linear Gaussian model with d = 3."""

    def PX0(self):
        return dists.MvNormal(cov=np.eye(3))

    def PX(self, t, xp):
        return dists.MvNormal(loc=xp @ self.A.T, cov=np.eye(3))

    def PY(self, t, xp, x):
        return dists.Normal(loc=x @ self.C[0], scale=np.sqrt(0.1))


def seconds_per_step(model, ys, n, qmc, repeats):
    """Median over runs of the time of a run, over its number of steps."""

    def run():
        fk = ssm.Bootstrap(ssm=model, data=ys)
        smc = particles.SMC(
            fk=fk,
            N=n,
            qmc=qmc,
            resampling="systematic",
            ESSrmin=1.0,
            store_history=False,
            collect="off",
        )
        start = time.process_time()
        smc.run()
        return time.process_time() - start

    run()
    return median(run() for _ in range(repeats)) / len(ys)


if __name__ == "__main__":
    data = np.load(sys.argv[1])
    nonlinear = Nonlinear()
    linear = Linear(A=data["A"], C=data["C"])
    y1, y3 = data["y1"][:, 0], data["y3"][:, 0]
    print(
        json.dumps(
            {
                "version": "particles 0.4",
                "bootstrap 100": seconds_per_step(nonlinear, y1, 100, False, 15),
                "bootstrap 100000": seconds_per_step(nonlinear, y1[:20], 100_000, False, 5),
                "sqmc 1": seconds_per_step(nonlinear, y1, 100, True, 9),
                "sqmc 3": seconds_per_step(linear, y3, 100, True, 9),
            }
        )
    )
