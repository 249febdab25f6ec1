"""Exact filters: the Kalman filter, and a mixture of 2^T of them for jump-Markov models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy  # loads scipy.special on first use

from skh._typing import Array
from skh.filtering.observations import as_series, is_missing, measured_entries
from skh.gaussians.linear_algebra import apply, condition, mixture_moments, transpose
from skh.models.jump_markov import JumpMarkov, log
from skh.models.linear_gaussian import LinearGaussian

MAX_SEQUENCES = 1 << 20


class KalmanResult(NamedTuple):
    """Filtered means (T, d), covariances (T, d, d) and the log-evidence."""

    means: Array
    covariances: Array
    log_evidence: float


class JumpMarkovResult(NamedTuple):
    """`KalmanResult` with the filtered probabilities of the modes (T, modes)."""

    means: Array
    covariances: Array
    log_evidence: float
    mode_probabilities: Array


def kalman_filter(model: LinearGaussian, ys: Iterable[Any]) -> KalmanResult:
    """Kalman filter of a linear Gaussian model; missing observations are None or NaN.

    >>> import skh
    >>> model = skh.models.lgss3()
    >>> states, ys = model.simulate(10, rng=0)
    >>> skh.kalman_filter(model, ys).means.shape
    (10, 3)
    """
    if not isinstance(model, LinearGaussian):
        raise TypeError(f"model must be a LinearGaussian, got {model!r}")
    m, P = model.initial_mean, model.initial_covariance
    log_evidence, means, covariances = 0.0, [], []
    for t, y in enumerate(as_series(ys)):
        if t > 0:
            m, P = model.A @ m, model.A @ P @ model.A.T + model.Q
        if not is_missing(y):
            y, seen = measured_entries(y, len(model.C), f"ys[{t}]")
            C, R = model.C[seen], model.R[np.ix_(seen, seen)]
            m, P, log_l = condition(m, P, y[seen] - C @ m, C, R)
            log_evidence += float(log_l)
        means.append(m)
        covariances.append(P)
    return KalmanResult(np.array(means), np.array(covariances), log_evidence)


def jump_markov_filter(model: JumpMarkov, ys: Iterable[Any]) -> JumpMarkovResult:
    """Exact filter of a jump-Markov linear model: one Kalman filter per sequence of modes.

    The number of sequences is exponential in T: with two modes, T is limited to 20.
    """
    if not isinstance(model, JumpMarkov):
        raise TypeError(f"model must be a JumpMarkov, got {model!r}")
    ys, modes = as_series(ys), len(model.A)
    if modes ** len(ys) > MAX_SEQUENCES:
        raise ValueError(f"ys must be short enough for {modes}^T <= 2^20, got T={len(ys)}")
    r = np.arange(modes)  # the mode of each sequence at the current time
    log_w = log(model.initial_modes)
    m = np.tile(model.initial_mean, (modes, 1))
    P = np.tile(model.initial_covariance, (modes, 1, 1))
    log_evidence, rows = 0.0, []
    for t, y in enumerate(ys):
        if t > 0:  # x moves with the old mode, then each sequence branches into all new modes
            A = model.A[r]
            m, P = apply(A, m), A @ P @ transpose(A) + model.Q[r]
            log_w = (log_w[:, None] + log(model.switching)[r]).ravel()
            m, P = np.repeat(m, modes, axis=0), np.repeat(P, modes, axis=0)
            r = np.tile(np.arange(modes), len(r))
        if not is_missing(y):
            y, seen = measured_entries(y, model.C.shape[1], f"ys[{t}]")
            C, R = model.C[r][:, seen], model.R[r][:, seen][:, :, seen]
            m, P, log_l = condition(m, P, y[seen] - apply(C, m), C, R)
            log_w = log_w + log_l
            total = float(scipy.special.logsumexp(log_w))
            if total == -np.inf:  # squared residuals overflowed
                raise ValueError(f"ys[{t}] must have positive density under the model, got {y}")
            log_evidence, log_w = log_evidence + total, log_w - total
        rows.append((*mixture_moments(np.exp(log_w), m, P), np.bincount(r, np.exp(log_w), modes)))
    means, covariances, probabilities = (np.array(column) for column in zip(*rows, strict=True))
    return JumpMarkovResult(means, covariances, log_evidence, probabilities)
