"""Tasks of the study: filters at equal numbers of evaluations, many random particles, times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skh.filtering.plans import Plan
from skh.filtering.second_look import SecondLook
from skh.frank_wolfe.default import default_rule
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Task
from skh.reproduction.rules import FILTERS
from skh.reproduction.second_look.cases import BROAD, CASES, FLOORS, SHARP, Data, data_of
from skh.reproduction.second_look.one_step import picture_records
from skh.reproduction.second_look.runs import Run
from skh.rules.base import Rule

LOOKS, PLAIN, AGAIN = "second look", "default", "default, other seed"
GUIDED, NOT_GUIDED = "guided steps", "steps not guided"
DEFAULT_AT = "default rule at "  # the same steps by the default rule
RULES: dict[str, Rule | Plan] = {
    "PF": FILTERS["PF"],
    "SQMC": FILTERS["SQMC"],
    PLAIN: default_rule(),
    LOOKS: SecondLook(),
}
BOOTSTRAP, TIMES, ONE_STEP = "bootstrap", "times", "one-step"
# Seconds of a data set, measured; the reference takes most of them.
RELATIVE_COST = {"radar": 12.0, "depth": 11.0, "laser": 9.0, "likelihood-field": 7.0}
RELATIVE_COST |= {"lorenz63": 7.0, "field-map": 6.0, "bearings": 6.0, "localisation": 6.0}
RELATIVE_COST |= {"range-bearing-pose": 5.0, "outliers": 4.0, "outliers-told": 4.0}


@dataclass(frozen=True)
class SecondLookStudy:
    """A second look, the default rule, SQMC and a particle filter on twenty models, one told more.

    Kinds of tasks: all rules and sizes on one data set of a model (``batches`` data sets); random
    particles up to a million on few (``bootstrap_batches``); times of guided and of ordinary steps,
    relative to those of the default rule taken in turn with them; and the points of one step.
    """

    name: ClassVar[str] = "second-look"
    alone: ClassVar[bool] = False

    models: tuple[str, ...] = tuple(CASES)
    n: tuple[int, ...] = (20, 50, 100)
    batches: int = 30
    T: int = 40  # some models have fewer steps
    bootstrap: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    bootstrap_batches: int = 3
    timed: tuple[str, ...] = ("lgss3", "range-bearing", "volatility", "lorenz63")
    timed_batches: int = 3

    @classmethod
    def quick(cls) -> SecondLookStudy:
        """Few models of each kind on short data."""
        return cls(
            models=("lgss3", "range-bearing", "outliers", "volatility", "counts"),
            n=(20, 50),
            batches=3,
            T=6,
            bootstrap=(1_000, 10_000),
            bootstrap_batches=2,
            timed=("range-bearing", "volatility"),
            timed_batches=2,
        )

    def tasks(self) -> list[Task]:
        """All models on the first data set, then on the second, ...; random particles last."""
        found = [Task(self.name, ("range-bearing", ONE_STEP), 0, cost=2.0)]
        for b in range(self.batches):
            found += [Task(self.name, (m,), b, cost=_cost(m)) for m in self.models]
            if b < self.timed_batches:
                found += [Task(self.name, (m, TIMES), b, cost=3.0) for m in self.timed]
        sharp = [m for m in self.models if m in SHARP or (m in FLOORS and not CASES[m].plain)]
        for b in range(self.bootstrap_batches):
            found += [Task(self.name, (m, BOOTSTRAP), b, cost=30.0) for m in sharp]
        return found

    def work(self, task: Task) -> Iterator[Record]:
        """Run one task."""
        model, kind = str(task.cell[0]), task.cell[-1]
        start = task.record(model=model, n=0)
        data = data_of(model, task.batch, self.T)
        if kind == ONE_STEP:
            n, t = max(n for n in self.n if n <= 50), min(5, len(data.ys) - 1)
            yield from picture_records(replace(start, n=n), SecondLook(), data, t)
        elif kind == TIMES:
            yield from self._times(start, data)
        elif kind == BOOTSTRAP:
            for n in self.bootstrap:
                if n <= data.case.most_particles:
                    yield filtered(replace(start, rule=BOOTSTRAP, n=n), RULES["PF"], data)
        else:
            if len(data.runs) > 1:
                yield reference(start, data)
            yield from self._all_rules(start, data)

    def _all_rules(self, start: Record, data: Data) -> Iterator[Record]:
        """Every rule on the same data from the same seed; the default from another one, too."""
        for n in self.n:
            for name, rule in RULES.items():
                given = data if name == LOOKS else data.plain
                yield filtered(replace(start, rule=name, n=n), rule, given)
            if start.model in BROAD:
                again = replace(start, rule=AGAIN, n=n)
                yield filtered(again, RULES[PLAIN], data, other_seed=1)

    def _times(self, start: Record, data: Data) -> Iterator[Record]:
        for n in self.n:
            yield from times(replace(start, n=n), data)


def _cost(model: str) -> float:
    return RELATIVE_COST.get(model, 2.0)


def reference(start: Record, data: Data) -> Record:
    """The standard error of the reference itself."""
    return replace(
        start,
        rule="reference",
        steps=len(data.ys),
        rmse=data.means_error,
        log_evidence_error=data.evidence_error,
    )


def filtered(start: Record, rule: Rule | Plan, data: Data, *, other_seed: int = 0) -> Record:
    """Run a filter once."""
    run = Run(data.model, rule, start.n, start.seed + other_seed).through(data.ys)
    return replace(
        start,
        steps=len(data.ys),
        rmse=data.rmse(np.array(run.means)),
        log_evidence_error=run.log_evidence - data.log_evidence,
        ess=float(np.mean(run.ess)),
        likelihood_evaluations=run.evaluations,
        guided=float(np.mean(run.guided)),
        seconds=sum(run.seconds),
        rule_seconds=sum(run.own_seconds),
    )


def times(start: Record, data: Data) -> Iterator[Record]:
    """Seconds of a step without its likelihood, of two filters that take turns.

    Guided steps are compared with the same steps of the default rule, and so are the others: the
    first step of a series, for one, has a single component and costs less than later ones.
    """
    runs = {name: Run(data.model, RULES[name], start.n, start.seed) for name in (PLAIN, LOOKS)}
    for y in data.ys:
        for run in runs.values():
            run.step(y)
    plain, looks = (np.array(run.own_seconds) for run in runs.values())
    guided = np.array(runs[LOOKS].guided)
    for kind, chosen in ((GUIDED, guided), (NOT_GUIDED, ~guided)):
        if chosen.any():
            of_kind = replace(start, rule=kind, steps=int(chosen.sum()))
            yield replace(of_kind, rule_seconds=float(np.median(looks[chosen])))
            same_steps = float(np.median(plain[chosen]))
            yield replace(of_kind, rule=DEFAULT_AT + kind, rule_seconds=same_steps)
