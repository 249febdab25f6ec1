"""State-space models written for the package `particles`, which is not imported.

Its models have three methods, ``PX0()``, ``PX(t, xp)`` and ``PY(t, xp, x)``, that return laws with
``logpdf``, ``rvs`` and mostly ``ppf``.  Its times are those of this library, one step shifted:
``PX(t + 1, x)`` is the transition from t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.model_protocols import Transition
from skh.filtering.simulator_model import SimulatorModel, from_simulator
from skh.gaussians.mixture import GaussianMixture
from skh.models.elsewhere.drawing import global_numpy_seed, quantiles, rows_of, takes_quantiles
from skh.models.elsewhere.laws import (
    NotGaussianError,
    Part,
    as_mixture,
    as_transition,
    class_names,
    parts_of,
)

METHODS_OF_PARTICLES = ("PX0", "PX", "PY")
LAWS_OF_VECTORS = {"MvNormal", "VaryingCovNormal", "IndepProd"}
LAWS_OF_NUMBERS = {"Normal", "Dirac", "Categorical"}
PROBED_STATES = 3  # draws of x_0 at which a model is tried


class Unavailable:
    """Stands for x_{t-1} where an observation should not need it: any use of it is an error."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("x_{t-1} is not available")

    def __bool__(self) -> bool:
        raise TypeError("x_{t-1} is not available")

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The three laws of a model of `particles`, for states in rows (n, d)."""

    ssm: Any
    d: int  # number of coordinates of a state
    numbers: bool  # the model takes states as (n,), not (n, d)
    integers: bool  # the model takes states as integers
    parent: bool = False  # rows are (x_t, x_{t-1}), since y_t depends on both

    def states(self, x: Array) -> Any:
        """Return rows (n, d) as the model takes them."""
        values = np.rint(x).astype(np.int64) if self.integers else x
        return values[:, 0] if self.numbers else values

    def law_of_next(self, t: int, x: Array) -> Any:
        """Return the law of x_{t+1} given each row at time t."""
        return law_of(self.ssm, "PX", t + 1, self.states(x[:, : self.d]))

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log p(y_t | x_t, x_{t-1})``."""
        xp = None if t == 0 else self.states(x[:, self.d :]) if self.parent else Unavailable()
        law = law_of(self.ssm, "PY", t, xp, self.states(x[:, : self.d]))
        with np.errstate(all="ignore"):  # densities may underflow
            values = np.asarray(law.logpdf(_as_data(law, y)))
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        if values.shape not in ((), (1,), (len(x),)):
            raise ValueError(
                f"{type(self.ssm).__name__}.PY at t={t}: logpdf of an observation of shape "
                f"{np.shape(y)} must return shape ({len(x)},), got {values.shape}"
            )
        return np.broadcast_to(values, len(x)).copy()

    def simulate_next(self, t: int, x: Array, noise: Any) -> Array:
        """Draw x_{t+1} for each row, by uniform numbers (n, d) or a Generator."""
        drawn = rows_of(self.law_of_next(t, x), len(x), noise)
        return np.concatenate([drawn, x[:, : self.d]], axis=1) if self.parent else drawn


@dataclass(frozen=True, eq=False)
class ParticlesModel:
    """A model of `particles` with Gaussian transitions; see `from_particles`."""

    space: StateSpace
    initial: GaussianMixture

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return self.initial

    def transition(self, t: int, x: Array) -> Transition:
        """The law PX(t + 1, x)."""
        space = self.space
        law = space.law_of_next(t, x)
        try:
            parts = parts_of(law, len(x), space.d)
            parts = [with_parent(p, x[:, : space.d]) for p in parts] if space.parent else parts
            return as_transition(parts)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{type(space.ssm).__name__}.PX at t={t + 1}: {error}") from error

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log p(y_t | x_t)``, or given (x_t, x_{t-1})."""
        return self.space.log_likelihood(t, x, y)

    def simulate(self, T: int, *, rng: RNG = None) -> tuple[Array, Array]:
        """Draw states (T, d) and observations (T, m)."""
        T = _checks.positive_int("T", T)
        with global_numpy_seed(_checks.generator(rng)):
            states, ys = self.space.ssm.simulate(T)
        return np.reshape(states, (T, -1)), np.reshape(ys, (T, -1))


def with_parent(p: Part, x: Array) -> Part:
    """Append x_{t-1}, which is known, to the coordinates of x_t."""
    d = x.shape[1]
    cov = np.zeros((*p.covariance.shape[:-2], 2 * d, 2 * d))
    cov[..., :d, :d] = p.covariance
    return Part(p.weight, np.concatenate([p.mean, x], axis=1), cov)


def _as_data(law: Any, y: Any) -> Any:
    """Return y as integers if it has such values and the law is one of integers."""
    y = np.asarray(y)
    if np.dtype(getattr(law, "dtype", float)).kind == "i" and y.dtype.kind == "f":
        return y.astype(np.int64) if (y == np.rint(y)).all() else y
    return y


def law_of(ssm: Any, method: str, *args: Any) -> Any:
    """Return a law of the model; an error names the method and the time."""
    where = f"{type(ssm).__name__}.{method}" + (f" at t={args[0]}" if args else "")
    try:
        with np.errstate(all="ignore"):
            law = getattr(ssm, method)(*args)
    except Exception as error:
        unavailable = len(args) == 3 and isinstance(args[1], Unavailable)
        hint = "; if y_t depends on x_{t-1}, pass parent=True" if unavailable else ""
        raise ValueError(f"{where} raised {type(error).__name__}: {error}{hint}") from error
    if isinstance(law, type) or not callable(getattr(law, "logpdf", None)):
        raise TypeError(f"{where} must return a law with logpdf, got {law!r}")
    return law


def from_particles(
    ssm: Any, *, parent: bool | None = None, draws: int | None = None
) -> ParticlesModel | SimulatorModel:
    """Return a state-space model of the package `particles` as a model of this library.

    Transitions made of Normal, MvNormal, VaryingCovNormal, Dirac, Categorical, IndepProd, LinearD
    and Mixture are used as they are; any others are represented by draws, as in `from_simulator`.
    Observations may have any law.  `particles` itself is not imported.

    Parameters
    ----------
    ssm : object
        With the methods ``PX0()``, ``PX(t, xp)`` and ``PY(t, xp, x)`` of
        ``particles.state_space_models.StateSpaceModel``.
    parent : bool, optional
        Whether PY uses xp, the state x_{t-1}; by default it is tried at t = 1.  If so, the states
        of the filter are (x_t, x_{t-1}), and the first half of the means is what you want.
    draws : int, optional
        Number of draws for each particle of a transition that is not Gaussian.

    Examples
    --------
    >>> import numpy as np, skh
    >>> class Normal:  # stands for particles.distributions.Normal
    ...     def __init__(self, loc=0.0, scale=1.0): self.loc, self.scale = loc, scale
    ...     def logpdf(self, y): return -0.5 * ((y - self.loc) / self.scale) ** 2
    >>> class Walk:  # in practice a particles.state_space_models.StateSpaceModel
    ...     def PX0(self): return Normal()
    ...     def PX(self, t, xp): return Normal(loc=xp, scale=0.3)
    ...     def PY(self, t, xp, x): return Normal(loc=x)
    >>> model = skh.from_particles(Walk())
    >>> skh.particle_filter(model, [0.5, 0.7], skh.Stratified(), 10, rng=0).means.shape
    (2, 1)
    """
    _check_methods(ssm)
    if parent is not None:
        _checks.boolean("parent", parent)
    if draws is not None:
        _checks.positive_int("draws", draws)
    law = law_of(ssm, "PX0")
    space = state_space(ssm, law)
    initial = prior_of_law(law, space.d)
    x, _ = initial.sample(PROBED_STATES, rng=0)
    if uses_parent(space, x) if parent is None else parent:
        space = replace(space, parent=True)
        initial, x = _prior_with_parent(initial), np.concatenate([x, x], axis=1)
    next_law = space.law_of_next(0, x)
    if is_gaussian(next_law, space.d):
        return ParticlesModel(space, initial)
    k = space.d if takes_quantiles(next_law, PROBED_STATES, space.d) else None
    return from_simulator(
        initial, space.simulate_next, space.log_likelihood, draws=draws, noise_dim=k
    )


def _check_methods(ssm: Any) -> None:
    missing = [m for m in METHODS_OF_PARTICLES if not callable(getattr(ssm, m, None))]
    if isinstance(ssm, type):
        raise TypeError(f"ssm must be an object, not a class: write {ssm.__name__}(...)")
    if missing and hasattr(ssm, "ssm"):
        raise TypeError(f"ssm must be a state-space model, got {ssm!r}: pass its attribute ssm")
    if missing:
        raise TypeError(
            f"ssm must be an object with PX0, PX, PY; got {ssm!r} without {', '.join(missing)}"
        )


def state_space(ssm: Any, law: Any) -> StateSpace:
    """Return the model with the layout of its states, as the law of x_0 has it."""
    dtype = np.dtype(getattr(law, "dtype", float))
    if dtype.kind not in "fiu":
        raise TypeError(
            f"states must be numbers, but {type(ssm).__name__}.PX0 returned a law of {dtype}"
        )
    names = class_names(law)
    if names & LAWS_OF_NUMBERS:
        return StateSpace(ssm, 1, True, dtype.kind in "iu")
    d = _checks.positive_int(f"{type(ssm).__name__}.PX0: dim", getattr(law, "dim", 1))
    vectors = bool(names & LAWS_OF_VECTORS) or d > 1
    return StateSpace(ssm, d, not vectors, dtype.kind in "iu")


def prior_of_law(law: Any, d: int) -> GaussianMixture:
    """Return a law as a mixture: exactly if it is one of Gaussians, otherwise by quantiles."""
    try:
        return as_mixture(parts_of(law, 1, d))
    except NotGaussianError:
        x = quantiles(law, d)
        return GaussianMixture(np.ones(len(x)), x, 0.0)


def _prior_with_parent(p: GaussianMixture) -> GaussianMixture:
    """Append a parent to x_0, which has none: PY at t = 0 is not given it."""
    K, d = p.means.shape
    means = np.concatenate([p.means, np.broadcast_to(p.mean, (K, d))], axis=1)
    S = p.covariances[..., None, None] * np.eye(d) if p.covariances.ndim < 2 else p.covariances
    cov = np.zeros((*S.shape[:-2], 2 * d, 2 * d))
    cov[..., :d, :d] = S
    return GaussianMixture(p.weights, means, cov)


def uses_parent(space: StateSpace, x: Array) -> bool:
    """Whether the observation at t = 1 uses the state at t = 0."""
    states = space.states(x)
    try:
        space.ssm.PY(1, Unavailable(), states)
    except Exception:
        law_of(space.ssm, "PY", 1, states, states)  # raises if it fails for another reason
        return True
    return False


def is_gaussian(law: Any, d: int) -> bool:
    """Whether a transition is a mixture of Gaussians."""
    try:
        parts_of(law, PROBED_STATES, d)
    except NotGaussianError:
        return False
    return True
