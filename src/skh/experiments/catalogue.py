"""All experiments, by the names that the command knows.  Add yours here."""

from __future__ import annotations

from skh.experiments.default import Default
from skh.experiments.mixture import Mixture
from skh.experiments.runtime import Runtime
from skh.experiments.search_points import SearchPoints
from skh.experiments.synthetic import Synthetic
from skh.experiments.task import Experiment
from skh.experiments.uav import Uav

# Short ones first, so that an interrupted run of all has some results complete.
KINDS = (Mixture, SearchPoints, Runtime, Synthetic, Default, Uav)


def catalogue(quick: bool) -> dict[str, Experiment]:
    """Every experiment at its quick or its full size."""
    experiments: tuple[Experiment, ...] = tuple(kind.quick() if quick else kind() for kind in KINDS)
    return {experiment.name: experiment for experiment in experiments}
