"""Models whose parameters are estimated by `parameters.py`, and exact answers for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize, stats

import skh

Function = Callable[[np.ndarray], float]

AR_BOUNDS = {"rho": (-1, 1), "q": (0, None), "r": (0, None)}
AR_PRIOR = {
    "rho": stats.uniform(-1, 2),
    "q": stats.gamma(2, scale=0.5),
    "r": stats.gamma(4, scale=0.2),
}
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


def rotation(gain: float, q: float) -> skh.models.LinearGaussian:
    """The paper's LGSS with d = 3, its dynamics times a gain, its noise times q.

    The noise of its observations is not estimated: it is so small beside that of the states that
    the evidence of a hundred observations may have its maximum at zero.
    """
    m = skh.models.lgss3()
    A, Q = gain * m.A, q * q * m.Q
    return skh.models.LinearGaussian(A, m.C, Q, m.R, m.initial_mean, m.initial_covariance)


def volatility(rho: float, sigma: float, mu: float) -> skh.models.Model:
    """Stochastic volatility whose log-variance has the mean mu."""
    return skh.models.stochastic_volatility(rho, sigma, float(np.exp(mu / 2)))


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


def scalar_kalman(rho: Any, q: Any, r: Any, ys: np.ndarray) -> Any:
    """Log-evidence of `noisy_autoregression`, for numbers or for arrays of parameters."""
    m, v, total = 0.0, q * q / (1 - rho * rho), 0.0
    for y in ys:
        s, e = v + r * r, y - m
        total -= 0.5 * (np.log(2 * np.pi * s) + e * e / s)
        k = v / s
        m, v = rho * (m + k * e), rho * rho * (1 - k) * v + q * q
    return total


def kalman(gain: float, q: float, ys: np.ndarray) -> float:
    """Log-evidence of `rotation`."""
    return skh.kalman_filter(rotation(gain, q), ys).log_evidence


def best(f: Function, start: Any) -> tuple[float, np.ndarray]:
    """Maximise a function by Nelder-Mead."""
    options = {"xatol": 1e-4, "fatol": 1e-5, "maxiter": 2000}
    found = optimize.minimize(lambda v: -f(v), start, method="Nelder-Mead", options=options)
    return -found.fun, found.x


def standard_errors(f: Function, x: np.ndarray) -> np.ndarray:
    """Standard errors at a maximum, from central second differences."""
    h = 1e-3 * np.maximum(np.abs(x), 0.1)
    e = np.diag(h)
    rows = [[f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b) for b in e] for a in e]
    return np.sqrt(np.diagonal(np.linalg.inv(-np.array(rows) / (4 * np.outer(h, h)))))


def exact_posterior(ys: np.ndarray, sweeps: int = 4000, chains: int = 200) -> np.ndarray:
    """Draws (sweeps, chains, 3) of the parameters of `noisy_autoregression`, by exact evidence."""
    rng = np.random.default_rng(0)

    def target(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rho, q, r = v = np.array([np.tanh(z[0]), np.exp(z[1]), np.exp(z[2])])
        law = sum(AR_PRIOR[name].logpdf(x) for name, x in zip(AR_PRIOR, v, strict=True))
        jacobian = np.log1p(-np.minimum(rho**2, 1 - 1e-15)) + z[1] + z[2]
        return scalar_kalman(rho, q, r, ys) + law + jacobian, v

    z = np.array([[1.0], [-0.5], [-0.5]]) + 0.3 * rng.standard_normal((3, chains))
    (here, v), draws = target(z), []
    for _ in range(sweeps + sweeps // 5):
        there = z + np.array([[0.45], [0.45], [0.25]]) * rng.standard_normal((3, chains))
        new, w = target(there)
        taken = np.log(rng.random(chains)) < new - here
        z, v = np.where(taken, there, z), np.where(taken, w, v)
        here = np.where(taken, new, here)
        draws.append(v.T)
    return np.array(draws[sweeps // 5 :])
