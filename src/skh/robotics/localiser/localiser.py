"""A localiser for streams: start anywhere, track with few points, notice being lost, recover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.belief import Belief
from skh.filtering.plans import Plan, plan_of
from skh.geometry.charted_states import states_of
from skh.geometry.charts import SE2
from skh.models.robot_sensors.grid_map import GridMap
from skh.robotics.controls import BodyStep
from skh.robotics.localiser.bins import Bins
from skh.robotics.localiser.clusters import Cluster, clusters_of
from skh.robotics.localiser.driven import Driven
from skh.robotics.localiser.lost import LostTest
from skh.robotics.localiser.search import Search
from skh.robotics.localiser.start import free_space
from skh.robotics.timeline import Thresholds
from skh.rules.base import Rule

WIDE = (1.0, 0.5)  # metres and radians: standard deviations of injected components
DECISIVE = 7.0  # lead in log-evidence that decides for the second hypothesis, 1 to 1,000
LEAD_MEMORY = 30  # updates that a lead is made of
SAME_PLACE = 1.0  # metres between two hypotheses that are one
SAME_HEADING = 0.5  # radians between them
STEPS_TO_DECIDE = 150  # updates after which a second hypothesis is dropped


@dataclass(frozen=True, eq=False)
class Fix:
    """Where the robot is after an update."""

    belief: Belief
    bins: Bins
    settled: bool  # one cluster is left
    lost: bool  # the observations fit badly: a second hypothesis is being searched for

    @property
    def poses(self) -> Array:
        """Poses (n, 3) of the particles."""
        return np.asarray(states_of(self.belief))

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """Hypotheses, the heaviest first."""
        return clusters_of(self.poses, self.belief.w, self.bins)

    @cached_property
    def mean(self) -> Array:
        """Mean pose (3,) of the whole belief."""
        return np.asarray(SE2().mean(self.poses, self.belief.w))

    @property
    def pose(self) -> Array:
        """Mean pose (3,) of the heaviest cluster."""
        return self.clusters[0].mean


class Localiser:
    """The pose of a robot on a map, from its odometry and a sensor, one update at a time.

    Parameters
    ----------
    grid : GridMap
    motion, sensor
        Such as `DifferentialDrive` and `LikelihoodFieldModel`.
    n : (least, most)
        Number of points: the most at a start anywhere, the least when one cluster is left.
    start : GaussianMixture or (pose, covariance)
        By default anywhere in the free space of the map.
    min_way, min_turn : float
        The sensor is used when the robot has moved by so many metres or turned by so many radians
        since it was used last; both zero: always.
    recover : bool
        Search the whole map for a second hypothesis whenever observations fit badly, and go on
        with the better of the two.
    injection : float
        Share of wide components in the predictive mixture, for slips of about a metre.
    rule : Rule or Plan
        For a settled belief, by default ``skh.default_plan()``.
    bins : Bins
        Boxes in which the size of a belief is measured, and its clusters.

    Examples
    --------
    >>> import skh
    >>> from skh.robotics import BeamModel, DifferentialDrive, Localiser
    >>> grid = skh.models.office()
    >>> angles = np.linspace(-np.pi, np.pi, 60, endpoint=False)
    >>> laser = BeamModel(grid, angles, max_range=20.0, power=0.2)
    >>> localiser = Localiser(grid, DifferentialDrive(*[0.02] * 4), laser, n=(50, 4000), rng=0)
    >>> rng, pose = np.random.default_rng(1), np.array([2.0, -3.0, 0.5])
    >>> for _ in range(8):
    ...     fix, pose_before = localiser.update(pose, laser.observe(pose, rng)), pose
    ...     pose = pose + [0.3 * np.cos(pose[2]), 0.3 * np.sin(pose[2]), 0.2]
    >>> fix.settled, len(fix.belief.x), bool(abs(fix.pose - pose_before).max() < 0.2)
    (True, 50, True)
    """

    def __init__(
        self,
        grid: GridMap,
        motion: Any,
        sensor: Any,
        *,
        n: tuple[int, int] = (50, 20_000),
        start: Any = None,
        min_way: float = 0.2,
        min_turn: float = 0.2,
        recover: bool = True,
        injection: float = 0.0,
        rule: Rule | Plan | None = None,
        bins: Bins | None = None,
        rng: RNG = None,
    ) -> None:
        if not isinstance(grid, GridMap):
            raise TypeError(f"grid must be a GridMap, got {grid!r}")
        self.grid, self.motion, self.sensor = grid, motion, sensor
        self._n, self._plan = _limits(n), None if rule is None else plan_of(rule)
        self._thresholds = Thresholds(min_way, min_turn)
        self._recover = _checks.boolean("recover", recover)
        self._injection = _checks.fraction("injection", injection)
        self._bins, self._rng = bins or Bins(), _checks.generator(rng)
        self._past_evaluations = 0
        self._last: Array | None = None  # pose of the odometry at the last use of the sensor
        self._begin(start)

    def _begin(self, start: Any) -> None:
        self._main = self._search(start)
        self._test, self._second, self._age, self._lead = LostTest(), None, 0, 0.0
        self.lost = False  # observations fit badly, and no second hypothesis has been found yet

    def _search(self, start: Any) -> Search:
        prior = free_space(self.grid, self._n[1], rng=self._rng) if start is None else start
        model = Driven(prior, self.motion, self.sensor, self._injection, WIDE)
        return Search(model, self._n, self._plan, self._bins, self._rng)

    _second: Search | None

    def restart(self, start: Any = None) -> None:
        """Forget where the robot is: start anew, by default anywhere."""
        self._past_evaluations = self.n_evaluations
        self._begin(start)

    @property
    def n(self) -> int:
        """Number of points of the next update."""
        return self._main.n

    @property
    def n_evaluations(self) -> int:
        """Likelihood evaluations so far."""
        second = 0 if self._second is None else self._second.n_evaluations
        return self._past_evaluations + self._main.n_evaluations + second

    def update(self, odometry: Sequence[float] | Array, y: Any) -> Fix | None:
        """Take the odometry's pose (x, y, heading) and a reading of the sensor at it.

        Return None if the robot has hardly moved since the last reading that was used.
        """
        pose = _checks.copied("odometry", odometry, 3)
        control = None
        if self._last is not None:
            if not self._thresholds.reached(pose - self._last, 0.0):
                return None
            control = BodyStep.between(self._last, pose)
        second = self._second
        before = self._main.log_evidence, 0.0 if second is None else second.log_evidence
        belief = self._main.step(control, y)
        self._last = pose
        if second is not None:
            second.step(control, y)
            self._compare(second, before)
        elif self._recover and self._main.settled and y is not None:
            self._watch(belief, y)
        assert self._main.belief is not None
        return Fix(self._main.belief, self._bins, self._main.settled, self.lost)

    def _watch(self, belief: Belief, y: Any) -> None:
        """Begin a search for a second hypothesis if observations fit badly."""
        if self._test.update(belief.log_evidence_increment):
            second = self._search(None)
            second.step(None, y)
            self._second, self._age, self.lost = second, 0, True
            self._lead = second.log_evidence - belief.log_evidence_increment

    def _compare(self, second: Search, before: tuple[float, float]) -> None:
        """Update the lead of the second hypothesis; go on with the better one, keep the other.

        The lead is the difference of log-evidence, in the last updates (`LEAD_MEMORY`): where a map
        is out of date, a wrong hypothesis may lead for a while.  That of a search of the whole map
        begins low, by the share of the map that fits: this is how improbable it is to be anywhere.
        """
        first, other = self._main.log_evidence - before[0], second.log_evidence - before[1]
        self._lead, self._age = (1 - 1 / LEAD_MEMORY) * self._lead + other - first, self._age + 1
        if self._lead > DECISIVE and second.resolved:
            self._main, self._second = second, self._main
            self._lead, self._age, self.lost = -self._lead, 0, False
            self._test = LostTest()
        elif self._age > STEPS_TO_DECIDE or self._same(second):
            self._past_evaluations += second.n_evaluations
            self._second, self.lost, self._test = None, False, LostTest()

    def _same(self, second: Search) -> bool:
        """Whether both are at the same place."""
        if not (second.settled and self._main.settled):
            return False
        a, b = (states_of(s.belief) for s in (self._main, second) if s.belief is not None)
        between = SE2().minus(SE2().mean(a), SE2().mean(b))
        return bool(np.hypot(*between[:2]) < SAME_PLACE and abs(between[2]) < SAME_HEADING)


def _limits(n: Any) -> tuple[int, int]:
    if not isinstance(n, tuple | list) or len(n) != 2:
        raise TypeError(f"n must be (least, most), such as (50, 20_000), got {n!r}")
    least, most = (_checks.positive_int("n", value) for value in n)
    if least > most:
        raise ValueError(f"n must be (least, most) in this order, got {n!r}")
    return least, most
