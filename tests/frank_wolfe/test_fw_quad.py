"""Algorithm 1: against a plain second implementation, and the paper's figures."""

import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import oracles
import skh
from skh._runtime import compile_notice as first_use
from skh.frank_wolfe import reference
from skh.frank_wolfe.iterate import Iterate, Solution
from skh.frank_wolfe.spread_search import SpreadSearch

STEPS = {"FW": skh.Herding(), "FW-LS": skh.LineSearch(), "FCFW": skh.FullyCorrective()}
every_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
KERNEL = skh.GaussianKernel(1.0)


REFERENCES = {
    "herding": (skh.Herding(), reference.herding),
    "open loop": (skh.OpenLoop(), reference.open_loop),
    "line search": (skh.LineSearch(), reference.line_search),
    "fully corrective": (skh.FullyCorrective(), reference.fully_corrective),
}


@pytest.mark.parametrize("kind", oracles.KINDS)
@pytest.mark.parametrize("variance", [1.0, (0.2, 2.0)])
@pytest.mark.parametrize("M", [300, 1_600])  # rows in double precision, and in 16 bits
@pytest.mark.parametrize("name", REFERENCES)
def test_equals_the_plain_algorithm(kind, variance, M, name):
    step, update = REFERENCES[name]
    p, kernel = oracles.random_mixture(8, 2, np.random.default_rng(0), kind), skh.GaussianKernel
    x = skh.MonteCarlo()(p, M, rng=1).x
    points = skh.FWQuad(kernel(variance), step, M)(p, 25, rng=1)
    w, mmd2 = reference.fw_quad(kernel(variance), p, x, 25, update)
    np.testing.assert_allclose(oracles.weights_at(x, points), w, atol=1e-10)
    np.testing.assert_allclose(points.mmd_trace**2, mmd2, atol=1e-12)


def test_the_reference_equals_herding_with_closed_forms_of_scipy():
    """The reference uses the library's kernel; here the closed forms come from SciPy's density."""
    p = oracles.random_mixture(8, 2, np.random.default_rng(0), "matrices")
    x = p.sample(40, rng=1)[0]
    K, mu = oracles.gram(1.0, x, x), oracles.mean_map(1.0, p, x)
    w = np.zeros(40)
    for k in range(15):
        j = np.argmin(K @ w - mu)
        w *= k / (k + 1)
        w[j] += 1 / (k + 1)
    found, mmd2 = reference.fw_quad(KERNEL, p, x, 15, reference.herding)
    np.testing.assert_allclose(found, w, atol=1e-12)
    exact = w @ K @ w - 2 * w @ mu + oracles.mean_norm2(1.0, p)
    assert mmd2[-1] == pytest.approx(exact, abs=1e-12)


def test_fully_corrective_weights_are_optimal_on_the_chosen_points_at_each_step():
    p = oracles.random_mixture(8, 2, np.random.default_rng(0))
    candidates = skh.MonteCarlo()(p, 300, rng=1).x
    K, mu = KERNEL.gram(candidates, candidates), KERNEL.mean_map(p, candidates)
    visited, w = [], np.zeros(300)
    rule = skh.FWQuad(KERNEL, skh.FullyCorrective(), 300)
    for n in range(1, 20):
        visited.append(int(np.argmin(K @ w - mu)))  # line 3 from the last optimal weights
        w = oracles.weights_at(candidates, rule(p, n, rng=1))
        assert set(np.flatnonzero(w)) <= set(visited)
        k = np.unique(visited)
        assert oracles.kkt_residual(K[np.ix_(k, k)], mu[k], w[k]) < 1e-12


@every_step
def test_mmd_is_exact_at_every_step(step):
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    rule = skh.FWQuad(KERNEL, step, 1000)
    trace = rule(p, 30, rng=0).mmd_trace
    assert trace.shape == (30,)
    for n in (1, 2, 10, 30):
        points = rule(p, n, rng=0)
        assert points.mmd == points.mmd_trace[-1] == trace[n - 1]
        assert points.mmd == pytest.approx(skh.mmd(KERNEL, p, points.x, points.w), abs=1e-9)


def test_line_search_and_correction_never_increase_the_mmd():
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    for step in (skh.LineSearch(), skh.FullyCorrective()):
        assert (np.diff(skh.FWQuad(KERNEL, step, 1000)(p, 60, rng=0).mmd_trace) <= 1e-15).all()


@every_step
def test_stops_at_the_tolerance(step):
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    points = skh.FWQuad(KERNEL, step, 1000, tol=0.08)(p, 200, rng=0)
    assert points.status is skh.Stop.TOLERANCE
    assert points.mmd <= 0.08 < points.mmd_trace[-2]
    assert len(points.mmd_trace) < 200
    full = skh.FWQuad(KERNEL, step, 1000)(p, len(points.mmd_trace), rng=0)
    assert full.status is skh.Stop.POINTS
    np.testing.assert_array_equal(full.x, points.x)


def test_protected_weights_meet_the_tolerance_as_well():
    """Protection costs accuracy, so more points are needed."""
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    rule = skh.FWQuad(KERNEL, skh.FullyCorrective(ridge=1e-8, min_ess=0.95), 1000)
    free = rule(p, 20, rng=0)
    assert free.mmd == free.mmd_trace[-1]  # that of the protected weights
    tol = 0.99 * free.mmd
    points = replace(rule, tol=tol)(p, 100, rng=0)
    assert points.status is skh.Stop.TOLERANCE
    assert points.mmd <= tol
    assert 20 < len(points) < 100


@every_step
@pytest.mark.parametrize("variance", [1.0, 10.0, 1e4])
def test_wide_kernels_in_one_dimension_stay_finite(step, variance):
    p = skh.GaussianMixture([0.3, 0.7], [[0.0], [3.0]], 1.0)
    kernel = skh.GaussianKernel(variance)
    points = skh.FWQuad(kernel, step)(p, 150, rng=0)
    assert np.isfinite(points.x).all()
    assert np.isfinite(points.mmd_trace).all()
    assert (points.mmd_trace >= 0).all()
    assert (points.w > 0).all()
    assert points.w.sum() == pytest.approx(1, abs=1e-12)
    assert points.mmd == pytest.approx(skh.mmd(kernel, p, points.x, points.w), abs=1e-7)
    if isinstance(step, skh.FullyCorrective):  # in the paper ~30 points suffice at variance 1
        assert points.status is skh.Stop.PRECISION
        assert len(points) < 40
        assert points.mmd < 1e-5


def test_one_search_point_is_enough():
    p = oracles.random_mixture(3, 2, np.random.default_rng(0))
    for name, step in STEPS.items():
        points = skh.FWQuad(KERNEL, step, 1)(p, 10, rng=0)
        assert len(points) == (10 if name == "FW" else 1)
        assert (points.status is skh.Stop.POINTS) == (name == "FW")


@every_step
@pytest.mark.parametrize("scale", [2.0**-20, 1.0, 2.0**20])
def test_a_metric_makes_the_points_scale_with_the_state(step, scale):
    """Powers of two are exact, so the choice of points must be the same to the bit."""
    w, m = np.random.default_rng(0).random(5), np.random.default_rng(1).normal(size=(5, 2))
    plain = skh.FWQuad(KERNEL, step, 500)(skh.GaussianMixture(w, m, 0.25), 30, rng=0)
    D = np.diag([scale, 1.0])
    p = skh.GaussianMixture(w, m @ D, 0.25 * D @ D)
    scaled = skh.FWQuad(skh.GaussianKernel(1.0, metric=D @ D), step, 500)(p, 30, rng=0)
    np.testing.assert_allclose(scaled.x, plain.x @ D, rtol=1e-12)
    np.testing.assert_allclose(scaled.w, plain.w, rtol=1e-6, atol=1e-9)


def test_memory_is_bounded_by_search_points_and_kernel_rows():
    import tracemalloc

    p = oracles.random_mixture(50, 2, np.random.default_rng(0))
    M, n = 20_000, 50
    for step, floats in ((skh.Herding(), 40 * M), (skh.FullyCorrective(), (n + 40) * M)):
        rule = skh.FWQuad(KERNEL, step, M)
        rule(p, 2, rng=0)  # compile
        tracemalloc.start()
        rule(p, n, rng=0)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8 * floats


@pytest.fixture(scope="module")
def papers_mixture_error():
    """MMD on mixtures of K = 100, d = 2, N = 100, means over 20 of them (section 4.1)."""
    rules = {
        "MC": skh.MonteCarlo(),
        "Sobol": skh.QuasiMonteCarlo("storage"),
        "Hilbert": skh.QuasiMonteCarlo("hilbert"),
        **{name: skh.FWQuad(KERNEL, step, 10_000) for name, step in STEPS.items()},
    }
    errors = {name: [] for name in rules}
    for seed in range(20):
        p = oracles.random_mixture(100, 2, np.random.default_rng(seed))
        for name, rule in rules.items():
            for repeat in range(1 if "FW" in name else 10):
                points = rule(p, 100, rng=seed + 1000 * repeat)
                errors[name].append(exact := skh.mmd(KERNEL, p, points.x, points.w))
                assert "FW" not in name or points.mmd == pytest.approx(exact, abs=1e-6)
    return {name: np.mean(e) for name, e in errors.items()}


def test_frank_wolfe_reaches_the_known_mmd_on_the_papers_mixture(papers_mixture_error):
    assert papers_mixture_error["FW"] <= 0.028
    assert papers_mixture_error["FW-LS"] <= 0.029
    assert papers_mixture_error["FCFW"] <= 0.0125


def test_sampling_rules_rank_as_expected_on_the_papers_mixture(papers_mixture_error):
    error = papers_mixture_error
    assert error["Hilbert"] < error["Sobol"] < error["MC"]
    assert error["MC"] == pytest.approx(0.097, abs=0.004)


@pytest.mark.parametrize(("patience", "words"), [(0.0, 1), (60.0, 0)], ids=["slow", "quick"])
def test_a_notice_is_printed_if_the_first_call_is_slow(patience, words, monkeypatch, capsys):
    monkeypatch.setattr(first_use, "_ready", False)
    monkeypatch.setattr(first_use, "PATIENCE", patience)
    for _ in range(2):
        with first_use.notice_while_compiling():
            time.sleep(0.2)
    assert capsys.readouterr().err == words * (first_use.NOTICE + "\n")


def test_greedy_herding_takes_the_point_that_lowers_the_mmd_most():
    """Against brute force: exact MMD with equal weights for every search point."""
    p = oracles.random_mixture(8, 2, np.random.default_rng(0))
    candidates = skh.MonteCarlo()(p, 60, rng=1).x
    points = skh.FWQuad(KERNEL, skh.Herding(greedy=True), 60)(p, 12, rng=1)
    chosen: list[np.ndarray] = []
    for k in range(12):
        w = np.full(k + 1, 1 / (k + 1))
        errors = [skh.mmd(KERNEL, p, np.array([*chosen, x]), w) for x in candidates]
        chosen.append(candidates[np.argmin(errors)])
        assert points.mmd_trace[k] == pytest.approx(min(errors), abs=1e-9)
    np.testing.assert_array_equal(points.x, chosen)
    np.testing.assert_allclose(points.w, 1 / 12, rtol=1e-12)


def test_search_points_of_another_rule_are_checked():
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)

    def broken(p, n, *, rng=None):
        return skh.WeightedPoints(np.full((n, 1), np.nan), np.full(n, 1 / n), np.zeros(n, int))

    with pytest.raises(ValueError, match="rule must return finite points"):
        skh.FWQuad(skh.GaussianKernel(1.0), search_points=50, search=broken)(p, 5, rng=0)


@pytest.mark.parametrize("M", [300, 3000])
@pytest.mark.parametrize("kind", ["herding", "greedy", "line search", "corrective", "protected"])
def test_all_steps_at_once_equal_one_by_one(kind, M):
    """With a tolerance, even one never reached, the rule computes the MMD after each step."""
    step = {
        "herding": skh.Herding(),
        "greedy": skh.Herding(greedy=True),
        "line search": skh.LineSearch(),
        "corrective": skh.FullyCorrective(),
        "protected": skh.FullyCorrective(ridge=1e-3, min_ess=0.5),
    }[kind]
    p = oracles.random_mixture(10, 2, np.random.default_rng(0))
    at_once = skh.FWQuad(skh.GaussianKernel((0.5, 2.0)), step, M)
    a, b = (rule(p, 40, rng=0) for rule in (at_once, replace(at_once, tol=0.0)))
    np.testing.assert_array_equal(a.x, b.x)
    np.testing.assert_array_equal(a.w, b.w)
    np.testing.assert_allclose(a.mmd_trace, b.mmd_trace, rtol=0, atol=1e-12)
    assert (len(a.mmd_trace), a.status) == (len(b.mmd_trace), b.status)
    assert a.mmd == pytest.approx(b.mmd, abs=1e-12)


def test_number_of_search_points_depends_on_the_number_of_points():
    rule = skh.FWQuad(KERNEL, search_points=None)
    found = [rule.search_points_for(n) for n in (1, 100, 200, 316, 1_000, 20_000)]
    assert found == [1_000, 1_000, 4_000, 9_985, 10_000, 20_000]
    assert skh.FWQuad(KERNEL, search_points=7).search_points_for(100) == 7
    moved = skh.default_rule()
    on_line = [moved.search_points_for(n, d=1) for n in (20, 100, 150, 300)]
    assert on_line == [512, 1_100, 2_350, 6_100]
    assert [moved.search_points_for(n, d=2) for n in (20, 100, 300)] == [200, 300, 900]


def test_on_a_line_light_components_get_more_search_points():
    w = np.array([0.9, 0.09, 0.01])
    p = skh.GaussianMixture(w, [[0.0], [10.0], [20.0]], [1.0, 4.0, 0.0])
    x, component = SpreadSearch().draw(p, 4096, np.random.default_rng(0))
    share = np.bincount(component) / 4096
    np.testing.assert_allclose(share, 0.5 * (w + np.sqrt(w) / np.sqrt(w).sum()), atol=2e-3)
    for k, (mean, sd) in enumerate([(0.0, 1.0), (10.0, 2.0), (20.0, 0.0)]):
        own = x[component == k, 0]
        assert abs(own.mean() - mean) <= 0.02 * sd
        assert abs(own.std() - sd) <= 0.03 * sd


@pytest.mark.parametrize(
    ("n", "d", "search"),
    [(20, 1, skh.QuasiMonteCarlo()), (80, 1, SpreadSearch()), (80, 2, skh.QuasiMonteCarlo())],
)
def test_the_default_rule_searches_in_the_tails_with_many_points_on_a_line(n, d, search):
    p = skh.GaussianMixture(np.ones(5), np.random.default_rng(0).normal(size=(5, d)), 0.1)
    rule = skh.default_rule()
    np.testing.assert_array_equal(
        rule(p, 20, rng=0).x, replace(rule, search=search)(p, 20, rng=0).x
    )


def test_blocks_on_a_line_keep_even_search_points(monkeypatch):
    def refused(self, p, n, rng):
        raise AssertionError("light modes were lost")

    monkeypatch.setattr(SpreadSearch, "draw", refused)
    p = skh.GaussianMixture(np.ones(5), np.random.default_rng(0).normal(size=(5, 1)), 0.1)
    assert len(skh.default_rule()(p, 450, rng=0)) == 450
    with pytest.raises(AssertionError, match="light modes"):
        skh.default_rule()(p, 150, rng=0)


def test_a_step_without_points_is_refused():
    class Nothing(Iterate):
        mmd2 = 0.0

        def move(self):
            return False

        def solution(self):
            return Solution(np.empty(0, int), np.empty(0), 0.0)

    class Idle:
        def start(self, target, n):
            return Nothing()

    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    with pytest.raises(ValueError, match="step must take in at least one point, got none by"):
        skh.FWQuad(KERNEL, Idle(), 50)(p, 5, rng=0)


def test_a_ridge_may_be_any_real_number():
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    exact, plain = (
        skh.FWQuad(KERNEL, skh.FullyCorrective(ridge=ridge, min_ess=ess), 200)(p, 9, rng=0)
        for ridge, ess in ((Fraction(1, 1000), Fraction(1, 2)), (0.001, 0.5))
    )
    np.testing.assert_array_equal(exact.w, plain.w)


@pytest.mark.parametrize("tol", [None, 1e-6])
@pytest.mark.parametrize("ridge", [1e6, 1e15, 10**30, 1e300])
def test_a_huge_ridge_gives_equal_weights_and_their_mmd(ridge, tol):
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    points = skh.FWQuad(KERNEL, skh.FullyCorrective(ridge=ridge), 200, tol=tol)(p, 9, rng=0)
    np.testing.assert_allclose(points.w, np.full(9, 1 / 9), rtol=1e-5)
    np.testing.assert_allclose(points.mmd, skh.mmd(KERNEL, p, points.x, points.w), atol=1e-6)
