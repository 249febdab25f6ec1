"""Mixtures of distant parts, narrow cores and singular components: points stay on them.

Within a part, standard deviation and mass must be right whatever the separation, the units and the
dimension; nothing may move along directions without spread.
"""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import skh
from skh.gaussians.separation import split
from skh.models.linear_gaussian import LinearGaussian
from skh.rules.parts import place_in_parts
from skh.rules.support import Support

DEFAULT = skh.default_rule()
units = st.lists(st.floats(-12, 12), min_size=10, max_size=10).map(lambda e: 10.0 ** np.array(e))


def two_modes(d, distance, share, scale, seed, covariances="one"):
    """Two modes of unit spread ``distance`` apart along a random direction, scaled afterwards."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=d)
    axis /= np.linalg.norm(axis)
    A = rng.normal(size=(d, d))
    S = np.eye(d) if covariances == "one" else (A @ A.T + np.eye(d)) / (d + 1)
    S = S / (axis @ np.linalg.solve(S, axis)) ** -1  # unit spread along the axis, in its metric
    means = np.outer([-0.5, 0.5], distance * axis) * scale
    S = S * np.outer(scale, scale)
    return skh.GaussianMixture([share, 1 - share], means, S)


def moments_of_modes(p, points):
    """Mass of each mode, and its whitened mean and standard deviations."""
    W = np.linalg.inv(np.linalg.cholesky(p.covariances))
    z = (points.x[:, None] - p.means) @ W.T
    nearest = (z**2).sum(-1).argmin(axis=1)
    for k in range(len(p)):
        w, zk = points.w[nearest == k], z[nearest == k, k]
        mean = w @ zk / w.sum()
        yield w.sum(), mean, np.sqrt(w @ (zk - mean) ** 2 / w.sum())


@settings(max_examples=60, deadline=None)
@given(
    d=st.integers(1, 10),
    exponent=st.floats(1.0, 6.0),
    share=st.floats(0.3, 0.7),
    scale=units,
    seed=st.integers(0, 10**6),
    covariances=st.sampled_from(["one", "full"]),
)
def test_modes_far_apart_have_the_right_mass_and_spread(
    d, exponent, share, scale, seed, covariances
):
    p = two_modes(d, 10.0**exponent, share, scale[:d], seed, covariances)
    points = DEFAULT(p, 40, rng=seed)
    for mass, (got, mean, sd) in zip(p.weights, moments_of_modes(p, points), strict=True):
        assert got == pytest.approx(mass, rel=0.1)
        assert np.abs(mean).max() < 0.25
        assert np.sqrt(np.mean(sd**2)) == pytest.approx(1.0, rel=0.1)
        assert sd.max() < 1.3
        assert sd.min() > 0.7


@pytest.mark.parametrize("distance", [20.0, 1e3, 1e6])
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("d", [1, 3, 10])
def test_modes_of_the_default_rule_have_unit_spread(d, n, distance):
    means = np.zeros((2, d))
    means[:, 0] = -distance / 2, distance / 2
    p = skh.GaussianMixture([0.5, 0.5], means, np.eye(d))
    spreads = [m[2] for s in range(15) for m in moments_of_modes(p, DEFAULT(p, n, rng=s))]
    np.testing.assert_allclose(np.sqrt(np.mean(np.square(spreads), axis=0)), 1.0, atol=0.1)


@settings(max_examples=30, deadline=None)
@given(
    d=st.integers(1, 5),
    exponent=st.floats(2.5, 6.0),
    tail=st.floats(0.02, 0.3),
    seed=st.integers(0, 10**6),
)
def test_a_narrow_core_keeps_its_mass_and_spread_inside_wide_tails(d, exponent, tail, seed):
    wide = 10.0 ** (2 * exponent)
    p = skh.GaussianMixture([1 - tail, tail], np.zeros((2, d)), [1.0, wide])
    points = DEFAULT(p, 50, rng=seed)
    core = points.component == 0
    assert points.w[core].sum() == pytest.approx(1 - tail, rel=0.1)
    spread = np.sqrt(points.w[core] @ points.x[core] ** 2 / points.w[core].sum())
    assert np.sqrt(np.mean(spread**2)) == pytest.approx(1.0, rel=0.1)


@settings(max_examples=40, deadline=None)
@given(
    d=st.integers(2, 6),
    rank=st.integers(0, 5),
    scale=units,
    seed=st.integers(0, 10**6),
    own=st.booleans(),
    rule=st.sampled_from(
        [DEFAULT, skh.Matched(skh.Stratified()), skh.Refined(), skh.Matched(DEFAULT)]
    ),
)
@example(d=3, rank=2, scale=np.ones(10), seed=89131, own=False, rule=DEFAULT)
def test_points_stay_on_singular_components(d, rank, scale, seed, own, rule):
    """Each point minus the mean of its component is in the range of that component's covariance."""
    rng, K = np.random.default_rng(seed), 12
    A = rng.normal(size=(K if own else 1, d, min(rank, d - 1)))
    S = A @ A.swapaxes(-1, -2)
    means = rng.normal(size=(K, d))
    D = scale[:d]
    covariances = (S if own else S[0]) * np.outer(D, D)
    p = skh.GaussianMixture(rng.dirichlet(np.ones(K)), means * D, covariances)
    points = rule(p, 30, rng=seed)
    S = np.broadcast_to(S, (K, d, d))[points.component]
    e = points.x / D - means[points.component]
    inside = np.einsum("nij,nj->ni", S @ np.linalg.pinv(S, rcond=1e-9, hermitian=True), e)
    np.testing.assert_allclose(e, inside, atol=1e-5)


def test_a_mode_number_stays_a_mode_number():
    rng = np.random.default_rng(0)
    means = np.column_stack([rng.normal(size=60), np.arange(60) % 3])
    p = skh.GaussianMixture(np.full(60, 1 / 60), means, np.diag([0.1, 0.0]))
    for rule in (DEFAULT, skh.Matched(DEFAULT), skh.Refined()):
        points = rule(p, 60, rng=1)
        assert set(points.x[:, 1].tolist()) == {0.0, 1.0, 2.0}
        share = [points.w[points.x[:, 1] == k].sum() for k in range(3)]
        np.testing.assert_allclose(share, 1 / 3, rtol=1e-9)


def test_a_constant_parameter_keeps_its_distribution_without_observations():
    """Its 100 values are only chosen anew; random rules keep its variance on average."""

    class Drifting:
        def prior(self):
            return skh.GaussianMixture([1.0], [[0.0, 0.0]], np.eye(2))

        def transition(self, t, x):
            return x * [0.9, 1.0], np.diag([0.2, 0.0])

        def log_likelihood(self, t, x, y):
            return np.zeros(len(x))

    runs = [skh.particle_filter(Drifting(), [None] * 20, n=100, rng=s) for s in range(6)]
    assert np.mean([r.covariances[-1, 1, 1] for r in runs]) == pytest.approx(1.0, abs=0.25)
    assert np.mean([r.covariances[-1, 0, 0] for r in runs]) == pytest.approx(0.2 / 0.19, abs=0.15)


@pytest.mark.parametrize("variance", [1e2, 1e6, 1e12])
def test_a_far_too_wide_kernel_does_not_gather_the_points(variance):
    p = skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [1.0, 0.0]], 1.0)
    moved = skh.Refined(skh.Stratified(), skh.GaussianKernel(variance))(p, 50, rng=0)
    np.testing.assert_allclose(moved.x.std(axis=0), np.sqrt(p.covariance.diagonal()), rtol=0.12)
    assert len(np.unique(moved.x, axis=0)) == 50


@settings(max_examples=25, deadline=None)
@given(d=st.integers(1, 4), exponent=st.floats(1.5, 6.0), seed=st.integers(0, 10**6))
def test_matching_does_not_shear_distant_modes(d, exponent, seed):
    p = two_modes(d, 10.0**exponent, 0.5, np.ones(d), seed)
    points = skh.Matched(skh.Stratified())(p, 60, rng=seed)
    for mass, mean, sd in moments_of_modes(p, points):
        assert mass == pytest.approx(0.5, abs=1e-9)
        np.testing.assert_allclose(mean, 0.0, atol=1e-4)
        np.testing.assert_allclose(sd, 1.0, rtol=1e-3)


def test_many_dimensions_and_few_points_keep_the_total_variance():
    p = skh.GaussianMixture([1.0], np.zeros((1, 300)), 1.0)
    points = DEFAULT(p, 50, rng=0)
    assert (points.w @ (points.x - points.w @ points.x) ** 2).mean() == pytest.approx(1.0, rel=0.2)


class TwoPlaces:
    """A state in one of two places, ``distance`` apart; the observation does not tell which."""

    def __init__(self, distance):
        self.distance = distance

    def prior(self):
        return skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0], [self.distance, 0.0]], 1.0)

    def transition(self, t, x):
        there = self.distance * (x[:, 0] > self.distance / 2)
        offset = np.column_stack([there, np.zeros(len(x))])
        return offset + 0.9 * (x - offset), 0.19

    def log_likelihood(self, t, x, y):
        there = self.distance * (x[:, 0] > self.distance / 2)
        return -0.5 * ((y - (x[:, 0] - there)) / 0.3) ** 2 - np.log(0.3 * np.sqrt(2 * np.pi))


@pytest.mark.parametrize("distance", [30.0, 1e3, 1e5])
def test_evidence_of_two_ambiguous_places_is_better_than_that_of_a_random_rule(distance):
    """Each place is the same linear model, whose exact evidence is that of the whole."""
    model = LinearGaussian(*([[v]] for v in (0.9, 1.0, 0.19, 0.09)), [0.0], [[1.0]])
    _, ys = model.simulate(40, rng=1)
    exact = skh.kalman_filter(model, ys).log_evidence
    error = {
        name: np.mean(
            [
                abs(
                    skh.particle_filter(
                        TwoPlaces(distance), ys.ravel(), rule, 50, rng=s
                    ).log_evidence
                    - exact
                )
                for s in range(4)
            ]
        )
        for name, rule in (("default", DEFAULT), ("stratified", skh.Stratified()))
    }
    assert error["default"] < 0.5 * error["stratified"]


def test_modes_keep_their_spread_without_observations():
    pf = skh.ParticleFilter(TwoPlaces(300.0), n=50, rng=0)
    for _ in range(30):
        belief = pf.step(None)
    near = belief.x[:, 0] < 150
    w, x = belief.w[near] / belief.w[near].sum(), belief.x[near]
    assert np.sqrt(w @ (x - w @ x) ** 2) == pytest.approx(1.0, abs=0.15)


def test_a_light_part_is_represented_in_expectation():
    p = skh.GaussianMixture([0.999, 0.001], [[0.0], [1e6]], 1.0)
    weights = [DEFAULT(p, 20, rng=s) for s in range(600)]
    share = [points.w[points.x[:, 0] > 5e5].sum() for points in weights]
    assert set(np.round(share, 6)) == {0.0, 0.05}
    assert np.mean(share) == pytest.approx(0.001, abs=4 * np.std(share) / 600**0.5)


def test_overlapping_components_are_one_part():
    rng = np.random.default_rng(0)
    p = skh.GaussianMixture(np.full(50, 0.02), rng.normal(size=(50, 3)), 0.3)
    assert split(p, 100, p.covariance) is None
    assert place_in_parts(DEFAULT, p, 100, rng, p.covariance) is None


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(1, 6), scale=units)
def test_parts_do_not_depend_on_units_rotations_or_order(seed, d, scale):
    rng = np.random.default_rng(seed)
    K = 30
    means = rng.normal(size=(K, d)) + 100.0 * rng.integers(0, 3, (K, 1)) * np.eye(d)[0]
    p = skh.GaussianMixture(np.full(K, 1 / K), means, 0.5 * np.eye(d))
    parts = split(p, 60, p.covariance)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0] * scale[:d, None]
    order = rng.permutation(K)
    q = skh.GaussianMixture(np.full(K, 1 / K), (means @ Q.T)[order], 0.5 * Q @ Q.T)
    other = split(q, 60, q.covariance)
    as_sets = [None if c is None else {frozenset(c[0]), frozenset(c[1])} for c in (parts, other)]
    if other is not None:
        as_sets[1] = {frozenset(order[list(part)]) for part in other}
    assert as_sets[0] == as_sets[1]


def test_the_first_half_of_the_points_represents_both_parts():
    p = skh.GaussianMixture([0.8, 0.2], [[0.0] * 5, [5.5] + [0.0] * 4], 1.0)
    points = DEFAULT(p, 100, rng=0)
    half = points.component[:50]
    assert np.mean(half == 1) == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("distance", [1e7, 1e9])
def test_parts_do_not_depend_on_order_at_any_distance(distance):
    rng = np.random.default_rng(0)
    for singular in (False, True):
        S = np.diag([0.0, 1.0]) if singular else np.eye(2)
        place = rng.choice([0.0, 1.0, 2.5], 30)
        means = np.column_stack([place * (1.0 if singular else distance), rng.normal(size=30)])
        order = rng.permutation(30)
        p, q = (skh.GaussianMixture(np.full(30, 1 / 30), m, S) for m in (means, means[order]))
        parts, other = split(p, 60, p.covariance), split(q, 60, q.covariance)
        assert {frozenset(c) for c in parts} == {frozenset(order[c]) for c in other}


def test_components_of_weight_zero_scatter_nothing():
    means = [[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]]
    S = np.broadcast_to(np.diag([1.0, 0.0]), (3, 2, 2))
    light, without = (
        skh.GaussianMixture(w, m, s)
        for w, m, s in (([0.5, 0.5, 0.0], means, S), ([0.5, 0.5], means[:2], S[:2]))
    )
    kernel = skh.GaussianKernel(1.0)
    assert not Support(kernel, light).scattered
    assert not Support(kernel, without).scattered
    assert Support(kernel, skh.GaussianMixture([0.4, 0.4, 0.2], means, S)).scattered
