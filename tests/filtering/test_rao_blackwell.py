"""Rao-Blackwellization against the Kalman filter on the joint state, for all splits."""

import pickle

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import oracles
import skh
from oracles import rmse
from skh.geometry import wrap

# Several scales: in one dimension a single wide kernel would keep only a handful of particles.
FCFW = skh.FWQuad(skh.GaussianKernel((0.01, 0.1, 1.0, 10.0)), skh.FullyCorrective(), 1_000)
I2 = np.eye(2)


def correlated_model():
    """A linear model with four states, two observations and correlated noises."""
    rng = np.random.default_rng(4)
    B = rng.normal(size=(4, 4)) / 2
    V = rng.normal(size=(4, 4)) / 2
    return skh.models.LinearGaussian(
        A=0.9 * np.linalg.qr(rng.normal(size=(4, 4)))[0],
        C=rng.normal(size=(2, 4)),
        Q=B @ B.T + 0.1 * np.eye(4),
        R=np.array([[2.0, 0.4], [0.4, 1.5]]),
        initial_mean=rng.normal(size=4),
        initial_covariance=V @ V.T + 0.5 * np.eye(4),
    )


def joint_means(result, x, d):
    """The filtered means of x and z in the order of the joint state."""
    means = np.empty((len(result.means), d))
    means[:, x] = result.means
    means[:, np.setdiff1d(np.arange(d), x)] = result.z_means
    return means


@pytest.mark.parametrize("x", [[0], [3, 1], [0, 1, 2]])
def test_any_split_of_a_linear_model_converges_to_the_kalman_filter(x):
    model = correlated_model()
    _, ys = model.simulate(15, rng=0)
    ys[7] = np.nan
    exact = skh.kalman_filter(model, ys)
    split = skh.rao_blackwellize(model, x)
    result = skh.particle_filter(split, ys, skh.QuasiMonteCarlo(), 20_000, rng=1)
    assert rmse(joint_means(result, x, 4), exact.means) < 0.02
    order = [*x, *np.setdiff1d(np.arange(4), x)]
    expected = exact.covariances[:, order][:, :, order]
    np.testing.assert_allclose(result.joint_covariances, expected, rtol=0.05, atol=0.05)
    np.testing.assert_allclose(
        result.z_covariances, expected[:, len(x) :, len(x) :], rtol=0.05, atol=0.05
    )
    assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)
    pf = skh.ParticleFilter(split, skh.QuasiMonteCarlo(), 20_000, rng=1)
    belief = [pf.step(y) for y in ys][-1]
    np.testing.assert_array_equal(belief.z_mean, result.z_means[-1])
    np.testing.assert_array_equal(belief.z_covariance, result.z_covariances[-1])


def test_joint_prediction_is_the_kalman_prediction():
    model = correlated_model()
    _, ys = model.simulate(6, rng=0)
    exact = skh.kalman_filter(model, ys)
    pf = skh.ParticleFilter(
        skh.rao_blackwellize(model, [0, 1]), skh.QuasiMonteCarlo(), 20_000, rng=0
    )
    for y in ys:
        pf.step(y)
    m, P = exact.means[-1], exact.covariances[-1]
    for h in (1, 2, 3):
        m, P = model.A @ m, model.A @ P @ model.A.T + model.Q
        joint = pf.predict(h, joint=True)
        np.testing.assert_allclose(joint.mean, m, atol=0.03)
        np.testing.assert_allclose(joint.covariance, P, atol=0.08)
        np.testing.assert_allclose(pf.predict(h).mean, joint.mean[:2], atol=1e-9)


def test_joint_prediction_needs_a_belief_and_a_joint_transition():
    split = skh.rao_blackwellize(correlated_model(), [0])
    with pytest.raises(ValueError, match="joint prediction needs a first step"):
        skh.ParticleFilter(split, skh.Stratified(), 5).predict(joint=True)
    pf = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 5)
    pf.step(0.0)
    with pytest.raises(TypeError, match="joint_transition"):
        pf.predict(joint=True)


def test_herded_particles_beat_random_ones_in_both_halves():
    """LGSS d=3 with one or two coordinates in the particles; N=100, medians over 20 batches."""
    model = skh.models.lgss3()
    for x in ([0], [0, 1]):
        split = skh.rao_blackwellize(model, x)
        z = np.setdiff1d(np.arange(3), x)
        errors = {"PF": [], "FCFW": []}
        for batch in range(20):
            _, ys = model.simulate(30, rng=batch)
            exact = skh.kalman_filter(model, ys)
            for name, rule in (("PF", skh.Stratified()), ("FCFW", FCFW)):
                result = skh.particle_filter(split, ys, rule, 100, rng=batch)
                halves = (result.means, exact.means[:, x]), (result.z_means, exact.means[:, z])
                errors[name].append([rmse(*half) for half in halves])
        ratio = np.median(errors["FCFW"], axis=0) / np.median(errors["PF"], axis=0)
        assert (ratio <= 0.65).all()


def test_z_that_is_independent_of_x_follows_the_kalman_filter_exactly():
    rng = np.random.default_rng(0)
    Ax, Az = (
        0.8 * np.linalg.qr(rng.normal(size=(2, 2)))[0],
        0.9 * np.linalg.qr(rng.normal(size=(3, 3)))[0],
    )
    zero = np.zeros((2, 3))
    joint = skh.models.LinearGaussian(
        A=np.block([[Ax, zero], [zero.T, Az]]),
        C=np.block([[np.ones((1, 2)), np.zeros((1, 3))], [np.zeros((1, 2)), np.ones((1, 3))]]),
        Q=np.eye(5),
        R=0.1 * np.eye(2),
        initial_mean=np.arange(5.0),
        initial_covariance=np.eye(5),
    )
    _, ys = joint.simulate(200, rng=1)
    exact = skh.kalman_filter(joint, ys)
    result = skh.particle_filter(skh.rao_blackwellize(joint, [0, 1]), ys, FCFW, 20, rng=0)
    np.testing.assert_allclose(result.z_means, exact.means[:, 2:], atol=1e-10)
    np.testing.assert_allclose(result.z_covariances, exact.covariances[:, 2:, 2:], atol=1e-10)


def test_jump_markov_particles_and_modes_against_the_exact_filter():
    """T=10, N=100, medians over 30 batches; the modes are the hidden part z."""
    model = skh.models.jmls()
    errors = {"PF": [], "FCFW": []}
    modes = {"PF": [], "FCFW": []}
    for batch in range(30):
        _, ys = model.simulate(10, rng=batch)
        exact = skh.jump_markov_filter(model, ys)
        for name, rule in (("PF", skh.Stratified()), ("FCFW", FCFW)):
            result = skh.particle_filter(model, ys, rule, 100, rng=batch)
            errors[name].append(rmse(result.means, exact.means))
            modes[name].append(rmse(result.z_means, exact.mode_probabilities))
            np.testing.assert_allclose(result.z_means.sum(axis=1), 1, atol=1e-12)
    assert np.median(errors["FCFW"]) <= 0.65 * np.median(errors["PF"])
    assert np.median(modes["FCFW"]) <= np.median(modes["PF"]) < 0.05
    # the covariance of a one-hot indicator: p (1 - p), and minus that beside it
    p = result.z_means[:, 0]
    expected = (p * (1 - p))[:, None, None] * np.array([[1, -1], [-1, 1]])
    np.testing.assert_allclose(result.z_covariances, expected, atol=1e-12)


def nonlinear_in_z(extended):
    """x follows z; where ``extended``, the same affine functions as values and Jacobians."""
    A_x, A_z, C = (
        np.array([[1.0, 0.5]]),
        np.array([[0.9, 0.1], [-0.1, 0.8]]),
        np.array([[0.3, -1.0]]),
    )

    def affine(offset, matrix, noise):
        if extended:
            return lambda t, x, z: (offset(x) + z @ matrix.T, matrix, noise)
        return lambda t, x: (offset(x), matrix, noise)

    return skh.RaoBlackwellized(
        ([0.0], 1.0),
        ([0.0, 0.0], I2),
        affine(lambda x: np.sin(x), A_x, 0.2 * np.eye(1)),
        affine(lambda x: np.hstack([x, -x]) / 3, A_z, 0.1 * I2),
        affine(lambda x: x**2 / 10, C, 0.3 * np.eye(1)),
        extended=extended,
    )


def test_extended_variant_of_affine_functions_is_the_linear_one():
    ys = np.random.default_rng(0).normal(size=(12, 1))
    linear, extended = (
        skh.particle_filter(nonlinear_in_z(e), ys, skh.Stratified(), 40, rng=0)
        for e in (False, True)
    )
    np.testing.assert_allclose(extended.means, linear.means, atol=1e-11)
    np.testing.assert_allclose(extended.joint_covariances, linear.joint_covariances, atol=1e-11)
    assert extended.log_evidence == pytest.approx(linear.log_evidence, abs=1e-10)


def test_extended_functions_may_return_one_value_for_all_particles():
    def model(shared):
        def affine(value, matrix, noise):
            return lambda t, x, z: (value if shared else np.tile(value, (len(x), 1)), matrix, noise)

        return skh.RaoBlackwellized(
            *(([0.0], 1.0), ([0.0, 0.0], I2)),
            affine(np.ones(1), np.ones((1, 2)), np.eye(1)),
            affine(np.zeros(2), 0.5 * I2, I2),
            affine(np.ones(1), np.ones((1, 2)), np.eye(1)),
            extended=True,
        )

    one, each = (
        skh.particle_filter(model(shared), [0.1, 0.2, 0.3], skh.Stratified(), 10, rng=0)
        for shared in (True, False)
    )
    np.testing.assert_array_equal(one.z_means, each.z_means)
    assert one.log_evidence == each.log_evidence


@pytest.mark.parametrize(("rank", "x"), [(0, [0]), (1, [0]), (2, [0]), (2, [0, 1, 2])])
def test_a_singular_initial_covariance_may_be_split(rank, x):
    """Also where one factorisation finds a matrix singular and another, by rounding, does not."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        V = rng.normal(size=(4, rank)) / 2
        model = skh.models.LinearGaussian(
            *(0.9 * np.eye(4), np.ones((1, 4)), np.eye(4), np.eye(1), np.zeros(4), V @ V.T)
        )
        _, ys = model.simulate(2, rng=rng)
        split = skh.rao_blackwellize(model, x)
        found = skh.particle_filter(split, ys, skh.QuasiMonteCarlo(), 20_000, rng=0)
        exact = skh.kalman_filter(model, ys)
        np.testing.assert_allclose(joint_means(found, x, 4), exact.means, atol=0.08)


@pytest.mark.parametrize("unit", [1e-12, 1e-7, 1e7, 1e12])
@pytest.mark.parametrize("x", [[0, 1, 2], [2, 0], [1, 2]])
def test_a_constant_coordinate_in_any_units(x, unit):
    """x_0 is constant, x_1 walks, x_2 follows z: the units of x_2 and z do not matter."""

    def filtered(unit):
        D = np.array([1.0, 1.0, unit, unit])
        A = np.eye(4)
        A[2, 3] = 1.0
        model = skh.models.LinearGaussian(
            A=D[:, None] * A / D,
            C=np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]) / D,
            Q=np.diag(D**2 * [0.0, 1.0, 0.01, 0.0]),
            R=0.01 * np.eye(2),
            initial_mean=D * [3.0, 0.0, 0.0, 0.0],
            initial_covariance=np.diag(D**2 * [0.0, 1.0, 1.0, 1.0]),
        )
        ys = np.column_stack([0.8 * np.arange(8), np.zeros(8)])
        split = skh.rao_blackwellize(model, x)
        result = skh.particle_filter(split, ys, skh.Stratified(), 400, rng=0)
        z = np.setdiff1d(np.arange(4), x)
        return result.z_means / D[z], result.z_covariances / D[z][:, None] / D[z]

    (mean, covariance), (scaled, scaled_covariance) = filtered(1.0), filtered(unit)
    assert mean[-1, -1] == pytest.approx(0.8, abs=0.1)
    np.testing.assert_allclose(scaled, mean, atol=1e-6)
    np.testing.assert_allclose(scaled_covariance, covariance, atol=1e-6)


def test_extended_variant_follows_a_large_plain_filter_on_a_mildly_nonlinear_model():
    """z rotates the observation; its spread is small, so linearisation is nearly exact."""

    def observation(t, x, z):
        s, c = np.sin(z), np.cos(z)
        predicted = x[:, :1] * np.hstack([c, s])
        jacobian = (x[:, :1] * np.hstack([-s, c]))[:, :, None]
        return predicted, jacobian, 0.01 * I2

    model = skh.RaoBlackwellized(
        ([2.0], 0.1),
        ([0.3], 0.02 * np.eye(1)),
        lambda t, x, z: (x, np.zeros((1, 1)), 0.02 * np.eye(1)),
        lambda t, x, z: (z + 0.1 * np.sin(z), 1 + 0.1 * np.cos(z)[:, :, None], 0.001 * np.eye(1)),
        observation,
        extended=True,
    )
    plain = skh.model_from_functions(
        ([2.0, 0.3], np.diag([0.1, 0.02])),
        lambda t, x: (x + [0, 0.1] * np.sin(x), np.diag([0.02, 0.001])),
        lambda t, x, y: (
            -50 * ((x[:, :1] * np.stack([np.cos(x[:, 1]), np.sin(x[:, 1])], 1) - y) ** 2).sum(1)
        ),
    )
    angle = 0.35 + 0.12 * np.arange(8)
    ys = 2.1 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    reference = skh.particle_filter(plain, ys, skh.QuasiMonteCarlo(), 50_000, rng=0)
    result = skh.particle_filter(model, ys, skh.QuasiMonteCarlo(), 5_000, rng=0)
    np.testing.assert_allclose(result.means[:, 0], reference.means[:, 0], atol=0.01)
    np.testing.assert_allclose(result.z_means[:, 0], reference.means[:, 1], atol=0.01)
    np.testing.assert_allclose(result.joint_covariances, reference.covariances, atol=0.002)


def test_entries_of_y_that_are_nan_are_not_measured():
    model = correlated_model()
    _, ys = model.simulate(8, rng=0)
    ys[:, 1] = np.nan
    first = skh.models.LinearGaussian(
        model.A, model.C[:1], model.Q, model.R[:1, :1], model.initial_mean, model.initial_covariance
    )
    exact = skh.kalman_filter(first, ys[:, :1])
    result = skh.particle_filter(
        skh.rao_blackwellize(model, [0]), ys, skh.QuasiMonteCarlo(), 5_000, rng=0
    )
    assert rmse(joint_means(result, [0], 4), exact.means) < 0.03
    assert result.log_evidence == pytest.approx(exact.log_evidence, abs=0.1)


def test_noise_free_dynamics_are_allowed():
    """A position that integrates its velocity without noise: the path reveals the velocity."""
    model = skh.RaoBlackwellized(
        ([0.0], 0.0),
        ([1.0], 0.5 * np.eye(1)),
        lambda t, x: (x, np.eye(1), np.zeros((1, 1))),
        lambda t, x: (np.zeros(1), np.eye(1), np.zeros((1, 1))),
        lambda t, x: (x, np.zeros((1, 1)), np.eye(1)),
    )
    result = skh.particle_filter(
        model, [[0.0], [1.2], [2.0], [3.3]], skh.Stratified(), 30, rng=0, history=True
    )
    for before, after in zip(result.history, result.history[1:], strict=False):
        velocity = after.x - before.x[after.ancestor]
        np.testing.assert_allclose(after.z[0], velocity, atol=1e-9)
        np.testing.assert_allclose(after.z[1], 0, atol=1e-9)


def test_hundred_thousand_steps_stay_finite_symmetric_and_positive():
    split = skh.rao_blackwellize(correlated_model(), [1])
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 1))
    carry = split.initial_carry(x)
    for t in range(100_000):
        mean, _ = split.transition(t, x, carry)
        x_next = mean + rng.normal(size=(2, 1))
        carry = split.move(t, x, carry, x_next)
        log_l, carry = split.log_likelihood(t, x_next, rng.normal(size=2), carry)
        x = np.clip(x_next, -10, 10)
    assert np.isfinite(log_l).all()
    assert np.isfinite(carry.mean).all()
    np.testing.assert_array_equal(carry.covariance, carry.covariance.swapaxes(1, 2))
    assert np.linalg.eigvalsh(carry.covariance).min() > 0


def build(**changes):
    parts = {
        "prior": ([0.0], 1.0),
        "z_prior": ([0.0, 0.0], I2),
        "x_dynamics": lambda t, x: (x, np.ones((1, 2)), np.eye(1)),
        "z_dynamics": lambda t, x: (np.zeros(2), I2, I2),
        "observation": lambda t, x: (x, np.ones((1, 2)), np.eye(1)),
    }
    return skh.RaoBlackwellized(**{**parts, **changes})


BAD = {
    "matrix of wrong shape": (
        {"x_dynamics": lambda t, x: (x, np.ones((2, 1)), np.eye(1))},
        r"the matrix of x_dynamics at t=0 must have shape \(6, 1, 2\) or \(1, 2\), got \(2, 1\)",
    ),
    "offset of wrong shape": (
        {"z_dynamics": lambda t, x: (np.zeros(3), I2, I2)},
        r"the offset of z_dynamics at t=0 must have shape \(6, 2\) or \(2,\), got \(3,\)",
    ),
    "noise of wrong shape": (
        {"observation": lambda t, x: (x, np.ones((1, 2)), I2)},
        r"the noise of observation at t=0 must have shape \(6, 1, 1\) or \(1, 1\), got \(2, 2\)",
    ),
    "noise not PSD": (
        {"z_dynamics": lambda t, x: (np.zeros(2), I2, np.diag([1.0, -1.0]))},
        r"the noise of z_dynamics at t=0 must be positive semi-definite, got an eigenvalue -1",
    ),
    "noise asymmetric": (
        {"z_dynamics": lambda t, x: (np.zeros(2), I2, np.array([[1.0, 0.5], [0.0, 1.0]]))},
        r"the noise of z_dynamics at t=0 must be symmetric",
    ),
    "NaN": (
        {"x_dynamics": lambda t, x: (x * np.nan, np.ones((1, 2)), np.eye(1))},
        r"the offset of x_dynamics at t=0 must be finite",
    ),
    "NaN at a later step": (
        {"observation": lambda t, x: (x * (np.nan if t == 2 else 1), np.ones((1, 2)), np.eye(1))},
        r"the offset of observation at t=2 must be finite",
    ),
    "no triple": (
        {"x_dynamics": lambda t, x: x},
        r"x_dynamics at t=0 must return \(offset, matrix, noise\)",
    ),
    "cross noise of wrong shape": (
        {"cross_noise": lambda t, x: np.zeros((2, 1))},
        r"the value of cross_noise at t=0 must have shape \(6, 1, 2\) or \(1, 2\)",
    ),
    "cross noise too large": (
        {"cross_noise": lambda t, x: np.full((1, 2), 3.0)},
        r"the joint noise of x_dynamics and z_dynamics at t=0 must be positive semi-definite",
    ),
    "z prior not PSD": (
        {"z_prior": ([0.0, 0.0], -I2)},
        r"the covariance of z_prior must be positive",
    ),
    "z prior of wrong shape": (
        {"z_prior": ([0.0, 0.0], np.eye(3))},
        r"covariance of z_prior at t=0 must",
    ),
    "z prior scalar": (
        {"z_prior": (0.0, 1.0)},
        r"the mean of z_prior must have shape \(n, n_z\) or \(n_z,\), got 0.0",
    ),
    "z prior empty": (
        {"z_prior": ([], np.zeros((0, 0)))},
        r"the mean of z_prior must have shape \(n, n_z\) or \(n_z,\), got \[\]",
    ),
    "residual of wrong shape": (
        {"residual": lambda y, h: (y - h)[:, 0]},
        r"residual at t=0 must return finite numbers of shape \(6, 1\), got .* of shape \(6,\)",
    ),
    "residual of NaN": (
        {"residual": lambda y, h: h * np.nan},
        r"residual at t=0 must return finite numbers of shape \(6, 1\), got",
    ),
    "residual that returns nothing": (
        {"residual": lambda y, h: None},
        r"residual at t=0 must return real numbers, got None",
    ),
    "observation without noise": (
        {"observation": lambda t, x: (x, np.zeros((1, 2)), np.zeros((1, 1)))},
        r"the covariance of observation at t=0, C P C' \+ R, must be positive definite",
    ),
}


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD)
def test_bad_functions_are_named_with_their_step_and_shape(changes, message):
    with pytest.raises(ValueError, match=message):
        skh.particle_filter(build(**changes), np.zeros((4, 1)), skh.Stratified(), 6, rng=0)


def test_non_callable_arguments_are_rejected():
    with pytest.raises(TypeError, match="observation must be a function, got 3"):
        build(observation=3)
    with pytest.raises(TypeError, match="cross_noise must be a function, got array"):
        build(cross_noise=np.zeros((1, 2)))
    with pytest.raises(TypeError, match=r"z_prior must be \(mean, covariance\) or .* got None"):
        build(z_prior=None)
    with pytest.raises(TypeError, match="extended must be True or False, got 'no'"):
        build(extended="no")
    with pytest.raises(TypeError, match="model must be a LinearGaussian, got NonlinearBenchmark"):
        skh.rao_blackwellize(skh.models.nonlinear_benchmark(), [0])


def test_an_infinite_observation_is_rejected():
    with pytest.raises(ValueError, match="y must be finite, or NaN where not measured, got inf"):
        skh.particle_filter(build(), [np.inf], skh.Stratified(), 6, rng=0)


def test_a_split_by_integers_of_any_kind():
    splits = [skh.rao_blackwellize(skh.models.lgss3(), np.array([0], k)) for k in ("u1", "i8")]
    first, second = (skh.particle_filter(m, [0.1], skh.Stratified(), 5, rng=0) for m in splits)
    np.testing.assert_array_equal(first.means, second.means)


def test_a_split_model_can_be_pickled():
    model = skh.rao_blackwellize(skh.models.lgss3(), [2])
    models = model, pickle.loads(pickle.dumps(model))
    first, second = (skh.particle_filter(m, [0.1, 0.2], n=5, rng=0) for m in models)
    np.testing.assert_array_equal(first.means, second.means)
    np.testing.assert_array_equal(first.joint_covariances, second.joint_covariances)


@pytest.mark.parametrize("x", [[], [0, 1, 2], [3], [0, 0], 0, [0.5]])
def test_a_split_must_leave_coordinates_on_both_sides(x):
    with pytest.raises(ValueError, match=r"x must be some but not all of the coordinates 0..2"):
        skh.rao_blackwellize(skh.models.lgss3(), x)


def test_moments_of_z_need_a_model_with_hidden_moments():
    belief = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 5, rng=0).step(0.0)
    with pytest.raises(ValueError, match="hidden_moments"):
        belief.z_mean  # noqa: B018 # the access is the test
    result = skh.particle_filter(skh.models.lgss3(), [0.0], skh.Stratified(), 5)
    assert result.z_means is None
    assert result.z_covariances is None


@pytest.mark.parametrize("x", [[0], [3, 1], [0, 1, 2]])
def test_records_along_a_path_are_those_of_the_joint_gaussian(x):
    """Exact: log p(x_{0:4}, y_{0:4}) and z_4 given all that, from one Gaussian of 30 numbers."""
    model, T, d = correlated_model(), 5, 4
    states, ys = model.simulate(T, rng=1)
    z, path = np.setdiff1d(np.arange(d), x), states[:, x]
    F = np.block(
        [
            [np.linalg.matrix_power(model.A, max(t - s, 0)) * (s <= t) for s in range(T)]
            for t in range(T)
        ]
    )
    noise = np.kron(np.eye(T), model.Q)
    noise[:d, :d] = model.initial_covariance
    mean, P = F[:, :d] @ model.initial_mean, F @ noise @ F.T
    H = np.vstack([np.kron(np.eye(T), np.eye(d)[x]), np.kron(np.eye(T), model.C)])
    R = np.zeros((len(H), len(H)))
    R[path.size :, path.size :] = np.kron(np.eye(T), model.R)
    S, known = H @ P @ H.T + R, np.append(path, ys)
    gain = P @ H.T @ np.linalg.inv(S)
    split = skh.rao_blackwellize(model, x)
    carry, total = split.initial_carry(path[:1]), np.log(oracles.density(split.prior(), path[:1]))
    for t, y in enumerate(ys):
        now, before = path[t : t + 1], path[t - 1 : t]
        if t:
            means, covariances = split.transition(t - 1, before, carry)
            total += multivariate_normal(means[0], covariances[0]).logpdf(now)
            carry = split.move(t - 1, before, carry, now)
        log_l, carry = split.log_likelihood(t, now, y, carry)
        total += log_l
    exact = multivariate_normal(H @ mean, S).logpdf(known)
    np.testing.assert_allclose(total, exact, atol=1e-10)
    last = (mean + gain @ (known - H @ mean))[-d:]
    np.testing.assert_allclose(carry.mean[0], last[z], atol=1e-11)
    covariance = (P - gain @ H @ P)[-d:, -d:][np.ix_(z, z)]
    np.testing.assert_allclose(carry.covariance[0], covariance, atol=1e-11)


def test_wrapped_residuals_are_continuous_across_pi():
    def heading(**options):
        return skh.RaoBlackwellized(
            *(([2.9], 0.01), ([0.1], 0.01 * np.eye(1))),
            lambda t, x: (x, np.eye(1), 0.01 * np.eye(1)),
            lambda t, x: (np.zeros(1), np.eye(1), 0.001 * np.eye(1)),
            lambda t, x: (x, 0.1 * np.eye(1), 0.02 * np.eye(1)),
            **options,
        )

    ys = 2.9 + 0.12 * np.arange(8)[:, None]
    turning = heading(residual=lambda y, predicted: wrap(y - predicted))
    plain, turned = (
        skh.particle_filter(m, y, skh.Stratified(), 30, rng=0)
        for m, y in ((heading(), ys), (turning, wrap(ys)))
    )
    np.testing.assert_allclose(turned.means, plain.means, atol=1e-10)
    np.testing.assert_allclose(turned.joint_covariances, plain.joint_covariances, atol=1e-10)
    assert turned.log_evidence == pytest.approx(plain.log_evidence, abs=1e-10)


def test_an_empty_observation_equals_a_missing_one():
    """As when no landmark is in view."""
    unit = np.eye(2)
    model = skh.RaoBlackwellized(
        prior=([0.0, 0.0], unit),
        z_prior=([1.0, 0.0], unit),
        x_dynamics=lambda t, p: (p, unit, unit),
        z_dynamics=lambda t, p: (np.zeros(2), unit, unit),
        observation=lambda t, p: (p, unit, unit),
    )
    rule = skh.Stratified()
    by_y = [skh.particle_filter(model, [[0.1, 0.2], y], rule, 10, rng=0) for y in ([], None)]
    for name in ("means", "z_means", "log_evidence_increments"):
        np.testing.assert_allclose(*(getattr(result, name) for result in by_y), atol=1e-15)
