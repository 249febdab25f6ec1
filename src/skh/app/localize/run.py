"""Filter a robot's log: the poses of all steps, with their covariances and particles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from skh._runtime.progress import Report, progress_bar
from skh._typing import Array
from skh.app.input_error import one_line
from skh.app.localize.setup import Setup, flat
from skh.app.run import RULES, StoppedRunError
from skh.filtering.belief import Belief
from skh.filtering.model_checks import ZeroLikelihoodError
from skh.filtering.result import FilterResult, summary
from skh.filtering.series import ResultBuilder, particle_filter
from skh.geometry.charted import Charted
from skh.geometry.charted_states import states_of
from skh.geometry.charts import SE2, SE3, Pose, in_space
from skh.robotics import Localiser, Localization, localization_model
from skh.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class LocalizeRun:
    """The result of a scenario."""

    setup: Setup
    result: FilterResult
    seconds: float

    @property
    def times(self) -> Array:
        """Times of the steps that were made."""
        return self.setup.timeline.times[: len(self.result.means)]

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """The belief of each step."""
        return self.result.history or ()

    @cached_property
    def poses(self) -> Pose:
        """Estimated poses in space, one row per step."""
        states = self.result.mean_states
        return states if isinstance(states, Pose) else in_space(states)

    @cached_property
    def planar(self) -> Array:
        """Estimated positions and headings (T, 3) in the plane of x and y."""
        states = self.result.mean_states
        return flat(states) if isinstance(states, Pose) else np.asarray(states)

    @cached_property
    def true_planar(self) -> Array | None:
        """True positions and headings (T, 3), NaN where unknown; None without a truth."""
        truth = self.setup.truth
        if truth is None:
            return None
        rows = flat(truth) if isinstance(truth, Pose) else np.asarray(truth)
        return rows[: len(self.times)]

    @property
    def trajectory(self) -> Trajectory:
        """The estimated trajectory."""
        return Trajectory.of(self.times, self.poses)

    @cached_property
    def covariances(self) -> Array:
        """Covariances (T, d, d) of the increments about the estimated poses."""
        chart: Any = SE3() if self.setup.in_space else SE2()
        return np.array([spread(chart, states_of(b), b.w) for b in self.beliefs])

    @cached_property
    def errors(self) -> Array | None:
        """Increments (T, d) from the estimates to the truth, NaN where unknown."""
        truth = self.setup.truth
        if truth is None:
            return None
        T = len(self.times)
        if isinstance(truth, Pose):
            true_poses = Pose(truth.position[:T], truth.rotation[:T])
            return np.asarray(SE3().minus(true_poses, self.result.mean_states))
        known = ~np.isnan(truth[:T]).any(axis=1)
        errors = np.full((T, 3), np.nan)
        errors[known] = SE2().minus(truth[:T][known], self.planar[known])
        return errors

    def planar_particles(self, t: int) -> tuple[Array, Array]:
        """Particles (n, 3) of a step in the plane, and their weights."""
        belief = self.beliefs[t]
        states = states_of(belief)
        return flat(states) if isinstance(states, Pose) else np.asarray(states), belief.w


def spread(chart: Any, states: Any, w: Array) -> Array:
    """Covariance (d, d) of weighted states about their mean."""
    increments = chart.minus(states, chart.mean(states, w))
    return np.asarray((w * increments.T) @ increments)


def localize(setup: Setup, progress: bool | Report = False) -> LocalizeRun:
    """Filter the log; an error at a step is a `StoppedRunError`."""
    begin = perf_counter()
    steps = _steps_from_anywhere if setup.prior is None else _steps_from_a_pose
    try:
        result = steps(setup, progress)
    except Exception as error:
        so_far = getattr(error, "result", None)
        message = _explained(setup, error, 0 if so_far is None else len(so_far.means))
        raise StoppedRunError(message, so_far, perf_counter() - begin) from error
    return LocalizeRun(setup, result, perf_counter() - begin)


def _steps_from_a_pose(setup: Setup, progress: bool | Report) -> FilterResult:
    choice, steps = setup.scenario.filter, setup.timeline
    model = localization_model(setup.prior, setup.motion, setup.sensor, steps.controls)
    return particle_filter(
        model,
        steps.observations,
        RULES[choice.rule],
        choice.n,
        rng=choice.seed,
        history=True,
        progress=progress,
        on_zero_likelihood=choice.on_zero_likelihood,  # type: ignore[arg-type] # it is checked
    )


def _steps_from_anywhere(setup: Setup, progress: bool | Report) -> FilterResult:
    """Many points at first, few when one cluster is left."""
    choice, steps = setup.scenario.filter, setup.timeline
    assert setup.grid is not None
    localiser = Localiser(
        setup.grid,
        setup.motion,
        setup.sensor,
        n=(choice.n, max(setup.scenario.start.n, choice.n)),
        min_way=0.0,
        min_turn=0.0,
        rule=RULES[choice.rule],
        rng=choice.seed,
    )
    builder = ResultBuilder(keeps_history=True)
    with progress_bar(progress, "filtering") as report:
        try:
            _update_all(localiser, steps, builder, report)
        except BaseException as error:
            error.result = builder.result()  # type: ignore[attr-defined] # steps are expensive
            raise
    result = builder.result()
    assert result is not None
    return result


def _update_all(
    localiser: Localiser, steps: Any, builder: ResultBuilder, report: Callable[..., None]
) -> None:
    chart = SE2()
    means = Charted(Localization(None, localiser.motion, localiser.sensor, []), chart)
    odometry, levels = np.zeros(3), np.empty(0)
    for t, y in enumerate(steps.observations):
        if t:
            odometry = _after(odometry, steps.controls[t - 1].pose)
        before = localiser.n_evaluations
        fix = localiser.update(odometry, y)
        assert fix is not None
        row = summary(fix.belief, levels, means.mean_state)
        made = localiser.n_evaluations - before  # by all parts of an observation, and searches
        row |= {"skipped": False, "n_likelihood_evaluations": made}
        builder.add(fix.belief, row)
        report(t + 1, len(steps))


def _after(pose: Array, step: Array) -> Array:
    """The pose after a step that is seen from it."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    x, y, turn = step
    moved = np.array([c * x - s * y, s * x + c * y, turn])
    return np.asarray(pose + moved)


def _explained(setup: Setup, error: Exception, t: int) -> str:
    """Say in one line what went wrong at a step, and when."""
    t = min(t, len(setup.timeline) - 1)
    place = f"{setup.scenario.log_path}: at t={t} ({setup.timeline.times[t]:.3f} s)"
    if isinstance(error, ZeroLikelihoodError):
        skip = 'on_zero_likelihood = "skip" goes on without such observations'
        return f"{place}: no particle explains this observation: all likelihoods are zero; {skip}"
    return f"{place}: {type(error).__name__}: {one_line(error)}"
