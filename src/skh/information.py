r"""What the likelihood sees: the Fisher information of an observation, learned while filtering.

A filter that has just evaluated :math:`\ell_i = \log p(y_t | x_i)` knows more than weights: how
steeply the likelihood changes, and in which directions.  A local linear regression of
:math:`\ell` around a particle gives the score :math:`g = \nabla \ell`, and its mean square under
the posterior,

.. math:: F = E[g g^\top],

is the Fisher information in the state: zero along every direction that the observation does not
see.  One step says little where there are hardly more particles than dimensions, so evidence is
pooled over time; and since a regression on few points finds slopes where there are none, the
covariance of its error is taken off, which leaves F unbiased (and possibly indefinite: who uses it
clips the eigenvalues).

A model that knows better says so: ``observation_metric(t, x)`` returns F at each row of x,
``(n, d, d)`` or one ``(d, d)``, for instance :math:`H^\top R^{-1} H`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from skh._checks import Array, Indices
from skh.gaussian import symmetric, transposed

if TYPE_CHECKING:
    from skh.mixture import GaussianMixture

WINDOW = 30  # steps over which evidence is pooled
CENTRES = 16  # particles around which the likelihood is looked at: the heaviest
GONE = 30.0  # log-likelihoods this far below the best are all alike: gone
NEAR = 2.0  # squared length of a neighbourhood, at least, in the coordinates of `_to_local`
SHRINKAGE = 1e-3  # of the regressions
DOUBLINGS = 12  # of a neighbourhood that is too small, at most


class Information(Protocol):
    """What is known of an observation to come."""

    @property
    def matrix(self) -> Array:
        """The information in the state, (d, d), symmetric but not necessarily positive."""
        ...


@dataclass(frozen=True, eq=False)
class Told:
    """The information that the model knows: its mean over a mixture's components."""

    observation_metric: Callable[[int, Array], Array]
    t: int
    mixture: GaussianMixture

    @cached_property
    def matrix(self) -> Array:
        """The information, (d, d)."""
        n, d = self.mixture.means.shape
        F = np.asarray(self.observation_metric(self.t, self.mixture.means), dtype=np.float64)
        if F.shape not in ((d, d), (n, d, d)) or not np.isfinite(F).all():
            raise ValueError(
                f"model.observation_metric at t={self.t} must return finite numbers of shape "
                f"({d}, {d}) or ({n}, {d}, {d}), got shape {F.shape}"
            )
        return symmetric(F if F.ndim == 2 else np.einsum("k,kij->ij", self.mixture.weights, F))


def learned(before: Information | None, x: Array, w: Array, log_likelihood: Array) -> Learned:
    """What is known after one more observation."""
    if isinstance(before, Learned):
        return before.then(x, w, log_likelihood)
    return Learned(x, w, log_likelihood, None, 0)


@dataclass(frozen=True, eq=False)
class Learned:
    """The information learned up to a step; it is computed when somebody first asks for it."""

    x: Array  # (n, d): the particles of the last step with an observation
    w: Array  # (n,): their weights before it
    log_likelihood: Array  # (n,)
    before: Array | None  # the pooled information of the steps before, if anybody asked
    steps: int  # how many there were

    @cached_property
    def matrix(self) -> Array:
        """The pooled information, (d, d), symmetric but not necessarily positive."""
        F = self._of_this_step()
        if self.before is None:
            return F
        share = max(1.0 / (self.steps + 1), 1.0 / WINDOW)
        return (1.0 - share) * self.before + share * F

    def then(self, x: Array, w: Array, log_likelihood: Array) -> Learned:
        """The same after one more step."""
        pooled = self.__dict__.get("matrix")
        if pooled is None:
            return Learned(x, w, log_likelihood, self.before, self.steps)
        return Learned(x, w, log_likelihood, pooled, self.steps + 1)

    def _of_this_step(self) -> Array:
        level = np.maximum(self.log_likelihood - self.log_likelihood.max(), -GONE)
        posterior = self.w * np.exp(level)
        posterior /= posterior.sum()
        T = self._to_local()
        heaviest = np.argsort(-posterior, kind="stable")[:CENTRES]
        g, V = slopes(self.x @ T.T, level, heaviest)
        share = posterior[heaviest] / posterior[heaviest].sum()
        F = np.einsum("c,ci,cj->ij", share, g, g) - np.einsum("c,cij->ij", share, V)
        return symmetric(T.T @ F @ T)

    def _to_local(self) -> Array:
        """Coordinates in which one is the length over which the likelihood is thought to change."""
        d = self.x.shape[1]
        centred = self.x - self.w @ self.x
        P = (self.w * centred.T) @ centred
        sd = np.sqrt(np.where(P.diagonal() > 0.0, P.diagonal(), 1.0))
        L = sd[:, None] * np.linalg.cholesky(P / np.outer(sd, sd) + 1e-6 * np.eye(d))
        if self.before is None:
            return np.linalg.inv(L)
        seen, axes = np.linalg.eigh(symmetric(L.T @ self.before @ L))
        stretch = np.sqrt(np.maximum(seen, 0.0) + 1e-2)
        return np.asarray((stretch[:, None] * axes.T) @ np.linalg.inv(L))


def slopes(z: Array, values: Array, centres: Indices) -> tuple[Array, Array]:
    """Local linear regressions of ``values`` on ``z``: gradients (c, d) and error covariances."""
    n, d = z.shape
    e = z - z[centres, None]  # (c, n, d)
    k, width = neighbourhoods((e**2).sum(-1), 2 * (d + 1))
    A = np.concatenate([np.ones((len(centres), n, 1)), e / np.sqrt(width)[:, None, None]], axis=2)
    weighted = transposed(A * k[..., None])
    total = k.sum(axis=1)
    normal = weighted @ A
    index = np.arange(1, d + 1)
    normal[:, index, index] += SHRINKAGE * total[:, None]
    inverse = np.linalg.inv(normal)
    b = (inverse @ (weighted @ values)[..., None])[..., 0]
    residual = values - (A @ b[..., None])[..., 0]
    noise = (k * residual**2).sum(axis=1) / np.maximum(total - 0.5 * (d + 1), 0.5)
    V = inverse @ (weighted @ transposed(weighted)) @ inverse * noise[:, None, None]
    return b[:, 1:] / np.sqrt(width)[:, None], V[:, 1:, 1:] / width[:, None, None]


def neighbourhoods(square: Array, enough: int) -> tuple[Array, Array]:
    """Gaussian weights of squared distances (c, n), and their squared widths.

    As narrow as NEAR, unless that makes fewer than ``enough`` effective neighbours.
    """
    width = np.full(len(square), NEAR)
    for _ in range(DOUBLINGS):
        k = np.exp(-0.5 * square / width[:, None])
        few = k.sum(axis=1) ** 2 < enough * (k**2).sum(axis=1)
        if not few.any():
            break
        width[few] *= 2.0
    return k, width
