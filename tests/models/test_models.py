"""The paper's models: poles, observability, and distributions of simulated data."""

import numpy as np
import pytest

import oracles
import skh
from skh.models.jump_markov import POLES
from skh.models.linear_gaussian import POLES_3, POLES_15
from skh.models.poles import is_observable

MODELS = {
    "lgss3": skh.models.lgss3(),
    "lgss15": skh.models.lgss15(),
    "jmls": skh.models.jmls(),
    "nonlinear": skh.models.nonlinear_benchmark(),
}


def with_conjugates(poles):
    poles = np.array(poles, dtype=complex)
    return np.sort_complex(np.concatenate([poles, poles[poles.imag != 0].conj()]))


@pytest.mark.parametrize(
    ("A", "poles"),
    [
        (MODELS["lgss3"].A, POLES_3),
        (MODELS["lgss15"].A, POLES_15),
        (MODELS["jmls"].A[0], POLES[0]),
        (MODELS["jmls"].A[1], POLES[1]),
    ],
)
def test_poles_are_the_papers(A, poles):
    assert len(A) == len(with_conjugates(poles))
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(A)), with_conjugates(poles), atol=1e-10
    )


@pytest.mark.parametrize("name", ["lgss3", "lgss15", "jmls"])
def test_modes_are_observable(name):
    model = MODELS[name]
    for A, C in zip(np.atleast_3d(model.A.T).T, np.atleast_3d(model.C.T).T, strict=True):
        assert is_observable(A, C)


def test_a_system_with_a_hidden_state_is_not_observable():
    assert not is_observable(np.diag([0.1, 0.2]), np.array([[1.0, 0.0]]))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_simulation_has_its_shape_and_its_seed(model):
    states, ys = model.simulate(7, rng=3)
    assert states.shape == (7, model.prior().d)
    assert ys.shape == (7, 1)
    again, _ = model.simulate(7, rng=3)
    np.testing.assert_array_equal(states, again)
    with pytest.raises(ValueError, match="T must be a positive integer, got 0"):
        model.simulate(0, rng=3)


def test_simulated_noise_is_standard_normal_in_the_nonlinear_benchmark():
    """Residuals of a long simulation against the paper's formula, written out with t from 1."""
    x, y = MODELS["nonlinear"].simulate(20_000, rng=0)
    x, y = x[:, 0], y[:, 0]
    t = np.arange(1, len(x))
    v = x[1:] - (0.5 * x[:-1] + 25 * x[:-1] / (1 + x[:-1] ** 2) + 8 * np.cos(1.2 * t))
    e = y - 0.05 * x**2
    for noise in (v, e):
        assert noise.mean() == pytest.approx(0, abs=0.03)
        assert noise.std() == pytest.approx(1, abs=0.02)
    assert np.corrcoef(v, e[1:])[0, 1] == pytest.approx(0, abs=0.03)


def test_simulated_noise_is_the_models_in_lgss():
    model = MODELS["lgss3"]
    x, y = model.simulate(20_000, rng=0)
    np.testing.assert_allclose(np.cov((x[1:] - x[:-1] @ model.A.T).T), model.Q, atol=0.04)
    assert np.var(y - x @ model.C.T) == pytest.approx(0.1, abs=0.004)


def test_initial_states_have_the_documented_variance():
    assert MODELS["nonlinear"].prior().covariance == 5.0
    first = [MODELS["nonlinear"].simulate(1, rng=seed)[0][0, 0] for seed in range(2000)]
    assert np.var(first) == pytest.approx(5, rel=0.1)


def test_log_likelihood_is_the_density_of_the_simulated_observation():
    x = np.array([[1.0], [-3.0]])
    expected = -0.5 * (2.0 - 0.05 * x[:, 0] ** 2) ** 2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(MODELS["nonlinear"].log_likelihood(0, x, 2.0), expected, rtol=1e-14)


def test_models_copy_their_arrays():
    C = np.ones((1, 1))
    one = np.eye(1)
    model = skh.models.LinearGaussian(one, C, one, one, np.zeros(1), one)
    C[:] = np.nan
    assert np.isfinite(model.log_likelihood(0, np.zeros((2, 1)), 0.0)).all()


def test_an_exact_measurement_can_be_simulated():
    one = np.eye(1)
    states, ys = skh.models.LinearGaussian(one, one, one, 0 * one, np.zeros(1), one).simulate(
        5, rng=0
    )
    np.testing.assert_array_equal(ys, states)


def test_probabilities_of_modes_are_scaled_to_one():
    model = skh.models.jmls()
    fields = {name: getattr(model, name) for name in model.__dataclass_fields__}
    switching = np.full((2, 2), 0.499999)
    nearly = type(model)(**{**fields, "switching": switching})
    np.testing.assert_allclose(nearly.switching.sum(axis=1), 1.0, rtol=1e-15)
    assert len(nearly.simulate(5, rng=0)[1]) == 5


def test_simulated_jump_markov_noise_is_that_of_its_modes():
    """Alternating modes are known: x moves with the old mode and is observed in it."""
    uneven = oracles.uneven_jump_markov()
    fields = {name: getattr(uneven, name) for name in uneven.__dataclass_fields__}
    turns = {"switching": np.array([[0.0, 1.0], [1.0, 0.0]]), "initial_modes": np.array([0.0, 1.0])}
    model, r = skh.models.JumpMarkov(**{**fields, **turns}), (1 + np.arange(2_000)) % 2
    x, y = model.simulate(2_000, rng=0)
    e = y - np.einsum("tij,tj->ti", model.C[r], x)
    v = x[1:] - np.einsum("tij,tj->ti", model.A[r[:-1]], x[:-1])
    for noise, mode, law in ((e, r, model.R), (v, r[:-1], model.Q)):
        for k in range(2):
            z = np.linalg.solve(np.linalg.cholesky(law[k]), noise[mode == k].T)
            np.testing.assert_allclose(z.mean(axis=1), 0, atol=0.15)
            np.testing.assert_allclose(np.cov(z), np.eye(2), atol=0.2)
