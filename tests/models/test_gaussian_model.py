"""Models made of two functions, against closed forms."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import skh
from pages import on_page

LGSS = skh.models.lgss3()
# Stand-ins of JAX and of the parameters of dynamax for the code on the page.
JAX = SimpleNamespace(jit=lambda f: f, vmap=lambda f: lambda x: np.array([f(row) for row in x]))
PARAMETERS = SimpleNamespace(
    initial_mean=[0.0, 0.0],
    initial_covariance=np.eye(2),
    dynamics_function=np.sin,
    dynamics_covariance=0.1 * np.eye(2),
    emission_function=lambda x: x[:1] ** 2,
    emission_covariance=np.eye(1),
)


def lgss_by_functions(**changes):
    parts = {
        "prior": (LGSS.initial_mean, LGSS.initial_covariance),
        "f": lambda t, x: x @ LGSS.A.T,
        "Q": LGSS.Q,
        "h": lambda t, x: x @ LGSS.C.T,
        "R": LGSS.R,
    }
    return skh.gaussian_model(**(parts | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batched": False, "f": lambda t, x: LGSS.A @ x, "h": lambda t, x: LGSS.C @ x},
        {"Q": lambda t, x: LGSS.Q, "R": lambda t, x: np.tile(LGSS.R, (len(x), 1, 1))},
        {"Q": 1.0, "R": 0.1, "h": lambda t, x: x @ LGSS.C[0]},
        {"jacobian": lambda t, x: LGSS.C, "residual": lambda y, e: y - e},
    ],
)
def test_gaussian_model_is_the_linear_model(changes):
    model, x = lgss_by_functions(**changes), np.random.default_rng(0).standard_normal((5, 3))
    means, Q = LGSS.transition(0, x)
    assert model.transition(0, x)[0] == pytest.approx(means)
    assert np.broadcast_to(model.transition(0, x)[1], (5, 3, 3)) == pytest.approx(
        np.broadcast_to(Q, (5, 3, 3))
    )
    assert model.log_likelihood(2, x, [0.3]) == pytest.approx(LGSS.log_likelihood(2, x, [0.3]))
    for t in (0, 4):
        F = model.observation_metric(t, x)
        expected = np.tile(LGSS.C.T @ LGSS.C / 0.1, (5, 1, 1))
        np.testing.assert_allclose(F, expected, rtol=1e-6, atol=1e-6)


def test_missing_entries_of_an_observation_are_left_out():
    R = np.array([[1.0, 0.5], [0.5, 2.0]])
    model = skh.gaussian_model(([0.0, 0.0], 1.0), lambda t, x: x, 1.0, lambda t, x: x, R)
    x = np.array([[0.3, -0.2]])
    expected = stats.norm.logpdf(0.7, -0.2, np.sqrt(2.0))
    assert model.log_likelihood(0, x, [np.nan, 0.7]) == pytest.approx(expected)


def test_gaussian_model_simulates_its_own_law():
    model = skh.gaussian_model(([5.0], 4.0), lambda t, x: 0.5 * x, 1.0, lambda t, x: 2.0 * x, 0.01)
    x, y = model.simulate(2_000, rng=0)
    assert np.std(x[1:, 0] - 0.5 * x[:-1, 0]) == pytest.approx(1.0, abs=0.06)
    assert np.std(y - 2.0 * x) == pytest.approx(0.1, abs=0.006)


@given(st.lists(st.integers(-12, 12), min_size=3, max_size=3), st.integers(0, 50))
def test_information_by_differences_fits_all_units(decades, seed):
    """Ranges to two beacons, and a third coordinate without any variance."""
    rng, unit = np.random.default_rng(seed), 10.0 ** np.array(decades)
    beacons = np.array([[10.0, 0.0], [0.0, -20.0]])

    def h(t, x):
        at = (x / unit)[:, None, :2] - beacons
        return np.hypot(at[..., 0], at[..., 1])

    def information(x):
        at = x[:, None, :2] - beacons
        J = at / np.hypot(at[..., 0], at[..., 1])[..., None] / unit[:2]
        F = np.zeros((len(x), 3, 3))
        F[:, :2, :2] = np.einsum("nmi,nmj->nij", J, J) / 0.04
        return F

    S = np.diag([1.0, 1.0, 0.0]) * unit**2
    model = skh.gaussian_model((np.zeros(3), S), lambda t, x: x, S, h, 0.04)
    x = np.column_stack([rng.standard_normal((4, 2)), np.ones(4)])
    for t in (0, 1):
        F = model.observation_metric(t, x * unit) * unit[:, None] * unit
        np.testing.assert_allclose(F, information(x) * unit[:, None] * unit, rtol=1e-4, atol=1e-4)


def test_information_is_zero_where_the_function_is_not_finite():
    def h(t, x):
        with np.errstate(invalid="ignore"):
            return np.sqrt(x)

    model = skh.gaussian_model(([1.0], 1.0), lambda t, x: x, 1.0, h, 1.0)
    F = model.observation_metric(0, np.array([[0.0], [4.0]]))
    assert F.ravel() == pytest.approx([0.0, 1.0 / 16.0], rel=1e-4)


def test_the_example_on_the_page_runs(capsys):
    """Ranges of 5 cm from three beacons: the last position is within 15 cm."""
    scope = on_page("docs/models_from_elsewhere.md", jax=JAX, params=PARAMETERS)
    assert scope["model"].log_likelihood(0, np.ones((3, 2)), np.zeros(1)).shape == (3,)
    gap = scope["result"].means[-1, :2] - scope["states"][-1, :2]
    assert np.abs(gap).max() < 0.15
    assert "[" in capsys.readouterr().out
