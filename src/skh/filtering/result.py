"""The result of a filter run: `FilterResult`, a row for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skh import _checks
from skh._typing import RNG, Array, Indices
from skh.filtering.belief import Belief, Seconds
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.numerical_error import ErrorEstimate
from skh.filtering.observations import as_iterable
from skh.filtering.plans import Look
from skh.views.result_views import ResultViews

if TYPE_CHECKING:
    from skh.filtering.residuals import Residuals
    from skh.inference.smoothing_result import SmoothingResult


@dataclass(frozen=True, eq=False, repr=False)
class FilterResult(ResultViews):
    """Result of `particle_filter` on T observations.

    - ``means`` (T, d), ``covariances`` (T, d, d), ``quantiles`` (T, len(quantiles), d): of x
    - ``log_evidence_increments`` (T,): estimates of log p(y_t | y_{0:t-1})
    - ``ess``, ``n_particles`` (T,): effective sample sizes and numbers of particles
    - ``mmd`` (T,): quadrature errors, NaN if the rule does not compute them
    - ``n_likelihood_evaluations`` (T,): zero where nothing was observed
    - ``looks``: T tuples with a `Look` for each look of a plan; empty for a plain rule
    - ``n_looks`` (T,): how often each step asked for likelihoods: once, for a plain rule
    - ``seconds``: what each step's time was spent on, ``.rule``, ``.likelihood``, ``.rest`` (T,)
    - ``z_means`` (T, n_z), ``joint_covariances`` (T, d + n_z, d + n_z) of (x, z): for models with a
      hidden part z, else None
    - ``mean_states`` (T, ...): for `skh.geometry.Charted` models (a `Pose` for `SE3`), else None
    - ``times`` (T,): when the observations were made, numbers or dates; None if not given
    - ``skipped`` (T,): observations left out because their likelihood was zero at all particles
    - ``history``: the `Belief` of each step with ``history=True``, else None
    - ``quantile_levels``: the levels of ``quantiles``
    - ``state_names``: the model's names of the coordinates, else None
    - ``attributes``: model, rule, n, seed, versions and date, as strings and numbers
    - ``error_estimate``: what `numerical_error` returns, None if it was not asked for

    With random rules the estimate of the evidence is unbiased.  With `FWQuad`, whose points are
    optimised, it is usually much closer but biased, and can be far off if the kernel variance is
    too small.  For charted models, moments, quantiles and `trajectories` are coordinates, each in
    the chart of its step; ``mean_states`` and `skh.geometry.paths_of` are states.
    """

    means: Array
    covariances: Array
    log_evidence_increments: Array
    ess: Array
    mmd: Array
    n_particles: NDArray[np.intp]
    n_likelihood_evaluations: NDArray[np.intp]
    quantiles: Array
    z_means: Array | None = None
    joint_covariances: Array | None = None
    mean_states: Any = None
    history: tuple[Belief, ...] | None = None
    looks: tuple[tuple[Look, ...], ...] = ()
    n_looks: NDArray[np.intp] | None = None
    seconds: Seconds | None = None
    quantile_levels: tuple[float, ...] = ()
    state_names: tuple[str, ...] | None = None
    attributes: Mapping[str, str | int | float] = field(default_factory=dict)
    times: NDArray[Any] | None = None
    skipped: NDArray[np.bool_] | None = None
    error_estimate: ErrorEstimate | None = None

    @property
    def z_covariances(self) -> Array | None:
        """Filtered covariances of z, (T, n_z, n_z)."""
        d = self.means.shape[1]
        return None if self.joint_covariances is None else self.joint_covariances[:, d:, d:]

    @property
    def log_evidence(self) -> float:
        """Estimate of log p(y_{0:T-1}): the sum of the increments."""
        return float(self.log_evidence_increments.sum())

    @property
    def numerical_error(self) -> ErrorEstimate:
        """How far means and log-evidence are off because particles are few, as estimated.

        Needs ``particle_filter(..., numerical_error=True)``, which runs a second filter with twice
        as many particles, or ``accuracy=``.  See docs/numerical_error.md.
        """
        if self.error_estimate is None:
            raise ValueError(
                "this result has no numerical_error, which takes a second run: call "
                "particle_filter(..., numerical_error=True), or accuracy=0.05"
            )
        return self.error_estimate

    def pit(
        self, model: Model | CarryingModel, ys: Iterable[Any], *, draws: int = 1000, rng: RNG = None
    ) -> Residuals:
        """Return the residuals of the observations ``ys`` of this run of ``model``; see `skh.pit`.

        Needs ``history=True``.
        """
        from skh.filtering.residuals import pit_of_history

        return pit_of_history(self.history, model, ys, draws=draws, rng=rng)

    def smooth(
        self,
        model: Model | CarryingModel,
        ys: Iterable[Any] | None = None,
        *,
        regularize: bool = True,
        prune: float = 0.0,
        paths: int | None = None,
        rng: RNG = None,
    ) -> SmoothingResult:
        """Return the states given all observations: means, covariances, quantiles, paths.

        Needs ``history=True`` and the ``model`` of this run, whose transition densities are
        evaluated at all pairs of particles of neighbouring steps.  Pairs with a backward weight
        below ``prune`` are left out; the result says how many and what they had.  Where transitions
        are narrower than the spacing of the particles, these are moved: ``regularize=False`` only
        weighs them.  `RaoBlackwellized` models are smoothed by ``paths`` drawn at random (default
        10 n), and if the observations ``ys`` are given by a Kalman smoother along each of them.
        See docs/smoothing.md.
        """
        from skh.inference.smoothing import smooth_history

        options: dict[str, Any] = {"regularize": regularize, "prune": prune}
        return smooth_history(
            self.history, model, used(ys, self.skipped), paths=paths, rng=rng, **options
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, which `skh.load_result` reads; ``numpy.load`` opens it too.

        An earlier file is replaced as a whole or not at all, whatever happens.
        """
        from skh.filtering.result_files import save_result

        save_result(self, path)

    def trajectories(self) -> tuple[Array, Array]:
        """Return the paths x_{0:T-1} to the last particles, ``(n, T, d)``, and their weights.

        Needs ``history=True``; the further back, the fewer distinct points.  Ancestors displaced by
        `skh.Smoothed` keep their original x.  For charted models see `skh.geometry.paths_of`.
        """
        path = trace_ancestors(self.history)
        return np.stack([belief.x[line] for belief, line in path], axis=1), path[-1][0].w


def used(ys: Iterable[Any] | None, skipped: NDArray[np.bool_] | None) -> list[Any] | None:
    """Return the observations, None for those that were skipped."""
    if ys is None:
        return None
    kept = list(as_iterable(ys))
    if skipped is not None and len(skipped) == len(kept):
        kept = [None if skip else y for y, skip in zip(kept, skipped, strict=True)]
    return kept


def trace_ancestors(history: tuple[Belief, ...] | None) -> list[tuple[Belief, Indices]]:
    """Return each belief with the indices of the last particles' ancestors in it."""
    if history is None:
        raise ValueError("trajectories need particle_filter(..., history=True)")
    path, line = [], np.arange(history[-1].n_particles)
    for belief in reversed(history):
        path.append((belief, line))
        line = belief.ancestor[line]
    return path[::-1]


def quantile_levels(quantiles: ArrayLike) -> Array:
    """Validate quantile levels: a vector of numbers in [0, 1]."""
    levels = np.atleast_1d(_checks.real_array("quantiles", quantiles))
    if levels.ndim != 1 or ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"quantiles must be numbers in [0, 1], got {quantiles!r}")
    return levels


MeanState = Callable[[Belief], Any]  # for models whose states are not vectors


def summary(
    belief: Belief, quantiles: Array, mean_state: MeanState | None = None
) -> dict[str, Any]:
    """Return a belief's row of each field of a `FilterResult`."""
    levels = belief.quantile(quantiles) if len(quantiles) else np.empty((0, belief.x.shape[1]))
    hidden = belief.z and {"z_means": belief.z_mean, "joint_covariances": belief.joint_moments[1]}
    return {
        **(hidden or {}),
        **({"mean_states": mean_state(belief)} if mean_state else {}),
        "means": belief.mean,
        "covariances": belief.covariance,
        "log_evidence_increments": belief.log_evidence_increment,
        "ess": belief.ess,
        "mmd": belief.mmd,
        "n_particles": belief.n_particles,
        "n_likelihood_evaluations": belief.n_likelihood_evaluations,
        "quantiles": levels,
        "n_looks": belief.n_looks,
        "seconds": belief.seconds,
    }


def stack_fields(
    values: Sequence[Any], axis: int = 0, join: Callable[..., Array] = np.stack
) -> Any:
    """Stack arrays along a new axis, or ``join`` them; tuples and dicts part by part."""
    first = values[0]
    if isinstance(first, dict):
        return {name: stack_fields([value[name] for value in values], axis, join) for name in first}
    if not isinstance(first, tuple):
        return join(values, axis)
    parts = [stack_fields(part, axis, join) for part in zip(*values, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
