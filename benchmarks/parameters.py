"""Parameters: maximum likelihood and posteriors, beside exact answers and the package `particles`.

    python benchmarks/parameters.py                    # quarter of an hour, one process
    python benchmarks/parameters.py fit posterior      # some parts: linear, fit, exact, posterior

Exact answers are those of the Kalman filter and, for the volatility of GBP/USD, of a filter on a
grid of 400 points (which a filter with 200,000 particles only approaches).  The rates, and the
peer, are those of the package `particles`; without it those parts are left out.  Times are of the
processor.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np
from scipy import optimize, stats

import skh

DAYS = 250  # of GBP/USD, for posteriors; maximum likelihood has all 750
PMMH_DRAWS = 3000
BOUNDS = {"rho": (-1, 1), "q": (0, None), "r": (0, None)}
SV_BOUNDS = {"rho": (-1, 1), "sigma": (0, None)}
SV_PRIOR = {
    "rho": stats.uniform(-1, 2),
    "sigma": stats.gamma(2, scale=0.25),
    "mu": stats.norm(-1, 1),
}


def noisy_autoregression(rho: float, q: float, r: float) -> skh.models.LinearGaussian:
    """AR(1) with standard deviation q of its innovations, observed with standard deviation r."""
    variance = [[q * q / (1 - rho * rho)]]
    return skh.models.LinearGaussian([[rho]], [[1.0]], [[q * q]], [[r * r]], [0.0], variance)


def rotation(gain: float, r: float) -> skh.models.LinearGaussian:
    """The paper's LGSS with d = 3, its dynamics times a gain, and observation noise r."""
    m = skh.models.lgss3()
    return skh.models.LinearGaussian(
        gain * m.A, m.C, m.Q, [[r * r]], m.initial_mean, m.initial_covariance
    )


def volatility(rho: float, sigma: float, mu: float) -> skh.models.Model:
    """Stochastic volatility whose log-variance has the mean mu."""
    return skh.models.stochastic_volatility(rho, sigma, float(np.exp(mu / 2)))


def returns() -> np.ndarray | None:
    """Returns of GBP/USD in percent, None without the package that has them."""
    if (package := find_spec("particles")) is None:
        print("left out: the package particles is not installed")
        return None
    folder = Path(package.submodule_search_locations[0])
    lines = (folder / "datasets" / "GBP_vs_USD_9798.txt").read_text().splitlines()
    return 100 * np.diff(np.log([float(line.split()[3]) for line in lines if line[:1].isdigit()]))


def on_grid(rho: float, sigma: float, mu: float, ys: np.ndarray, m: int = 400) -> float:
    """Log-evidence of the volatility model by a filter on a grid."""
    s = sigma / np.sqrt(1 - rho * rho)
    x = np.linspace(-6 * s, 6 * s, m)
    p = np.exp(-0.5 * (x / s) ** 2)
    p, total = p / p.sum(), 0.0
    K = np.exp(-0.5 * ((x[:, None] - rho * x) / sigma) ** 2) * (x[1] - x[0])
    K /= np.sqrt(2 * np.pi) * sigma
    for y in ys:
        w = p * np.exp(-0.5 * (y * y * np.exp(-mu - x) + mu + x + np.log(2 * np.pi)))
        total += np.log(w.sum())
        p = K @ (w / w.sum())
    return float(total)


def scalar_kalman(rho: float, q: float, r: float, ys: np.ndarray) -> float:
    """Log-evidence of `noisy_autoregression`, a hundred times as fast as `kalman_filter`."""
    m, v, total = 0.0, q * q / (1 - rho * rho), 0.0
    for y in ys:
        s, e = v + r * r, y - m
        total -= 0.5 * (np.log(2 * np.pi * s) + e * e / s)
        k = v / s
        m, v = rho * (m + k * e), rho * rho * (1 - k) * v + q * q
    return total


def best(f: Callable[[np.ndarray], float], start: list[float]) -> tuple[float, np.ndarray]:
    """Maximise a function by Nelder-Mead."""
    options = {"xatol": 1e-4, "fatol": 1e-5, "maxiter": 2000}
    found = optimize.minimize(lambda v: -f(v), start, method="Nelder-Mead", options=options)
    return -found.fun, found.x


def second_derivatives(
    f: Callable[[np.ndarray], float], x: np.ndarray, h: np.ndarray
) -> np.ndarray:
    """Central second differences."""
    e = np.diag(h)
    rows = [[f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for b in e] for a in e]
    return np.array(rows) / (4 * np.outer(h, h))


def linear() -> None:
    """Maximum likelihood of linear models from random starts, against the Kalman filter."""
    ys = noisy_autoregression(0.9, 0.5, 0.7).simulate(100, rng=0)[1]
    flat = ys[:, 0]
    top = best(lambda v: scalar_kalman(np.tanh(v[0]), *np.exp(v[1:]), flat), [1.0, -1.0, -0.3])[0]
    rng, missed, runs, began = np.random.default_rng(1), [], [], process_time()
    for _ in range(20):
        start = {
            "rho": rng.uniform(-0.5, 0.98),
            "q": np.exp(rng.normal(-0.5, 1)),
            "r": np.exp(rng.normal(-0.5, 1)),
        }
        fit = skh.fit(noisy_autoregression, ys, start, bounds=BOUNDS, n=30, rng=0)
        missed.append(top - scalar_kalman(**fit.parameters, ys=flat))
        runs.append((fit.n_filters, fit.n_likelihood_evaluations))
    seconds = (process_time() - began) / 20
    x = np.array(list(fit.parameters.values()))
    H = second_derivatives(lambda v: scalar_kalman(*v, flat), x, 1e-3 * np.ones(3))
    exact = np.sqrt(np.diagonal(np.linalg.inv(-H)))
    ratio = np.array(list(fit.standard_errors.values())) / exact
    print(f"AR(1) + noise, T=100, n=30, 20 starts: {sum(m < 0.02 for m in missed)} within 0.02;")
    print(f"  log-evidence missed: median {np.median(missed):.4f}, most {max(missed):.4f};")
    filters, likelihoods = np.median(runs, axis=0)
    print(f"  {filters:.0f} filters, {likelihoods:,.0f} likelihoods,")
    print(f"  {seconds:.1f} s per fit; standard errors / exact: {np.round(ratio, 3)}")
    ys = rotation(1.0, 0.3).simulate(60, rng=0)[1]

    def exact_evidence(v: np.ndarray) -> float:
        return skh.kalman_filter(rotation(v[0], np.exp(v[1])), ys).log_evidence

    top = best(exact_evidence, [1.0, -1.0])[0]
    for start in ({"gain": 0.5, "r": 1.0}, {"gain": 1.5, "r": 0.1}):
        fit = skh.fit(rotation, ys, start, bounds={"r": (0, None)}, n=100, rng=0)
        end = np.array([fit.parameters["gain"], np.log(fit.parameters["r"])])
        missed_here = top - exact_evidence(end)
        print(f"LGSS3, T=60, n=100: missed {missed_here:.4f} from {start}")


def fit() -> None:
    """Maximum likelihood of the volatility of GBP/USD."""
    if (ys := returns()) is None:
        return
    starts = [{"rho": 0.9, "sigma": 0.3, "mu": -1.0}, {"rho": 0.2, "sigma": 0.7, "mu": -1.0}]
    began = process_time()
    found = skh.fit(volatility, ys, starts, bounds=SV_BOUNDS, rng=0)
    seconds = process_time() - began

    def exact(v: np.ndarray) -> float:
        return on_grid(np.tanh(v[0]), np.exp(v[1]), v[2], ys)

    p = found.parameters
    top = best(exact, [np.arctanh(p["rho"]), np.log(p["sigma"]), p["mu"]])[0]
    print(f"GBP/USD, T={len(ys)}, n=50, two starts, {seconds:.0f} s:")
    print(found)
    print(f"  exact optimum {top:.3f}; missed by {top - on_grid(**p, ys=ys):.4f}")
    counted, rng_seed, began = [0], 0, process_time()

    def bootstrap(v: np.ndarray) -> float:
        counted[0] += 1
        model = volatility(np.tanh(v[0]), np.exp(v[1]), v[2])
        return skh.particle_filter(model, ys, skh.Systematic(), 1000, rng=rng_seed).log_evidence

    start = [np.arctanh(0.9), np.log(0.3), -1.0]
    options = {"xatol": 1e-2, "fatol": 1e-2, "maxfev": 120}
    ended = optimize.minimize(lambda v: -bootstrap(v), start, method="Nelder-Mead", options=options)
    print(
        f"  bootstrap filter, 1,000 particles, common random numbers, Nelder-Mead: missed by "
        f"{top - exact(ended.x):.3f} after {counted[0]} filters, {counted[0] * 1000 * len(ys):,} "
        f"likelihoods, {process_time() - began:.0f} s"
    )


def exact() -> None:
    """The posterior of a linear model: delayed acceptance against a long exact chain."""
    ys = noisy_autoregression(0.9, 0.5, 0.7).simulate(50, rng=3)[1]
    prior = {"rho": stats.uniform(-1, 2), "q": stats.gamma(2, scale=0.5)}
    prior["r"] = stats.gamma(4, scale=0.2)
    posterior = skh.sample_posterior(
        noisy_autoregression, ys, prior, draws=500, chains=4, n=30, rng=0
    )
    print(posterior)
    long = long_chain(ys[:, 0], prior, 60_000)
    for k, name in enumerate(prior):
        mean, sd, ess = (
            posterior.means[name],
            posterior.standard_deviations[name],
            posterior.ess[name],
        )
        z = (mean - long[:, k].mean()) / (sd / np.sqrt(ess))
        ratio = sd / long[:, k].std()
        print(f"  {name}: mean off by {z:+.2f} Monte Carlo errors, sd {ratio:.3f} of the exact one")


def long_chain(ys: np.ndarray, prior: dict, draws: int) -> np.ndarray:
    """Metropolis with the exact evidence, in transformed coordinates."""
    rng = np.random.default_rng(0)

    def target(z: np.ndarray) -> tuple[float, np.ndarray]:
        v = np.array([np.tanh(z[0]), np.exp(z[1]), np.exp(z[2])])
        q, r = v[1:]
        law = np.log(q) - q / 0.5 + 3 * np.log(r) - r / 0.2  # the gamma priors
        jacobian = np.log1p(-min(v[0] ** 2, 1 - 1e-15)) + z[1] + z[2]
        return scalar_kalman(*v, ys) + law + jacobian, v

    z, states = np.array([1.0, -0.5, -0.5]), []
    here, value = target(z)
    for _ in range(draws):
        there = z + rng.standard_normal(3) * [0.45, 0.45, 0.25]
        new, value_there = target(there)
        if np.log(rng.random()) < new - here:
            z, here, value = there, new, value_there
        states.append(value)
    return np.array(states[draws // 20 :])


def posterior() -> None:
    """The posterior of GBP/USD: seconds and likelihoods per effective draw beside PMMH."""
    if (ys := returns()) is None:
        return
    ys = ys[:DAYS]
    peer_seconds, peer_likelihoods = pmmh(ys)
    for label, options in {
        "skh, chosen": {"n": 50},
        "skh, expensive": {"n": 20, "rule": skh.default_plan()},
    }.items():
        began = process_time()
        found = skh.sample_posterior(
            volatility, ys, SV_PRIOR, draws=300, chains=4, rng=0, **options
        )
        seconds, ess = process_time() - began, min(found.ess.values())
        print(found)
        likelihoods = found.n_likelihood_evaluations / ess
        print(
            f"  {label}: {seconds:.0f} s, ESS {ess:.0f}, {seconds / ess:.3f} s per effective draw: "
            f"{seconds / ess / peer_seconds:.3f} x PMMH; {likelihoods:,.0f} likelihoods per "
            f"effective draw, at 1 ms each {likelihoods / peer_likelihoods:.3f} x PMMH"
        )


def pmmh(ys: np.ndarray) -> tuple[float, float]:
    """Particle Metropolis of `particles`, its number of particles tuned to variance 1."""
    import particles
    from particles import distributions as dists
    from particles import mcmc
    from particles import state_space_models as ssm

    class Volatility(ssm.StateSpaceModel):
        def PX0(self) -> object:
            return dists.Normal(scale=self.sigma / np.sqrt(1 - self.rho**2))

        def PX(self, t: int, xp: np.ndarray) -> object:
            return dists.Normal(self.rho * xp, self.sigma)

        def PY(self, t: int, xp: np.ndarray, x: np.ndarray) -> object:
            return dists.Normal(scale=np.exp(0.5 * (self.mu + x)))

    class Chain(mcmc.PMMH):  # its own takes an array of one number for a number
        def compute_post(self) -> None:
            self.prop.lpost[0] = self.prior.logpdf(self.prop.theta).item()
            if np.isfinite(self.prop.lpost[0]):
                values = {name: self.prop.theta[name].item() for name in laws}
                pf = self.alg_instance(values)
                pf.run()
                self.prop.lpost[0] += pf.logLt

    def evidences(n: int) -> np.ndarray:
        model = Volatility(rho=-0.18, sigma=0.7, mu=-1.5)
        runs = []
        for _ in range(20):
            pf = particles.SMC(fk=ssm.Bootstrap(ssm=model, data=ys), N=n)
            pf.run()
            runs.append(pf.logLt)
        return np.array(runs)

    np.random.seed(0)  # noqa: NPY002 - the generator that the package uses
    n = next(n for n in (25, 50, 75, 100, 150, 200, 300, 400) if evidences(n).var() < 1.2)
    laws = {"rho": dists.Uniform(-1, 1), "sigma": dists.Gamma(2, 4), "mu": dists.Normal(-1, 1)}
    prior, first = dists.StructDist(laws), {"rho": -0.18, "sigma": 0.7, "mu": -1.5}
    start = np.array([tuple(first[name] for name in prior.dtype.names)], dtype=prior.dtype)
    began = process_time()
    chain = Chain(
        ssm_cls=Volatility,
        prior=prior,
        data=ys,
        Nx=n,
        niter=PMMH_DRAWS,
        theta0=start,
        adaptive=True,
    )
    chain.run()
    seconds = process_time() - began
    kept = chain.chain.theta[PMMH_DRAWS // 10 :]
    ess = min(skh.effective_sample_size(np.array(kept[name])[None]) for name in laws)
    likelihoods = PMMH_DRAWS * n * len(ys) / ess
    print(f"particles, PMMH, {n} particles, {PMMH_DRAWS} draws: {seconds:.0f} s, ESS {ess:.0f},")
    print(f"  {seconds / ess:.3f} s and {likelihoods:,.0f} likelihoods per effective draw,")
    print("  means", {name: round(float(kept[name].mean()), 3) for name in laws})
    return seconds / ess, likelihoods


PARTS = {"linear": linear, "fit": fit, "exact": exact, "posterior": posterior}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        print(f"--- {part}: {PARTS[part].__doc__}")
        PARTS[part]()
        sys.stdout.flush()
