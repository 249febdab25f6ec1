"""Invalid input is rejected with the name of the argument and what was expected."""

from dataclasses import replace

import numpy as np
import pytest

import skh
from skh.gaussians.predictive import Predictive

NAN = float("nan")
P = skh.GaussianMixture([1.0], [[0.0]], 1.0)
KERNEL = skh.GaussianKernel(1.0)
MODEL = skh.models.nonlinear_benchmark()
POSE = skh.geometry.Pose(np.zeros(3), np.eye(3))
RULES = [
    skh.MonteCarlo(),
    skh.Stratified(),
    skh.Systematic(),
    skh.QuasiMonteCarlo(),
    skh.FWQuad(KERNEL),
    skh.Refined(skh.Stratified(), KERNEL),
    skh.Matched(skh.Stratified()),
    skh.Smoothed(skh.Stratified()),
    skh.Measured(skh.Stratified(), KERNEL),
]


def mixture(weights=(0.5, 0.5), means=((0.0, 0.0), (1.0, 1.0)), covariances=1.0):
    return skh.GaussianMixture(weights, means, covariances)


def linear(R):
    """A constant state measured with variance R."""
    one = np.eye(1)
    return skh.models.LinearGaussian(one, one, one, R * one, np.zeros(1), one)


def measured_by_three(V):
    """A state measured three times, with errors of covariance V V'."""
    one = np.eye(1)
    model = skh.models.LinearGaussian(one, np.ones((3, 1)), one, V @ V.T, np.zeros(1), one)
    return model.log_likelihood(0, np.zeros((5, 1)), np.ones(3))


def filtered(transition=lambda t, x: (x, 1.0), log_likelihood=lambda t, x, y: np.zeros(len(x))):
    model = skh.model_from_functions(([0.0], 1.0), transition, log_likelihood)
    return skh.particle_filter(model, [0.0, 0.0], skh.Stratified(), 4, rng=0)


BAD_VALUES = {
    "number one": (lambda: P.choose([0.5, 1.0]), r"u must be a vector .* got 1.0 at 1"),
    "no vector": (lambda: P.choose(0.3), r"u must be a vector of numbers in .* got shape \(\)"),
    "too few draws": (lambda: P.place([0, 0], [[0.0]]), r"z must have shape \(2, 1\), got \(1, 1"),
    "too many dimensions": (lambda: P.place([0], [[0.0, 1.0]]), r"z must have shape \(1, 1\)"),
    "no such component": (lambda: P.place([1], [[0.0]]), r"component .* in 0..0, got \[1\]"),
    "half a component": (lambda: P.place([0.5], [[0.0]]), r"component must hold numbers in 0..0"),
    "persistence": (
        lambda: type(skh.models.stochastic_volatility())(persistence=1.0),
        r"persistence must be a number in \(-1, 1\), got 1.0",
    ),
    "no density of a singular y": (
        lambda: measured_by_three(np.random.default_rng(0).normal(size=(3, 2))),
        r"R must be positive definite, got an eigenvalue",
    ),
    "no density of y": (
        lambda: skh.particle_filter(linear(R=0.0), [0.0], skh.Stratified(), 5, rng=0),
        r"R must be positive definite, got an eigenvalue 0",
    ),
    "negative weight": (
        lambda: mixture(weights=[1.5, -0.5]),
        r"weights must be non-negative, got -0.5",
    ),
    "NaN weight": (lambda: mixture(weights=[NAN, 1.0]), r"weights must be finite, got nan"),
    "zero weights": (lambda: mixture(weights=[0.0, 0.0]), r"weights must not all be zero"),
    "weights of wrong shape": (lambda: mixture(weights=[[1.0]]), r"weights must have shape \(K,\)"),
    "no weights": (lambda: mixture(weights=[]), r"weights must have shape \(K,\) with K >= 1"),
    "NaN mean": (
        lambda: mixture(means=[[0.0, NAN], [1.0, 1.0]]),
        r"means must be finite, got nan at",
    ),
    "infinite mean": (lambda: mixture(means=[[0.0, np.inf], [1.0, 1.0]]), r"means must be finite"),
    "flat means": (lambda: mixture(means=[0.0, 1.0]), r"means must have shape \(n, d\)"),
    "too few means": (
        lambda: mixture(means=[[0.0, 0.0]]),
        r"means must have one row per row of weights",
    ),
    "covariances of wrong shape": (
        lambda: mixture(covariances=np.ones(3)),
        r"covariances must have shape",
    ),
    "covariance of wrong size": (
        lambda: mixture(covariances=np.eye(3)),
        r"covariances .* got \(3, 3\)",
    ),
    "asymmetric": (
        lambda: mixture(covariances=[[1.0, 0.5], [0.0, 1.0]]),
        r"covariances must be symmetric",
    ),
    "indefinite": (
        lambda: mixture(covariances=[[1.0, 2.0], [2.0, 1.0]]),
        r"covariances must be positive semi-definite, got an eigenvalue -1",
    ),
    "one indefinite of two": (
        lambda: mixture(covariances=[np.eye(2), -np.eye(2)]),
        r"covariances must be positive semi-definite",
    ),
    "negative variance": (
        lambda: mixture(covariances=-1.0),
        r"covariances must be positive semi-def",
    ),
    "NaN variance": (lambda: mixture(covariances=[NAN, 1.0]), r"covariances must be finite"),
    "variance zero": (
        lambda: skh.GaussianKernel(0.0),
        r"variance must be a positive number.*got 0.0",
    ),
    "variance negative": (lambda: skh.GaussianKernel([1.0, -1.0]), r"variance must be a positive"),
    "variance NaN": (lambda: skh.GaussianKernel(NAN), r"variance must be finite, got nan"),
    "variance empty": (lambda: skh.GaussianKernel([]), r"variance must be a positive number"),
    "metric asymmetric": (
        lambda: skh.GaussianKernel(1.0, metric=[[1.0, 0.5], [0.0, 1.0]]),
        r"metric must be symmetric, got an asymmetry of 0.5",
    ),
    "metric not a matrix": (
        lambda: skh.GaussianKernel(1.0, metric=[1.0]),
        r"metric must be a \(d, d\) matrix, got shape \(1,\)",
    ),
    "metric singular": (
        lambda: skh.GaussianKernel(1.0, metric=np.zeros((2, 2))),
        r"metric must be positive definite",
    ),
    "metric not square": (
        lambda: skh.GaussianKernel(1.0, metric=np.ones((2, 3))),
        r"metric must be a \(d, d\) matrix, got shape \(2, 3\)",
    ),
    "metric of another dimension": (
        lambda: skh.GaussianKernel(1.0, metric=np.eye(2)).mean_norm2(P),
        r"metric must be \(1, 1\) for points in 1 dimensions, got \(2, 2\)",
    ),
    "one asymmetric beside a large one": (
        lambda: mixture(covariances=[1e9 * np.eye(2), [[1.0, 0.9], [0.0, 1.0]]]),
        r"covariances must be symmetric",
    ),
    "too few weights of a sum": (
        lambda: KERNEL.weighted_sum(np.zeros((3, 1)), np.ones(2), np.zeros((1, 1))),
        r"w must have one row per row of x \(3\), got 2",
    ),
    "LGSS of wrong shapes": (
        lambda: skh.models.LinearGaussian(
            np.eye(2), np.eye(3), *[np.eye(2)] * 2, [0, 0], np.eye(2)
        ),
        r"C must have shape \(m, 2\), got \(3, 3\)",
    ),
    "LGSS noise": (
        lambda: skh.models.LinearGaussian(
            np.eye(2), np.eye(2), -np.eye(2), np.eye(2), [0, 0], np.eye(2)
        ),
        r"Q must be positive semi-definite",
    ),
    "JMLS of wrong shapes": (
        lambda: skh.models.JumpMarkov(
            np.zeros((2, 2, 2)),
            np.zeros((2, 1, 2)),
            np.zeros((2, 2, 2)),
            np.ones((2, 2, 2)),
            np.eye(2),
            [0.5, 0.5],
            [0, 0],
            np.eye(2),
        ),
        r"R must have shape \(2, 1, 1\), got \(2, 2, 2\)",
    ),
    "JMLS switching": (
        lambda: skh.models.JumpMarkov(
            np.zeros((2, 2, 2)),
            np.zeros((2, 1, 2)),
            np.zeros((2, 2, 2)),
            np.ones((2, 1, 1)),
            np.ones((2, 2)),
            [0.5, 0.5],
            [0, 0],
            np.eye(2),
        ),
        r"switching must have rows of probabilities",
    ),
    "K indefinite": (
        lambda: skh.solve_simplex_qp(-np.eye(2), np.zeros(2)),
        r"K must be positive semi-",
    ),
    "quantile above one": (
        lambda: skh.particle_filter(MODEL, [0.0], skh.MonteCarlo(), 5, quantiles=[0.5, 1.5]),
        r"quantiles must be numbers in \[0, 1\]",
    ),
    "no observations for Kalman": (
        lambda: skh.kalman_filter(skh.models.lgss3(), []),
        r"ys must hold at least one observation",
    ),
    "observation of wrong length": (
        lambda: skh.particle_filter(skh.models.lgss3(), [[1.0, 2.0]], skh.MonteCarlo(), 5),
        r"y must have shape \(1,\), got \(2,\)",
    ),
    "one-particle likelihood that returns two numbers": (
        lambda: skh.particle_filter(
            skh.model_from_functions(
                ([0.0], 1.0), lambda t, x: (x, 1.0), lambda t, x, y: [1.0, 2.0], batched=False
            ),
            [0.0],
            skh.MonteCarlo(),
            5,
        ),
        r"log_likelihood of particle 0 at t=0 must return one number",
    ),
    "row of a mixture transition without weight": (
        lambda: filtered(transition=lambda t, x: skh.GaussianMixture([1, 0, 1, 1], x, 1.0)),
        r"model.transition at t=0 .* all components of particle 1 have weight zero",
    ),
    "points of wrong dimension": (
        lambda: KERNEL.mean_map(P, [[0.0, 1.0]]),
        r"x must have shape \(n, 1\)",
    ),
    "gram of different dimensions": (
        lambda: KERNEL.gram([[0.0]], [[0.0, 1.0]]),
        r"y must have shape \(n, 1\)",
    ),
    "sum at points of other dimensions": (
        lambda: KERNEL.weighted_sum([[0.0]], [1.0], [[0.0, 1.0]]),
        r"y must have shape \(n, 1\)",
    ),
    "one weight for a sum": (
        lambda: KERNEL.weighted_sum([[0.0]], 1.0, [[0.0]]),
        r"w must have shape \(n,\), got \(\)",
    ),
    "mmd weights": (
        lambda: skh.mmd(KERNEL, P, [[0.0]], [0.5, 0.5]),
        r"w must have one row per row of x",
    ),
    "densities at points of wrong dimension": (
        lambda: mixture(covariances=[1.0, 2.0]).log_densities(np.zeros((3, 3))),
        r"x must have shape \(n, 2\), one point per row, got \(3, 3\)",
    ),
    "densities at NaN": (
        lambda: P.log_densities([[0.0], [NAN]]),
        r"x must be finite, got nan at index \(1, 0\)",
    ),
    "mean map at coordinates of wrong dimension": (
        lambda: KERNEL.mean_map_at(P, np.zeros((3, 5))),
        r"X must have shape \(1, n\), got \(3, 5\)",
    ),
    "quantile of a belief": (
        lambda: skh.ParticleFilter(MODEL, skh.MonteCarlo(), 5).step(0.0).quantile(2.0),
        r"q must be numbers in \[0, 1\], got 2.0",
    ),
    "bool for a tolerance": (
        lambda: skh.FWQuad(KERNEL, tol=True),
        r"tol must be None or a non-negative number, got True",
    ),
    "bool for a ridge": (
        lambda: skh.FullyCorrective(ridge=True),
        r"ridge must be a non-negative number, got True",
    ),
    "ridge beyond all floats": (
        lambda: skh.FullyCorrective(ridge=10**400),
        r"ridge must be a non-negative number, got 10{400}$",
    ),
    "array beyond all floats": (
        lambda: mixture(means=[[10**400, 0], [1, 1]]),
        r"means must be below 1.8e308 in size, got \[\[10{400}, 0\], \[1, 1\]\]",
    ),
    "bool for a share": (lambda: P.shrunk(True), r"share must be a number in \[0, 1\], got True"),
    "image without width": (
        lambda: skh.models.UavParameters(width=0),
        r"width must be a positive number, got 0",
    ),
    "gate zero": (
        lambda: skh.models.UavParameters(gate=0),
        r"gate must be a positive number, got 0",
    ),
    "infinite observation for Kalman": (
        lambda: skh.kalman_filter(skh.models.lgss3(), [0.0, np.inf]),
        r"ys\[1\] must be finite, or NaN where not measured, got inf",
    ),
    "infinite observation for the jump-Markov filter": (
        lambda: skh.jump_markov_filter(skh.models.jmls(), [0.0, -np.inf]),
        r"ys\[1\] must be finite, or NaN where not measured, got -inf",
    ),
    "observation beyond all modes": (
        lambda: skh.jump_markov_filter(skh.models.jmls(), [0.0, 1e200]),
        r"ys\[1\] must have positive density under the model, got \[1.e\+200\]",
    ),
    "infinite bearing": (
        lambda: skh.particle_filter(skh.models.bearings_only(), [np.inf], skh.MonteCarlo(), 5),
        r"y must be finite, got inf",
    ),
    "transition to the end of the world": (
        lambda: filtered(transition=lambda t, x: (np.sign(x) * 1e200, 1.0)),
        r"model.transition at t=0 .* means must be within 1e\+150 of zero, got -?1e\+200",
    ),
    "mixture without a finite covariance": (
        lambda: skh.default_rule()(mixture(means=[[-1e200, 0.0], [1e200, 0.0]]), 5, rng=0),
        r"means must be close enough .* finite covariance, got numbers from -1e\+200 to 1e\+200",
    ),
    "absurd pixels": (
        lambda: skh.models.UavObservation(tracks=[1], pixels=[[1e200, 0.0]]),
        r"pixels must be finite .* and below 1e\+50, got",
    ),
    "negative factor": (lambda: P.widened(-1.0), r"factor must be a positive number, got -1.0"),
    "NaN factor": (lambda: P.widened(NAN), r"factor must be a positive number, got nan"),
    "order": (
        lambda: skh.QuasiMonteCarlo("random"),
        r"order must be 'storage' or 'hilbert', got 'random'",
    ),
    "M zero": (
        lambda: skh.FWQuad(KERNEL, search_points=0),
        r"search_points must be a positive integer",
    ),
    "tol text": (lambda: skh.FWQuad(KERNEL, tol="a"), r"tol must be None or a non-negative number"),
    "tol negative": (
        lambda: skh.FWQuad(KERNEL, tol=-1.0),
        r"tol must be None or a non-negative number",
    ),
    "tol NaN": (lambda: skh.FWQuad(KERNEL, tol=NAN), r"tol must be None or a non-negative number"),
    "n zero": (
        lambda: skh.ParticleFilter(MODEL, skh.MonteCarlo(), 0),
        r"n must be a positive integer",
    ),
    "no observations": (
        lambda: skh.particle_filter(MODEL, [], skh.MonteCarlo(), 5),
        r"ys must hold",
    ),
    "h zero": (
        lambda: skh.ParticleFilter(MODEL, skh.MonteCarlo(), 5).predict(0),
        r"h must be a pos",
    ),
    "likelihood NaN": (
        lambda: filtered(log_likelihood=lambda t, x, y: np.where(np.arange(4) == 2, NAN, 0.0)),
        r"model.log_likelihood at t=0 must return numbers below \+inf, got nan for particle 2",
    ),
    "likelihood +inf": (
        lambda: filtered(log_likelihood=lambda t, x, y: np.full(4, np.inf)),
        r"model.log_likelihood at t=0 .* got inf for particle 0",
    ),
    "likelihood of wrong shape": (
        lambda: filtered(log_likelihood=lambda t, x, y: np.zeros((4, 1))),
        r"log_likelihood at t=0 must return shape \(4,\), one number per particle, got \(4, 1\)",
    ),
    "likelihood scalar": (
        lambda: filtered(log_likelihood=lambda t, x, y: 0.0),
        r"model.log_likelihood at t=0 must return shape \(4,\), one number per particle, got \(\)",
    ),
    "transition NaN": (
        lambda: filtered(transition=lambda t, x: (x * NAN, 1.0)),
        r"model.transition at t=0 must return .* means must be finite",
    ),
    "transition of too few rows": (
        lambda: filtered(transition=lambda t, x: (x[:2], 1.0)),
        r"model.transition at t=0 .* 4 particles in 1 dimensions: means must have one row",
    ),
    "transition of wrong dimension": (
        lambda: filtered(transition=lambda t, x: (np.zeros((4, 2)), 1.0)),
        r"model.transition at t=0 .* means must have shape \(n, 1\)",
    ),
    "transition with negative variance": (
        lambda: filtered(transition=lambda t, x: (x, -1.0)),
        r"model.transition at t=0 .* covariances must be positive semi-definite",
    ),
    "transition that is no pair": (
        lambda: filtered(transition=lambda t, x: x),
        r"model.transition at t=0",
    ),
    "mixture transition of odd size": (
        lambda: filtered(
            transition=lambda t, x: skh.GaussianMixture(np.ones(5), np.zeros((5, 1)), 1.0)
        ),
        r"model.transition at t=0 .* same number of components for each of the 4 particles, got 5",
    ),
}

BAD_TYPES = {
    "weights": (lambda: mixture(weights="ab"), r"weights must be an array of real numbers"),
    "ragged means": (
        lambda: mixture(means=[[0.0], [1.0, 2.0]]),
        r"means must be an array of real numb",
    ),
    "n float": (lambda: P.sample(2.5), r"n must be a positive integer, got 2.5"),
    "n bool": (lambda: P.sample(True), r"n must be a positive integer, got True"),
    "M float": (
        lambda: skh.FWQuad(KERNEL, search_points=1e4),
        r"search_points must be a positive int",
    ),
    "kernel": (
        lambda: skh.FWQuad(1.0),
        r"kernel must be a GaussianKernel or another Kernel, got 1.0 without scales",
    ),
    "step": (
        lambda: skh.FWQuad(KERNEL, step="herding"),
        r"step must be a step such as skh.Herding\(\)",
    ),
    "step class": (lambda: skh.FWQuad(KERNEL, step=skh.Herding), r"step must be a step such as"),
    "search": (lambda: skh.FWQuad(KERNEL, search="sobol"), r"search must be a rule such as"),
    "rule": (
        lambda: skh.ParticleFilter(MODEL, "FW", 5),
        r"rule must be a rule such as .* got 'FW'",
    ),
    "rule class": (
        lambda: skh.ParticleFilter(MODEL, skh.MonteCarlo, 5),
        r"rule must be a rule such",
    ),
    "measured rule": (lambda: skh.Measured("a", KERNEL), r"rule must be a rule such as"),
    "measured kernel": (
        lambda: skh.Measured(skh.MonteCarlo(), 3),
        r"kernel must be a GaussianKernel",
    ),
    "prior pair": (
        lambda: skh.model_from_functions(5, lambda t, x: (x, 1.0), lambda t, x, y: 0),
        r"prior must be a GaussianMixture or \(mean, covariance\), got 5",
    ),
    "pose for a prior": (
        lambda: skh.model_from_functions(POSE, max, max),
        r"prior must be .* of vectors, got Pose\(.*Charted\(object, skh.geometry.SE3\(\)\)",
    ),
    "pose for the mean of a prior": (
        lambda: skh.model_from_functions((POSE, np.eye(6)), max, max),
        r"prior must be .* of vectors, got Pose\(.*Charted\(object, skh.geometry.SE3\(\)\)",
    ),
    "Kalman model": (lambda: skh.kalman_filter(MODEL, [0.0]), r"model must be a LinearGaussian"),
    "jump-Markov model": (
        lambda: skh.jump_markov_filter(MODEL, [0.0]),
        r"model must be a JumpMarkov",
    ),
    "carrying model without move": (
        lambda: skh.ParticleFilter(
            type(
                "M",
                (),
                dict.fromkeys(["prior", "transition", "log_likelihood", "initial_carry"], id),
            )(),
            skh.MonteCarlo(),
            5,
        ),
        r"a model that carries records needs move and initial_carry",
    ),
    "rule that returns no points": (
        lambda: skh.particle_filter(MODEL, [0.0], lambda p, n, rng: p.means, 5),
        r"rule must return WeightedPoints",
    ),
    "model": (
        lambda: skh.ParticleFilter(object(), skh.MonteCarlo(), 5),
        r"model must be .* without prior",
    ),
    "model class": (
        lambda: skh.ParticleFilter(skh.models.NonlinearBenchmark, skh.MonteCarlo(), 5),
        r"model must be an object .* got the class",
    ),
    "prior": (
        lambda: skh.particle_filter(
            type("M", (), {"prior": lambda s: 0, "transition": id, "log_likelihood": id})(),
            [0.0],
            skh.MonteCarlo(),
            5,
        ),
        r"model.prior\(\) must return a GaussianMixture, got 0",
    ),
    "function": (
        lambda: skh.model_from_functions(([0.0], 1.0), 3, lambda t, x, y: 0),
        r"transition must be a function, got 3",
    ),
    "words for an observation": (
        lambda: skh.kalman_filter(skh.models.lgss3(), ["a"]),
        r"ys\[0\] must be numbers, NaN where not measured, got 'a'",
    ),
    "words for numbers": (
        lambda: P.choose("abc"),
        r"u must be an array of real numbers, got 'abc'",
    ),
    "metric": (
        lambda: skh.model_from_functions(([0.0], 1.0), max, max, observation_metric=3),
        r"observation_metric must be a function, got 3",
    ),
    "rule that makes rules": (
        lambda: skh.ParticleFilter(MODEL, skh.default_rule, 5),
        r"rule must be a rule .* got a function that makes one: write default_rule\(\)",
    ),
    "class of a rule": (
        lambda: skh.Smoothed(skh.FWQuad),
        r"rule must be a rule .* got the class FWQuad: write FWQuad\(...\)",
    ),
    "way to move points": (
        lambda: skh.Matched(skh.Refine()),
        r"rule must be a rule .* a way to move points goes into skh.Refined\(refine=...\)",
    ),
    "function of one argument": (
        lambda: skh.ParticleFilter(MODEL, lambda p: p, 5),
        r"rule must be a rule .* which cannot be called with \(p, n, rng=rng\)",
    ),
    "MMD of a kernel and a mixture in the wrong order": (
        lambda: skh.mmd(P, KERNEL, [[0.0]], [1.0]),
        r"kernel must be a GaussianKernel, got GaussianMixture",
    ),
    "MMD to no mixture": (
        lambda: skh.mmd(KERNEL, None, [[0.0]], [1.0]),
        r"p must be a GaussianMixture, got None",
    ),
    "mean map of points": (
        lambda: KERNEL.mean_map([[0.0]], P),
        r"p must be a GaussianMixture, got \[\[0.0\]\]",
    ),
    "mean map of nothing": (
        lambda: KERNEL.mean_map_at(None, np.zeros((1, 1))),
        r"p must be a GaussianMixture, got None",
    ),
    "norm of nothing": (lambda: KERNEL.mean_norm2(None), r"p must be a GaussianMixture, got None"),
    "coordinates of nothing": (lambda: KERNEL.mixture(3), r"p must be a GaussianMixture, got 3"),
    "refinement of no mixture": (
        lambda: skh.Refine()(KERNEL, 3, skh.MonteCarlo()(P, 3)),
        r"p must be a GaussianMixture, got 3",
    ),
    "refinement by no kernel": (
        lambda: skh.Refine()(1.0, P, skh.MonteCarlo()(P, 3)),
        r"kernel must be a GaussianKernel, got 1.0",
    ),
    "refinement of no points": (
        lambda: skh.Refine()(KERNEL, P, np.zeros((3, 1))),
        r"points must be WeightedPoints, got array",
    ),
    "no series": (
        lambda: skh.particle_filter(MODEL, None),
        r"ys must be a series of observations, one for each time, got None",
    ),
    "one number for a series": (
        lambda: skh.particle_filter(MODEL, 3.0),
        r"ys must be a series of observations, .* got 3.0",
    ),
    "an array of one number for a series": (
        lambda: skh.kalman_filter(skh.models.lgss3(), np.array(3.0)),
        r"ys must be a series of observations, .* got array\(3.\)",
    ),
    "a dict for a series": (
        lambda: skh.particle_filter(MODEL, {"y": 3.0}),
        r"ys must be a series of observations, .* got {'y': 3.0}",
    ),
    "model and series in the wrong order": (
        lambda: skh.particle_filter([0.0], MODEL),
        r"ys must be a series of observations, .* got NonlinearBenchmark\(\)",
    ),
    "progress": (
        lambda: skh.particle_filter(MODEL, [0.0], progress="x"),
        r"progress must be True or False, got 'x'",
    ),
    "history": (
        lambda: skh.particle_filter(MODEL, [0.0], history="yes"),
        r"history must be True or False, got 'yes'",
    ),
    "joint": (
        lambda: skh.ParticleFilter(MODEL).predict(joint="no"),
        r"joint must be True or False, got 'no'",
    ),
    "batched": (
        lambda: skh.model_from_functions(([0.0], 1.0), max, max, batched="no"),
        r"batched must be True or False, got 'no'",
    ),
    "reweigh": (lambda: skh.Refine(reweigh="yes"), r"reweigh must be True or False, got 'yes'"),
    "greedy": (lambda: skh.Herding(greedy=1), r"greedy must be True or False, got 1"),
    "lazy array": (
        lambda: skh.FWQuad(lazy=np.array([1, 2])),
        r"lazy must be True or False, got array",
    ),
    "digits for numbers": (
        lambda: skh.GaussianKernel("1"),
        r"variance must be an array of real numbers, got '1'",
    ),
    "None for a number": (
        lambda: mixture(covariances=None),
        r"covariances must be an array of real numbers, got None",
    ),
    "None among numbers": (
        lambda: mixture(weights=[0.5, None]),
        r"weights must be an array of real numbers, got \[0.5, None\]",
    ),
    "masked numbers": (
        lambda: mixture(weights=np.ma.masked_equal([0.5, 1.0], 1.0)),
        r"weights must be an array of real numbers, got masked_array",
    ),
    "bool for a variance": (
        lambda: skh.GaussianKernel(True),
        r"variance must be an array of real numbers, got True",
    ),
    "rng of a draw": (lambda: P.sample(3, rng="seed"), r"rng must be .* got 'seed'"),
    "rng of digits": (lambda: P.sample(3, rng="12"), r"rng must be .* got '12'"),
    "rng of a filter": (
        lambda: skh.particle_filter(MODEL, [0.0], rng=True),
        r"rng must be a Generator, a non-negative integer or None, got True",
    ),
    "rng of a simulation": (lambda: MODEL.simulate(3, rng=0.5), r"rng must be .* got 0.5"),
    "rng of a jump-Markov model": (
        lambda: skh.models.jmls().simulate(3, rng="a"),
        r"rng must be .* got 'a'",
    ),
    "rng of a flight": (lambda: skh.models.survey_flight(3, rng="a"), r"rng must be .* got 'a'"),
    "seed of a model": (lambda: skh.models.jmls(seed=0.5), r"seed must be .* got 0.5"),
    "seed of a linear model": (lambda: skh.models.lgss3(seed="a"), r"seed must be .* got 'a'"),
}


@pytest.mark.parametrize(("call", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_bad_values_are_named(call, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        call()


@pytest.mark.parametrize(("call", "message"), BAD_TYPES.values(), ids=BAD_TYPES)
def test_bad_types_are_named(call, message):
    with pytest.raises(TypeError, match=f"(?s){message}"):
        call()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [0, -3])
def test_every_rule_refuses_a_number_of_points_that_is_not_positive(rule, n):
    with pytest.raises(ValueError, match=f"n must be a positive integer, got {n}"):
        rule(P, n)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_rejects_invalid_arguments(rule):
    with pytest.raises(TypeError, match="n must be a positive integer, got '3'"):
        rule(P, "3")
    with pytest.raises(TypeError, match="p must be a GaussianMixture, got 5"):
        rule(5, P)
    with pytest.raises(TypeError, match=r"rng must be a Generator, .* got 'a'"):
        rule(P, 5, rng="a")
    with pytest.raises(ValueError, match=r"rng must be a Generator, .* got -1"):
        rule(P, 5, rng=-1)


BAD_POINTS = {
    "sum": ([[0.0], [1.0]], [1.0, 1.0], [0, 0], "weights that sum to one, got a sum of 2.0"),
    "negative": ([[0.0], [1.0]], [1.5, -0.5], [0, 0], "non-negative weights, got -0.5 at 1"),
    "NaN weight": ([[0.0], [1.0]], [NAN, 1.0], [0, 0], "non-negative weights, got nan at 0"),
    "infinite weight": ([[0.0]], [np.inf], [0], "weights that sum to one, got a sum of inf"),
    "NaN point": ([[0.0], [NAN]], [0.5, 0.5], [0, 0], r"finite points, got \[nan\] at 1"),
    "no points": (np.empty((0, 1)), [], [], "rule must return at least one point, got w="),
    "one weight for all": ([[0.0]], 1.0, [0], r"of shapes \(1, 1\), \(1,\), .* got .* \(\)"),
    "dimension": ([[0.0, 1.0], [1.0, 2.0]], [0.5, 0.5], [0, 0], r"of shapes \(2, 1\)"),
    "component": ([[0.0], [1.0]], [0.5, 0.5], [0, 9], r"components in 0..0"),
}


@pytest.mark.parametrize(("x", "w", "component", "message"), BAD_POINTS.values(), ids=BAD_POINTS)
def test_values_returned_by_a_rule_are_checked(x, w, component, message):
    def rule(p, n, *, rng=None):
        return skh.WeightedPoints(np.array(x), np.array(w), np.array(component))

    with pytest.raises(ValueError, match=message):
        skh.particle_filter(MODEL, [0.0], rule, 2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": "abc"}, "the x that a rule returns must be an array of real numbers, got 'abc'"),
        ({"w": None}, "the w that a rule returns must be an array of real numbers, got None"),
        ({"shift": 3}, "the shift that a rule returns must be a Shift or None, got 3"),
        ({"mmd": "small"}, "rule must return a number for mmd, got 'small'"),
    ],
)
def test_types_returned_by_a_rule_are_checked(changed, message):
    def rule(p, n, *, rng=None):
        return replace(skh.Stratified()(p, n, rng=rng), **changed)

    with pytest.raises(TypeError, match=message):
        skh.particle_filter(MODEL, [0.0], rule, 2)


@pytest.mark.parametrize(
    ("part", "message"), [(np.zeros(7, int), "have 1 parts, got 7"), ([0.5], "in 0..0, got")]
)
def test_parts_of_a_shift_are_one_number_per_component(part, message):
    def rule(p, n, *, rng=None):
        points = skh.Smoothed(skh.Stratified())(p, n, rng=rng)
        return replace(points, shift=replace(points.shift, part=part))

    with pytest.raises(ValueError, match=f"the shift that a rule returns must .*{message}"):
        skh.particle_filter(MODEL, [0.0], rule, 2)


def test_a_rule_that_fails_can_be_repeated_with_the_same_random_numbers():
    fail = {"now": True}

    def rule(p, n, *, rng=None):
        points = skh.MonteCarlo()(p, n, rng=rng)
        if fail["now"]:
            raise RuntimeError("a sensor fell off")
        return points

    pf = skh.ParticleFilter(MODEL, rule, 5, rng=0)
    with pytest.raises(RuntimeError, match="fell off"):
        pf.step(1.0)
    fail["now"] = False
    plain = skh.ParticleFilter(MODEL, skh.MonteCarlo(), 5, rng=0)
    np.testing.assert_array_equal(pf.step(1.0).x, plain.step(1.0).x)


@pytest.mark.parametrize("guilty", ["transition", "log_likelihood"])
def test_writing_into_particles_raises(guilty):
    def transition(t, x):
        if guilty == "transition":
            x += 1
        return x, 1.0

    def log_likelihood(t, x, y):
        if guilty == "log_likelihood":
            x += 1
        return -(x[:, 0] ** 2)

    with pytest.raises(ValueError, match="read-only"):
        filtered(transition, log_likelihood)


def test_a_model_may_reuse_the_array_it_returns():
    buffer = np.empty((4, 1))

    def transition(t, x):
        buffer[:] = x + 10
        return buffer, 0.1

    model = skh.model_from_functions(([0.0], 0.1), transition, lambda t, x, y: np.zeros(4))
    pf = skh.ParticleFilter(model, skh.Stratified(), 4, rng=0)
    pf.step(0.0)
    first = pf.predict().means.copy()
    pf.predict(4)
    np.testing.assert_array_equal(pf.predict().means, first)


def test_values_copy_the_arrays_they_are_made_of():
    means, variances = np.zeros((2, 1)), [1.0, 2.0]
    p, kernel = skh.GaussianMixture([1, 1], means, 1.0), skh.GaussianKernel(variances)
    means[:], variances[0] = 7.0, -5.0
    np.testing.assert_array_equal(p.means, np.zeros((2, 1)))
    assert kernel == skh.GaussianKernel([1.0, 2.0])
    assert skh.FWQuad(kernel) == skh.FWQuad(skh.GaussianKernel((1.0, 2.0)))


@pytest.mark.parametrize("part", ["weights", "means", "covariances"])
@pytest.mark.parametrize(
    "make",
    [lambda p: p, lambda p: p.widened(2.0), lambda p: p.shrunk(0.5), Predictive.of],
)
def test_the_arrays_of_a_mixture_refuse_assignment(make, part):
    with pytest.raises(ValueError, match="read-only"):
        getattr(make(mixture()), part)[...] = 100.0


def test_arrays_of_beliefs_and_predictions_are_read_only():
    pf = skh.ParticleFilter(MODEL, skh.Stratified(), 4, rng=0)
    for part in (pf.step(1.0).w, pf.belief.x, pf.predict().means):
        with pytest.raises(ValueError, match="read-only"):
            part[...] = NAN


def test_a_failed_step_changes_nothing_and_the_next_one_succeeds():
    calls = {"bad": True}

    def log_likelihood(t, x, y):
        return np.full(len(x), NAN if calls["bad"] and t == 1 else 0.0) - x[:, 0] ** 2

    def filters():
        model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0), log_likelihood)
        return skh.ParticleFilter(model, skh.FWQuad(KERNEL, search_points=50), 8, rng=0)

    pf, plain = filters(), filters()
    pf.step(0.0)
    with pytest.raises(ValueError, match="t=1"):
        pf.step(0.0)
    calls["bad"] = False
    plain.step(0.0)
    np.testing.assert_array_equal(pf.step(0.0).w, plain.step(0.0).w)


def test_lazy_modules_are_found_and_unknown_names_raise():
    assert callable(skh.trajectory.read_tum)
    assert skh.scores.__name__ == "skh.scores"
    with pytest.raises(AttributeError, match="module 'skh' has no attribute 'nothing'"):
        skh.nothing  # noqa: B018 # the access is the test
