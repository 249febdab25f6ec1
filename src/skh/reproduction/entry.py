"""What an experiment contributes to the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skh.reproduction.claim import Claim
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.task import Experiment
from skh.reproduction.style import Picture


@dataclass(frozen=True)
class Entry:
    """An experiment with the claims that its records decide and the figures that show them."""

    kind: type[Experiment]
    claims: tuple[Claim, ...]
    pictures: Callable[[Sequence[Record]], list[Picture]]

    @property
    def name(self) -> str:
        """The name of the experiment on the command line and in its records."""
        return self.kind.name

    def experiment(self, *, quick: bool) -> Experiment:
        """Configure the experiment at its quick or its full size."""
        return self.kind.quick() if quick else self.kind()
