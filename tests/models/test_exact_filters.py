"""Exact filters against independent constructions."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import oracles
import skh
from skh.filtering.model_protocols import predictive
from skh.gaussians.linear_algebra import log_density


def test_kalman_filter_equals_conditioning_of_the_joint_gaussian():
    model = skh.models.lgss3()
    _, ys = model.simulate(6, rng=0)
    T, d = 6, 3
    F = np.zeros((T * d, T * d))
    for t in range(T):
        for s in range(t + 1):
            F[t * d : (t + 1) * d, s * d : (s + 1) * d] = np.linalg.matrix_power(model.A, t - s)
    P = F @ F.T  # x_0 and all v are standard normal
    H = np.kron(np.eye(T), model.C)
    S = H @ P @ H.T + 0.1 * np.eye(T)
    gain = P @ H.T @ np.linalg.inv(S)
    result = skh.kalman_filter(model, ys)
    np.testing.assert_allclose(result.means[-1], (gain @ ys.ravel())[-d:], atol=1e-12)
    np.testing.assert_allclose(
        result.covariances[-1], (P - gain @ H @ P)[-d:, -d:], rtol=1e-10, atol=1e-13
    )
    exact = multivariate_normal(np.zeros(T), S).logpdf(ys.ravel())
    assert result.log_evidence == pytest.approx(exact, abs=1e-11)


def test_kalman_filter_predicts_at_missing_observations():
    model = skh.models.lgss3()
    _, ys = model.simulate(5, rng=0)
    ys[4] = np.nan
    result, shorter = skh.kalman_filter(model, ys), skh.kalman_filter(model, ys[:4])
    as_none = skh.kalman_filter(model, [None if np.isnan(y).all() else y for y in ys])
    np.testing.assert_array_equal(result.means, as_none.means)
    np.testing.assert_allclose(result.means[4], model.A @ shorter.means[3], rtol=1e-13)
    P = model.A @ shorter.covariances[3] @ model.A.T + model.Q
    np.testing.assert_allclose(result.covariances[4], P, rtol=1e-13, atol=1e-15)
    assert result.log_evidence == shorter.log_evidence


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("T", [1, 2, 5, 10])
def test_jump_markov_filter_equals_enumeration(seed, T):
    rng = np.random.default_rng(seed)
    plain = skh.models.jmls(seed)
    # modes with different noises, and asymmetric switching
    model = skh.models.JumpMarkov(
        plain.A,
        plain.C,
        plain.Q * np.array([1.0, 2.5])[:, None, None],
        plain.R * np.array([1.0, 0.3])[:, None, None],
        np.array([[0.9, 0.1], [0.4, 0.6]]),
        np.array([0.2, 0.8]),
        rng.normal(size=2),
        np.diag([1.0, 0.5]),
    )
    _, ys = model.simulate(T, rng=seed)
    mean, covariance, log_evidence, mode = oracles.jump_markov_by_enumeration(model, ys)
    result = skh.jump_markov_filter(model, ys)
    np.testing.assert_allclose(result.means[-1], mean, atol=1e-11)
    np.testing.assert_allclose(result.covariances[-1], covariance, atol=1e-11)
    np.testing.assert_allclose(result.mode_probabilities[-1], mode, atol=1e-12)
    assert result.log_evidence == pytest.approx(log_evidence, abs=1e-11)


@pytest.mark.parametrize("m", [1, 3])
def test_log_density_equals_scipys(m):
    rng = np.random.default_rng(m)
    B = rng.normal(size=(m, m))
    S, x = B @ B.T + np.eye(m), rng.normal(size=(5, m))
    np.testing.assert_allclose(log_density(x, S), multivariate_normal(np.zeros(m), S).logpdf(x))


def test_jump_markov_filter_skips_missing_observations():
    model = skh.models.jmls()
    _, ys = model.simulate(5, rng=0)
    shortened = skh.jump_markov_filter(model, [*ys[:4], None])
    np.testing.assert_allclose(
        shortened.mode_probabilities[-1],
        shortened.mode_probabilities[-2] @ model.switching,
        rtol=1e-12,
    )
    assert shortened.log_evidence == pytest.approx(
        skh.jump_markov_filter(model, ys[:4]).log_evidence
    )


def test_jump_markov_filter_rejects_long_series():
    model = skh.models.jmls()
    with pytest.raises(ValueError, match="T=30"):
        skh.jump_markov_filter(model, np.zeros((30, 1)))


def test_records_along_a_path_are_those_of_all_sequences_of_modes():
    """p(x_{0:4}, y_{0:4}, r_4) by its definition, with entries of y missing."""
    model = oracles.uneven_jump_markov()
    x, ys = model.simulate(5, rng=1)
    ys[2, 0] = ys[3, 1] = np.nan

    def pdf(value, mean, S):
        seen = ~np.isnan(value)
        return multivariate_normal(mean[seen], S[np.ix_(seen, seen)]).pdf(value[seen])

    joint = np.zeros(2)
    for r in product(range(2), repeat=5):
        factors = [model.initial_modes[r[0]], *(model.switching[a, b] for a, b in pairwise(r))]
        factors += [pdf(ys[t], model.C[k] @ x[t], model.R[k]) for t, k in enumerate(r)]
        factors += [pdf(x[t + 1], model.A[k] @ x[t], model.Q[k]) for t, k in enumerate(r[:-1])]
        joint[r[-1]] += np.prod(factors)
    carry, total = model.initial_carry(x[:1]), 0.0
    for t, y in enumerate(ys):
        now, before = x[t : t + 1], x[t - 1 : t]
        if t:
            law = predictive(model.transition(t - 1, before, carry), np.ones(1))
            total += np.log(oracles.density(law, now)).item()
            carry = model.move(t - 1, before, carry, now)
        log_l, carry = model.log_likelihood(t, now, y, carry)
        total += log_l.item()
    assert total == pytest.approx(np.log(joint.sum()), abs=1e-12)
    np.testing.assert_allclose(np.exp(carry[0]), joint / joint.sum(), atol=1e-13)


def test_jump_markov_filter_uses_the_measured_entries():
    model = oracles.uneven_jump_markov()
    fields = {name: getattr(model, name) for name in model.__dataclass_fields__}
    second = skh.models.JumpMarkov(**{**fields, "C": model.C[:, 1:], "R": model.R[:, 1:, 1:]})
    _, ys = model.simulate(4, rng=2)
    partly = np.where([True, False], np.nan, ys)
    for seen, given_ys in ((model, ys), (second, partly)):
        exact = oracles.jump_markov_by_enumeration(seen, ys[:, -seen.C.shape[1] :])
        found = skh.jump_markov_filter(model, given_ys)
        last = (
            found.means[-1],
            found.covariances[-1],
            found.log_evidence,
            found.mode_probabilities[-1],
        )
        for a, b in zip(last, exact, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-11)
