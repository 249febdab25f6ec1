"""Posteriors against the exact ones of linear models; diagnostics against known chains."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import stats

import skh
from skh.inference.delayed_acceptance import run_chain
from skh.inference.emulator import Emulator
from skh.inference.stages import step_seconds, trimmed_variance


def level(r):
    """A constant state: the evidence is cheap to have exactly."""
    one = np.eye(1)
    return skh.models.LinearGaussian(0.5 * one, one, 0.5 * one, r * one, np.zeros(1), one)


YS = level(1.0).simulate(8, rng=0)[1]
PRIOR = {"r": stats.gamma(3, scale=0.4)}


@pytest.fixture(scope="module")
def exact_moments():
    r = np.linspace(0.01, 6, 250)
    f = np.array([skh.kalman_filter(level(v), YS).log_evidence for v in r]) + PRIOR["r"].logpdf(r)
    w = np.exp(f - f.max())
    w /= w.sum()
    mean = w @ r
    return mean, np.sqrt(w @ (r - mean) ** 2)


@pytest.mark.parametrize("exact", [True, False])
def test_draws_have_the_moments_of_the_exact_posterior(exact, exact_moments):
    found = skh.sample_posterior(level, YS, PRIOR, draws=100, chains=2, n=10, exact=exact, rng=0)
    mean, sd = exact_moments
    ess = found.ess["r"]
    assert ess > 50
    assert found.r_hat["r"] < 1.06
    assert abs(found.means["r"] - mean) < 3.5 * sd / np.sqrt(ess)
    assert found.standard_deviations["r"] == pytest.approx(sd, rel=3.5 / np.sqrt(ess))
    assert found.exact is exact
    assert "particles" in found.first_stage
    assert found.n_filters > 200 * found.accepted.mean()
    assert "ESS" in repr(found)


def test_delayed_acceptance_is_exact_with_a_wrong_emulator_and_noisy_estimates():
    """The target is N(0, 1), its estimates are lognormal, the emulator is off by half a sd."""
    U = np.linspace(-3, 4, 15)[:, None]
    emulator = Emulator.of(U, -0.3 * (U[:, 0] - 0.5) ** 2)

    def target(u, seed):
        noise = np.random.default_rng(seed).normal(-0.125, 0.5)  # its exp has the mean one
        return float(-0.5 * u[0] ** 2 + noise), 0.0

    rng = np.random.default_rng(0)
    chain = run_chain(target, emulator, np.array([[2.0]]), np.zeros(1), 2000, rng)
    x = chain.u[:, 0]
    error = 1 / np.sqrt(skh.effective_sample_size(x[None]))
    assert error < 0.06
    assert abs(x.mean()) < 3.5 * error
    assert x.std() == pytest.approx(1.0, abs=3.5 * error)
    assert chain.n_filters <= 2001


def test_the_trimmed_variance_is_that_of_normal_values_and_ignores_outliers():
    rng = np.random.default_rng(0)
    x = 0.3 * rng.standard_normal((4000, 16))
    assert np.mean([trimmed_variance(row) for row in x]) == pytest.approx(0.09, rel=0.05)
    spoilt = x[0].copy()
    spoilt[:2] = 50.0, -np.inf
    assert trimmed_variance(spoilt) < 0.3
    spoilt[:3] = -np.inf
    assert trimmed_variance(spoilt) == np.inf


def test_the_size_of_the_second_stage_hardly_depends_on_the_clock():
    """Costs count by their power of ten: 0.5 to 2 us is the same price."""
    assert len({step_seconds(64, cost) for cost in (5e-7, 1e-6, 2e-6)}) == 1
    assert step_seconds(64, 1e-3) == pytest.approx(0.064, rel=0.01)
    assert 0 < step_seconds(64, 0.0) < 2e-4
    draws = [
        skh.sample_posterior(
            level, YS[:5], PRIOR, draws=5, chains=2, n=10, rule=skh.Stratified(), rng=1
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(draws[0].draws["r"], draws[1].draws["r"])
    assert int(draws[0].second_stage.split(" particles")[0].split()[-1]) in (16, 32, 64)


def test_the_emulator_interpolates_and_has_heavy_tails():
    rng = np.random.default_rng(0)
    U = 1.5 * rng.standard_normal((60, 2))

    def f(u):
        return -0.5 * (u**2).sum(-1) + 0.3 * np.sin(u[..., 0])

    emulator = Emulator.of(U, f(U))
    new = rng.standard_normal((20, 2))
    np.testing.assert_allclose([emulator(u) + emulator.top for u in new], f(new), rtol=0, atol=0.1)
    assert -60 < emulator(np.array([50.0, 0.0])) < -5


def test_workers_give_the_same_draws():
    def sampled(executor):
        options = {"draws": 10, "chains": 2, "n": 10, "rule": skh.Stratified(), "exact": False}
        return skh.sample_posterior(level, YS[:5], PRIOR, rng=1, executor=executor, **options)

    with ThreadPoolExecutor(2) as executor:
        np.testing.assert_array_equal(sampled(executor).draws["r"], sampled(None).draws["r"])


def test_a_posterior_is_a_dataset_and_a_figure():
    xarray = pytest.importorskip("xarray")
    seen = []
    found = skh.sample_posterior(
        level,
        YS[:5],
        PRIOR,
        draws=8,
        chains=2,
        n=10,
        rule=skh.Stratified(),
        rng=1,
        progress=lambda done, total: seen.append((done, total)),
    )
    dataset = found.to_xarray()
    assert isinstance(dataset, xarray.Dataset)
    assert dataset["r"].dims == ("chain", "draw")
    assert dataset.sizes == {"chain": 2, "draw": 8}
    assert dataset.attrs["inference_library"] == "skh"
    assert seen[-1] == (18, 18)
    assert len(found.plot().axes) == 2
    np.testing.assert_allclose(found.quantiles(0.5)["r"], np.median(found.draws["r"]))


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sizes_of_autoregressive_chains(rho):
    """Of m n draws of an AR(1) chain, m n (1 - rho) / (1 + rho) count."""
    rng, x = np.random.default_rng(1), np.zeros((4, 4000))
    noise = rng.normal(size=x.shape) * np.sqrt(1 - rho**2)
    x[:, 0] = rng.normal(size=4)
    for t in range(1, x.shape[1]):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    expected = x.size * (1 - rho) / (1 + rho)
    assert skh.effective_sample_size(x, ranks=False) == pytest.approx(expected, rel=0.15)
    assert skh.effective_sample_size(np.exp(3 * x)) == skh.effective_sample_size(x)  # ranks
    assert skh.r_hat(x) < 1.02


def test_r_hat_sees_different_means_and_different_spreads():
    x = np.random.default_rng(0).normal(size=(4, 500))
    shifted, spread = x.copy(), x.copy()
    shifted[3] += 1.0
    spread[3] *= 3.0
    assert skh.r_hat(x) < 1.01
    assert min(skh.r_hat(shifted), skh.r_hat(spread)) > 1.05
    assert skh.r_hat(np.ones((2, 10))) == 1.0
    with pytest.raises(ValueError, match=r"chains must have shape \(chains, draws\)"):
        skh.r_hat(np.ones(10))


def test_models_are_compared_by_their_evidence():
    true, other = level(1.0), level(30.0)
    found = skh.compare_models({"other": other, "true": true}, YS, n=20, rng=0)
    assert found.names == ("true", "other")
    exact = [skh.kalman_filter(model, YS).log_evidence for model in (true, other)]
    assert (np.abs(found.log_evidence - exact) < 0.1 + 3 * found.numerical_error).all()
    assert found.decided
    assert found.probabilities.sum() == pytest.approx(1.0)
    fit = skh.fit(level, YS, {"r": 2.0}, bounds={"r": (0, None)}, n=20, rng=0)
    charged = skh.compare_models({"fit": fit, "true": true}, YS, n=20, rng=0)
    assert dict(zip(charged.names, charged.n_parameters, strict=True)) == {"fit": 1, "true": 0}
    assert "BIC" in repr(charged)


class Flat:
    def logpdf(self, x):
        return 0.0


BAD = {
    "no law": (
        lambda: skh.sample_posterior(level, YS, {"r": 3.0}),
        TypeError,
        r"prior\['r'\] must",
    ),
    "no dict": (lambda: skh.sample_posterior(level, YS, 3.0), TypeError, r"prior must be a dict"),
    "no median": (
        lambda: skh.sample_posterior(level, YS, {"r": Flat()}),
        ValueError,
        r"start must be given, for prior\['r'\] has no median",
    ),
    "outside": (
        lambda: skh.sample_posterior(level, YS, PRIOR, start={"r": -1.0}),
        ValueError,
        r"start\['r'\] must be strictly between 0 and inf, got -1.0",
    ),
    "draws": (
        lambda: skh.sample_posterior(level, YS, PRIOR, draws=0),
        ValueError,
        r"draws must be a positive integer, got 0",
    ),
    "exact": (
        lambda: skh.sample_posterior(level, YS, PRIOR, exact="no"),
        TypeError,
        r"exact must be True or False, got 'no'",
    ),
    "one run": (
        lambda: skh.compare_models({"a": level(1.0)}, YS, runs=1),
        ValueError,
        r"runs must be 2 or more",
    ),
    "no models": (lambda: skh.compare_models([], YS), TypeError, r"models must be a dict"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_argument_value_and_expectation(case):
    call, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        call()
