"""Models of `particles`, against numbers recorded by it (see benchmarks/elsewhere.py)."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import particles_doubles as doubles
import skh
from elsewhere_cases import cases, states
from skh.filtering.model_protocols import predictive
from skh.models.elsewhere.laws import as_transition, parts_of

RECORDED = json.loads(Path(__file__).with_name("elsewhere.json").read_text())
LAWS = cases(doubles)


def reference(series):
    return series["mean"] if series["exact"] is None else series["exact"]


def moments(transition, n, d):
    """Mean and covariance of each row of a transition."""
    if not isinstance(transition, skh.GaussianMixture):
        means, S = transition
        return means, np.broadcast_to(S, (n, d, d))
    w = transition.weights.reshape(n, -1)
    w = w / w.sum(axis=1, keepdims=True)
    m = transition.means.reshape(n, -1, d)
    S = transition.covariances
    S = np.broadcast_to(S, (n * m.shape[1], d, d)).reshape(n, -1, d, d)
    mean = np.einsum("nk,nki->ni", w, m)
    off = m - mean[:, None]
    return mean, np.einsum("nk,nkij->nij", w, S) + np.einsum("nk,nki,nkj->nij", w, off, off)


@pytest.mark.parametrize("name", LAWS)
def test_laws_have_the_moments_of_draws_by_the_package(name):
    """400,000 draws: means within 5 standard errors, covariances within 2 per cent of scale."""
    d, make = LAWS[name]
    x = states(d)
    means, S = moments(as_transition(parts_of(make(x), 3, d)), 3, d)
    recorded = RECORDED["laws"][name]
    scale = np.sqrt(np.diagonal(S, axis1=1, axis2=2))
    assert (np.abs(means - recorded["means"]) <= 5 * scale / np.sqrt(400_000) + 1e-10).all()
    gap = np.abs(S - recorded["covariances"])
    assert (gap <= 0.02 * scale[:, :, None] * scale[:, None, :] + 1e-10).all()


@pytest.mark.parametrize("name", [n for n in LAWS if n not in ("IndepProd", "VaryingCovNormal")])
def test_laws_have_the_densities_of_the_package(name):
    """Student and Laplace are approximated: within 1e-4."""
    d, make = LAWS[name]
    x = states(d)
    point = np.full((3, d), 0.37)
    transition = as_transition(parts_of(make(x), 3, d))
    law = make(x)
    theirs = law.logpdf(point[:, 0] if d == 1 else point)
    for k in range(3):
        one = np.zeros(3)
        one[k] = 1.0
        ours = predictive(transition, np.maximum(one, 1e-300))
        regular = [c for c in range(len(ours)) if ours.weights[c] > 1e-200]
        densities = [np.log(ours.weights[c]) + _normal(point[k], ours, c) for c in regular]
        assert np.logaddexp.reduce(densities) == pytest.approx(
            np.broadcast_to(theirs, 3)[k], abs=1e-4
        )


def _normal(x, p, c):
    S = np.broadcast_to(p.covariances, (len(p), p.d, p.d))[c]
    if not S.any():  # a Dirac mass elsewhere
        return -np.inf
    return stats.multivariate_normal.logpdf(x, p.means[c], S)


MODELS = {  # tolerance: 4 times the root mean squared error of the default with 50 particles
    "StochVol": 0.08,
    "StochVolLeverage": 0.4,
    "DiscreteCox": 0.33,
    "MVStochVol": 0.22,
    "GaussianHMM": 0.014,
    "StudentWalk": 0.14,
    "GammaIntensity": 0.026,
    "Population": 0.73,
}


@pytest.mark.parametrize("name", MODELS)
def test_log_evidence_is_that_of_the_package(name):
    series = RECORDED["particles"][name][1]
    model = skh.from_particles(getattr(doubles, name)())
    assert type(model).__name__ == series["kind"]
    found = skh.particle_filter(model, series["ys"], n=50, rng=0).log_evidence
    assert found == pytest.approx(reference(series), abs=MODELS[name])


@pytest.mark.parametrize(
    ("name", "n", "sigma"), [("BearingsOnly", 2_000, 0.2), ("DiscreteCox", 10_000, 0.6)]
)
def test_log_evidence_of_hard_series_by_bootstrap_filters(name, n, sigma):
    """Positions without noise of their own, and counts of thousands: within 4 sigma."""
    series = RECORDED["particles"][name][0]
    model = skh.from_particles(getattr(doubles, name)())
    found = skh.particle_filter(model, series["ys"], skh.Systematic(), n, rng=0).log_evidence
    assert found == pytest.approx(reference(series), abs=4 * sigma)


def test_positions_without_noise_are_diracs():
    _, S = skh.from_particles(doubles.BearingsOnly()).transition(0, np.ones((2, 4)))
    assert np.array_equal(np.diag(S), [4e-8, 4e-8, 0.0, 0.0])


@pytest.mark.parametrize("name", ["StudentWalk", "GammaIntensity", "Population", "GaussianHMM"])
def test_states_stay_in_the_support(name):
    model = skh.from_particles(getattr(doubles, name)())
    ys = RECORDED["particles"][name][0]["ys"][:5]
    pf = skh.ParticleFilter(model, n=30, rng=0)
    for y in ys:
        x = pf.step(y).x
        assert name != "GammaIntensity" or (x > 0).all()
        assert name not in ("Population", "GaussianHMM") or (x == np.rint(x)).all()


def test_transitions_are_those_of_the_next_time():
    class Clock(doubles.StochVol):
        def PX(self, t, xp):
            return doubles.Normal(loc=xp + 100.0 * t, scale=0.0)

        def PY(self, t, xp, x):
            return doubles.Normal(loc=1000.0 * t + 0.0 * x)

    model = skh.from_particles(Clock())
    means, _ = model.transition(3, np.zeros((2, 1)))
    assert np.array_equal(means, [[400.0], [400.0]])
    assert model.log_likelihood(3, np.zeros((2, 1)), 3000.0) == pytest.approx(-0.9189385)


def test_parents_are_found_out_and_may_be_asked_for():
    x = np.array([[0.5, 0.1], [0.2, -0.3]])
    ssm = doubles.StochVolLeverage()
    model = skh.from_particles(ssm)
    assert model.prior().d == 2
    assert not skh.from_particles(doubles.StochVol()).space.parent
    expected = ssm.PY(2, x[:, 1], x[:, 0]).logpdf(0.4)
    assert np.array_equal(model.log_likelihood(2, x, 0.4), expected)
    means, S = model.transition(0, x)
    assert np.array_equal(means[:, 1], x[:, 0])
    assert S[1, 1] == 0.0
    with_parent = skh.from_particles(doubles.StochVol(), parent=True)
    plain = skh.from_particles(doubles.StochVol())
    assert np.array_equal(
        with_parent.log_likelihood(1, x, 0.3), plain.log_likelihood(1, x[:, :1], 0.3)
    )


def test_priors_that_are_not_gaussian_become_quantiles():
    class Start(doubles.StochVol):
        def PX0(self):
            return doubles.Gamma(3.0, 2.0)

    p = skh.from_particles(Start()).prior()
    assert p.mean[0] == pytest.approx(1.5, abs=1e-3)
    assert p.covariance[0, 0] == pytest.approx(0.75, abs=5e-3)


def test_draws_without_quantiles_are_seeded_by_the_filter_and_leave_numpy_alone():
    class Drawn(doubles.Law):
        def __init__(self, rate):
            self.rate = rate

        def logpdf(self, x):
            return stats.poisson.logpmf(x, self.rate)

        def rvs(self, size=None):
            return np.random.poisson(self.rate, size)

    class Growth:
        def PX0(self):
            return Drawn(5.0)

        def PX(self, t, xp):
            return Drawn(1.0 + xp)

        def PY(self, t, xp, x):
            return doubles.Normal(loc=x, scale=2.0)

    before = np.random.get_state()[1].copy()
    model = skh.from_particles(Growth())
    runs = [skh.particle_filter(model, [5.0, 6.0, 7.0], n=20, rng=s).means for s in (0, 0, 1)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert np.array_equal(np.random.get_state()[1], before)


def test_from_particles_can_simulate():
    class Simulated(doubles.StochVol):
        def simulate(self, T):
            return [np.random.normal(size=1) for _ in range(T)], [np.zeros(1)] * T

    model = skh.from_particles(Simulated())
    x, y = model.simulate(4, rng=3)
    assert x.shape == y.shape == (4, 1)
    assert np.array_equal(x, model.simulate(4, rng=3)[0])


@given(st.integers(-12, 12), st.integers(0, 100))
def test_units_of_laws_do_not_matter(decades, seed):
    """The same law in other units has the same moments in those units."""
    unit, rng = 10.0**decades, np.random.default_rng(seed)
    x, s = rng.standard_normal(4), rng.uniform(0.1, 2.0, 4)

    def parts(u):
        law = doubles.Mixture(
            [0.4, 0.6],
            doubles.LinearD(doubles.Normal(u * x, s), a=u),
            doubles.Normal(u * x, u * s),
        )
        return parts_of(law, 4, 1)

    for a, b in zip(parts(1.0), parts(unit), strict=True):
        assert b.covariance == pytest.approx(unit**2 * a.covariance, rel=1e-12)
        assert np.array_equal(a.weight, b.weight)


@pytest.mark.parametrize("name", ["DiscreteCox", "GammaIntensity"])
def test_the_filter_is_told_the_information_of_observations(name):
    told = []

    def metric(t, x):
        told.append(t)
        return np.exp(np.minimum(x, 20.0))[:, :, None]

    model = skh.from_particles(getattr(doubles, name)(), observation_metric=metric)
    skh.particle_filter(model, [3, 4], n=10, rng=0)
    assert set(told) == {0, 1}
