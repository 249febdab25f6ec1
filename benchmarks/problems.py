"""Inputs shared by all benchmarks."""

from __future__ import annotations

import numpy as np

import skh

KERNEL = skh.GaussianKernel(1.0)


def mixture(
    K: int = 100, d: int = 2, kind: str = "variances", seed: int = 0
) -> skh.GaussianMixture:
    """The paper's random mixture (section 4.1), with covariances of the given kind."""
    rng = np.random.default_rng(seed)
    weights, means = rng.random(K), rng.uniform(-5, 5, (K, d))
    if kind == "variances":
        return skh.GaussianMixture(weights, means, rng.uniform(0.1, 4.1, K))
    B = rng.normal(size=(K, d, d))
    S = B @ B.swapaxes(1, 2) / d + 0.05 * np.eye(d)
    return skh.GaussianMixture(weights, means, S[0] if kind == "shared" else S)


def rule(step: object = None, M: int = 10_000) -> skh.FWQuad:
    """FW-Quad with `KERNEL`; the default step is herding."""
    return skh.FWQuad(KERNEL, step or skh.Herding(), M)
