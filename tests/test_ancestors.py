"""Particles moved with all they carry, by the regression of what they carry on where they lead."""

import numpy as np
import pytest

import oracles
import skh
from skh.ancestors import Ancestors, chosen
from skh.geometry import Charted
from skh.model import predictive


def by_least_squares(w, means, values):
    """The slope (d, k) of a weighted linear fit with intercept."""
    root = np.sqrt(w)[:, None]
    ones = np.ones((len(w), 1))
    fit, *_ = np.linalg.lstsq(root * np.hstack([ones, means]), root * values, rcond=None)
    return fit[1:]


@pytest.mark.parametrize("each", [1, 2])
def test_numbers_move_along_their_regression_on_the_means(each):
    rng = np.random.default_rng(0)
    p = oracles.random_mixture(12 * each, 3, rng)
    values, component = rng.normal(size=(12, 2, 2)), rng.integers(12 * each, size=20)
    shift = rng.normal(size=(20, 3))
    slope = by_least_squares(p.weights, p.means, values.repeat(each, axis=0).reshape(-1, 4))
    expected = values[component // each] + (shift @ slope).reshape(20, 2, 2)
    moved = Ancestors(p, component, each, shift).moved(values)
    np.testing.assert_allclose(moved, expected, atol=1e-12)


def test_means_move_by_the_shift_itself():
    rng = np.random.default_rng(1)
    p, component = oracles.random_mixture(9, 3, rng), rng.integers(9, size=30)
    shift = rng.normal(size=(30, 3))
    moved = Ancestors(p, component, 1, shift).moved(p.means)
    np.testing.assert_allclose(moved, p.means[component] + shift, atol=1e-12)


def test_units_do_not_matter():
    """Metres beside micrometres per second: far apart in size, and not to be mistaken for flat."""
    rng = np.random.default_rng(2)
    p, component = oracles.random_mixture(9, 3, rng), rng.integers(9, size=30)
    shift, values, unit = rng.normal(size=(30, 3)), rng.normal(size=(9, 4)), [1e-6, 1.0, 1e6]
    q = p.linear_map(np.diag(unit))
    moved, expected = (
        Ancestors(law, component, 1, by).moved(values)
        for law, by in ((q, shift * unit), (p, shift))
    )
    np.testing.assert_allclose(moved, expected, rtol=1e-9)


def test_without_any_spread_nothing_is_known_of_how_things_hang_together():
    p = skh.GaussianMixture([0.5, 0.5], [[1.0], [1.0]], 1.0)
    moved = Ancestors(p, np.array([0, 1]), 1, np.ones((2, 1))).moved(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(moved, [3.0, 4.0])


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


def test_a_moved_particle_leads_to_the_moved_component():
    pf, belief = linear_belief()
    p, points, model = pf.predict(), smoothed_points(pf, 40), pf._model
    means, _ = model.transition(belief.t, *chosen(model, belief, p, points, 1))
    np.testing.assert_allclose(means, p.means[points.component] + points.shift, atol=1e-12)


def test_a_moved_pose_leads_to_the_moved_component():
    """On a manifold up to its curvature: here to 1e-5 of shifts of the order of 0.01."""
    flight = skh.models.survey_flight(20, rng=0)
    pf = skh.ParticleFilter(flight.model, skh.Stratified(), 50, rng=1)
    for y in flight.observations:
        belief = pf.step(y)
    p, points = pf.predict(), smoothed_points(pf, 50)
    means, _ = flight.model.transition(belief.t, *chosen(flight.model, belief, p, points, 1))
    assert np.abs(points.shift).max() > 5e-3
    np.testing.assert_allclose(means, p.means[points.component] + points.shift, atol=1e-5)


def test_smoothing_keeps_how_the_hidden_part_hangs_on_the_particles():
    """Mean of (x, z) and covariance of x with z: those of the predictive law, up to chance."""
    pf, belief = linear_belief()
    n, model, points = 100_000, pf._model, smoothed_points(pf, 100_000)
    z = model.move(belief.t, *chosen(model, belief, pf.predict(), points, 1), points.x).mean[:, 0]
    joint, _ = predictive(model.joint_transition(belief.t, belief.x, belief.carry), belief.w)
    x, tolerance = points.x[:, 0], 4 * joint.covariance[1, 1] ** 0.5 / n**0.5
    assert z.mean() == pytest.approx(joint.mean[1], abs=tolerance)
    spread = joint.covariance[0, 0] ** 0.5
    assert np.cov(x, z)[0, 1] == pytest.approx(joint.covariance[0, 1], abs=3 * tolerance * spread)
    assert z.var() < joint.covariance[1, 1]  # the rest is in the covariances of z


def test_modes_stay_with_their_particles():
    """Two components per particle; the record is that of the particle, not of the component."""
    model = skh.models.jmls()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, model.A.shape[-1]))
    carry = rng.normal(size=(6, len(model.A)))
    p, each = predictive(model.transition(0, x, carry), np.full(6, 1 / 6))
    component = np.arange(0, 6 * each, 3)
    ancestors = Ancestors(p, component, each, np.ones((len(component), p.d)))
    np.testing.assert_array_equal(model.displaced(carry, ancestors), carry[component // each])


class Gain:
    """A model that carries a record and cannot displace it."""

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


def test_a_model_that_cannot_displace_its_records_is_told_so():
    pf = skh.ParticleFilter(Gain(), skh.Smoothed(skh.Stratified()), 10, rng=0)
    before = pf.step(1.0)
    with pytest.raises(TypeError, match=r"displaced\(carry, ancestors\), got .*Gain"):
        pf.step(1.0)
    assert pf.belief is before
    assert pf.t == 1


def test_so_is_one_inside_of_a_chart():
    class OnALine(Gain):
        def prior(self):
            return np.array([0.0]), np.eye(1)

        def transition(self, t, s, carry):
            return s, 0.1 * np.eye(1)

    pf = skh.ParticleFilter(
        Charted(OnALine(), skh.geometry.Angles(1)), skh.Smoothed(skh.Stratified()), 10, rng=0
    )
    pf.step(1.0)
    with pytest.raises(TypeError, match=r"displaced\(carry, ancestors\), got .*OnALine"):
        pf.step(1.0)
