"""Every model class of `particles` 0.4, and three transitions that are not Gaussian; prints JSON.

Run in an environment that has both packages: `particles` pins NumPy below 2 but runs with later
ones.  For each model and series: the log-evidence of its bootstrap filter with 50,000 particles
(and the exact one, if it has a filter for that), that of this library's bootstrap filter with as
many, and the errors of its bootstrap filter with 1,000 and of our default with 50.
"""

import json
import sys

import numpy as np
import particles
from particles import distributions as dists
from particles import hmm, kalman
from particles import state_space_models as ssms

import skh

SERIES, STEPS = 3, 50
LARGE, SMALL, OURS = 50_000, 1_000, 50  # numbers of particles


class StudentWalk(ssms.StateSpaceModel):
    """A level with shocks of heavy tails."""

    def PX0(self):
        return dists.Normal()

    def PX(self, t, xp):
        return dists.Student(df=3.0, loc=0.9 * xp, scale=0.5)

    def PY(self, t, xp, x):
        return dists.Normal(loc=x, scale=0.5)


class GammaIntensity(ssms.StateSpaceModel):
    """Counts with an intensity that stays positive."""

    def PX0(self):
        return dists.Gamma(a=10.0, b=2.0)

    def PX(self, t, xp):
        return dists.Gamma(a=20.0, b=20.0 / (0.5 + 0.9 * xp))

    def PY(self, t, xp, x):
        return dists.Poisson(rate=x)


class Population(ssms.StateSpaceModel):
    """A population of individuals, counted with an error."""

    def PX0(self):
        return dists.Poisson(rate=30.0)

    def PX(self, t, xp):
        return dists.Poisson(rate=3.0 + 0.9 * xp)

    def PY(self, t, xp, x):
        return dists.Normal(loc=x, scale=3.0)


def models():
    """The models by name; those after the last line that is Gaussian are simulated."""
    pair = np.array([[1.0, 0.5], [0.5, 1.0]])
    chain = np.array([[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.1, 0.2, 0.7]])
    return {
        "StochVol": ssms.StochVol(),
        "StochVolLeverage": ssms.StochVolLeverage(phi=-0.7),
        "Gordon_etal": ssms.Gordon_etal(),
        "BearingsOnly": ssms.BearingsOnly(),
        "DiscreteCox": ssms.DiscreteCox(),
        "MVStochVol": ssms.MVStochVol(
            mu=-np.ones(2), covX=0.05 * pair, corY=pair, F=0.95 * np.eye(2)
        ),
        "ThetaLogistic": ssms.ThetaLogistic(),
        "LinearGauss": kalman.LinearGauss(),
        "MVLinearGauss": kalman.MVLinearGauss(
            F=np.array([[1.0, 1.0], [0.0, 0.9]]),
            G=np.array([[1.0, 0.0]]),
            covX=np.diag([0.1, 0.2]),
            covY=np.array([[0.25]]),
        ),
        "MVLinearGauss_Guarniero_etal": kalman.MVLinearGauss_Guarniero_etal(alpha=0.4, dx=3),
        "GaussianHMM": hmm.GaussianHMM(
            mus=np.array([-1.0, 0.0, 2.0]), sigmas=np.array([0.5, 1.0, 0.7]), trans_mat=chain
        ),
        "StudentWalk": StudentWalk(),
        "GammaIntensity": GammaIntensity(),
        "Population": Population(),
    }


def bootstrap(model, ys, n, seed):
    """Log-evidence of the bootstrap filter of `particles`."""
    np.random.seed(seed)
    run = particles.SMC(fk=ssms.Bootstrap(ssm=model, data=ys), N=n, collect="off")
    run.run()
    return float(run.logLt)


def exact(model, ys):
    """Log-evidence by the exact filter of the model, or None for models without one."""
    if isinstance(model, kalman.MVLinearGauss):
        run = kalman.Kalman(ssm=model, data=ys)
        run.filter()
        return float(np.sum(run.logpyt))
    if isinstance(model, hmm.HMM):
        run = hmm.BaumWelch(hmm=model, data=ys)
        run.forward()
        return float(np.sum(run.logpyt))
    return None


def compare(model, seed):
    """All log-evidences of one series."""
    np.random.seed(seed)
    _, ys = model.simulate(STEPS)
    ours = skh.from_particles(model)
    plain = skh.from_particles(model, draws=1)  # of a bootstrap filter, if it must draw

    def filtered(by, rule, n, seeds):
        return [float(skh.particle_filter(by, ys, rule, n, rng=s).log_evidence) for s in seeds]

    def theirs(n, seeds):
        return [bootstrap(model, ys, n, s) for s in seeds]

    large = theirs(LARGE, range(10))
    return {
        "kind": type(ours).__name__,
        "ys": np.reshape(ys, (STEPS, -1)).tolist(),
        "exact": exact(model, ys),
        "theirs_large": large,
        "theirs_small": theirs(SMALL, range(100, 130)),
        "ours_large": filtered(plain, skh.Systematic(), LARGE, range(4)),
        "ours": filtered(ours, None, OURS, range(10)),
        "mean": float(np.mean(large)),
    }


if __name__ == "__main__":
    chosen = sys.argv[1:]
    for name, model in models().items():
        if not chosen or name in chosen:
            series = [compare(model, seed) for seed in range(SERIES)]
            print(json.dumps({"model": name, "series": series}), flush=True)
