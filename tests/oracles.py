"""Plain and slow second implementations, to compare the library with."""

from itertools import pairwise, product

import numpy as np
from scipy.stats import multivariate_normal

import skh

KINDS = ("one variance", "variances", "one matrix", "matrices")


def random_covariances(kind, K, d, rng):
    if kind == "one variance":
        return rng.uniform(0.1, 2)
    if kind == "variances":
        return rng.uniform(0.1, 4.1, K)
    B = rng.normal(size=(K, d, d))
    S = B @ B.swapaxes(1, 2) / d + 0.05 * np.eye(d)
    return S[0] if kind == "one matrix" else S


def random_mixture(K, d, rng, kind="variances"):
    """As in the paper's section 4.1 (for kind="variances")."""
    means = rng.uniform(-5, 5, (K, d))
    return skh.GaussianMixture(rng.random(K), means, random_covariances(kind, K, d, rng))


def gram(variance, x, y, metric=None):
    e = x[:, None] - y
    metric = np.eye(x.shape[1]) if metric is None else metric
    square = np.einsum("nmi,ij,nmj->nm", e, np.linalg.inv(metric), e)
    return np.mean([np.exp(-square / (2 * v)) for v in np.atleast_1d(variance)], axis=0)


def mean_map(variance, p, x, metric=None):
    """The paper's formula, by SciPy's density."""
    metric = np.eye(p.d) if metric is None else metric
    total = np.zeros(len(x))
    variances = np.atleast_1d(variance)
    for v in variances:
        height = np.sqrt(np.linalg.det(2 * np.pi * v * metric))
        for w, m, S in zip(p.weights, p.means, p.covariance_matrices, strict=True):
            total += w * height * multivariate_normal(m, S + v * metric).pdf(x) / len(variances)
    return total


def mean_norm2(variance, p, metric=None):
    """Expected mean map at a draw of p: component i of the draw adds S_i to all covariances."""
    total = 0.0
    for w, m, S in zip(p.weights, p.means, p.covariance_matrices, strict=True):
        wider = skh.GaussianMixture(p.weights, p.means, p.covariance_matrices + S)
        total += w * mean_map(variance, wider, m[None], metric).item()
    return total


def density(p, x):
    parts = zip(p.weights, p.means, p.covariance_matrices, strict=True)
    return sum(w * multivariate_normal(m, S).pdf(x) for w, m, S in parts)


def grid(p, step, reach):
    """Points and weights of the trapezoidal rule around p: spectrally accurate for Gaussians."""
    axes = [
        np.arange(a - reach, b + reach, step)
        for a, b in zip(p.means.min(0), p.means.max(0), strict=True)
    ]
    return np.array(list(product(*axes))), step**p.d


def kkt_residual(K, c, w):
    """Violation of the optimality conditions on the simplex: feasibility and gradient."""
    g = K @ w - c
    level = w @ g
    return max(level - g.min(), np.abs(g[w > 0] - level).max(), abs(w.sum() - 1), -w.min())


def jump_markov_by_enumeration(model, ys):
    """Filtered mean, mode probabilities and evidence at the last time, by one joint Gaussian of
    (x_T, y_1..y_T) for each sequence of modes: no recursion in common with the library's.
    """
    T, (modes, d, _), (_, m, _) = len(ys), model.A.shape, model.C.shape
    y = np.concatenate(ys)
    evidence, mean, second, mode = 0.0, np.zeros(d), np.zeros((d, d)), np.zeros(modes)
    for r in product(range(modes), repeat=T):
        prior = model.initial_modes[r[0]] * np.prod([model.switching[a, b] for a, b in pairwise(r)])
        # x_t = (product of A) x_0 + noise, stacked: X = F (x_0, v_0, .., v_{T-2})
        F = np.zeros((T * d, T * d))
        for t in range(T):
            for s in range(t + 1):
                block = np.eye(d)
                for u in range(s, t):
                    block = model.A[r[u]] @ block
                F[t * d : (t + 1) * d, s * d : (s + 1) * d] = block
        noise = np.zeros((T * d, T * d))
        noise[:d, :d] = model.initial_covariance
        for t in range(1, T):
            noise[t * d : (t + 1) * d, t * d : (t + 1) * d] = model.Q[r[t - 1]]
        H, R = np.zeros((T * m, T * d)), np.zeros((T * m, T * m))
        for t in range(T):
            H[t * m : (t + 1) * m, t * d : (t + 1) * d] = model.C[r[t]]
            R[t * m : (t + 1) * m, t * m : (t + 1) * m] = model.R[r[t]]
        P = F @ noise @ F.T
        m0 = F[:, :d] @ model.initial_mean
        S = H @ P @ H.T + R
        weight = prior * multivariate_normal(H @ m0, S).pdf(y)
        gain = P @ H.T @ np.linalg.inv(S)
        x = (m0 + gain @ (y - H @ m0))[-d:]
        V = (P - gain @ H @ P)[-d:, -d:]
        evidence += weight
        mean += weight * x
        second += weight * (V + np.outer(x, x))
        mode[r[-1]] += weight
    mean, second, mode = mean / evidence, second / evidence, mode / evidence
    return mean, second - np.outer(mean, mean), np.log(evidence), mode


def uneven_jump_markov():
    """Two modes with different matrices, two observations with correlated noise."""
    C = np.random.default_rng(0).normal(size=(2, 2, 2))
    Q = np.array([[[1.0, 0.3], [0.3, 0.5]], [[0.4, -0.1], [-0.1, 2.0]]])
    R = np.array([[[0.3, 0.1], [0.1, 0.2]], [[1.0, -0.4], [-0.4, 0.5]]])
    modes = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0.2, 0.8])
    return skh.models.JumpMarkov(skh.models.jmls().A, C, Q, R, *modes, np.ones(2), np.eye(2))


def rmse(a, b):
    return np.sqrt(np.mean((a - b) ** 2))


def weights_at(candidates, points):
    """Weight of each candidate among the points."""
    w = np.zeros(len(candidates))
    for x, weight in zip(points.x, points.w, strict=True):
        w[np.flatnonzero((candidates == x).all(axis=1))[0]] += weight
    return w


def run_by_python(module, monkeypatch):
    """All kernels of a module, and those it imports, but for those that exist only compiled."""
    for name, function in vars(module).copy().items():
        source = getattr(function, "py_func", None)
        if source is not None and "full_vectors" not in source.__code__.co_names:
            monkeypatch.setattr(module, name, source)
