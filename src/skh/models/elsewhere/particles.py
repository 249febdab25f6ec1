"""State-space models written for the package `particles`, which is not imported.

Its models have three methods, ``PX0()``, ``PX(t, xp)`` and ``PY(t, xp, x)``, that return laws with
``logpdf``, ``rvs`` and mostly ``ppf``.  Its times are those of this library, one step shifted:
``PX(t + 1, x)`` is the transition from t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.model_protocols import Transition
from skh.filtering.simulator_model import SimulatorModel, from_simulator
from skh.gaussians.mixture import GaussianMixture
from skh.models.elsewhere.drawing import (
    check_drawable,
    global_numpy_seed,
    quantiles,
    takes_quantiles,
)
from skh.models.elsewhere.laws import (
    NotGaussianError,
    Part,
    as_mixture,
    as_transition,
    parts_of,
)
from skh.models.elsewhere.state_space import StateSpace, law_of, state_space, uses_parent

METHODS_OF_PARTICLES = ("PX0", "PX", "PY")
PROBED_STATES = 3  # draws of x_0 at which a model is tried


@dataclass(frozen=True, eq=False)
class ParticlesModel:
    """A model of `particles` with Gaussian transitions; see `from_particles`."""

    space: StateSpace
    initial: GaussianMixture
    observation_metric: Callable[[int, Array], Array] | None = None

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


def from_particles(
    ssm: Any,
    *,
    parent: bool | None = None,
    draws: int | None = None,
    observation_metric: Callable[[int, Array], Array] | None = None,
) -> ParticlesModel | SimulatorModel:
    """Return a state-space model of the package `particles` as a model of this library.

    Transitions made of Normal, MvNormal, VaryingCovNormal, Dirac, Categorical, Student, Laplace,
    IndepProd, LinearD and Mixture are used as mixtures of Gaussians; any others are represented by
    draws, as in `from_simulator`.  Observations may have any law.  Nothing of `particles` is
    imported.

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
    observation_metric : f(t, x) -> (d, d) or (n, d, d) array, optional
        Fisher information of y_t in the state, as in `model_from_functions`: worth its line where
        observations are far more precise than predictions.

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
    _check_options(parent, draws, observation_metric)
    law = law_of(ssm, "PX0")
    space = state_space(ssm, law)
    initial = prior_of_law(space, law)
    x, _ = initial.sample(PROBED_STATES, rng=0)
    if uses_parent(space, x) if parent is None else parent:
        space = replace(space, parent=True)
        initial, x = _prior_with_parent(initial), np.concatenate([x, x], axis=1)
    if is_gaussian(space.law_of_next(0, x), space.d):
        model = ParticlesModel(space, initial, observation_metric)
        model.transition(0, x)  # raises if its law has other shapes than x
        return model
    return simulated(space, initial, x, draws, observation_metric)


def _check_options(parent: Any, draws: Any, observation_metric: Any) -> None:
    """Validate the options of `from_particles`."""
    if parent is not None:
        _checks.boolean("parent", parent)
    if draws is not None:
        _checks.positive_int("draws", draws)
    if observation_metric is not None and not callable(observation_metric):
        raise TypeError(f"observation_metric must be a function, got {observation_metric!r}")


def simulated(
    space: StateSpace,
    initial: GaussianMixture,
    x: Array,
    draws: int | None,
    observation_metric: Callable[[int, Array], Array] | None,
) -> SimulatorModel:
    """Return a model whose transition is drawn, by quantile functions if it has such."""
    law, k = space.law_of_next(0, x), None
    if takes_quantiles(law, len(x), space.d):
        k = space.d
    else:
        check_drawable(law, len(x), space.d, f"{type(space.ssm).__name__}.PX at t=1")
    functions = (space.simulate_next, space.log_likelihood)
    model = from_simulator(
        initial, *functions, draws=draws, noise_dim=k, observation_metric=observation_metric
    )
    assert isinstance(model, SimulatorModel)  # without workers
    return model


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


def prior_of_law(space: StateSpace, law: Any) -> GaussianMixture:
    """Return a law as a mixture: exactly if it is one of Gaussians, otherwise by quantiles."""
    where = f"{type(space.ssm).__name__}.PX0"
    try:
        return as_mixture(parts_of(law, 1, space.d))
    except NotGaussianError:
        x = quantiles(law, space.d, where)
        return GaussianMixture(np.ones(len(x)), x, 0.0)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def _prior_with_parent(p: GaussianMixture) -> GaussianMixture:
    """Append a parent to x_0, which has none: PY at t = 0 is not given it."""
    K, d = p.means.shape
    means = np.concatenate([p.means, np.broadcast_to(p.mean, (K, d))], axis=1)
    S = p.covariances[..., None, None] * np.eye(d) if p.covariances.ndim < 2 else p.covariances
    cov = np.zeros((*S.shape[:-2], 2 * d, 2 * d))
    cov[..., :d, :d] = S
    return GaussianMixture(p.weights, means, cov)


def is_gaussian(law: Any, d: int) -> bool:
    """Whether a transition is a mixture of Gaussians."""
    try:
        parts_of(law, PROBED_STATES, d)
    except NotGaussianError:
        return False
    except (TypeError, ValueError):  # said with its place where the law is used
        return True
    return True
