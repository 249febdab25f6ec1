"""Claims, and verdicts on them from records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import MissingError, Ratio

Number = float | int | str


@dataclass(frozen=True)
class Verdict:
    """What was measured, and whether the claim holds; None if the records do not decide."""

    measured: str
    holds: bool | None
    statistics: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement that records can support or refute."""

    name: str
    words: str  # a quotation from the paper, or a remark in parentheses
    check: Callable[[Sequence[Record]], Verdict]

    @property
    def quoted(self) -> bool:
        """Whether the words are a quotation from the paper."""
        return not self.words.startswith("(")


@dataclass(frozen=True)
class Judged:
    """A claim about an experiment, with its verdict."""

    experiment: str
    claim: Claim
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """The verdict in a word or two."""
        return {True: "holds", False: "does not hold", None: "undecided"}[self.verdict.holds]


def judge(experiment: str, claims: Iterable[Claim], records: Sequence[Record]) -> list[Judged]:
    """Check all claims about an experiment; a verdict says which records are missing."""
    return [Judged(experiment, claim, _verdict(claim, records)) for claim in claims]


def _verdict(claim: Claim, records: Sequence[Record]) -> Verdict:
    try:
        return claim.check(records)
    except MissingError as missing:
        return Verdict(f"not enough records: {missing}", None)


def together(parts: Iterable[bool | None]) -> bool | None:
    """Combine verdicts: False if any is False, None if any is undecided or the list is empty."""
    parts = list(parts)
    if False in parts:
        return False
    return None if None in parts or not parts else True


def all_below_one(ratios: Iterable[Ratio]) -> bool | None:
    """Whether every ratio is significantly below one."""
    return together(ratio.below_one for ratio in ratios)


def listed(values: Mapping[str, object], pair: str = "{}: {}", separator: str = "; ") -> str:
    """Write names and values in one line."""
    return separator.join(pair.format(*item) for item in values.items())


def as_text(values: Mapping[str, object]) -> dict[str, Number]:
    """Convert the values to text, for the statistics of a verdict."""
    return {name: str(value) for name, value in values.items()}


def ratios_below_one(what: str, ratios: Mapping[str, Ratio], **style: str) -> Verdict:
    """A verdict that holds if every ratio is below one; ``style`` is that of `listed`."""
    text = f"{what}: {listed(ratios, **style)}"
    return Verdict(text, all_below_one(ratios.values()), as_text(ratios))
