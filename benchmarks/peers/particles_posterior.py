"""`particles` 0.4: PMMH and SMC^2 for the volatility of GBP/USD; prints JSON.

    python particles_posterior.py returns          # the returns in percent
    python particles_posterior.py pmmh DAYS SEED DRAWS
    python particles_posterior.py smc2 DAYS SEED SIZE

The number of particles of PMMH is tuned so that the log-evidence has variance 1; its random walk
adapts.  Likelihoods are counted where they are evaluated.  Seconds are of the processor.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import particles
from particles import distributions as dists
from particles import mcmc, smc_samplers
from particles import state_space_models as ssm

LAWS = {"rho": dists.Uniform(-1, 1), "sigma": dists.Gamma(2, 4), "mu": dists.Normal(-1, 1)}
NEAR_MODE = {"rho": -0.1, "sigma": 0.65, "mu": -1.45}
SIZES = (25, 50, 75, 100, 150, 200, 300, 400)  # numbers of particles that are tried
TRIALS = 60  # runs that tell the variance of the log-evidence
counted = [0]  # likelihoods so far


class Volatility(ssm.StateSpaceModel):
    """Stochastic volatility whose log-variance has the mean mu."""

    def PX0(self):
        share = np.maximum(1 - self.rho**2, 1e-12)  # it is also asked for rho outside (-1, 1)
        return dists.Normal(scale=self.sigma / np.sqrt(share))

    def PX(self, t, xp):
        return dists.Normal(self.rho * xp, self.sigma)

    def PY(self, t, xp, x):
        counted[0] += len(x)
        return dists.Normal(scale=np.exp(0.5 * (self.mu + x)))


class Chain(mcmc.PMMH):
    """PMMH; its own step takes an array of one number for a number, which new NumPy refuses."""

    def compute_post(self):
        self.prop.lpost[0] = self.prior.logpdf(self.prop.theta).item()
        if np.isfinite(self.prop.lpost[0]):
            values = {name: self.prop.theta[name].item() for name in LAWS}
            pf = self.alg_instance(values)
            pf.run()
            self.prop.lpost[0] += pf.logLt


def returns():
    """Returns of GBP/USD in percent."""
    path = Path(particles.__file__).parent / "datasets" / "GBP_vs_USD_9798.txt"
    lines = [line for line in path.read_text().splitlines() if line[:1].isdigit()]
    return 100 * np.diff(np.log([float(line.split()[3]) for line in lines]))


def variance(ys, n):
    """Variance of the log-evidence of the bootstrap filter near the mode."""
    found = []
    for _ in range(TRIALS):
        pf = particles.SMC(fk=ssm.Bootstrap(ssm=Volatility(**NEAR_MODE), data=ys), N=n)
        pf.run()
        found.append(pf.logLt)
    return float(np.var(found))


def measured(run):
    """What a run returns, with its seconds and likelihoods."""
    start, before = time.process_time(), counted[0]
    found = run()
    return found | {"seconds": time.process_time() - start, "likelihoods": counted[0] - before}


def pmmh(ys, draws):
    """One adaptive chain; without a warm-up: the start is near the mode."""
    variances = {}
    for n in SIZES:
        variances[n] = variance(ys, n)
        if variances[n] <= 1.0:
            break
    n = min(variances, key=lambda n: abs(np.log(variances[n])))
    prior = dists.StructDist(LAWS)
    fields = np.dtype(prior.dtype)
    first = [tuple(NEAR_MODE[name] for name in fields.names)]

    def run():
        start = np.array(first, dtype=fields)
        options = {"niter": draws, "theta0": start, "adaptive": True}
        chain = Chain(ssm_cls=Volatility, prior=prior, data=ys, Nx=n, **options)
        chain.run()
        return {name: chain.chain.theta[name].tolist() for name in LAWS}

    found = measured(run)
    kept = {"draws": {name: found.pop(name) for name in LAWS}}
    return kept | found | {"n": n, "variance": variances[n]}


def smc2(ys, size):
    """SMC^2 with so many parameters in total, of chains of ten steps (waste-free)."""

    def run():
        fk = smc_samplers.SMC2(
            ssm_cls=Volatility,
            data=ys,
            prior=dists.StructDist(LAWS),
            init_Nx=75,
            ar_to_increase_Nx=0.1,
            len_chain=10,
        )
        pf = particles.SMC(fk=fk, N=size // 10)
        pf.run()
        means = {name: float(np.average(pf.X.theta[name], weights=pf.W)) for name in LAWS}
        return {"means": means, "size": len(pf.W), "log_evidence": float(pf.logLt)}

    return measured(run)


def main():
    """Run what the command line asks for."""
    what, *numbers = sys.argv[1:]
    if what == "returns":
        return returns().tolist()
    days, seed, size = map(int, numbers)
    np.random.seed(seed)
    return {"pmmh": pmmh, "smc2": smc2}[what](returns()[:days], size)


if __name__ == "__main__":
    print(json.dumps(main()))
