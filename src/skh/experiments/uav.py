"""Section 4.3: the pose of a UAV from a camera, inertial sensors and a barometer.

A flight is simulated (the paper's data are not public) and filtered by every rule with few
particles, and several times by a particle filter with very many, whose mean is the reference.  One
task is one run of all rules, or one run of the reference; errors are worked out from the positions
in the records, so that no task waits for another.  A third kind of task measures single steps (see
`one_step`), whose errors do not mix with those of the past.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import nan
from time import process_time  # a long run in the background may be held up
from typing import ClassVar

import numpy as np

from skh._typing import RNG, Array
from skh.experiments.one_step import one_step_errors
from skh.experiments.record import Record
from skh.experiments.rules import FILTERS, STEPS
from skh.experiments.task import Task, data_seed
from skh.experiments.whitened import Whitened
from skh.filtering.belief import Belief
from skh.filtering.particle_filter import ParticleFilter
from skh.frank_wolfe.default import default_rule
from skh.frank_wolfe.fw_quad import FWQuad
from skh.gaussians.mixture import GaussianMixture
from skh.geometry import Charted
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.models.uav_navigation import Flight, survey_flight
from skh.rules.base import Rule, WeightedPoints
from skh.rules.matched import Matched
from skh.rules.smoothed import Smoothed

REFERENCE, STEP = "reference", "one-step"


@dataclass(frozen=True)
class Uav:
    """Simulated flights of 100 s; the rules, N, M, runs and references of the paper.

    The variances of the kernels are in units of each mixture's spread, in which the paper's 10 and
    0.1 have no meaning.  These were chosen by single steps on another flight: with one variance
    alone, 1 to 3 were best for both; several at once are best for the fully corrective rule.
    """

    name: ClassVar[str] = "uav"
    alone: ClassVar[bool] = False

    flights: int = 5
    n: tuple[int, ...] = (50, 100, 200)
    runs: int = 10
    T: int = 2_000
    moments: int = 20  # at which the position is kept
    search_points: int = 10_000
    sigma2_fw: tuple[float, ...] = (1.0,)
    sigma2_fcfw: tuple[float, ...] = (0.3, 1.0, 3.0, 10.0)
    reference_particles: int = 100_000
    reference_runs: tuple[int, ...] = (10, 2)  # on the first flight, on each of the others

    @classmethod
    def quick(cls) -> Uav:
        """Two flights of 10 s, with a reference of 5,000 particles."""
        return cls(
            flights=2,
            n=(50, 100),
            runs=2,
            T=200,
            moments=10,
            search_points=2_000,
            reference_particles=5_000,
            reference_runs=(3, 2),
        )

    def tasks(self) -> list[Task]:
        """The first run of everything, then the second: at any moment a smaller experiment."""
        most = max(self.runs, *self.reference_runs)
        return [task for run in range(most) for task in self._tasks_of(run)]

    def _tasks_of(self, run: int) -> Iterator[Task]:
        for flight in range(self.flights):
            if run < self.reference_runs[min(flight, 1)]:
                cost = 0.1 * self.reference_particles  # measured, as that of the rules
                yield Task(self.name, (REFERENCE, flight), run, cost=cost)
            if run == 0:
                yield Task(self.name, (STEP, flight), run, cost=sum(self.n))
            if run < self.runs:
                for n in self.n:
                    yield Task(self.name, (flight, n), run, cost=n * self.search_points**0.5)

    def work(self, task: Task) -> Iterator[Record]:
        """One run of all rules, or of the reference, or single steps of all rules."""
        kind, last = task.cell
        flight = int(kind if isinstance(kind, int) else last)
        data = simulated(self.T, data_seed(self.name, f"flight-{flight}", 0))
        start = Record(
            experiment=self.name,
            model=f"flight-{flight}",
            rule=REFERENCE,
            n=self.reference_particles,
            batch=task.batch,
            seed=task.seed,
        )
        if kind == REFERENCE:
            yield from flown(start, FILTERS["PF"], data, self.moments)
        elif kind == STEP:
            yield from self._single_steps(replace(start, model=STEP, batch=flight), data)
        else:
            for name, rule in self.rules().items():
                yield from flown(self._named(start, name, int(last)), rule, data, self.moments)

    def _named(self, start: Record, name: str, n: int) -> Record:
        """The record of a rule, with what there is to say about its kernel."""
        record = replace(start, rule=name, n=n)
        variances = {"SKH-FW": self.sigma2_fw, "SKH-FCFW": self.sigma2_fcfw}.get(name)
        if variances is None:
            return record
        sigma2 = variances[0] if len(variances) == 1 else nan
        return replace(record, sigma2=sigma2, m=self.search_points)

    def _single_steps(self, start: Record, data: Flight) -> Iterator[Record]:
        """The errors of all rules in single steps, by numbers of particles."""
        model, rules = PoseOnly(data.model.model, data.model.chart), self.rules()
        at = set(np.linspace(0, self.T - 1, self.moments + 1)[1:].round().astype(int).tolist())
        for n in self.n:
            found = one_step_errors(
                *(model, data.observations, rules, n, at, self.reference_particles, start.seed)
            )
            for name, error in found.items():
                yield replace(self._named(start, name, n), rmse=error)

    def rules(self) -> dict[str, Rule]:
        """The paper's rules, Frank-Wolfe in units of the mixture's spread, and three of ours."""
        M = self.search_points
        return {
            **FILTERS,
            "SKH-FW": Whitened(FWQuad(GaussianKernel(self.sigma2_fw), STEPS["FW"], M)),
            "SKH-FCFW": Whitened(FWQuad(GaussianKernel(self.sigma2_fcfw), STEPS["FCFW"], M)),
            "default": default_rule(),
            "smoothed PF": Smoothed(Matched(FILTERS["PF"])),
            "smoothed": Smoothed(Matched(default_rule())),
        }


@lru_cache(maxsize=8)
def simulated(T: int, seed: int) -> Flight:
    """A flight along the given path."""
    return survey_flight(T, rng=seed)


@dataclass
class Timed:
    """The points of ``rule``, and how long it took."""

    rule: Rule
    seconds: float = 0.0

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> WeightedPoints:
        """The points of the rule."""
        start = process_time()
        points = self.rule(p, n, rng=rng)
        self.seconds += process_time() - start
        return points


class PoseOnly(Charted):
    """The model without moments of velocities and biases, which take as long as a likelihood."""

    hidden_moments = None


@dataclass(frozen=True, eq=False)
class Flown:
    """What a filter made of a flight."""

    positions: Array  # (T, 3)
    ess: Array
    mmd: Array
    n_particles: Array
    seconds: float
    rule_seconds: float


def beliefs(flight: Flight, rule: Rule, n: int, seed: int) -> Iterator[Belief]:
    """What a filter knows at each step of a flight."""
    model = PoseOnly(flight.model.model, flight.model.chart)
    pf = ParticleFilter(model, rule, n, rng=seed)
    for y in flight.observations:
        yield pf.step(y)


def filtered(flight: Flight, rule: Rule, n: int, seed: int) -> Flown:
    """Run a filter over a flight; its particles are forgotten step by step."""
    timed, rows = Timed(rule), []
    begin = process_time()
    for belief in beliefs(flight, timed, n, seed):
        rows.append((*belief.mean[:3], belief.ess, belief.mmd, belief.n_particles))
    seconds = process_time() - begin
    columns = np.array(rows)
    ess, mmd, n_particles = columns[:, 3:].T
    return Flown(columns[:, :3], ess, mmd, n_particles, seconds, timed.seconds)


def flown(start: Record, rule: Rule, flight: Flight, moments: int) -> Iterator[Record]:
    """One record for a whole run, and one for each of some moments of it."""
    filtered(replace(flight, observations=flight.observations[:2]), rule, 5, 0)
    result = filtered(flight, rule, start.n, start.seed)
    T, dt = len(result.positions), flight.parameters.dt
    errors = np.linalg.norm(result.positions - flight.poses.position, axis=1)
    record = replace(start, steps=T)
    for moment in np.linspace(0, T, moments + 1)[1:].round().astype(int):
        x, y, z = (float(value) for value in result.positions[moment - 1])
        at = replace(record, time=float(moment * dt), x=x, y=y, z=z)
        yield replace(at, rmse=float(errors[moment - 1]))
    yield replace(
        at,
        time=start.time,
        rmse=float(np.sqrt(np.mean(errors**2))),
        ess=float(result.ess.mean()),
        mmd=float(result.mmd.mean()),
        n_particles=float(result.n_particles.mean()),
        likelihood_evaluations=int(result.n_particles.sum()),
        seconds=result.seconds,
        rule_seconds=result.rule_seconds,
    )
