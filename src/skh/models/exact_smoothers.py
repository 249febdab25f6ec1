"""Exact smoothers: Rauch-Tung-Striebel, and a mixture of them for jump-Markov models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy  # loads scipy.special on first use

from skh._typing import Array
from skh.filtering.observations import as_series, is_missing, measured_entries
from skh.gaussians.linear_algebra import condition, right_divide, symmetric
from skh.models.exact_filters import MAX_SEQUENCES, kalman_filter
from skh.models.jump_markov import JumpMarkov, log
from skh.models.linear_gaussian import LinearGaussian


class KalmanSmoothed(NamedTuple):
    """Smoothed means (T, d), covariances (T, d, d), Cov(x_{t+1}, x_t) (T-1, d, d); log-evidence."""

    means: Array
    covariances: Array
    lag_one_covariances: Array
    log_evidence: float


class JumpMarkovSmoothed(NamedTuple):
    """`KalmanSmoothed` with the smoothed probabilities of the modes (T, modes)."""

    means: Array
    covariances: Array
    lag_one_covariances: Array
    log_evidence: float
    mode_probabilities: Array


def kalman_smoother(model: LinearGaussian, ys: Iterable[Any]) -> KalmanSmoothed:
    """Rauch-Tung-Striebel smoother of a linear Gaussian model; missing ys are None or NaN.

    Singular covariances are allowed.

    >>> import skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(10, rng=0)
    >>> exact = skh.kalman_smoother(model, ys)
    >>> exact.means.shape, exact.lag_one_covariances.shape
    ((10, 3), (9, 3, 3))
    """
    filtered = kalman_filter(model, ys)
    T = len(filtered.means)
    A, Q = (np.broadcast_to(M, (T, *M.shape)) for M in (model.A, model.Q))
    return KalmanSmoothed(
        *backwards(filtered.means, filtered.covariances, A, Q), filtered.log_evidence
    )


def backwards(means: Array, covariances: Array, A: Array, Q: Array) -> tuple[Array, Array, Array]:
    """Smooth filtered moments, given the matrices A and Q of each step (Rauch et al., 1965)."""
    m, P = [means[-1]], [covariances[-1]]
    d = means.shape[1]
    cross = []
    for t in range(len(means) - 2, -1, -1):
        S = symmetric(A[t] @ covariances[t] @ A[t].T + Q[t])
        G = right_divide(covariances[t] @ A[t].T, S)
        cross.append(P[-1] @ G.T)
        keep = np.eye(d) - G @ A[t]  # Joseph's form: a sum of covariances
        inner = keep @ covariances[t] @ keep.T + G @ (Q[t] + P[-1]) @ G.T
        m.append(means[t] + G @ (m[-1] - A[t] @ means[t]))
        P.append(symmetric(inner))
    return np.array(m[::-1]), np.array(P[::-1]), np.array(cross[::-1]).reshape(-1, d, d)


def jump_markov_smoother(model: JumpMarkov, ys: Iterable[Any]) -> JumpMarkovSmoothed:
    """Exact smoother of a jump-Markov linear model: one Kalman smoother per sequence of modes.

    Their number is exponential in T: for tests and comparisons with two modes and T of about 10.
    """
    if not isinstance(model, JumpMarkov):
        raise TypeError(f"model must be a JumpMarkov, got {model!r}")
    ys, modes = as_series(ys), len(model.A)
    T = len(ys)
    if modes**T > MAX_SEQUENCES:
        raise ValueError(f"ys must be short enough for {modes}^T <= 2^20, got T={T}")
    sequences = np.array(list(product(range(modes), repeat=T)))
    runs = [_smoothed_along(model, ys, r) for r in sequences]
    logs = np.array([run[-1] for run in runs])
    evidence = float(scipy.special.logsumexp(logs))
    w = np.exp(logs - evidence)
    m, P, cross = (np.array([run[k] for run in runs]) for k in range(3))
    mean = np.einsum("s,sti->ti", w, m)
    e = m - mean
    covariances = np.einsum("s,stij->tij", w, P + e[..., :, None] * e[..., None, :])
    between = e[:, 1:, :, None] * e[:, :-1, None, :]
    lag_one = np.einsum("s,stij->tij", w, cross + between)
    probabilities = np.array([np.bincount(r, w, modes) for r in sequences.T])
    return JumpMarkovSmoothed(mean, covariances, lag_one, evidence, probabilities)


def _smoothed_along(model: JumpMarkov, ys: Any, r: Array) -> tuple[Array, Array, Array, float]:
    """Smoothed moments given a sequence of modes, and log p(ys, modes)."""
    log_p = float(log(model.initial_modes)[r[0]] + log(model.switching)[r[:-1], r[1:]].sum())
    m, P, means, covariances = model.initial_mean, model.initial_covariance, [], []
    for t, y in enumerate(ys):
        if t > 0:
            A = model.A[r[t - 1]]
            m, P = A @ m, A @ P @ A.T + model.Q[r[t - 1]]
        if not is_missing(y):
            y, seen = measured_entries(y, model.C.shape[1], f"ys[{t}]")
            C, R = model.C[r[t]][seen], model.R[r[t]][np.ix_(seen, seen)]
            m, P, log_l = condition(m, P, y[seen] - C @ m, C, R)
            log_p += float(log_l)
        means.append(m)
        covariances.append(P)
    smoothed = backwards(np.array(means), np.array(covariances), model.A[r], model.Q[r])
    return (*smoothed, log_p)
