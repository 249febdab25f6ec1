"""Small classes with the interface of the package `particles`, written for these tests."""

import numpy as np
from scipy import special, stats


class Law:
    dim = 1
    dtype = float


class Normal(Law):
    def __init__(self, loc=0.0, scale=1.0):
        self.loc, self.scale = loc, scale

    def logpdf(self, x):
        return stats.norm.logpdf(x, self.loc, self.scale)

    def rvs(self, size=None):
        return np.random.normal(self.loc, self.scale, size)


class Dirac(Law):
    def __init__(self, loc=0.0):
        self.loc = loc

    def logpdf(self, x):
        return np.where(x == self.loc, 0.0, -np.inf)


class MvNormal(Law):
    def __init__(self, loc=0.0, scale=1.0, cov=None):
        self.loc, self.scale, self.cov = loc, scale, cov

    @property
    def dim(self):
        return self.cov.shape[-1]

    def logpdf(self, x):
        z = (x - self.loc) / self.scale
        jacobian = np.log(np.broadcast_to(self.scale, z.shape)).sum(axis=-1)
        return stats.multivariate_normal.logpdf(z, cov=self.cov) - jacobian


class VaryingCovNormal(MvNormal):
    def __init__(self, loc=0.0, cov=None):
        self.loc, self.cov = loc, cov


class IndepProd(Law):
    def __init__(self, *dists):
        self.dists, self.dim = dists, len(dists)

    def logpdf(self, x):
        return sum(law.logpdf(x[..., k]) for k, law in enumerate(self.dists))


class LinearD(Law):
    def __init__(self, base_dist, a=1.0, b=0.0):
        self.base_dist, self.a, self.b = base_dist, a, b

    def logpdf(self, x):
        return self.base_dist.logpdf((x - self.b) / self.a) - np.log(self.a)


class Mixture(Law):
    def __init__(self, pk, *components):
        self.pk, self.components = np.atleast_1d(pk), components

    def logpdf(self, x):
        terms = [np.log(self.pk[..., k]) + c.logpdf(x) for k, c in enumerate(self.components)]
        return special.logsumexp(terms, axis=0)


class Categorical(Law):
    dtype = np.int64

    def __init__(self, p):
        self.p = p

    def logpdf(self, x):
        return np.log(np.take_along_axis(np.atleast_2d(self.p), np.reshape(x, (-1, 1)), axis=1))[
            :, 0
        ]


class Poisson(Law):
    dtype = np.int64

    def __init__(self, rate=1.0):
        self.rate = rate

    def logpdf(self, x):
        assert np.asarray(x).dtype.kind == "i"
        return stats.poisson.logpmf(x, self.rate)

    def rvs(self, size=None):
        return np.random.poisson(self.rate, size)

    def ppf(self, u):
        return stats.poisson.ppf(u, self.rate)


class Student(Law):
    def __init__(self, df=3.0, loc=0.0, scale=1.0):
        self.df, self.loc, self.scale = df, loc, scale

    def logpdf(self, x):
        return stats.t.logpdf(x, self.df, self.loc, self.scale)

    def ppf(self, u):
        return stats.t.ppf(u, self.df, self.loc, self.scale)


class Laplace(Law):
    def __init__(self, loc=0.0, scale=1.0):
        self.loc, self.scale = loc, scale

    def logpdf(self, x):
        return stats.laplace.logpdf(x, self.loc, self.scale)


class Gamma(Law):
    def __init__(self, a=1.0, b=1.0):
        self.a, self.b = a, b

    def logpdf(self, x):
        return stats.gamma.logpdf(x, self.a, scale=1.0 / self.b)

    def ppf(self, u):
        return stats.gamma.ppf(u, self.a, scale=1.0 / self.b)

    def rvs(self, size=None):
        return np.random.gamma(self.a, 1.0 / self.b, size)


class StochVol:
    mu, rho, sigma = -1.02, 0.9702, 0.178

    def spread(self):
        return self.sigma / np.sqrt(1.0 - self.rho**2)

    def PX0(self):
        return Normal(self.mu, self.spread())

    def centre(self, xp):
        return self.mu + self.rho * (xp - self.mu)

    def PX(self, t, xp):
        return Normal(self.centre(xp), self.sigma)

    def PY(self, t, xp, x):
        return Normal(scale=np.exp(0.5 * x))


class StochVolLeverage(StochVol):
    phi = -0.7

    def PY(self, t, xp, x):
        u = (x - self.mu) / self.spread() if t == 0 else (x - self.centre(xp)) / self.sigma
        s = np.exp(0.5 * x)
        return Normal(s * self.phi * u, s * np.sqrt(1.0 - self.phi**2))


class DiscreteCox:
    def PX0(self):
        return Normal(scale=1.0 / np.sqrt(1.0 - 0.95**2))

    def PX(self, t, xp):
        return Normal(0.95 * xp)

    def PY(self, t, xp, x):
        return Poisson(np.exp(x))


class BearingsOnly:
    sigma = 2e-4

    def PX0(self):
        return IndepProd(
            Normal(3e-3, self.sigma), Normal(-3e-3, self.sigma), Dirac(1.0), Dirac(1.0)
        )

    def PX(self, t, xp):
        return IndepProd(
            Normal(xp[:, 0], self.sigma),
            Normal(xp[:, 1], self.sigma),
            Dirac(xp[:, 0] + xp[:, 2]),
            Dirac(xp[:, 1] + xp[:, 3]),
        )

    def PY(self, t, xp, x):
        return Normal(np.arctan2(x[:, 3], x[:, 2]), 1e-3)


class MVStochVol:
    cov = np.array([[1.0, 0.5], [0.5, 1.0]])

    def PX0(self):
        return MvNormal(-np.ones(2), cov=0.05 * self.cov)

    def PX(self, t, xp):
        return MvNormal(0.95 * (xp + 1.0) - 1.0, cov=0.05 * self.cov)

    def PY(self, t, xp, x):
        return MvNormal(scale=np.exp(0.5 * x), cov=self.cov)


class GaussianHMM:
    mus, sigmas = np.array([-1.0, 0.0, 2.0]), np.array([0.5, 1.0, 0.7])
    chain = np.array([[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.1, 0.2, 0.7]])

    def PX0(self):
        return Categorical(np.full(3, 1.0 / 3.0))

    def PX(self, t, xp):
        return Categorical(self.chain[xp, :])

    def PY(self, t, xp, x):
        return Normal(self.mus[x], self.sigmas[x])


class StudentWalk:
    def PX0(self):
        return Normal()

    def PX(self, t, xp):
        return Student(3.0, 0.9 * xp, 0.5)

    def PY(self, t, xp, x):
        return Normal(x, 0.5)


class GammaIntensity:
    def PX0(self):
        return Gamma(10.0, 2.0)

    def PX(self, t, xp):
        return Gamma(20.0, 20.0 / (0.5 + 0.9 * xp))

    def PY(self, t, xp, x):
        return Poisson(x)


class Population:
    def PX0(self):
        return Poisson(30.0)

    def PX(self, t, xp):
        return Poisson(3.0 + 0.9 * xp)

    def PY(self, t, xp, x):
        return Normal(x, 3.0)
