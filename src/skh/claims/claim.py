"""A claim, what was measured about it, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skh.claims.statistics import MissingError
from skh.experiments.record import Record

Number = float | int | str


@dataclass(frozen=True)
class Verdict:
    """What the records say: ``holds`` is None where they do not decide."""

    measured: str
    holds: bool | None
    statistics: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A sentence that records can support or refute."""

    name: str
    words: str  # the paper's; in brackets, a remark where the paper is silent
    check: Callable[[Sequence[Record]], Verdict]

    @property
    def quoted(self) -> bool:
        """Whether the words are the paper's."""
        return not self.words.startswith("(")


@dataclass(frozen=True)
class Judged:
    """A claim of an experiment with its verdict."""

    experiment: str
    claim: Claim
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """The verdict in a word or two."""
        return {True: "holds", False: "does not hold", None: "undecided"}[self.verdict.holds]


def judge(
    claims: Mapping[str, Iterable[Claim]], records: Mapping[str, Sequence[Record]]
) -> list[Judged]:
    """All claims of the experiments that have records; what they lack is said in the verdict."""
    return [
        Judged(name, claim, _verdict(claim, records[name]))
        for name, of_experiment in claims.items()
        if records.get(name)
        for claim in of_experiment
    ]


def _verdict(claim: Claim, records: Sequence[Record]) -> Verdict:
    try:
        return claim.check(records)
    except MissingError as missing:
        return Verdict(f"not enough records: {missing}", None)


def together(parts: Iterable[bool | None]) -> bool | None:
    """All must hold; one that fails decides, one that is open leaves it open."""
    parts = list(parts)
    if False in parts:
        return False
    return None if None in parts or not parts else True
