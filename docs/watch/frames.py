"""Compute what the page "watch it place" shows: points by scene, rule and number.

A scene is a density on a grid and, for each rule and each n, the points with their weights and
their error.  Numbers are integers: thousandths for places, ten-thousandths for weights.
"""

import numpy as np

import skh

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100)
KERNEL = skh.GaussianKernel(1.0)
LOW, HIGH, CELLS = -4.5, 4.5, 48  # both coordinates of the window, and cells of the grid
OBSERVED, NOISE = np.array([2.0, 1.0]), 0.35  # of the step of a filter

RULES = {
    "random": skh.MonteCarlo(),
    "Sobol": skh.QuasiMonteCarlo(),
    "herding": skh.FWQuad(KERNEL),
    "all weights": skh.FWQuad(KERNEL, skh.FullyCorrective()),
    "default rule": skh.default_rule(),
}


def mixture():
    """Three Gaussians in the plane."""
    covariances = [[[1.0, 0.6], [0.6, 0.8]], [[0.5, -0.2], [-0.2, 0.9]], [[1.4, 0.0], [0.0, 0.25]]]
    means = [[-1.5, -0.5], [1.8, 1.2], [0.8, -2.0]]
    return skh.GaussianMixture([0.5, 0.3, 0.2], means, covariances)


def log_likelihood(x):
    """Of the one observation: both coordinates with noise."""
    return -0.5 * ((x - OBSERVED) ** 2).sum(1) / NOISE**2


def posterior(p):
    """The mixture given the observation, in closed form."""
    weights, means, covariances = [], [], []
    for w, m, C in zip(p.weights, p.means, p.covariances, strict=True):
        S, r = C + NOISE**2 * np.eye(2), OBSERVED - m
        K = C @ np.linalg.inv(S)
        weights.append(w * np.exp(-0.5 * r @ np.linalg.solve(S, r)) / np.sqrt(np.linalg.det(S)))
        means.append(m + K @ r)
        covariances.append(C - K @ C)
    return skh.GaussianMixture(np.array(weights) / sum(weights), means, covariances)


def density(p):
    """The density in the cells of the grid, row by row from the top, 0 to 99."""
    middle = LOW + (np.arange(CELLS) + 0.5) * (HIGH - LOW) / CELLS
    X, Y = np.meshgrid(middle, middle[::-1])
    at, values = np.column_stack([X.ravel(), Y.ravel()]), 0.0
    for w, m, C in zip(p.weights, p.means, p.covariances, strict=True):
        square = np.einsum("ni,ij,nj->n", at - m, np.linalg.inv(C), at - m)
        values = values + w * np.exp(-0.5 * square) / np.sqrt(np.linalg.det(C))
    return np.rint(99 * values / values.max()).astype(int).tolist()


def frame(x, w, error):
    """Points and weights as integers, and what the page says about their error."""
    places = np.rint(1000 * x).astype(int).ravel().tolist()
    return {"x": places, "w": np.rint(10_000 * w).astype(int).tolist(), "error": error}


def placed(p, rule, n):
    """Points for the mixture, and their MMD; that of random rules is a mean over seeds."""
    measured = skh.Measured(rule, KERNEL)
    points = measured(p, n, rng=0)
    error = np.mean([measured(p, n, rng=s).mmd for s in range(8)])
    return frame(points.x, points.w, float(f"{error:.3g}"))


class OneStep:
    """A model with the mixture as its prior."""

    def __init__(self, p):
        self.p = p

    def prior(self):
        """The predictive mixture of the step."""
        return self.p

    def transition(self, t, x):
        """Unused: there is one step."""
        return x, 1.0

    def log_likelihood(self, t, x, y):
        """Of the one observation."""
        return log_likelihood(x)


def filtered(p, rule, n):
    """Particles after the observation, and the error of their mean over seeds."""
    exact = posterior(p)
    mean = exact.weights @ exact.means
    steps = [skh.ParticleFilter(OneStep(p), rule, n, rng=s).step(OBSERVED) for s in range(8)]
    error = np.sqrt(np.mean([((b.mean - mean) ** 2).sum() for b in steps]))
    return frame(steps[0].x, steps[0].w, float(f"{error:.3g}"))


def scene(p, shown, name, unit, rules, compute):
    """One choice of the page: its density, and the frames of all rules."""
    frames = {rule: [compute(p, value, n) for n in SIZES] for rule, value in rules.items()}
    return {"name": name, "error": unit, "density": density(shown), "rules": frames}


def all_scenes():
    """Everything that the page shows."""
    p = mixture()
    second = {**RULES, "default with a second look": None}
    scenes = {
        "mixture": scene(p, p, "a mixture of three Gaussians", "MMD", RULES, placed),
        "step": scene(
            p, posterior(p), "one step of a filter", "error of the mean", second, filtered
        ),
    }
    scenes["step"]["cross"] = OBSERVED.tolist()
    return {"sizes": list(SIZES), "window": [LOW, HIGH], "cells": CELLS, "scenes": scenes}
