"""A model that gives residuals: the filter linearises them before it places points."""

import numpy as np
import pytest
from scipy import stats

import skh
from skh.filtering.residual_form import cauchy_residuals
from skh.geometry import SE2, Charted
from skh.models import (
    InverseDepthCamera,
    RangeBearing,
    ResidualFlight,
    ResidualRangeBearing,
)
from skh.reproduction.second_look.lattice import lattice_filter

PLACES = np.random.default_rng(5).uniform(-5, 5, (40, 2))


class Ranges:
    """A place in the plane, or a pose, from precise ranges to forty beacons."""

    def __init__(self, d=2, scale=1.0):
        self.d, self.scale, self.calls = d, scale, 0

    def prior(self):
        return skh.GaussianMixture([1.0], np.zeros((1, self.d)), 0.25 * self.scale**2)

    def transition(self, t, x):
        return x, 0.04 * self.scale**2

    def log_likelihood(self, t, x, y):
        return -0.5 * (self.residuals(t, x, y) ** 2).sum(axis=1)

    def residuals(self, t, x, y):
        self.calls += len(x)
        away = np.linalg.norm(x[:, None, :2] / self.scale - PLACES, axis=2)
        return (np.asarray(y) - away) / 0.02


class Poses(Ranges):
    def prior(self):
        return np.zeros(3), 0.25 * np.eye(3)


class Hidden(Ranges):
    """The same without residuals."""

    residuals_of = Ranges.residuals
    residuals = None

    def log_likelihood(self, t, x, y):
        return -0.5 * (self.residuals_of(t, x, y) ** 2).sum(axis=1)


def seen_along(path, rng):
    away = np.linalg.norm(np.array(path)[:, None] - PLACES, axis=2)
    return away + 0.02 * rng.standard_normal(away.shape)


@pytest.fixture(scope="module")
def drive():
    rng = np.random.default_rng(0)
    path = np.cumsum(0.2 * rng.standard_normal((12, 2)), axis=0)
    return path, seen_along(path, rng)


def errors(model, ys, path, n, rule=None, scale=1.0):
    result = skh.particle_filter(model, ys, rule, n, rng=1)
    return np.linalg.norm(result.means[:, :2] / scale - path, axis=1), result


def test_thirty_evaluations_are_better_than_a_thousand_random_ones(drive):
    _, ys = drive
    exact = skh.particle_filter(Hidden(), ys, n=200, rng=0).means
    few = skh.particle_filter(Ranges(), ys, n=30, rng=0)
    many = skh.particle_filter(Hidden(), ys, skh.Stratified(), 1_000, rng=0).means
    off = np.linalg.norm(few.means - exact, axis=1)
    assert np.median(off) < 0.3 * np.median(np.linalg.norm(many - exact, axis=1))


def test_a_step_has_n_evaluations_in_all(drive):
    _, ys = drive
    model = Ranges()
    result = skh.particle_filter(model, ys, n=30, rng=0)
    assert result.n_likelihood_evaluations.tolist() == [30] * len(ys)
    assert model.calls == 30 * len(ys)
    assert result.n_particles.tolist() == [20] * len(ys)  # two linearisations of five each
    assert all(looks[0].reason.startswith("linearised") for looks in result.looks)


def test_the_evidence_is_that_of_a_filter_without_residuals(drive):
    _, ys = drive
    exact = skh.particle_filter(Hidden(), ys, n=200, rng=0).log_evidence
    linearised = [skh.particle_filter(Ranges(), ys, n=60, rng=k).log_evidence for k in range(5)]
    np.testing.assert_allclose(linearised, exact, atol=0.05)


def test_rules_that_use_no_information_are_left_alone(drive):
    _, ys = drive
    plain = skh.particle_filter(Hidden(), ys, skh.Stratified(), 50, rng=3)
    same = skh.particle_filter(Ranges(), ys, skh.Stratified(), 50, rng=3)
    np.testing.assert_array_equal(plain.means, same.means)


def test_few_points_are_not_spent_on_linearisations(drive):
    _, ys = drive
    result = skh.particle_filter(Ranges(), ys[:2], n=8, rng=0)
    assert result.n_particles.tolist() == [8, 8]


def test_units_do_not_matter(drive):
    path, ys = drive
    metres, _ = errors(Ranges(), ys, path, 30)
    other, _ = errors(Ranges(scale=1e4), ys, path, 30, scale=1e4)
    np.testing.assert_allclose(other, metres, atol=1e-6)


def test_in_a_chart(drive):
    path, ys = drive
    result = skh.particle_filter(Charted(Poses(3), SE2()), ys, n=40, rng=0)
    assert np.linalg.norm(result.mean_states[:, :2] - path, axis=1).max() < 0.05
    assert result.n_particles.tolist() == [26] * len(ys)


def test_before_the_observation_is_known_there_is_no_linearisation():
    model = Ranges()
    pf = skh.ParticleFilter(model, n=30, rng=0)
    assert len(pf.ask()) == 15  # the pilot of a second look
    assert model.calls == 0


@pytest.mark.parametrize(
    ("wrong", "got"), [(np.zeros(5), "shape"), (np.full((5, 3), np.nan), "NaN or inf")]
)
def test_wrong_residuals_are_refused(wrong, got, drive):
    class Wrong(Ranges):
        def residuals(self, t, x, y):
            return wrong

    with pytest.raises(ValueError, match=rf"model.residuals at t=0 .* \(5, m\), got .*{got}"):
        skh.particle_filter(Wrong(), drive[1], n=30, rng=0)


def test_residuals_of_images_are_roots_of_their_log_likelihood():
    flight = ResidualFlight(camera=InverseDepthCamera(pixels=(16, 12)))
    poses, images = flight.simulate(4, rng=0)
    image = images[1].copy()
    image[0, :3] = np.nan
    r = flight.residuals(1, poses, image)
    log_l = flight.log_likelihood(1, poses, image)
    np.testing.assert_allclose(np.diff(-0.5 * (r**2).sum(axis=1)), np.diff(log_l), rtol=1e-9)


def test_cauchy_residuals_are_roots_of_the_density_of_cauchy_errors():
    r = np.linspace(-40, 40, 81)
    soft = cauchy_residuals(r)
    np.testing.assert_allclose(-0.5 * soft**2, stats.cauchy.logpdf(r) - stats.cauchy.logpdf(0))
    assert (np.diff(soft) > 0).all()


def test_residuals_of_single_measurements_find_a_peak_above_a_floor():
    telling, silent = ResidualRangeBearing(outliers=0.05), RangeBearing(outliers=0.05)
    ratios = []
    for seed in range(3):
        _, ys = silent.simulate(15, rng=seed)
        exact, _ = lattice_filter(silent, ys, seed, fineness=0.7)
        told, untold = (
            np.sqrt(np.mean((skh.particle_filter(m, ys, n=50, rng=seed).means - exact) ** 2))
            for m in (telling, silent)
        )
        ratios.append(told / untold)
    assert np.exp(np.mean(np.log(ratios))) < 0.4
    assert max(ratios) < 1.5
