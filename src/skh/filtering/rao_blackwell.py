r"""Rao-Blackwellization (Appendix A): particles for x, a Kalman filter for z in each of them.

The state is (x, z), and z is Gaussian given the history of x:

.. math:: x_{t+1} = f(x_t) + A_x(x_t) z_t + w_x, \quad
    z_{t+1} = g(x_t) + A_z(x_t) z_t + w_z, \quad
    y_t = h(x_t) + C(x_t) z_t + e_t,

with noise (w_x, w_z) of covariances Q_x, Q_z and cross-covariance Q_xz, and e of covariance R, all
functions of time and particle.  Each particle carries N(z_t | m, P).  In each step (Schön,
Gustafsson and Nordlund, 2005)

1. it contributes N(f + A_x m, S), S = A_x P A_x' + Q_x, to the predictive mixture of x;
2. the chosen x_{t+1} is a measurement of z_t: with G = (A_z P A_x' + Q_xz') S^-1,

   .. math:: m &\leftarrow g + A_z m + G (x_{t+1} - f - A_x m), \\
      P &\leftarrow (A_z - G A_x) P (A_z - G A_x)^\top
                    + Q_z + G Q_x G^\top - G Q_{xz} - (G Q_{xz})^\top,

   Joseph's form: a sum of two covariances, so that rounding cannot make it indefinite;
3. the observation updates it, and its predictive density of y is the particle's likelihood.

If f, g or h are nonlinear in z, values and Jacobians at z = m give an extended Kalman filter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.carried_records import Ancestors, scatter
from skh.filtering.clock import over, takes_dt
from skh.filtering.function_model import as_prior, checked_state_names
from skh.filtering.model_checks import check_per_particle, check_real_numbers, check_z_prior
from skh.filtering.observations import measured_entries
from skh.gaussians.linear_algebra import (
    apply,
    block_matrix,
    check_covariance,
    condition,
    congruent,
    right_divide,
    symmetric,
    transpose,
    without_rounding,
)
from skh.gaussians.mixture import GaussianMixture

Affine = Callable[..., tuple[Any, Any, Any]]


class ZBelief(NamedTuple):
    """Gaussians of z per particle: mean (n, n_z) and covariance (n, n_z, n_z)."""

    mean: Array
    covariance: Array


class Linearised(NamedTuple):
    """A function of z linearised at the particles' means: value, matrix and noise."""

    value: Array  # (n, k)
    matrix: Array  # (n, k, n_z) or (k, n_z)
    noise: Array  # (n, k, k) or (k, k)


class RaoBlackwellized:
    """A conditionally linear Gaussian model; see the module docstring for the notation.

    Parameters
    ----------
    prior : GaussianMixture or (mean, covariance)
        Distribution of x_0.
    z_prior : (mean, covariance), or f(x) -> (means, covariances)
        Distribution of z_0, the same for all particles or given each row of x_0.
    x_dynamics, z_dynamics, observation : f(t, x) -> (offset, matrix, noise)
        ``(f, A_x, Q_x)``, ``(g, A_z, Q_z)`` and ``(h, C, R)`` for all rows of ``x`` at once, each
        with a leading axis of length n, or without it if the same for all particles.  NaN entries
        of y count as not measured.  Dynamics f(t, x, dt) get the time since the last observation.
    cross_noise : f(t, x) -> Q_xz, optional
        Covariance of w_x with w_z, (n_x, n_z) with or without a leading axis.
    extended : bool
        The three functions are nonlinear in z: called as f(t, x, z) with the particles' means
        ``z`` (n, n_z), they return (value, Jacobian with respect to z, noise).
    residual : f(y, predicted), optional
        Difference of observation and prediction, if not plain subtraction (for angles, say).
    state_names : strings, optional
        Names of the coordinates of x, for tables and figures; those of z are z0, z1 and so on.

    Examples
    --------
    Particles for the position, Kalman filters for the velocity; the range is observed:

    >>> import skh
    >>> I = np.eye(2)
    >>> model = skh.RaoBlackwellized(
    ...     prior=([3.0, 0.0], I),
    ...     z_prior=([0.0, 1.0], I),
    ...     x_dynamics=lambda t, x: (x, I, 0.1 * I),
    ...     z_dynamics=lambda t, x: (np.zeros(2), I, 0.01 * I),
    ...     observation=lambda t, x: (np.hypot(*x.T)[:, None], np.zeros((1, 2)), 0.1 * np.eye(1)),
    ... )
    >>> result = skh.particle_filter(model, [3.1, 3.3], skh.Stratified(), 50, rng=0)
    >>> result.means.shape, result.z_means.shape, result.joint_covariances.shape
    ((2, 2), (2, 2), (2, 4, 4))
    """

    def __init__(
        self,
        prior: GaussianMixture | tuple[Any, Any],
        z_prior: tuple[Any, Any] | Callable[[Array], tuple[Any, Any]],
        x_dynamics: Affine,
        z_dynamics: Affine,
        observation: Affine,
        *,
        cross_noise: Callable[[int, Array], Any] | None = None,
        extended: bool = False,
        residual: Callable[[Array, Array], Array] = np.subtract,
        state_names: Sequence[str] | None = None,
    ) -> None:
        self._prior = as_prior(prior)
        self.state_names = checked_state_names(state_names, self._prior.d).get("state_names")
        self._z_prior = z_prior if callable(z_prior) else check_z_prior(z_prior)
        self._functions = {
            "x_dynamics": x_dynamics,
            "z_dynamics": z_dynamics,
            "observation": observation,
        }
        optional = {"cross_noise": cross_noise} if cross_noise is not None else {}
        for name, function in {**self._functions, "residual": residual, **optional}.items():
            if not callable(function):
                raise TypeError(f"{name} must be a function, got {function!r}")
        self._cross_noise = cross_noise
        self._extended = _checks.boolean("extended", extended)
        self._residual = residual

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return self._prior

    def initial_carry(self, x: Array) -> ZBelief:
        """The Gaussian of z_0 given each row of ``x``."""
        n = len(x)
        mean, covariance = self._z_prior(x) if callable(self._z_prior) else self._z_prior
        if np.ndim(mean) == 0:
            raise ValueError(f"the mean of z_prior must have shape (n, n_z) or (n_z,), got {mean}")
        d = np.shape(mean)[-1]
        m = check_per_particle("z_prior", "mean", 0, mean, (n, d))
        P = check_per_particle("z_prior", "covariance", 0, covariance, (n, d, d))
        check_covariance("the covariance of z_prior", P)
        return ZBelief(np.broadcast_to(m, (n, d)).copy(), _full(P, n).copy())

    def transition(self, t: int, x: Array, carry: ZBelief) -> tuple[Array, Array]:
        """Step 1: the Gaussian of x_{t+1} for each particle."""
        to_x = self._linearise("x_dynamics", t, x, carry.mean, x.shape[1])
        return to_x.value, congruent(to_x.matrix, carry.covariance, to_x.noise)

    def joint_transition(self, t: int, x: Array, carry: ZBelief) -> tuple[Array, Array]:
        """The Gaussian of (x_{t+1}, z_{t+1}) for each particle."""
        to_x, to_z, Q_xz = self._dynamics(t, x, carry)
        S, cross = _predictive_blocks(to_x, to_z, Q_xz, carry.covariance)
        V = congruent(to_z.matrix, carry.covariance, to_z.noise)
        covariances = block_matrix(S, transpose(cross), V)
        return np.concatenate([to_x.value, to_z.value], axis=1), symmetric(covariances)

    def joint_dynamics(self, t: int, x: Array, carry: ZBelief) -> Linearised:
        """(x_{t+1}, z_{t+1}) as a linear function of z_t with noise, for smoothing."""
        to_x, to_z, Q_xz = self._dynamics(t, x, carry)
        n, d, k = len(x), x.shape[1], carry.mean.shape[1]
        A_x, A_z = (np.broadcast_to(to.matrix, (n, *to.matrix.shape[-2:])) for to in (to_x, to_z))
        noise = block_matrix(to_x.noise, np.zeros((d, k)) if Q_xz is None else Q_xz, to_z.noise)
        value = np.concatenate([to_x.value, to_z.value], axis=1)
        return Linearised(value, np.concatenate([A_x, A_z], axis=1), _full(noise, n))

    def move(self, t: int, x: Array, carry: ZBelief, x_next: Array) -> ZBelief:
        """Step 2: condition z_t on the chosen x_{t+1}, then predict z_{t+1}."""
        to_x, to_z, Q_xz = self._dynamics(t, x, carry)
        S, cross = _predictive_blocks(to_x, to_z, Q_xz, carry.covariance)
        G = right_divide(cross, S)
        m = to_z.value + apply(G, x_next - to_x.value)
        kept = to_z.matrix - G @ to_x.matrix
        P = kept @ carry.covariance @ transpose(kept)
        P = P + to_z.noise + G @ to_x.noise @ transpose(G)
        if Q_xz is not None:
            sizes = np.linalg.diagonal(P)
            P = without_rounding(P - 2 * symmetric(G @ Q_xz), sizes)
        return ZBelief(m, symmetric(P))

    def log_likelihood(self, t: int, x: Array, y: Any, carry: ZBelief) -> tuple[Array, ZBelief]:
        """Step 3: update z by y; the predictive density of y is the likelihood."""
        y, seen = measured_entries(y, None)
        if len(y) == 0:  # no landmark in view, say
            return np.zeros(len(x)), carry
        h, C, R = self._linearise("observation", t, x, carry.mean, len(y))
        residual = check_real_numbers(self._residual(y, h), f"residual at t={t}")
        if residual.shape != h.shape or not np.isfinite(residual[:, seen]).all():
            raise ValueError(
                f"residual at t={t} must return finite numbers of shape {h.shape}, "
                f"got {residual} of shape {residual.shape}"
            )
        C, R = C[..., seen, :], R[..., seen, :][..., seen]
        measurement = (residual[:, seen], C, R, f"observation at t={t}")
        m, P, log_l = condition(carry.mean, carry.covariance, *measurement)
        return log_l, ZBelief(m, P)

    @property
    def is_timed(self) -> bool:
        """Whether dynamics or noise take dt; see `skh.filtering.clock`."""
        dynamics = (self._functions[name] for name in ("x_dynamics", "z_dynamics"))
        return any(map(takes_dt, (*dynamics, self._cross_noise)))

    def over(self, dt: float) -> RaoBlackwellized:
        """The model of a step of length ``dt``."""
        model = copy(self)
        model._functions = {name: over(f, dt) for name, f in self._functions.items()}
        model._cross_noise = self._cross_noise and over(self._cross_noise, dt)
        return model

    def displaced(self, carry: ZBelief, ancestors: Ancestors) -> ZBelief:
        """Displace the means of z with the particles."""
        return ZBelief(ancestors.moved(carry.mean), ancestors.rows(carry.covariance))

    def blurred(self, carry: ZBelief, others: Sequence[ZBelief]) -> ZBelief:
        """Add the uncertainty of the displacements to the covariances of z."""
        doubt = scatter(carry.mean, [other.mean for other in others])
        return ZBelief(carry.mean, carry.covariance + doubt)

    def hidden_moments(self, carry: ZBelief) -> tuple[Array, Array]:
        """Mean and covariance of z for each particle."""
        return carry.mean, carry.covariance

    def _dynamics(
        self, t: int, x: Array, carry: ZBelief
    ) -> tuple[Linearised, Linearised, Array | None]:
        """Return both dynamics at the particles and their cross-noise."""
        (n, d), n_z = x.shape, carry.mean.shape[1]
        to_x = self._linearise("x_dynamics", t, x, carry.mean, d)
        to_z = self._linearise("z_dynamics", t, x, carry.mean, n_z)
        if self._cross_noise is None:
            return to_x, to_z, None
        Q_xz = check_per_particle("cross_noise", "value", t, self._cross_noise(t, x), (n, d, n_z))
        Q = block_matrix(to_x.noise, Q_xz, to_z.noise)
        check_covariance(f"the joint noise of x_dynamics and z_dynamics at t={t}", Q)
        return to_x, to_z, Q_xz

    def _linearise(self, name: str, t: int, x: Array, z: Array, k: int) -> Linearised:
        n, n_z = z.shape
        returned = self._functions[name](t, x, *([z] if self._extended else []))
        if not isinstance(returned, tuple) or len(returned) != 3:
            raise ValueError(
                f"{name} at t={t} must return (offset, matrix, noise), got {returned!r}"
            )
        value = np.broadcast_to(check_per_particle(name, "offset", t, returned[0], (n, k)), (n, k))
        matrix = check_per_particle(name, "matrix", t, returned[1], (n, k, n_z))
        noise = check_per_particle(name, "noise", t, returned[2], (n, k, k))
        check_covariance(f"the noise of {name} at t={t}", noise)
        return Linearised(value if self._extended else value + apply(matrix, z), matrix, noise)


def _full(S: Array, n: int) -> Array:
    return np.broadcast_to(S, (n, *S.shape[-2:]))


def _predictive_blocks(
    to_x: Linearised, to_z: Linearised, Q_xz: Array | None, P: Array
) -> tuple[Array, Array]:
    """Return the covariance of x_{t+1} and its cross-covariance with z_{t+1}."""
    S = congruent(to_x.matrix, P, to_x.noise)
    cross = to_z.matrix @ transpose(to_x.matrix @ P)
    cross = cross if Q_xz is None else cross + transpose(Q_xz)
    known = np.linalg.diagonal(S)[..., None, :] == 0.0  # a coordinate without variance
    return S, np.where(known, 0.0, cross)
