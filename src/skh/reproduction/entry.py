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
    tables: Callable[[Sequence[Record]], str] | None = None  # Markdown, written beside the figures

    @property
    def name(self) -> str:
        """The name of the experiment on the command line and in its records."""
        return self.kind.name

    def missing(self) -> str:
        """Say which data the experiment needs and does not find; empty if it can run."""
        missing: Callable[[], str] | None = getattr(self.kind, "missing", None)
        return missing() if missing else ""

    def experiment(self, *, quick: bool) -> Experiment:
        """Configure the experiment at its quick or its full size."""
        return self.kind.quick() if quick else self.kind()
