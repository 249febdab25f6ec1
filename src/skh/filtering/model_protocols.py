r"""Protocols that models must satisfy.

A plain `Model` has three methods.  In a `CarryingModel` each particle also has a record, its
*carry*, of what its history says about a part of the state that is not sampled: mode probabilities
of a jump-Markov model, mean and covariance of a Kalman filter.  The filter gathers the records by
ancestor; the model updates them twice per step, in ``move``, where the chosen x_{t+1} is a
measurement of the hidden part, and in ``log_likelihood``, which is called if there is a y.

A carry is an array with one row per particle, or a tuple or dict of such arrays; return new arrays
instead of writing into the given ones.  Optional methods:

- ``hidden_moments(carry)``: mean (n, n_z) and covariance (n, n_z, n_z) of the hidden part z of each
  particle, for the moments of z and (x, z) in the results;
- ``joint_transition(t, x, carry)``: Gaussians of (x_{t+1}, z_{t+1}), for joint prediction;
- ``mean_state(belief)``: mean of states that are not vectors, for the results;
- ``states_of(carry)``: states that are not vectors, for `Question.states`;
- ``joined(carry)``: the records of all particles of a step, after a plan that looked more than once
  put them together, for parts of records that all particles share;
- ``updates_records = False``: ``log_likelihood`` returns the records as they are;
- a parameter ``dt`` of ``transition`` and ``move``: the time since the observation before, for
  observations with times (see `skh.filtering.clock`);
- ``displaced(carry, ancestors)``, ``blurred(carry, others)``: records of particles displaced by
  `skh.Smoothed` and `skh.Regularized` (see `skh.filtering.carried_records`), the second of which
  does nothing without them, or with ``displaceable = False``;
- ``observation_metric(t, x)``, of plain models too: Fisher information of y_t in the state, such as
  H' R^-1 H, (d, d) or (n, d, d), for rules that choose their own kernel, such as the default rule.
  Without it, it is learned from the likelihoods (see `skh.filtering.likelihood_information`);
- ``information(t, x, y)``, with ``carry`` if there are records (None at the first step): the same
  given y_t, where it depends on what was observed, such as on the landmarks in view;
- ``residuals(t, x, y)``, of plain models and of those in charts: (n, m) numbers r with log p(y | x)
  = const - |r|^2 / 2, which the default plan linearises (see `skh.filtering.residual_form`);
- ``seeded(seed)``: the model with other random numbers, of models that draw at random in ``prior``
  and ``transition`` (see `seeded`).

State noise correlated with the noise of the previous observation (leverage in stochastic
volatility) is a carry, too: ``log_likelihood`` returns the residual of y_t in the record,
``transition`` shifts the mean by it, and ``move`` resets it to zero, for steps without a y.

A complete model with a filter per particle::

    class RandomGain:  # y = z x + noise, z unknown and constant: Kalman filter (m, v) per particle
        def prior(self): return skh.GaussianMixture([1.0], [[1.0]], 1.0)
        def initial_carry(self, x): return np.zeros(len(x)), np.ones(len(x))
        def transition(self, t, x, carry): return x, 0.1
        def move(self, t, x, carry, x_next): return carry
        def log_likelihood(self, t, x, y, carry):
            m, v = carry
            s, r = v * x[:, 0] ** 2 + 0.1, y - m * x[:, 0]
            k = v * x[:, 0] / s
            return -0.5 * (r**2 / s + np.log(2 * np.pi * s)), (m + k * r, v - k * v * x[:, 0])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from skh._numba.array_checks import first_outside
from skh._typing import Array, Indices
from skh.gaussians.mixture import GaussianMixture
from skh.gaussians.predictive import Predictive

MAX_MEAN = 1e150  # keeps squared means finite
Transition = GaussianMixture | tuple[Array, Array | float]
Carry = Any  # None, or an array, tuple or dict of arrays with one row per particle


@runtime_checkable
class Model(Protocol):
    """A state-space model with Gaussian (or Gaussian-mixture) transitions; time starts at t = 0."""

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        ...

    def transition(self, t: int, x: Array) -> Transition:
        """The distribution of x_{t+1} given each row of ``x`` at time t.

        Either ``(means, covariances)``, one Gaussian per row, in any form that `GaussianMixture`
        takes; or a `GaussianMixture` with m consecutive components per row, whose weights are
        normalised within the row.
        """
        ...

    def log_likelihood(self, t: int, x: Array, y: Any) -> Array:
        """``log p(y_t | x_t)`` at each row of ``x``: shape (n,), -inf allowed."""
        ...


@runtime_checkable
class CarryingModel(Protocol):
    """A model whose particles carry a record of their history; see the module docstring."""

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        ...

    def initial_carry(self, x: Array) -> Carry:
        """The records of particles ``x`` at t = 0, before y_0."""
        ...

    def transition(self, t: int, x: Array, carry: Carry) -> Transition:
        """The distribution of x_{t+1} given each row of ``x`` and its record, as in `Model`."""
        ...

    def move(self, t: int, x: Array, carry: Carry, x_next: Array) -> Carry:
        """The records at t + 1, before y_{t+1}, of particles moved from ``x`` to ``x_next``."""
        ...

    def log_likelihood(self, t: int, x: Array, y: Any, carry: Carry) -> tuple[Array, Carry]:
        """``log p(y_t | x_{0:t}, y_{0:t-1})`` of each particle, and the records after y_t."""
        ...


@dataclass(frozen=True)
class WithoutCarry:
    """Adapter of a plain model to `CarryingModel`, so that the filter has a single loop."""

    model: Model

    def prior(self) -> GaussianMixture:
        """The distribution of x_0."""
        return self.model.prior()

    def initial_carry(self, x: Array) -> Carry:
        """Return None: no records."""
        return None

    def transition(self, t: int, x: Array, carry: Carry) -> Transition:
        """The model's transition."""
        return self.model.transition(t, x)

    def move(self, t: int, x: Array, carry: Carry, x_next: Array) -> Carry:
        """Return None: no records."""
        return None

    def log_likelihood(self, t: int, x: Array, y: Any, carry: Carry) -> tuple[Array, Carry]:
        """The model's log-likelihoods, and no records."""
        return self.model.log_likelihood(t, x, y), None


def as_carrying(model: Model | CarryingModel) -> CarryingModel:
    """Return ``model`` as a `CarryingModel`; a TypeError names missing methods."""
    missing = [m for m in _methods(Model) if not callable(getattr(model, m, None))]
    if missing or isinstance(model, type):
        what = f"{model!r} without {', '.join(missing)}" if missing else f"the class {model!r}"
        raise TypeError(
            f"model must be an object with prior, transition, log_likelihood; got {what}"
        )
    if isinstance(model, CarryingModel):
        return model
    if hasattr(model, "move") or hasattr(model, "initial_carry"):
        raise TypeError(f"a model that carries records needs move and initial_carry, got {model!r}")
    return WithoutCarry(model)


def _methods(protocol: type) -> list[str]:
    return [name for name, value in vars(protocol).items() if name[0] != "_" and callable(value)]


def seeded(model: CarryingModel, rng: np.random.Generator) -> CarryingModel:
    """Seed a model that draws at random by the filter's random state, which stays as it is.

    So the draws are new at each step and for each seed of the filter, the same whenever that step
    is predicted, repeated or resumed, and they depend neither on the particles nor on units.
    """
    if (reseed := reseeding(model)) is None:
        return model
    return as_carrying(reseed(int(deepcopy(rng.bit_generator).random_raw())))


def reseeding(model: CarryingModel) -> Callable[[int], Any] | None:
    """Return the method ``seeded`` of a model that draws at random, else None."""
    return getattr(model.model if isinstance(model, WithoutCarry) else model, "seeded", None)


def gather(carry: Carry, index: Indices) -> Carry:
    """Take the rows ``index`` of every array of a carry."""

    def rows(array: Array) -> Array:
        if array.strides[0] == 0 and len(array):  # a broadcast row stays one
            if len(index) <= len(array):
                return array[: len(index)]
            return np.broadcast_to(array[0], (len(index), *array.shape[1:]))
        return array.take(index, axis=0)

    return mapped(rows, carry)


def mapped(f: Callable[[Array], Array], carry: Carry) -> Carry:
    """Apply a function to every array of a carry."""
    if type(carry) is np.ndarray:  # the usual case, fast
        return f(carry)
    if carry is None:
        return None
    if isinstance(carry, dict):
        return {key: mapped(f, value) for key, value in carry.items()}
    if isinstance(carry, tuple):
        parts = [mapped(f, value) for value in carry]
        return type(carry)(*parts) if hasattr(carry, "_fields") else tuple(parts)
    return f(np.asarray(carry))


def concatenate(carries: Sequence[Carry]) -> Carry:
    """Put records together, one after the other: the rows of every array of each carry."""
    first = carries[0]
    if first is None:
        return None
    if isinstance(first, dict):
        return {key: concatenate([carry[key] for carry in carries]) for key in first}
    if isinstance(first, tuple):
        rows = (concatenate(parts) for parts in zip(*carries, strict=True))
        return type(first)(*rows) if hasattr(first, "_fields") else tuple(rows)
    arrays = [np.asarray(carry) for carry in carries]
    row, n = arrays[0][:1], sum(len(array) for array in arrays)
    if all(a.strides[0] == 0 and np.array_equal(a[:1], row) for a in arrays):  # as in `gather`
        return np.broadcast_to(row[0], (n, *row.shape[1:]))
    return np.concatenate(arrays)


def prior_of(model: CarryingModel) -> Predictive:
    """Step 1 of Algorithm 2: the prior."""
    prior = model.prior()
    if not isinstance(prior, GaussianMixture):
        raise TypeError(f"model.prior() must return a GaussianMixture, got {prior!r}")
    return Predictive.of(prior, smoothable=False)


def propagate(model: CarryingModel, t: int, x: Array, w: Array, carry: Carry) -> Predictive:
    """Step 5 of Algorithm 2: propagate the particles of time ``t`` through the transition."""
    n, d = x.shape
    transition = model.transition(t, x, carry)
    try:
        p = predictive(transition, w)
        if p.d != d:
            raise ValueError(f"means must have shape (n, {d}), got {p.means.shape}")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"model.transition at t={t} must return (means, covariances) or a GaussianMixture "
            f"for the {n} particles in {d} dimensions: {error}"
        ) from error
    if not can_displace(model):
        p = Predictive.of(p, p.components_per_particle, smoothable=False)
    return p


def can_displace(model: CarryingModel) -> bool:
    """Whether particles can be displaced, as smoothing needs: with their records, if any."""
    if isinstance(model, WithoutCarry):
        return True
    able = callable(getattr(model, "displaced", None)) and callable(getattr(model, "blurred", None))
    return able and bool(getattr(model, "displaceable", True))


def propagate_jointly(model: CarryingModel, t: int, x: Array, w: Array, carry: Carry) -> Predictive:
    """Propagate (x, z) through the transition of models with a hidden part z."""
    joint = getattr(model, "joint_transition", None)
    if joint is None:
        raise TypeError("joint prediction needs a model with joint_transition(t, x, carry)")
    return predictive(joint(t, x, carry), w)


def predictive(transition: Transition, w: Array) -> Predictive:
    """Return the mixture of x_{t+1} for particles with weights ``w``."""
    mixture = _mixture(transition, w)
    if (i := first_outside(mixture._means.ravel(), -MAX_MEAN, MAX_MEAN)) >= 0:
        raise ValueError(
            f"means must be within {MAX_MEAN:g} of zero, got {mixture.means.flat[i]:g}"
        )
    return mixture


def _mixture(transition: Transition, w: Array) -> Predictive:
    if not isinstance(transition, GaussianMixture):
        if not isinstance(transition, tuple | list) or len(transition) != 2:
            got = f"{type(transition).__name__} of shape {np.shape(transition)}"
            raise TypeError(f"expected a pair, got {got}")
        return Predictive(w, *transition)
    if len(transition) % len(w):
        raise ValueError(
            f"expected the same number of components for each of the {len(w)} particles, "
            f"got {len(transition)} in all"
        )
    of_row = transition.weights.reshape(len(w), -1)
    total = of_row.sum(axis=1, keepdims=True)
    if total.min() == 0:
        raise ValueError(f"all components of particle {total.argmin()} have weight zero")
    weights = (w[:, None] * (of_row / total)).ravel()
    mixture = GaussianMixture(weights, transition.means, transition.covariances)
    return Predictive.of(mixture, of_row.shape[1])
