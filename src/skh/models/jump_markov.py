r"""Jump-Markov linear systems: linear Gaussian dynamics that switch with a hidden Markov chain.

.. math::

    P(r_{t+1} = l | r_t = k) = \Pi_{kl}, \qquad
    x_{t+1} = A_{r_t} x_t + F_{r_t} v_t, \qquad y_t = C_{r_t} x_t + G_{r_t} e_t.

Only x is sampled.  The mode is marginalised: each particle carries the probabilities of its mode
given its history, and contributes one Gaussian per mode to the predictive mixture.  With
:math:`\beta_t(k) = p(r_t = k | x_{0:t}, y_{0:t-1})` and :math:`\alpha_t(k) = p(r_t = k | x_{0:t},
y_{0:t})` the recursion is exact:

.. math::

    p(y_t | x_{0:t}, y_{0:t-1}) &= \textstyle\sum_k \beta_t(k)\, \mathcal N(y_t | C_k x_t, R_k) \\
    \alpha_t(k) &\propto \beta_t(k)\, \mathcal N(y_t | C_k x_t, R_k) \\
    p(x_{t+1} | x_{0:t}, y_{0:t})
        &= \textstyle\sum_k \alpha_t(k)\, \mathcal N(x_{t+1} | A_k x_t, Q_k)\\
    \beta_{t+1}(l)
        &\propto \textstyle\sum_k \Pi_{kl}\, \alpha_t(k)\, \mathcal N(x_{t+1} | A_k x_t, Q_k)

with Q = FF' and R = GG'.  The last line holds whichever component x_{t+1} was drawn from: the
point itself is evidence about the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from skh import _checks
from skh._checks import copied, shaped
from skh._typing import RNG, Array
from skh.filtering.carried_records import Ancestors
from skh.filtering.observations import measured_entries
from skh.gaussians.linear_algebra import check_covariance, log_density
from skh.gaussians.mixture import GaussianMixture
from skh.models.poles import system_with_poles

POLES = ((-0.4429, 0.0937), (-0.6576, 0.3109))
SWITCHING = ((0.7, 0.3), (0.3, 0.7))


@dataclass(frozen=True, eq=False)
class JumpMarkov:
    """x_{t+1} = A_r x_t + v_t and y_t = C_r x_t + e_t, where the mode r is a hidden Markov chain.

    A `CarryingModel`: each particle carries the log-probabilities of its mode, (n, r).
    """

    A: Array  # (r, d, d)
    C: Array  # (r, m, d)
    Q: Array  # (r, d, d): FF'
    R: Array  # (r, m, m): GG'
    switching: Array  # (r, r): Pi
    initial_modes: Array  # (r,)
    initial_mean: Array  # (d,)
    initial_covariance: Array  # (d, d)

    def __post_init__(self) -> None:
        r, d, _ = shaped("A", self.A, "r", "d", "d").shape
        m = shaped("C", self.C, r, "m", d).shape[1]
        shapes: dict[str, tuple[int, ...]] = {
            "A": (r, d, d),
            "C": (r, m, d),
            "Q": (r, d, d),
            "R": (r, m, m),
        }
        shapes |= {"switching": (r, r), "initial_modes": (r,)}
        shapes |= {"initial_mean": (d,), "initial_covariance": (d, d)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, copied(name, getattr(self, name), *shape))
        for name in ("Q", "R", "initial_covariance"):
            check_covariance(name, getattr(self, name))
        for name in ("switching", "initial_modes"):
            p = getattr(self, name)
            if p.min() < 0 or not np.allclose(p.sum(axis=-1), 1):
                raise ValueError(f"{name} must have rows of probabilities, got {p}")
            object.__setattr__(self, name, p / p.sum(axis=-1, keepdims=True))

    def prior(self) -> GaussianMixture:
        """The distribution of x_0, the same for all modes."""
        return GaussianMixture([1.0], self.initial_mean[None], self.initial_covariance)

    def initial_carry(self, x: Array) -> Array:
        """``log beta_0``."""
        return np.tile(log(self.initial_modes), (len(x), 1))

    def transition(self, t: int, x: Array, carry: Array) -> GaussianMixture:
        """One Gaussian per particle and mode, weighted by alpha_t."""
        n, d = x.shape
        Q = np.broadcast_to(self.Q, (n, *self.Q.shape)).reshape(-1, d, d)
        return GaussianMixture(np.exp(carry).ravel(), self._moved(x).reshape(-1, d), Q)

    def _moved(self, x: Array) -> Array:
        """A_k x for each particle and mode, (n, r, d)."""
        return np.asarray(np.einsum("kij,nj->nki", self.A, x))

    def move(self, t: int, x: Array, carry: Array, x_next: Array) -> Array:
        """``log beta_{t+1}`` from ``log alpha_t`` and the chosen x_{t+1}."""
        log_joint = carry + log_density(x_next[:, None] - self._moved(x), self.Q, "Q")
        log_beta = logsumexp(log_joint[:, :, None] + log(self.switching), axis=1)
        return np.asarray(log_beta - logsumexp(log_joint, axis=1, keepdims=True))

    def displaced(self, carry: Array, ancestors: Ancestors) -> Array:
        """Particles keep the mode probabilities of their ancestors when they are moved."""
        return ancestors.rows(carry)

    def blurred(self, carry: Array, others: Sequence[Array]) -> Array:
        """Return the record unchanged: mode probabilities have no covariance to inflate."""
        return carry

    def log_likelihood(
        self, t: int, x: Array, y: Array | float, carry: Array
    ) -> tuple[Array, Array]:
        """``log p(y_t | x_{0:t}, y_{0:t-1})`` and ``log alpha_t``."""
        y, seen = measured_entries(y, self.C.shape[1])
        predicted = np.einsum("kij,nj->nki", self.C[:, seen], x)
        log_joint = carry + log_density(y[seen] - predicted, self.R[:, seen][:, :, seen], "R")
        log_l = np.asarray(logsumexp(log_joint, axis=1))
        possible = log_l[:, None] > -np.inf  # a particle of likelihood zero keeps its record
        return log_l, np.where(possible, log_joint - np.where(possible, log_l[:, None], 0.0), carry)

    def hidden_moments(self, carry: Array) -> tuple[Array, Array]:
        """Mean and covariance of the one-hot indicator of the mode, the hidden part z."""
        p = np.exp(carry)
        return p, p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, d) and observations (T, m); the modes are not returned."""
        T = _checks.positive_int("T", T)
        rng = _checks.generator(rng)
        r = rng.choice(len(self.A), p=self.initial_modes)
        x = rng.multivariate_normal(self.initial_mean, self.initial_covariance)
        states, ys = [], []
        for _ in range(T):
            states.append(x)
            ys.append(rng.multivariate_normal(self.C[r] @ x, self.R[r]))
            x = rng.multivariate_normal(self.A[r] @ x, self.Q[r])
            r = rng.choice(len(self.A), p=self.switching[r])
        return np.array(states), np.array(ys)


def log(probabilities: Array) -> Array:
    """``log(probabilities)``, -inf for zeros."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def jmls(seed: int = 0) -> JumpMarkov:
    """Return the paper's jump-Markov model, d = 2 with two modes.

    The paper gives the poles of the modes and Pi.  The rest is chosen here: A and C by
    `system_with_poles` with this seed, F = I and G^2 = 0.1 as in the paper's linear models, the
    first mode from the stationary law of Pi, and x_0 ~ N(0, I).
    """
    rng = _checks.generator(seed, "seed")
    A, C = (
        np.array(part) for part in zip(*(system_with_poles(p, rng) for p in POLES), strict=True)
    )
    Q, R = np.tile(np.eye(2), (2, 1, 1)), np.full((2, 1, 1), 0.1)
    return JumpMarkov(A, C, Q, R, np.array(SWITCHING), np.full(2, 0.5), np.zeros(2), np.eye(2))
