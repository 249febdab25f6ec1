"""Expectation-maximisation against the Kalman smoother's, and against the exact optimum."""

import numpy as np
import pytest
from scipy import optimize

import skh

POSITIVE = {"q": (0, None), "r": (0, None)}
START = {"q": 1.5, "r": 0.4}


def local_level(q, r):
    one = np.eye(1)
    return skh.models.LinearGaussian(one, one, q * one, r * one, np.zeros(1), 10 * one)


def m_step(smoothed, ys):
    m, P = smoothed.means[:, 0], smoothed.covariances[:, 0, 0]
    C = smoothed.lag_one_covariances[:, 0, 0]
    q = np.mean(np.diff(m) ** 2 + P[1:] + P[:-1] - 2 * C)
    return {"q": q, "r": np.mean((np.asarray(ys)[:, 0] - m) ** 2 + P)}


@pytest.fixture(scope="module")
def ys():
    return local_level(0.5, 1.0).simulate(40, rng=0)[1]


def fitted(ys, search, **options):
    return skh.fit(local_level, ys, START, bounds=POSITIVE, n=30, rng=0, search=search, **options)


@pytest.mark.parametrize("search", [skh.EM(m_step), skh.EM()], ids=["closed form", "numerical"])
def test_one_iteration_is_that_of_the_exact_smoother(ys, search):
    exact = m_step(skh.kalman_smoother(local_level(**START), ys), ys)
    second = fitted(ys, search, max_iterations=2).trace[1].parameters
    assert second == pytest.approx(exact, rel=0.02)


def test_it_ends_at_the_exact_optimum(ys):
    def exact(**values):
        return skh.kalman_filter(local_level(**values), ys).log_evidence

    best = optimize.minimize(
        lambda v: -exact(q=np.exp(v[0]), r=np.exp(v[1])), [0.0, 0.0], method="Nelder-Mead"
    )
    fit = fitted(ys, skh.EM(m_step), max_iterations=60)
    assert fit.converged
    assert exact(**fit.parameters) > -best.fun - 0.02
    assert np.isfinite(list(fit.standard_errors.values())).all()


def test_the_evidence_grows_for_particles_that_carry_kalman_filters():
    def make_model(q):
        model = skh.models.lgss3()
        A, Q = 0.8 * model.A, q * model.Q
        m, P = model.initial_mean, model.initial_covariance
        scaled = skh.models.LinearGaussian(A, model.C, Q, model.R, m, P)
        return skh.rao_blackwellize(scaled, [0])

    ys = skh.models.lgss3().simulate(12, rng=1)[1]
    search = skh.EM(tolerance=0.05)
    fit = skh.fit(make_model, ys, {"q": 0.1}, bounds={"q": (0, None)}, n=25, rng=0, search=search)
    evidence = [step.log_evidence for step in fit.trace]
    assert evidence[-1] > evidence[0] + 1.0
    assert np.diff(evidence).min() > -0.1


def test_bad_arguments_are_named(ys):
    with pytest.raises(TypeError, match="m_step must be a function"):
        skh.EM(3)
    with pytest.raises(ValueError, match="tolerance must be"):
        skh.EM(tolerance=0.0)
    with pytest.raises(TypeError, match="search must be a search such as"):
        fitted(ys, "em")
    with pytest.raises(ValueError, match="what m_step returns"):
        fitted(ys, skh.EM(lambda smoothed, ys: {"q": 1.0}))
    with pytest.raises(ValueError, match=r"what m_step returns\['q'\] must be strictly between"):
        fitted(ys, skh.EM(lambda smoothed, ys: {"q": -1.0, "r": 1.0}))
