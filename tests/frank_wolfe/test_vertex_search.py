"""The fast vertex search finds the same points as the full one, to the bit."""

import subprocess
import sys
from contextlib import contextmanager
from copy import deepcopy

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import skh
from skh import _numba
from skh._numba.iterate_history import IterateHistory
from skh._numba.partial_mean_map import PartialMeanMap
from skh._numba.single_precision import SINGLE
from skh._runtime import threads
from skh.frank_wolfe import point_blocks as neighbours
from skh.frank_wolfe import single_precision_search as rough_search
from skh.frank_wolfe.single_precision_search import SingleBlend, SingleCombine
from skh.frank_wolfe.single_target import SingleTarget
from skh.frank_wolfe.vertex_search import FullBlend, FullCombine, Target

STEPS = {
    "FW": skh.Herding(),
    "greedy FW": skh.Herding(greedy=True),
    "FW-LS": skh.LineSearch(),
    "FCFW": skh.FullyCorrective(),
}
every_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)


def assert_the_same(rule, p, n, seed=0):
    fast = rule(p, n, rng=seed)
    with full_search():
        full = rule(p, n, rng=seed)
    np.testing.assert_array_equal(fast.x, full.x)
    np.testing.assert_array_equal(fast.w, full.w)
    np.testing.assert_array_equal(fast.component, full.component)  # distinguishes coincident points
    np.testing.assert_array_equal(fast.mmd_trace, full.mmd_trace)
    assert fast.status is full.status


@contextmanager
def full_search():
    """Search in double precision only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SingleTarget, "of", lambda *target: None)
        yield


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    K=st.integers(1, 12),
    n=st.integers(1, 60),
    M=st.sampled_from([1, 7, 300, 3000]),
    kind=st.sampled_from(oracles.KINDS),
    variance=st.sampled_from([1.0, 0.05, 30.0, (0.3, 1.0, 10.0)]),
    metric=st.booleans(),
    step=st.sampled_from(list(STEPS.values())),
)
@settings(max_examples=150, deadline=None)
def test_fast_and_full_search_are_equal_to_the_bit(seed, d, K, n, M, kind, variance, metric, step):
    rng = np.random.default_rng(seed)
    p = oracles.random_mixture(K, d, rng, kind)
    kernel = skh.GaussianKernel(variance, p.covariance if metric else None)
    assert_the_same(skh.FWQuad(kernel, step, M), p, n, seed)


@every_step
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_equal_on_the_papers_mixture_with_many_search_points(step, d):
    p = oracles.random_mixture(100, d, np.random.default_rng(d))
    assert_the_same(skh.FWQuad(skh.GaussianKernel(1.0), step, 10_000), p, 80, 0)


@every_step
def test_equal_where_many_search_points_coincide(step):
    """The search points of a component without spread coincide, which gives ties."""
    p = skh.GaussianMixture([1.0, 2.0, 1.0], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 0.0)
    assert_the_same(skh.FWQuad(skh.GaussianKernel(1.0), step, 500), p, 20, 0)


@contextmanager
def patience():
    """Never switch to the full search, however many points are evaluated again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rough_search, "FUTILE_SHARE", np.inf)
        patch.setattr(rough_search, "FUTILE_SUM_SHARE", np.inf)
        yield


@contextmanager
def small_blocks():
    """Make blocks of neighbours small enough for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "LARGE_BLOCK", neighbours.SMALL_BLOCK)
        yield


def rough_problem(seed, d, variance):
    """A mixture, search points and the target of the searches."""
    rng = np.random.default_rng(seed)
    p, kernel = oracles.random_mixture(5, d, rng), skh.GaussianKernel(variance)
    x = p.sample(500, rng=rng)[0]
    target = target_of(p, kernel, x)
    return rng, p, kernel, x, target, target.single


kernels = st.sampled_from([1.0, 0.03, 30.0, (0.01, 0.1, 1.0, 10.0)])


@given(seed=st.integers(0, 10**6), d=st.integers(1, 7), n=st.integers(1, 60), variance=kernels)
@settings(max_examples=60, deadline=None)
def test_single_precision_gaps_are_within_their_error_bound(seed, d, n, variance):
    """Otherwise the best point might be ruled out."""
    rng, p, kernel, x, target, single = rough_problem(seed, d, variance)
    chosen, step = rng.integers(0, 500, n), np.append(1.0, rng.random(n - 1))
    search, history = (
        SingleBlend(target, single, n),
        IterateHistory.start(step, 0, 0.0, target.norm2),
    )
    w = np.zeros(n)
    with patience():
        for k, j in enumerate(chosen):
            g = kernel.weighted_sum(x[chosen[:k]], w[:k], x[[j]])[0] if k else 0.0
            _numba.iterate_history.look_at(history, k, j, g, target.mu[j])
            search.run(history, k, k + 1)
            w *= 1.0 - step[k]
            w[k] = step[k]
    np.testing.assert_allclose(history.mmd2[n], skh.mmd(kernel, p, x[chosen], w) ** 2, atol=1e-12)
    gap = kernel.weighted_sum(x[chosen], w, x) - target.mu
    assert np.abs(search._gap - gap).max() <= search._errors[n]


class Weights:
    """Weights of all chosen points, in the form the search expects."""

    def __init__(self, w):
        self.w, self.active = w, np.flatnonzero(w)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 7), n=st.integers(1, 150), variance=kernels)
@settings(max_examples=40, deadline=None)
def test_quantized_sums_are_within_their_error_bound(seed, d, n, variance):
    rng, p, kernel, x, target, single = rough_problem(seed, d, variance)
    with small_blocks():
        search = SingleCombine(target, single, n)
    chosen, w = rng.integers(0, 500, n), rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.8)
    w[0] = max(w[0], 1e-3)  # at least one
    for k in range(n):
        search.add(chosen[: k + 1])
    w /= w.sum()
    mmd = skh.mmd(kernel, p, x[chosen], w)
    with patience():
        search(Weights(w), mmd**2)
    gap = (kernel.weighted_sum(x[chosen], w, x) - target.mu)[search._order]
    rough = search._gap.ravel()[:500]
    assert np.abs(rough - gap).max() <= search._bound(np.count_nonzero(w), mmd**2)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 4), variance=kernels)
@settings(max_examples=40, deadline=None)
def test_bounds_of_blocks_are_below_their_scores(seed, d, variance):
    n, (rng, _, kernel, x, target, single) = 30, rough_problem(seed, d, variance)
    with small_blocks():
        search = SingleCombine(target, single, n)
    chosen, w = rng.integers(0, 500, n), rng.dirichlet(np.ones(n))
    for k in range(n):
        search.add(chosen[: k + 1])
    bounds = search._to_search[2]
    for _ in range(10):
        with patience():
            vertex, _ = search(Weights(w), 1.0)
        gap = kernel.weighted_sum(x[chosen], w, x) - target.mu
        least = np.minimum.reduceat(gap[search._order], np.arange(0, 500, search._gap.shape[1]))
        assert (bounds <= least).all()
        assert gap[vertex] == pytest.approx(gap.min(), abs=1e-12)
        i, j = rng.choice(n, 2, replace=False)
        w[i], w[j] = w[i] + 0.01 * w[j], 0.99 * w[j]


@pytest.mark.parametrize("ridge", [0.0, 1e-6])
@pytest.mark.parametrize(("d", "variance", "given_up"), [(1, 30.0, True), (6, 1.0, False)])
def test_quantized_sums_are_abandoned_where_they_exclude_too_few_points(
    d, variance, given_up, ridge
):
    p = oracles.random_mixture(20, d, np.random.default_rng(0))
    problem = p, skh.GaussianKernel(variance), p.sample(3000, rng=0)[0]
    step = skh.FullyCorrective(ridge)
    single = step.start(target_of(*problem), 30)
    with full_search():
        full = step.start(target_of(*problem), 30)
        assert isinstance(full.search, FullCombine)  # made when first used
    np.testing.assert_array_equal(single.run(30)[0], full.run(30)[0])
    assert (single.search._full is not None) == given_up
    for ours, theirs in zip(single.solution(), full.solution(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("variance", [1.0, 0.01, (0.01, 0.1, 1.0, 10.0)])
def test_single_precision_kernel_values_are_within_their_error_bound(variance):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 3)) * 3.0 + 100.0
    kernel = skh.GaussianKernel(variance)
    single = target_of(skh.GaussianMixture([1.0], [[0.0] * 3], 1.0), kernel, x).single
    row, scratch = np.empty(3000, np.uint16), np.empty((2, 3000), np.float32)
    _numba.single_precision.single_precision_squares(scratch[0], single.X, 0, 3000, single.X[:, 5])
    _numba.quantized_rows.quantize(row, *scratch, single.scales)
    off = row / _numba.quantized_rows.LEVELS - kernel.gram(x[5:6], x)[0]
    assert np.abs(off).max() <= 0.5 / _numba.quantized_rows.LEVELS + single.error
    assert single.error < 1e4 * SINGLE


def test_single_precision_is_not_used_where_too_coarse():
    """Distances of 1e40 kernel lengths overflow in single precision."""
    p = skh.GaussianMixture([0.5, 0.5], [[0.0], [1e40]], 1.0)
    kernel = skh.GaussianKernel(1.0)
    target = target_of(p, kernel, p.sample(100, rng=0)[0])
    assert target.single is None
    assert isinstance(skh.Herding().start(target, 5).search, FullBlend)
    assert not isinstance(skh.FullyCorrective().start(target, 5).search, SingleCombine)
    assert_the_same(skh.FWQuad(kernel, skh.Herding(), 100), p, 20, 0)


@pytest.mark.parametrize("M", [500, 20_000])
def test_more_shares_than_blocks_change_nothing(M):
    """As on a machine with many cores, some of which are idle."""
    p = oracles.random_mixture(20, 2, np.random.default_rng(0))
    target = target_of(p, skh.GaussianKernel(1.0), p.sample(M, rng=0)[0])
    one, many = (skh.Herding().start(target, 40) for _ in range(2))
    many.search._threads = 9
    np.testing.assert_array_equal(one.run(40)[0], many.run(40)[0])
    np.testing.assert_array_equal(one.solution().chosen, many.solution().chosen)


def test_all_points_are_evaluated_where_the_likely_ones_do_not_decide():
    p, kernel = oracles.random_mixture(20, 2, np.random.default_rng(0)), skh.GaussianKernel(1.0)
    x = p.sample(500, rng=0)[0]
    target = target_of(p, kernel, x)
    mean_map, one = target.mean_map.partial, (target.X[:, :1].copy(), np.zeros(1), np.ones(1))
    points = (target.X, mean_map, target.scales, *one)
    exact, found, misled = kernel.gram(x, x[:1])[:, 0] - target.mu, np.empty(500, np.intp), 0
    error = 0.05 * np.ptp(exact)
    for seed in range(50):
        noise = np.random.default_rng(seed).uniform(-error, error, 500)
        gap = (exact + noise).astype(np.float32)
        lows, worst = gap.min()[None], gap.min() + _numba.single_precision.LIKELY * error
        count = _numba.single_precision.find_below(found, gap, lows, 0, 1, 4096, worst)
        shares = (np.array([v]) for v in _numba.single_precision.winner(found[:count], *points))
        args, *values = shares
        misled += args[0] != np.argmin(exact)
        j, g, *_ = _numba.single_precision.decide(args, *values, gap, lows, error, *points)
        assert j == np.argmin(exact)
        assert g == pytest.approx(exact[j] + target.mu[j], abs=1e-12)
    assert misled > 0  # the likely points alone do not suffice


@every_step
@pytest.mark.parametrize("kind", ["variances", "one matrix", "matrices"])
def test_two_threads_equal_one_to_the_bit(step, kind, request):
    p = oracles.random_mixture(20, 2, np.random.default_rng(0), kind)
    rule = skh.FWQuad(skh.GaussianKernel((0.5, 2.0)), step, 20_000)
    one = rule(p, 40, rng=0)
    request.getfixturevalue("two_threads")
    two = rule(p, 40, rng=0)
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.mmd_trace, two.mmd_trace)


def test_one_thread_starts_no_thread_pool():
    """A process with a running thread pool cannot be forked safely to start many filters."""
    code = (
        "import skh; from numba.np.ufunc import parallel\n"
        "p = skh.GaussianMixture([1.0], [[0.0]], 1.0)\n"
        "skh.FWQuad(skh.GaussianKernel(1.0))(p, 5, rng=0)\n"
        "assert not parallel._is_initialized"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_scales_too_far_apart_for_single_precision():
    p = skh.GaussianMixture([1.0], [[0.0]], 1.0)
    kernel = skh.GaussianKernel([1e-40, 1.0], weights=[1e-40, 1.0])
    for step in STEPS.values():
        assert_the_same(skh.FWQuad(kernel, step, 100), p, 20, 0)


def test_threads_are_limited_to_the_number_of_cores():
    assert skh.get_threads() == 1
    with pytest.raises(ValueError, match="n must be a positive integer, got 0"):
        skh.set_threads(0)
    skh.set_threads(10_000)
    assert 1 <= skh.get_threads() <= numba.config.NUMBA_NUM_THREADS
    skh.set_threads(1)


def target_of(p, kernel, x):
    return Target.of(kernel, p, x)


def test_lazy_is_deprecated_without_effect():
    with pytest.warns(DeprecationWarning, match="lazy has no effect"):
        rule = skh.FWQuad(skh.GaussianKernel(1.0), search_points=300, lazy=True)
    p = oracles.random_mixture(5, 1, np.random.default_rng(0))
    plain = skh.FWQuad(skh.GaussianKernel(1.0), search_points=300)
    np.testing.assert_array_equal(rule(p, 9, rng=0).x, plain(p, 9, rng=0).x)


def test_compiled_search_kernels_equal_their_python_source():
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(4, 2, rng)
    target = target_of(p, skh.GaussianKernel(1.0), p.sample(60, rng=0)[0])
    k, w = 3, np.array([0.5, 0.2, 0.3])
    centres, keep = target.X[:, :k].copy(), np.array([0.0, 0.5, 0.7])
    levels = rng.integers(0, 65536, (1, 6, 128)).astype(np.uint16)
    ranges = rng.integers(0, 65536, (12, 128)).astype(np.uint16)
    rows = levels, np.array([[0, 1, 2, 9, 9, 9]], np.uintp), np.array([3])
    single, scales = target.X.astype(np.float32), target.scales.astype(np.float32)
    boxes = single, single.min(axis=1, keepdims=True), single.max(axis=1, keepdims=True)
    six = np.zeros((2, 6))
    mu, three = target.mean_map.partial, np.arange(3)
    bumps = (np.array([[0.0], [1.0]]), np.ones(1), np.ones(1))
    lazy = PartialMeanMap(np.full(60, np.nan), target.X, *bumps)
    gap = rng.normal(size=60).astype(np.float32)
    room = np.zeros(60, np.uint16), np.abs(gap), np.zeros(60, np.float32)
    blocks, lows = np.pad(gap, (0, 68))[None], np.zeros(1, np.float32)
    one, bounds = np.ones(1, np.float32), (np.array([-9.0]), np.zeros(3))
    order, vertices = np.append(np.arange(60)[::-1], [0] * 68), (target.X, target.scales, centres)
    calls = [
        (_numba.single_precision.next_error, (1e-7, target.single, 0.3, 0.1, 0.05)),
        (_numba.partial_mean_map.mean_map_at, (lazy, 7)),
        (
            _numba.rough_mean_map.rough_mean_map,
            (gap.copy(), single, *(np.ones(s, np.float32) for s in ((1, 2), 1, 1))),
        ),
        (_numba.extrema.bounds, (target.X,)),
        (
            _numba.single_precision.to_single,
            (np.zeros((2, 60), np.float32), target.X, np.ones(2), 3.0),
        ),
        (_numba.single_precision.lowest_of, (gap, gap.copy())),
        (_numba.single_precision.lowest_of, (gap[:1], gap.copy())),
        (_numba.single_precision.any_below, (gap, 0.0)),
        (_numba.single_precision.points_below, (gap, gap[:1], 64, 0.0)),
        (
            _numba.single_precision.winner,
            (np.arange(6)[::-1], target.X, mu, target.scales, centres, keep, w),
        ),
        (_numba.single_precision.replay_four, (w, keep, w, keep, keep, w)),
        (
            _numba.quantized_rows.squared_distances_to_boxes,
            (*np.zeros((2, 5), np.float32), *single[:, 5:15].reshape(2, 2, 5), single[:2, 0]),
        ),
        (_numba.quantized_rows.end_of_run, (np.arange(4.0), 2.5, 1)),
        (
            _numba.quantized_rows.set_range,
            (*ranges[:2, :1], one, *boxes[1:], scales.astype(np.float32), 0.01, single[:, 0]),
        ),
        (_numba.quantized_rows.quantize, (*room, scales)),
        (
            _numba.quantized_rows.take_in,
            (*rows, ranges, 0.01, *boxes, 1.0, single, scales, target.X, target.scales, six, 5, 7),
        ),
        (_numba.quantized_rows.shift_bounds, (*bounds, w, ranges)),
        (
            _numba.quantized_rows.combine_rows,
            (blocks, lows, bounds[0], blocks, *rows, w, 0.1),
        ),
        (_numba.quantized_rows.columns, (centres, three)),
        (_numba.quantized_rows.error_of_sum, (0.1, 1e-5, 7, 1e-4)),
        (
            _numba.quantized_rows.combine_rows_and_search,
            (blocks, lows, *bounds, blocks, *rows, ranges, order, *vertices, *mu, three, w, 0.1),
        ),
        (
            _numba.single_precision.decide,
            (three, w, w, gap, gap[:1], 9.0, target.X, mu, target.scales, centres, keep, w),
        ),
        (_numba.single_precision.find_below, (np.zeros(60, int), gap, gap[:1], 0, 1, 64, 0.0)),
    ]
    for kernel, arguments in calls:
        by_compiler, by_python = deepcopy(arguments), deepcopy(arguments)
        expected, got = kernel(*by_compiler), kernel.py_func(*by_python)
        assert_close(expected, got)
        for a, b in zip(by_compiler, by_python, strict=True):
            assert_close(a, b)


def assert_close(a, b):
    if isinstance(a, tuple):
        for left, right in zip(a, b, strict=True):
            assert_close(left, right)
    elif a is not None:
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("text", "n"), [("", 1), ("  ", 1), ("3", 3), (" 12 ", 12)])
def test_the_environment_sets_the_number_of_threads(text, n):
    assert threads._threads_from_environment(text) == n


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_an_invalid_number_of_threads_is_rejected(text):
    with pytest.raises(ValueError, match=f"SKH_THREADS must be a positive integer, got '{text}'"):
        threads._threads_from_environment(text)
