r"""Linear Gaussian state-space models: :math:`x_{t+1} = A x_t + v_t`, :math:`y_t = C x_t + e_t`.

The paper's two models have Q = I, R = 0.1, the poles of its appendix C.2 and a scalar observation.
It gives neither A and C beyond that (they came from Matlab's ``drss``) nor the law of x_0: here
they are `system_with_poles` with a fixed seed and N(0, I).  Its formula :math:`y_{t+1} = C x_t +
e_t` is read as :math:`y_t = C x_t + e_t`, as everywhere else in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy  # loads scipy.special on first use

from skh._checks import copied, generator, shaped
from skh._typing import RNG, Array
from skh.filtering.observations import measured_entries
from skh.filtering.rao_blackwell import RaoBlackwellized
from skh.gaussians.linear_algebra import (
    check_covariance,
    factorize,
    log_density,
    right_divide,
    symmetric,
)
from skh.gaussians.mixture import GaussianMixture
from skh.models.poles import system_with_poles
from skh.models.simulation import simulate

POLES_3 = (-0.2825, -0.3669 + 0.0379j)
POLES_15 = (
    *(0.2456 + 0.6594j, 0.4833, 0.3329, 0.0882 + 0.2512j, -0.1485, -0.8045, -0.4848),
    *(-0.5252 + 0.0368j, -0.6692 + 0.0612j, -0.6604, -0.6680),
)


@dataclass(frozen=True, eq=False)
class LinearGaussian:
    """x_{t+1} = A x_t + v_t, y_t = C x_t + e_t, and x_0 ~ N(initial_mean, initial_covariance)."""

    A: Array  # (d, d)
    C: Array  # (m, d)
    Q: Array  # (d, d): covariance of v
    R: Array  # (m, m): covariance of e
    initial_mean: Array  # (d,)
    initial_covariance: Array  # (d, d)

    def __post_init__(self) -> None:
        d = len(shaped("A", self.A, "d", "d"))
        m = len(shaped("C", self.C, "m", d))
        shapes: dict[str, tuple[int, ...]] = {"A": (d, d), "C": (m, d), "Q": (d, d), "R": (m, m)}
        shapes |= {"initial_mean": (d,), "initial_covariance": (d, d)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, copied(name, getattr(self, name), *shape))
        for name in ("Q", "R", "initial_covariance"):
            check_covariance(name, getattr(self, name))

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return GaussianMixture([1.0], self.initial_mean[None], self.initial_covariance)

    def transition(self, t: int, x: Array) -> tuple[Array, Array]:
        """One Gaussian of covariance Q per particle."""
        return x @ self.A.T, self.Q

    def log_likelihood(self, t: int, x: Array, y: Array | float) -> Array:
        """``log N(y | C x, R)``."""
        y, seen = measured_entries(y, len(self.C))
        return log_density(y[seen] - x @ self.C[seen].T, self.R[np.ix_(seen, seen)], "R")

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        return self.C @ x + factorize(self.R)[1] @ rng.standard_normal(len(self.R))

    def observation_cdf(self, t: int, x: Array, y: Array | float) -> Array:
        """Probability that an entry of y_t is at most that of ``y``, (n, m); for `skh.pit`."""
        y, _ = measured_entries(y, len(self.C))
        residuals, sd = y - x @ self.C.T, np.sqrt(np.diagonal(self.R))
        with np.errstate(divide="ignore", invalid="ignore"):
            exact = np.where(residuals >= 0, np.inf, -np.inf)  # an entry without noise
            return np.asarray(scipy.special.ndtr(np.where(sd > 0, residuals / sd, exact)))

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, d) and observations (T, m)."""
        return simulate(self, T, rng)


def _with_poles(poles: tuple[complex, ...], seed: int) -> LinearGaussian:
    A, C = system_with_poles(poles, generator(seed, "seed"))
    d = len(A)
    return LinearGaussian(A, C, np.eye(d), np.array([[0.1]]), np.zeros(d), np.eye(d))


def lgss3(seed: int = 0) -> LinearGaussian:
    """Return the paper's LGSS with d = 3; ``seed`` draws the rotation of A and the row C."""
    return _with_poles(POLES_3, seed)


def lgss15(seed: int = 0) -> LinearGaussian:
    """Return the paper's LGSS with d = 15; ``seed`` draws the rotation of A and the row C."""
    return _with_poles(POLES_15, seed)


def rao_blackwellize(model: LinearGaussian, x: Sequence[int]) -> RaoBlackwellized:
    """Put the coordinates ``x`` of a linear Gaussian model in the particles, the others in z.

    >>> import skh
    >>> model = skh.rao_blackwellize(skh.models.lgss3(), x=[0])
    >>> skh.particle_filter(model, [0.1, 0.2], skh.Stratified(), 20, rng=0).z_means.shape
    (2, 2)
    """
    if not isinstance(model, LinearGaussian):
        raise TypeError(f"model must be a LinearGaussian, got {model!r}")
    d = len(model.A)
    i = np.asarray(x)
    known = i.ndim == 1 and i.dtype.kind in "iu" and set(i.tolist()) <= set(range(d))
    if not known or not 0 < len(np.unique(i)) == len(i) < d:
        raise ValueError(f"x must be some but not all of the coordinates 0..{d - 1}, got {x!r}")
    j = np.setdiff1d(np.arange(d), i)
    m, P = model.initial_mean, model.initial_covariance
    (A_xx, A_xz, A_zx, A_zz), (Q_x, Q_xz, _, Q_z), (P_x, _, P_zx, P_z) = (
        [M[np.ix_(a, b)] for a in (i, j) for b in (i, j)] for M in (model.A, model.Q, P)
    )
    C_x, C_z = model.C[:, i], model.C[:, j]
    G = right_divide(P_zx, P_x)  # regression of z_0 on x_0
    z_covariance, _ = factorize(symmetric(P_z - G @ P_zx.T))
    return RaoBlackwellized(
        prior=(m[i], P_x),
        z_prior=partial(_regression, m[i], m[j], G, z_covariance),
        x_dynamics=partial(_affine, A_xx, A_xz, Q_x),
        z_dynamics=partial(_affine, A_zx, A_zz, Q_z),
        observation=partial(_affine, C_x, C_z, model.R),
        cross_noise=partial(_constant, Q_xz),
    )


# Functions of this module and not closures, so that the model can be pickled.
def _regression(m_x: Array, m_z: Array, G: Array, S: Array, x: Array) -> tuple[Array, Array]:
    """Mean and covariance S of z_0 given each row of x_0."""
    return m_z + (x - m_x) @ G.T, S


def _affine(of_x: Array, of_z: Array, noise: Array, t: int, x: Array) -> tuple[Array, Array, Array]:
    """Offset, matrix and noise of a function that is linear in x and z."""
    return x @ of_x.T, of_z, noise


def _constant(value: Array, t: int, x: Array) -> Array:
    return value
