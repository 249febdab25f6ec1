r"""Models whose transition can only be simulated.

Each particle's transition is represented by a number of simulated draws, so that the predictive
distribution is a mixture of point masses, or of narrow Gaussians,

.. math:: \tilde p_{t+1} = \sum_i \frac{w_i}{m} \sum_{j=1}^m
    \mathcal N\bigl(\bar x_i + \sqrt{1 - h^2}\, (x_{ij} - \bar x_i),\; h^2 C_i\bigr),

with mean and covariance :math:`\bar x_i, C_i` of the draws :math:`x_{ij}` of particle i, which are
kept for any bandwidth h.  A rule thins it to n weighted points.  Simulating needs no likelihoods:
the draws may outnumber the points by far, and their noise is then small beside that of n random
particles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import Array
from skh.filtering.clock import over, takes_dt
from skh.filtering.function_model import (
    FunctionModel,
    as_prior,
    check_functions,
    checked_options,
    checked_state_names,
    with_workers,
)
from skh.filtering.model_checks import check_real_numbers
from skh.filtering.parallel import MakesExecutor, ParallelModel
from skh.gaussians.hilbert_curve import hilbert_order
from skh.gaussians.mixture import GaussianMixture
from skh.rules.sampling import scrambled_sobol

Sample = Callable[[int, np.random.Generator], Any]
SIMULATED_COMPONENTS = 2_000  # of the predictive mixture, if ``draws`` is None
MIN_DRAWS = 8  # per particle: a rule may need several from a heavy one


@dataclass(frozen=True)
class SampledPrior:
    """A prior represented by draws."""

    sample: Sample
    draws: int
    bandwidth: float
    seed: int = 0

    def __call__(self) -> GaussianMixture:
        """Return the mixture of the draws."""
        x = self.sample(self.draws, np.random.default_rng([self.seed, 0]))
        return mixture_of_draws(_states("prior_sample", x, self.draws)[None], self.bandwidth)


@dataclass(frozen=True)
class SimulatedTransition:
    """A transition represented by draws, whose random numbers follow from ``seed`` and t."""

    simulate: Callable[..., Any]
    draws: int | None
    noise_dim: int | None
    bandwidth: float
    seed: int = 0

    def __call__(self, t: int, x: Array) -> GaussianMixture:
        """Return the mixture of the draws of x_{t+1}, equally many for each row of ``x``."""
        n, m, k = len(x), self.draws_for(len(x)), self.noise_dim
        rng = np.random.default_rng([self.seed, t + 1])
        rows = np.repeat(x, m, axis=0)
        drawn = self.simulate(t, rows, rng if k is None else noise_points(x, m, k, rng))
        drawn = _states(f"simulate at t={t}", drawn, *rows.shape)
        return mixture_of_draws(drawn.reshape(n, m, -1), self.bandwidth)

    def draws_for(self, n: int) -> int:
        """Number of draws for each of n particles."""
        return self.draws or max(MIN_DRAWS, SIMULATED_COMPONENTS // n)


def _states(where: str, x: Any, n: int, d: int | None = None) -> Array:
    """Validate n simulated states."""
    array = np.asarray(check_real_numbers(x, where), dtype=np.float64)
    if array.ndim != 2 or len(array) != n or array.shape[1] != (d or max(array.shape[1], 1)):
        raise ValueError(
            f"{where} must return shape ({n}, {d or 'd'}), one state per row, got {array.shape}"
        )
    return _checks.real_array(f"the states from {where}", array)


def noise_points(x: Array, m: int, k: int, rng: np.random.Generator) -> Array:
    """Return m points in (0, 1)^k for each row of ``x``, all of them from one scrambled net.

    Sorted by a first coordinate, every 2^b consecutive points of a Sobol net are a net of their
    own.  Rows get consecutive points in Hilbert order: what one particle's draws leave out, its
    neighbours' have (compare array-RQMC of L'Ecuyer, Lecot and Tuffin, 2008).
    """
    n = len(x)
    u = scrambled_sobol(1 << (n * m - 1).bit_length(), k + 1, rng)
    points = np.empty((n, m, k))
    points[hilbert_order(x)] = u[np.argsort(u[:, 0])[: n * m], 1:].reshape(n, m, k)
    return points.reshape(n * m, k)


def mixture_of_draws(x: Array, bandwidth: float) -> GaussianMixture:
    """Return the mixture of draws ``x`` (n, m, d), equally weighted."""
    n, m, d = x.shape
    if bandwidth == 0.0 or m == 1:
        return GaussianMixture(np.ones(n * m), x.reshape(-1, d), 0.0)
    mean = x.mean(axis=1, keepdims=True)
    off, h2 = x - mean, bandwidth**2
    covariances = h2 / m * np.einsum("nmi,nmj->nij", off, off)
    means = mean + (1.0 - h2) ** 0.5 * off
    return GaussianMixture(np.ones(n * m), means.reshape(-1, d), np.repeat(covariances, m, axis=0))


@dataclass(frozen=True)
class SimulatorModel(FunctionModel):
    """A model whose transition is simulated; see `from_simulator`."""

    sampled_prior: SampledPrior | None = None

    @property
    def simulated(self) -> SimulatedTransition:
        """The transition."""
        assert isinstance(self.transition_function, SimulatedTransition)
        return self.transition_function

    @property
    def is_timed(self) -> bool:
        """Whether ``simulate`` takes dt; see `skh.filtering.clock`."""
        return takes_dt(self.simulated.simulate)

    def over(self, dt: float) -> SimulatorModel:
        """The model of a step of length ``dt``."""
        simulate = over(self.simulated.simulate, dt)
        return replace(self, transition_function=replace(self.simulated, simulate=simulate))

    def prior(self) -> GaussianMixture:
        """The distribution of x_0, or draws from it."""
        return self.initial if self.sampled_prior is None else self.sampled_prior()

    @property
    def likelihood_only(self) -> FunctionModel:
        """What workers need; the prior may be a closure, which cannot be pickled."""
        return super(SimulatorModel, replace(self, sampled_prior=None)).likelihood_only

    def seeded(self, seed: int) -> SimulatorModel:
        """Return the model with other random numbers; filters call it at each step."""
        prior = self.sampled_prior
        return replace(
            self,
            transition_function=replace(self.simulated, seed=seed),
            sampled_prior=None if prior is None else replace(prior, seed=seed),
        )


def from_simulator(
    prior_sample: Sample | GaussianMixture | tuple[Any, Any],
    simulate: Callable[..., Any],
    log_likelihood: Callable[[int, Array, Any], Any],
    *,
    draws: int | None = None,
    prior_draws: int = SIMULATED_COMPONENTS,
    noise_dim: int | None = None,
    bandwidth: float = 0.0,
    batched: bool = True,
    observation_metric: Callable[[int, Array], Array] | None = None,
    observe: Callable[..., Any] | None = None,
    observation_cdf: Callable[..., Any] | None = None,
    state_names: Iterable[str] | None = None,
    executor: Executor | MakesExecutor | None = None,
    chunk: int = 1,
    timeout: float | None = None,
    retries: int = 0,
) -> SimulatorModel | ParallelModel:
    """Return a model whose transition can only be simulated.

    Random numbers follow from the random state of the filter: the same seed gives the same result.

    Parameters
    ----------
    prior_sample : f(n, rng) -> (n, d) array
        Draws n states x_0; or a GaussianMixture or (mean, covariance), as in
        `model_from_functions`.
    simulate : f(t, x, rng) -> (n, d) array
        Draws one x_{t+1} for each row of ``x`` (n, d) at t; the rows of ``x`` are repeated.  Or
        f(t, x, rng, dt), with the time since the observation before, for observations with times.
    log_likelihood : f(t, x, y) -> (n,) array
        As in `model_from_functions`; with ``batched=False`` one number for one state (d,).
    draws : int, optional
        Number of draws for each particle, by default 2,000 divided by the number of particles, but
        at least 8.
    prior_draws : int
        Number of draws from the prior.
    noise_dim : int, optional
        If the noise of a step is a function of k uniform numbers: ``simulate(t, x, u)`` is given
        those, an (n, k) array of low discrepancy in (0, 1), in place of ``rng``.
    bandwidth : float
        Share h of the spread of each particle's draws that is moved into each of them, in [0, 1].
        Zero keeps the states as they were simulated: counts remain integers.
    observation_metric, observe, observation_cdf, state_names : optional
        As in `model_from_functions`.
    executor, chunk, timeout, retries : optional
        Workers that evaluate the likelihood, as in `model_from_functions`.  Transitions are
        simulated here, all at once.

    Examples
    --------
    An infection that spreads to a random number of people each day, of whom a tenth is reported:

    >>> import skh
    >>> model = skh.from_simulator(
    ...     prior_sample=lambda n, rng: rng.poisson(20, (n, 1)),
    ...     simulate=lambda t, x, rng: x + rng.poisson(0.2 * x),
    ...     log_likelihood=lambda t, x, y: y * np.log(0.1 * x[:, 0] + 1) - 0.1 * x[:, 0],
    ... )
    >>> result = skh.particle_filter(model, [2, 3, 2, 5], n=20, rng=0)
    >>> bool((abs(result.means[:, 0] - [20, 24, 29, 36]) < 6).all())
    True
    """
    check_functions(simulate=simulate, log_likelihood=log_likelihood)
    options = checked_options(observation_metric, observe, observation_cdf)
    counts = _count("draws", draws), _count("noise_dim", noise_dim)
    _checks.positive_int("prior_draws", prior_draws)
    h = _checks.fraction("bandwidth", bandwidth)
    batched = _checks.boolean("batched", batched)
    initial, options["sampled_prior"] = _prior(prior_sample, prior_draws, h)
    options |= checked_state_names(state_names, initial.d)
    transition = SimulatedTransition(simulate, *counts, h)
    model = SimulatorModel(initial, transition, log_likelihood, batched, **options)
    return with_workers(model, executor, chunk, timeout, retries)


def _count(name: str, value: int | None) -> int | None:
    """Validate a positive integer, or None."""
    return None if value is None else _checks.positive_int(name, value)


def _prior(
    prior: Sample | GaussianMixture | tuple[Any, Any], draws: int, bandwidth: float
) -> tuple[GaussianMixture, SampledPrior | None]:
    """Return the prior as a mixture, and its draws if it can only be simulated."""
    if not callable(prior):
        if not isinstance(prior, GaussianMixture | tuple):
            raise TypeError(
                "prior_sample must be a function (n, rng) -> (n, d), a GaussianMixture or "
                f"(mean, covariance), got {prior!r}"
            )
        return as_prior(prior), None
    sampled = SampledPrior(prior, draws, bandwidth)
    return sampled(), sampled
