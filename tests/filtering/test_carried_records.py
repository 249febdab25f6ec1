"""Moved particles: carried records follow by their regression on the predicted means."""

from dataclasses import replace

import numpy as np
import pytest

import oracles
import skh
from skh.filtering.carried_records import Ancestors, move_records
from skh.filtering.model_protocols import predictive
from skh.filtering.plans import OneLook
from skh.filtering.rao_blackwell import ZBelief
from skh.gaussians.predictive import Predictive
from skh.geometry import Charted
from skh.rules.base import Shift


def by_least_squares(w, means, values):
    """The slope (d, k) of a weighted linear fit with intercept."""
    root = np.sqrt(w)[:, None]
    ones = np.ones((len(w), 1))
    fit, *_ = np.linalg.lstsq(root * np.hstack([ones, means]), root * values, rcond=None)
    return fit[1:]


def moved_ancestors(pf, points):
    """The old particles and records that ``points`` come from."""
    belief, model = pf.belief, pf._model
    ancestors = Ancestors.of(points.component, points.shift.mean, pf.predict())
    return ancestors.moved(belief.x), model.displaced(belief.carry, ancestors)


@pytest.mark.parametrize("each", [1, 2])
def test_carried_numbers_move_by_their_regression_on_the_means(each):
    """With two components per particle, one regression for the first and one for the second."""
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(12 * each, 3, rng)
    values, component = rng.normal(size=(12, 2, 2)), rng.integers(12 * each, size=20)
    shift = rng.normal(size=(20, 3))
    slopes = [
        by_least_squares(p.weights[k::each], p.means[k::each], values.reshape(-1, 4))
        for k in range(each)
    ]
    by = [s @ slopes[k] for s, k in zip(shift, component % each, strict=True)]
    expected = values[component // each] + np.reshape(by, (20, 2, 2))
    moved = Ancestors.of(component, shift, Predictive.of(p, each)).moved(values)
    np.testing.assert_allclose(moved, expected, atol=1e-12)


def test_means_move_by_the_shift_itself():
    rng = np.random.default_rng(1)
    p, component = oracles.random_mixture(9, 3, rng), rng.integers(9, size=30)
    shift = rng.normal(size=(30, 3))
    moved = Ancestors.of(component, shift, Predictive.of(p)).moved(p.means)
    np.testing.assert_allclose(moved, p.means[component] + shift, atol=1e-12)


def test_units_do_not_matter():
    """Metres and micrometres per second: small units are not mistaken for a lack of spread."""
    rng = np.random.default_rng(2)
    p, component = oracles.random_mixture(9, 3, rng), rng.integers(9, size=30)
    shift, values, unit = rng.normal(size=(30, 3)), rng.normal(size=(9, 4)), [1e-6, 1.0, 1e6]
    q = p.linear_map(np.diag(unit))
    moved, expected = (
        Ancestors.of(component, by, Predictive.of(law)).moved(values)
        for law, by in ((q, shift * unit), (p, shift))
    )
    np.testing.assert_allclose(moved, expected, rtol=1e-9)


def test_records_of_equal_particles_are_not_moved():
    """The mean of seven times 0.1 differs from 0.1 by rounding, which is not a spread."""
    p = skh.GaussianMixture(np.full(7, 1 / 7), np.full((7, 2), 0.1), 1.0)
    moved = Ancestors.of(np.arange(7), np.ones((7, 2)), Predictive.of(p)).moved(np.arange(7.0))
    np.testing.assert_array_equal(moved, np.arange(7.0))


def test_fewer_particles_than_dimensions_move_in_their_span_only():
    p = skh.GaussianMixture([0.5, 0.5], [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]], 1.0)
    moved = Ancestors.of(np.array([0, 1]), np.ones((2, 3)), Predictive.of(p)).moved(
        np.array([3.0, 7.0])
    )
    np.testing.assert_allclose(moved, [5.0, 9.0])  # 2 per unit of the first coordinate


def linear_belief(n=30, steps=5):
    model = skh.models.LinearGaussian(
        A=[[1.0, 0.3], [-0.1, 0.9]],
        C=[[1.0, 0.2]],
        Q=[[0.02, 0.005], [0.005, 0.05]],
        R=[[0.1]],
        initial_mean=[0.0, 0.0],
        initial_covariance=np.eye(2),
    )
    _, ys = model.simulate(steps, rng=3)
    pf = skh.ParticleFilter(skh.rao_blackwellize(model, [0]), skh.Stratified(), n, rng=0)
    for y in ys:
        belief = pf.step(y)
    return pf, belief


def smoothed_points(pf, n):
    return skh.Smoothed(skh.Stratified())(pf.predict(), n, rng=2)


def test_the_transition_of_a_moved_particle_is_the_moved_component():
    pf, belief = linear_belief()
    p, points = pf.predict(), smoothed_points(pf, 40)
    means, _ = pf._model.transition(belief.t, *moved_ancestors(pf, points))
    np.testing.assert_allclose(means, p.means[points.component] + points.shift.mean, atol=1e-12)


def test_the_transition_of_a_moved_particle_with_several_components():
    model = skh.models.jmls()
    rng = np.random.default_rng(0)
    n, (r, d, _) = 8, model.A.shape
    x, carry, w = rng.normal(size=(n, d)), np.log(rng.dirichlet(np.ones(r), n)), np.full(n, 1 / n)
    p = predictive(model.transition(0, x, carry), w)
    each = p.components_per_particle
    component = rng.integers(n * each, size=30)
    ancestors = Ancestors.of(component, rng.normal(size=(30, d)), p)
    moved, rows = ancestors.moved(x), model.displaced(carry, ancestors)
    means = np.einsum("nij,nj->ni", model.A[component % each], moved)
    np.testing.assert_allclose(means, p.means[component] + ancestors.shift, atol=1e-10)
    np.testing.assert_array_equal(rows, carry[component // each])  # modes stay with their particles


def test_the_transition_of_a_moved_pose_is_the_moved_component():
    """Up to the curvature of the manifold: an error of 1e-5 for shifts of about 0.01."""
    flight = skh.models.survey_flight(20, rng=0)
    pf = skh.ParticleFilter(flight.model, skh.Stratified(), 50, rng=1)
    for y in flight.observations:
        belief = pf.step(y)
    p, points = pf.predict(), smoothed_points(pf, 50)
    x, carry = moved_ancestors(pf, points)
    means, _ = flight.model.transition(belief.t, x, carry)
    assert np.abs(points.shift.mean).max() > 5e-3
    np.testing.assert_allclose(means, p.means[points.component] + points.shift.mean, atol=1e-5)
    for name in ("linear", "turn", "landmarks"):
        before, after = getattr(belief.carry.inner, name), getattr(carry.inner, name)
        slope = by_least_squares(belief.w, p.means, before.reshape(50, -1))
        by = (points.shift.mean @ slope).reshape(after.shape)
        np.testing.assert_allclose(after, before[points.component] + by, atol=1e-7)


def test_smoothing_keeps_the_joint_moments_of_x_and_z():
    """First and second moments of (x, z) are the predictive ones, up to sampling error."""
    pf, belief = linear_belief()
    n, model, p, points = 100_000, pf._model, pf.predict(), smoothed_points(pf, 100_000)
    joint = predictive(model.joint_transition(belief.t, belief.x, belief.carry), belief.w)
    carry = move_records(model, belief.t, belief, points, p)
    x, z = points.x[:, 0], carry.mean[:, 0]
    sd, chance = np.sqrt(joint.covariance.diagonal()), 4 / n**0.5
    assert z.mean() == pytest.approx(joint.mean[1], abs=chance * sd[1])
    assert np.cov(x, z)[0, 1] == pytest.approx(
        joint.covariance[0, 1], abs=2 * chance * sd[0] * sd[1]
    )
    found = z.var() + carry.covariance[:, 0, 0].mean()
    assert found == pytest.approx(joint.covariance[1, 1], rel=2 * chance)
    sure = replace(points, shift=Shift(points.shift.mean, 0.0 * points.shift.root))
    known = move_records(model, belief.t, belief, sure, p).covariance[:, 0, 0].mean()
    assert carry.covariance[:, 0, 0].mean() - known > chance * found  # uncertainty of the shift


def test_uncertain_shifts_of_poses_increase_all_carried_covariances():
    """Covariances grow by the scatter of the records moved along each root of the shift."""
    flight = skh.models.survey_flight(20, rng=0)
    pf = skh.ParticleFilter(flight.model, skh.Stratified(), 50, rng=1)
    for y in flight.observations:
        belief = pf.step(y)
    p, points, zero = pf.predict(), smoothed_points(pf, 50), np.zeros((50, 6, 6))

    def after(mean, root=zero):
        shifted = replace(points, shift=Shift(mean, root))
        return move_records(flight.model, belief.t, belief, shifted, p).inner

    mean, root = points.shift.mean, points.shift.root
    blurred, sure = after(mean, root), after(mean)
    others = [after(mean + root[:, :, k]) for k in range(6)]
    linear = sum(outer(o.linear - sure.linear) for o in others)
    np.testing.assert_allclose(
        blurred.linear_covariance, sure.linear_covariance + linear, atol=1e-15
    )
    landmark = sum(outer(o.landmarks[:, 2] - sure.landmarks[:, 2]) for o in others)
    packed = landmark[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    expected = sure.landmark_covariances[:, 2] + packed
    np.testing.assert_allclose(blurred.landmark_covariances[:, 2], expected, rtol=1e-10)
    axes = [outer((o.turn - sure.turn)[:, [k, 3 + k]]) for o in others for k in range(3)]
    turn = sum(axes)[:, [0, 0, 1], [0, 1, 1]] / 3  # the mean over the axes, which share one
    np.testing.assert_allclose(blurred.turn_covariance, sure.turn_covariance + turn, atol=1e-15)
    assert (blurred.landmark_covariances[:, 2] > 1.001 * sure.landmark_covariances[:, 2]).any()


def outer(e):
    return e[:, :, None] * e[:, None, :]


def test_the_filter_moves_carried_records():
    pf, belief = linear_belief()
    p, points, model = pf.predict(), smoothed_points(pf, 30), pf._model
    pf._plan = OneLook(lambda p, n, *, rng=None: points)
    after = pf.step(0.3)
    carry = move_records(model, belief.t, belief, points, p)
    _, expected = model.log_likelihood(after.t, points.x, 0.3, carry)
    np.testing.assert_array_equal(after.carry.mean, expected.mean)
    unmoved = move_records(model, belief.t, belief, replace(points, shift=None), p)
    assert np.abs(unmoved.mean - carry.mean).max() > 0.01


def test_covariances_stay_with_their_particles():
    pf, belief = linear_belief()
    carry = ZBelief(belief.carry.mean, np.arange(30.0)[:, None, None])
    points = smoothed_points(pf, 40)
    ancestors = Ancestors.of(points.component, points.shift.mean, pf.predict())
    rows = pf._model.displaced(carry, ancestors)
    np.testing.assert_array_equal(rows.covariance[:, 0, 0], points.component)


class Gain:
    """A model with a carried record but without `displaced`."""

    def prior(self):
        return skh.GaussianMixture([1.0], [[1.0]], 1.0)

    def initial_carry(self, x):
        return np.zeros(len(x))

    def transition(self, t, x, carry):
        return x, 0.1

    def move(self, t, x, carry, x_next):
        return carry

    def log_likelihood(self, t, x, y, carry):
        return -((y - x[:, 0]) ** 2), carry


def test_a_model_without_displaced_is_rejected():
    pf = skh.ParticleFilter(Gain(), skh.Smoothed(skh.Stratified()), 10, rng=0)
    before = pf.step(1.0)
    with pytest.raises(TypeError, match=r"blurred\(carry, others\), got .*Gain"):
        pf.step(1.0)
    assert pf.belief is before
    assert pf.t == 1


def test_a_charted_model_without_displaced_is_rejected():
    class OnALine(Gain):
        def prior(self):
            return np.array([0.0]), np.eye(1)

        def transition(self, t, s, carry):
            return s, 0.1 * np.eye(1)

    pf = skh.ParticleFilter(
        Charted(OnALine(), skh.geometry.Angles(1)), skh.Smoothed(skh.Stratified()), 10, rng=0
    )
    pf.step(1.0)
    with pytest.raises(TypeError, match=r"blurred\(carry, others\), got .*OnALine"):
        pf.step(1.0)
