"""Which filter to use: accuracy at equal likelihood evaluations, and the time that it takes.

A particle filter reaches the accuracy of the default with more particles: n (e_PF / e)^2 of them,
since its error falls as n^(-1/2).  What the default spends on placing its points is worth it if
those additional likelihoods cost more, that is if one likelihood costs more than ::

    c* = (o - o_PF(n_PF)) / (n_PF - n),

where o and o_PF are the seconds that a step takes beside the likelihoods.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from skh.app.trials import Cost, Measured, Reference

RATES = {"PF": (0.5, 0.5), "SQMC": (0.5, 1.0)}  # least and largest power of 1/n in the error
UNRESOLVED = 2.0  # errors below this many errors of the reference are not known


@dataclass(frozen=True)
class Line:
    """Seconds of a step as a function of the number of particles: a + b n."""

    a: float
    b: float

    @classmethod
    def through(cls, points: dict[int, float]) -> Line:
        """The line through the costs of the smallest and the largest size."""
        low, high = min(points), max(points)
        b = max((points[high] - points[low]) / max(high - low, 1), 0.0)
        return cls(max(points[low] - b * low, 0.0), b)

    def at(self, n: float) -> float:
        """Its value."""
        return self.a + self.b * n


@dataclass(frozen=True)
class Rival:
    """A method beside the default."""

    method: str
    n: float  # particles for the accuracy of the default
    rest: float  # seconds of a step with so many, beside the likelihoods
    break_even: float  # seconds of one likelihood above which the default is faster

    def seconds(self, cost: float) -> float:
        """Seconds of a step if a likelihood takes ``cost`` seconds."""
        return self.n * cost + self.rest


@dataclass(frozen=True)
class Comparison:
    """All that was measured, and what follows from it."""

    measured: tuple[Measured, ...]
    n: int
    reference_error: float
    cost: float  # seconds of one more likelihood
    rest: float  # of the default's step, beside the likelihoods
    rivals: tuple[Rival, ...]

    def error(self, method: str, n: int | None = None) -> float:
        """The error of a method."""
        return next(m.error for m in self.measured if (m.method, m.n) == (method, n or self.n))

    @property
    def resolved(self) -> bool:
        """Whether the error of the default is known."""
        return self.error("default") > UNRESOLVED * self.reference_error

    def seconds(self, cost: float) -> float:
        """Seconds of the default's step if a likelihood takes ``cost`` seconds."""
        return self.n * cost + self.rest

    @property
    def best(self) -> str:
        """The method that needs the least time for the accuracy of the default."""
        times = {rival.method: rival.seconds(self.cost) for rival in self.rivals}
        times["default"] = self.seconds(self.cost)
        return min(times, key=times.__getitem__)


def compared(measured: list[Measured], n: int, reference: Reference, large: Cost) -> Comparison:
    """Compare; ``large`` is the cost of the reference, for how costs grow with n."""
    own = {(m.method, m.n): m for m in measured}
    random = {m.n: m.cost for m in measured if m.method == "PF"} | {reference.n: large}
    cost = Line.through({size: c.likelihood for size, c in random.items()}).b
    overheads = Line.through({size: c.total - cost * size for size, c in random.items()})
    rest = max(own["default", n].cost.total - n * cost, 0.0)
    floor = max(own["default", n].error, reference.error)
    rivals = []
    for method in RATES:
        sizes = sorted(m.n for m in measured if m.method == method)
        errors = [own[method, size].error for size in sizes]
        needed = needed_particles(method, sizes, errors, n, floor)
        extra = max(own[method, n].cost.total - n * cost - overheads.at(n), 0.0) * needed / n
        rivals.append(_rival(method, n, needed, rest, overheads.at(needed) + extra))
    return Comparison(tuple(measured), n, reference.error, cost, rest, tuple(rivals))


def needed_particles(
    method: str, sizes: list[int], errors: list[float], n: int, goal: float
) -> float:
    """Particles for an error of ``goal``, by the rate at which the errors fell."""
    low, high = RATES[method]
    known = np.maximum(errors, 1e-300)
    fall = -np.polyfit(np.log(sizes), np.log(known), 1)[0] if len(sizes) > 1 else low
    rate = float(np.clip(fall, low, high))
    level = float(np.mean(np.log(known) + rate * np.log(sizes)))  # error = exp(level) n^-rate
    return float(np.exp((level - np.log(goal)) / rate)) if goal > 0 else inf


def _rival(method: str, n: int, needed: float, rest: float, others: float) -> Rival:
    """Compute the break-even: 0 if the default is always faster, inf if it never is."""
    if needed <= n:
        return Rival(method, needed, others, inf if rest >= others else 0.0)
    return Rival(method, needed, others, max((rest - others) / (needed - n), 0.0))


def in_words(c: Comparison) -> list[str]:
    """Say which filter to use, and why."""
    errors = ", ".join(f"{error_text(c, m)} ({m})" for m in ("default", "SQMC", "PF"))
    return [
        f"With {c.n} likelihoods per step the error of the filtered means is {errors}, in standard "
        "deviations of the state.",
        _needs(c),
        _break_even(c),
        _advice(c),
    ]


def error_text(c: Comparison, method: str) -> str:
    """The error of a method, or a bound if the reference is too coarse to say."""
    least = UNRESOLVED * c.reference_error
    return f"{c.error(method):.2g}" if c.error(method) > least else f"below {least:.2g}"


def _needs(c: Comparison) -> str:
    more = "" if c.resolved else " or more"
    parts = [f"{r.method} needs about {count(r.n)}{more}" for r in c.rivals[::-1]]
    return f"For the accuracy of {c.n} placed points, {' and '.join(parts)}."


def _break_even(c: Comparison) -> str:
    """Say from which cost of a likelihood on placing pays."""
    return (
        f"One likelihood takes {duration(c.cost)} here, and placing {c.n} points with all the rest "
        f"{duration(c.rest)} a step. At equal accuracy the default is faster "
        f"{' and '.join(_when(rival) for rival in c.rivals[::-1])}."
    )


def _when(rival: Rival) -> str:
    if rival.break_even == 0:
        return f"than {rival.method} in any case"
    if not isfinite(rival.break_even):
        return f"than {rival.method} in no case"
    return f"than {rival.method} if a likelihood takes more than {duration(rival.break_even)}"


def _advice(c: Comparison) -> str:
    if c.best == "default":
        slower = min(r.seconds(c.cost) for r in c.rivals) / c.seconds(c.cost)
        how = f"for the same accuracy the others take {ratio(slower)} times as long, or longer"
        return f"Use the default with n = {c.n}: {how}."
    rival = next(r for r in c.rivals if r.method == c.best)
    gain = c.seconds(c.cost) / rival.seconds(c.cost)
    if rival.n <= c.n:
        why = f"the default is not more accurate here, and takes {ratio(gain)} times as long"
        return f"Use {c.best}: {why}."
    faster = f"as accurate, and {ratio(gain)} times as fast, since the likelihood is cheap"
    few = "If evaluations must be few, use the default."
    return f"Use {c.best} with n = {count(rival.n)}: {faster}. {few}"


def count(n: float) -> str:
    """A number of particles with two digits."""
    digits = max(int(np.floor(np.log10(max(n, 1.0)))) - 1, 0)
    return f"{int(round(n, -digits)):,}" if isfinite(n) else "arbitrarily many"


def ratio(value: float) -> str:
    """A ratio with about two digits."""
    return f"{value:.1f}" if value < 10 else count(value)


def duration(seconds: float) -> str:
    """A time in a unit that suits it.

    >>> duration(0.00123), duration(2.5)
    ('1.2 ms', '2.5 s')
    """
    units = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
    unit, size = next((u for u in units if seconds >= u[1]), units[-1])
    value = seconds / size
    return f"{value:.2g} {unit}" if value < 99.5 else f"{value:.0f} {unit}"
