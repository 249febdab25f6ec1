r"""Models with Gaussian noise around two functions.

.. math::

    x_{t+1} = f(t, x_t) + v_t, \quad v_t \sim \mathcal N(0, Q), \qquad
    y_t = h(t, x_t) + e_t, \quad e_t \sim \mathcal N(0, R).

Since h and R are known, so is the Fisher information J' R^-1 J of an observation, where J is the
Jacobian of h: the default rule and the second look need not learn it from likelihoods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.clock import over, takes_dt
from skh.filtering.function_model import as_prior
from skh.filtering.observations import measured_entries
from skh.gaussians.linear_algebra import (
    check_covariance,
    factorize,
    log_density,
    positive_root,
    transpose,
)
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.units import divide_lower
from skh.models.simulation import simulate

Function = Callable[..., Any]  # of (t, x)
DIFFERENCE = 1e-3  # half the distance of two evaluations of h, in standard deviations of the state


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """A model with Gaussian noise around two functions; see `gaussian_model`."""

    initial: GaussianMixture
    f: Function
    Q: Array | Function
    h: Function
    R: Array | Function
    residual: Callable[[Array, Array], Any] | None
    jacobian: Function | None
    batched: bool

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return self.initial

    def transition(self, t: int, x: Array) -> tuple[Array, Array]:
        """One Gaussian per row: f(t, x) and Q."""
        return self._values("f", self.f, t, x, x.shape[1]), self._noise("Q", t, x, x.shape[1])

    @property
    def is_timed(self) -> bool:
        """Whether f or Q takes dt; see `skh.filtering.clock`."""
        return takes_dt(self.f) or takes_dt(self.Q)

    def over(self, dt: float) -> GaussianModel:
        """The model of a step of length ``dt``."""
        Q = over(self.Q, dt) if callable(self.Q) else self.Q
        return replace(self, f=over(self.f, dt), Q=Q)

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log N(y | h(t, x), R)``; entries of y that are NaN were not measured."""
        expected = self._values("h", self.h, t, x, None)
        m = expected.shape[1]
        y, seen = measured_entries(y, m)
        R = self._noise("R", t, x, m)[..., seen, :][..., :, seen]
        return log_density(self._residual(t, y, expected)[:, seen], R, f"R at t={t}")

    def observation_metric(self, t: int, x: Array) -> Array:
        """Fisher information J' R^-1 J of y_t in the state: (n, d, d)."""
        J = self._differences(t, x) if self.jacobian is None else self._given_jacobian(t, x)
        R = self._noise("R", t, x, J.shape[1])
        L = positive_root(f"R at t={t}", R)
        L = np.broadcast_to(L, (len(x), *L.shape[-2:]))[:, None]  # one for each column of J
        whitened = divide_lower(L, transpose(J))
        return np.asarray(whitened @ transpose(whitened))

    def observe(self, t: int, x: Array, rng: np.random.Generator) -> Array:
        """Draw y_t."""
        expected = self._values("h", self.h, t, x[None], None)[0]
        R = self._noise("R", t, x[None], len(expected)).reshape(len(expected), -1)
        return np.asarray(expected + factorize(R)[1] @ rng.standard_normal(len(expected)))

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, d) and observations (T, m)."""
        return simulate(self, T, rng)

    def _values(self, name: str, function: Function, t: int, x: Array, m: int | None) -> Array:
        """Return a function's value at each row: (n, m)."""
        rows = function(t, x) if self.batched else [np.ravel(function(t, row)) for row in x]
        values = _checks.floats(f"{name} at t={t}: its result", rows)
        values = values[:, None] if values.ndim == 1 and m in (1, None) else values
        if values.ndim != 2 or len(values) != len(x) or m not in (None, values.shape[1]):
            raise ValueError(
                f"{name} at t={t} must return shape ({len(x)}, {m or 'm'}), one row per row of x, "
                f"got {values.shape}"
            )
        return values

    def _noise(self, name: str, t: int, x: Array, m: int) -> Array:
        """Return the covariance Q or R: (m, m), or (n, m, m)."""
        value = getattr(self, name)
        if not callable(value):
            return _square(name, value, m)
        if self.batched:
            return _square(f"{name} at t={t}", value(t, x), m, len(x))
        return np.stack([_square(f"{name} at t={t}", value(t, row), m) for row in x])

    def _residual(self, t: int, y: Array, expected: Array) -> Array:
        if self.residual is None:
            return y - expected
        value = _checks.floats(f"residual at t={t}: its result", self.residual(y, expected))
        if value.shape != expected.shape:
            raise ValueError(
                f"residual at t={t} must return shape {expected.shape}, got {value.shape}"
            )
        return value

    def _given_jacobian(self, t: int, x: Array) -> Array:
        assert self.jacobian is not None
        n, d = x.shape
        value = self.jacobian(t, x) if self.batched else [self.jacobian(t, row) for row in x]
        J = _checks.floats(f"jacobian at t={t}: its result", value)
        if J.ndim not in (2, 3) or J.shape[-1] != d or (J.ndim == 3 and len(J) != n):
            raise ValueError(f"jacobian at t={t} must return shape ({n}, m, {d}), got {J.shape}")
        return np.broadcast_to(J, (n, *J.shape[-2:]))

    def _differences(self, t: int, x: Array) -> Array:
        """Return the Jacobian of h at each row by central differences: (n, m, d).

        The steps are a fraction of the spread of the state, so that they fit its units.  Columns
        of coordinates without spread are zero: nothing is to be learned about them.  So are rows
        where h is not finite, such as the range of a sensor at its own position.
        """
        columns = []
        for k, step in enumerate(DIFFERENCE * self._spread(t, x)):
            away = np.zeros(x.shape[1])
            away[k] = step
            up, down = (self._values("h", self.h, t, x + s * away, None) for s in (1.0, -1.0))
            change = up - down if self.residual is None else self._between(t, up, down)
            columns.append(change / (2.0 * step) if step > 0.0 else np.zeros_like(change))
        J = np.stack(columns, axis=2)
        return np.where(np.isfinite(J).all(axis=(1, 2), keepdims=True), J, 0.0)

    def _between(self, t: int, up: Array, down: Array) -> Array:
        """Return residuals of rows against rows."""
        rows = [self._residual(t, a, b[None])[0] for a, b in zip(up, down, strict=True)]
        return np.array(rows)

    def _spread(self, t: int, x: Array) -> Array:
        """Return standard deviations of the coordinates of x_t: (d,)."""
        first = np.diag(self.initial.covariance)
        if t == 0:
            return np.asarray(np.sqrt(first))
        if takes_dt(self.Q):  # dt is not known here, and the prior has the units of the state
            return np.asarray(np.sqrt(first + x.var(axis=0)))
        noise = np.diagonal(self._noise("Q", t - 1, x, x.shape[1]), axis1=-2, axis2=-1)
        variance = noise.reshape(-1, x.shape[1]).mean(axis=0) + x.var(axis=0)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _square(name: str, value: Any, m: int, n: int | None = None) -> Array:
    """Return a covariance as (m, m), or as (n, m, m) for n rows; a number stands for all."""
    S = _checks.floats(name, value)
    if S.ndim == 0:
        S = S * np.eye(m)
    if S.shape not in ((m, m), (n, m, m)):
        also = "" if n is None else f" or ({n}, {m}, {m})"
        raise ValueError(f"{name} must be a variance or have shape ({m}, {m}){also}, got {S.shape}")
    return S


def gaussian_model(
    prior: GaussianMixture | tuple[Any, Any],
    f: Function,
    Q: Any,
    h: Function,
    R: Any,
    *,
    residual: Callable[[Array, Array], Any] | None = None,
    jacobian: Function | None = None,
    batched: bool = True,
) -> GaussianModel:
    """Return the model x_{t+1} = f(t, x_t) + N(0, Q), y_t = h(t, x_t) + N(0, R).

    Parameters
    ----------
    prior : GaussianMixture or (mean, covariance)
        Distribution of x_0, the state at the first observation.
    f, h : functions of (t, x)
        Of all rows of ``x`` (n, d) at once, with results (n, d) and (n, m); or, with
        ``batched=False``, of one state (d,), with results (d,) and (m,).
    Q, R : (d, d) and (m, m) arrays, or numbers, or functions of (t, x)
        Covariances of the noise; a number is the variance of each coordinate.  f and Q may take
        (t, x, dt), with the time since the observation before, for observations with times.
    residual : function of (y, expected), optional
        y minus the expected values (n, m), by default their difference: for angles, wrap it here.
    jacobian : function of (t, x) -> (n, m, d), optional
        Derivatives of h, for the Fisher information of the observations; by default from
        differences, 2 d evaluations of h at each particle.
    batched : bool
        Whether the functions take all particles at once.

    Examples
    --------
    >>> import numpy as np, skh
    >>> model = skh.gaussian_model(  # a random walk in the plane, and its distance from the origin
    ...     prior=([3.0, 4.0], 1.0),
    ...     f=lambda t, x: x,
    ...     Q=0.1,
    ...     h=lambda t, x: np.hypot(x[:, :1], x[:, 1:]),
    ...     R=0.01,
    ... )
    >>> skh.particle_filter(model, [5.1, 4.9], skh.Stratified(), 20, rng=0).means.shape
    (2, 2)
    >>> model.observation_metric(0, np.array([[3.0, 4.0]])).round(3)  # along the line of sight
    array([[[36., 48.],
            [48., 64.]]])
    """
    for name, function in (("f", f), ("h", h)):
        if not callable(function):
            raise TypeError(f"{name} must be a function of (t, x), got {function!r}")
    for name, given in (("residual", residual), ("jacobian", jacobian)):
        if given is not None and not callable(given):
            raise TypeError(f"{name} must be a function, got {given!r}")
    initial = as_prior(prior)
    Q, R = _covariance("Q", Q), _covariance("R", R)
    if not callable(Q):
        _square("Q", Q, initial.d)
    _checks.boolean("batched", batched)
    return GaussianModel(initial, f, Q, h, R, residual, jacobian, batched)


def _covariance(name: str, value: Any) -> Array | Function:
    """Validate a covariance that does not depend on the state."""
    if callable(value):
        return value  # type: ignore[no-any-return]
    S = _checks.real_array(name, value).copy()
    if S.ndim == 0:
        _checks.non_negative(name, float(S))
        return S
    d = len(S) if S.ndim == 2 else "d"
    check_covariance(name, _checks.shaped(name, S, d, d))
    return S
