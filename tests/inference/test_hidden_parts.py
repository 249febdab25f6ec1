"""Smoothing of hidden parts and of states in charts, against exact smoothers."""

import numpy as np
import pytest

import skh
from linear_models import LGSS3, error
from skh.geometry import SE2, SE3, Angles, Charted, Pose


@pytest.mark.parametrize("x", [[0], [0, 1]])
def test_every_split_of_a_linear_model(x):
    z = [k for k in range(3) if k not in x]
    _, ys = LGSS3.simulate(8, rng=0)
    ys[3] = np.nan
    exact = skh.kalman_smoother(LGSS3, ys)
    model = skh.rao_blackwellize(LGSS3, x)
    smoothed = skh.smooth(model, ys, n=40, rng=0, paths=800)
    joint = np.hstack([smoothed.means, smoothed.z_means])
    order = np.argsort([*x, *z])
    assert error(joint[:, order], exact) < 0.08
    P = smoothed.joint_covariances[:, order][:, :, order]
    np.testing.assert_allclose(P, exact.covariances, atol=0.15)
    lag = exact.lag_one_covariances[:, x][:, :, x]
    np.testing.assert_allclose(smoothed.lag_one_covariances, lag, atol=0.15)


def test_without_observations_z_is_given_the_z_drawn_after_it():
    _, ys = LGSS3.simulate(6, rng=0)
    model = skh.rao_blackwellize(LGSS3, [0])
    result = skh.particle_filter(model, ys, n=40, rng=0, history=True)
    by_kalman, drawn = result.smooth(model, ys, rng=0), result.smooth(model, rng=0)
    np.testing.assert_array_equal(by_kalman.means, drawn.means)
    np.testing.assert_allclose(by_kalman.z_means, drawn.z_means, atol=0.15)
    with pytest.raises(ValueError, match="ys must hold the 6 observations, got 5"):
        result.smooth(model, ys[:5])


def test_modes_and_states_against_all_sequences():
    model = skh.models.jmls()
    _, ys = model.simulate(7, rng=2)
    exact, filtered = skh.jump_markov_smoother(model, ys), skh.jump_markov_filter(model, ys)
    np.testing.assert_allclose(exact.means[-1], filtered.means[-1], atol=1e-12)
    np.testing.assert_allclose(exact.mode_probabilities[-1], filtered.mode_probabilities[-1])
    assert exact.log_evidence == pytest.approx(filtered.log_evidence, abs=1e-10)
    smoothed = skh.smooth(model, ys, n=100, rng=0)
    assert error(smoothed.means, exact) < 0.1
    np.testing.assert_allclose(smoothed.z_means, exact.mode_probabilities, atol=0.06)
    np.testing.assert_allclose(smoothed.covariances, exact.covariances, atol=0.1)
    np.testing.assert_allclose(smoothed.lag_one_covariances, exact.lag_one_covariances, atol=0.1)
    paths = smoothed.paths(500, rng=0)
    assert error(paths.mean(axis=0), exact) < 0.15
    with pytest.raises(ValueError, match="short enough"):
        skh.jump_markov_smoother(model, np.zeros(30))
    with pytest.raises(TypeError, match="JumpMarkov"):
        skh.jump_markov_smoother(LGSS3, ys)


class Turning:
    """A heading that drifts, seen by a compass; states (position, heading) move ahead."""

    def __init__(self, offset=0.0):
        self.offset = offset

    def prior(self):
        return np.array([0.0, 0.0, 3.0 + self.offset]), np.diag([0.1, 0.1, 0.05])

    def transition(self, t, s):
        ahead = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.full(len(s), 0.2)], axis=1)
        return s + ahead, np.diag([0.05, 0.05, 0.02])

    def log_likelihood(self, t, s, y):
        return 10 * np.cos(y - s[:, 2]) - 0.5 * s[:, 0] ** 2


def test_a_chart_without_angles_is_plain_space():
    class Plain:
        def prior(self):
            return np.zeros(2), np.eye(2)

        def transition(self, t, s):
            return 0.5 * s, 0.3

        def log_likelihood(self, t, s, y):
            return -0.5 * (y - s[:, 0]) ** 2

    class InSpace(Plain):
        def prior(self):
            return skh.GaussianMixture([1.0], np.zeros((1, 2)), np.eye(2))

    ys = [0.3, 1.0, -0.5]
    charted = skh.smooth(Charted(Plain(), Angles(2)), ys, skh.Stratified(), 30, rng=0)
    plain = skh.smooth(InSpace(), ys, skh.Stratified(), 30, rng=0)
    np.testing.assert_allclose(charted.means, plain.means, atol=1e-9)
    np.testing.assert_allclose(charted.mean_states, plain.means, atol=1e-9)
    assert plain.mean_states is None


def test_whole_turns_do_not_matter_and_states_smooth_in_charts():
    ys = [3.0, -3.0, -2.9, -2.6, -2.4]  # passes the border at pi
    runs = [
        skh.smooth(Charted(Turning(offset), SE2()), ys, skh.Stratified(), 60, rng=0)
        for offset in (0.0, 2 * np.pi)
    ]
    difference = SE2().minus(runs[0].mean_states, runs[1].mean_states)
    np.testing.assert_allclose(difference, 0.0, atol=1e-6)
    assert np.abs(skh.geometry.wrap(runs[0].mean_states[:, 2] - ys)).max() < 0.3


def test_poses_in_space():
    class Drifting:  # seen by its position; the rotation drifts about the vertical
        def prior(self):
            return Pose(np.zeros(3), np.eye(3)), 0.1 * np.eye(6)

        def transition(self, t, poses):
            return SE3().plus(poses, np.tile([1.0, 0, 0, 0, 0, 0.1], (len(poses.position), 1))), 0.1

        def log_likelihood(self, t, poses, y):
            return -5.0 * ((poses.position - y) ** 2).sum(axis=1)

    model, ys = Charted(Drifting(), SE3()), np.array([[0.0, 0, 0], [1.5, 0, 0], [2.0, 0, 0]])
    run = skh.particle_filter(model, ys, skh.Stratified(), 200, rng=1, history=True)
    smoothed = run.smooth(model)
    np.testing.assert_allclose(smoothed.mean_states.position[-1], run.mean_states.position[-1])
    # positions are those of a random walk with drift, whatever the rotations
    one = np.eye(3)
    walk = skh.models.LinearGaussian(one, one, 0.1 * one, 0.1 * one, np.zeros(3), 0.1 * one)
    drift = np.arange(3)[:, None] * np.array([1.0, 0.0, 0.0])
    exact = skh.kalman_smoother(walk, ys - drift).means + drift
    np.testing.assert_allclose(smoothed.mean_states.position, exact, atol=0.12)
