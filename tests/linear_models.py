"""Small linear models with exact answers, as functions of their parameters."""

import numpy as np

import skh
from skh.models import LinearGaussian

LGSS3 = skh.models.lgss3()


def autoregression(theta=(0.9, 0.19, 0.5)):
    """AR(1) with noise: coefficient, variance of the state's noise, of the observation's."""
    a, q, r = theta
    return LinearGaussian([[a]], [[1.0]], [[q]], [[r]], [0.0], [[1.0]])


def lgss3(theta=(0.0, 0.0, 0.0)):
    """The paper's LGSS3 with A, Q and R multiplied by exp(theta)."""
    a, q, r = np.exp(theta)
    m, P = LGSS3.initial_mean, LGSS3.initial_covariance
    return LinearGaussian(a * LGSS3.A, LGSS3.C, q * LGSS3.Q, r * LGSS3.R, m, P)


def constant_velocity(q=0.01, r=1.0, singular=False):
    """Position and velocity; the position is observed, and driven by the velocity alone or not."""
    Q = np.diag([0.0, 1.0]) if singular else np.array([[1 / 3, 1 / 2], [1 / 2, 1.0]])
    A = [[1.0, 1.0], [0.0, 1.0]]
    return LinearGaussian(A, [[1.0, 0.0]], q * Q, [[r]], np.zeros(2), np.eye(2))


def exact_gradient(make_model, theta, ys, h=1e-5):
    """Derivatives of the Kalman filter's evidence."""
    theta = np.asarray(theta, float)
    evidence = [
        skh.kalman_filter(make_model(theta + s * e), ys).log_evidence
        for e in h * np.eye(len(theta))
        for s in (1, -1)
    ]
    return (np.array(evidence[::2]) - np.array(evidence[1::2])) / (2 * h)


def error(means, exact):
    """Root mean square error in smoothed standard deviations."""
    sd = np.sqrt(np.einsum("tii->ti", exact.covariances))
    return float(np.sqrt((((means - exact.means) / sd) ** 2).mean()))
