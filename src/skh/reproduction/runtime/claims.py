"""Claims of the paragraph "Runtimes"."""

from __future__ import annotations

from collections.abc import Sequence

from skh.reproduction.claim import Claim, Number, Verdict, listed, together
from skh.reproduction.engine.record import Record
from skh.reproduction.runtime.break_even import Curve, break_even_cost, curves, targets
from skh.reproduction.runtime.tasks import PLACING, STREAMING
from skh.reproduction.statistics import Fit, MissingError, fit, medians, select

# Seconds per time step of the paper's Matlab implementation, M = 10,000, (rule, N).
MATLAB = {("FW", 50): 0.15, ("FW", 100): 0.3, ("FCFW", 50): 0.3, ("FCFW", 100): 1.0}
UAV_LIKELIHOOD = 0.2 / 50  # seconds per particle in the paper's flight data
STRAIGHT = 0.97  # the R^2 above which a relation counts as linear
NOISE = 0.15  # tolerance of a measured exponent


def growth(records: Sequence[Record], rule: str, by: str) -> Fit:
    """The growth of the time of one placement with n or m."""
    m = 10_000 if by == "n" else tuple({r.m for r in records})
    n = 100 if by == "m" else tuple({r.n for r in records})
    return fit(medians(select(records, model=PLACING, rule=rule, m=m, n=n), "seconds", by))


def _linear(found: Fit, what: str) -> Verdict:
    holds = found.r2 > STRAIGHT and found.slope < 1 + NOISE
    return Verdict(f"{what}: {found}", holds, {"exponent": found.slope, "R2 of a line": found.r2})


def fw_linear_in_n(records: Sequence[Record]) -> Verdict:
    """The time of FW against N, with M = 10,000 and K = N."""
    return _linear(growth(records, "FW", "n"), "time of FW against N at M=10,000")


def fw_linear_in_m(records: Sequence[Record]) -> Verdict:
    """The time of FW against M, with N = 100."""
    return _linear(growth(records, "FW", "m"), "time of FW against M at N=100")


def linear_in_t(records: Sequence[Record]) -> Verdict:
    """The time of SKH-FW against T on the nonlinear benchmark."""
    cell = select(records, model=STREAMING)
    return _linear(fit(medians(cell, "seconds", "steps")), "time of SKH-FW against T")


def fcfw_quadratic(records: Sequence[Record]) -> Verdict:
    """The time of FCFW against N, with M = 10,000 and K = N."""
    found = growth(records, "FCFW", "n")
    statistics: dict[str, Number] = {"exponent": found.slope, "stderr": found.stderr}
    text = f"time of FCFW against N at M=10,000: exponent {found.slope:.2f} ± {found.stderr:.2f}"
    return Verdict(text, found.slope < 2 + NOISE, statistics)


def beside_matlab(records: Sequence[Record]) -> Verdict:
    """Times of one placement, with d = 6 and M = 10,000, and those of the paper."""
    cell = select(records, model=PLACING, m=10_000)
    ours = {
        (rule, n): seconds
        for rule in ("FW", "FCFW")
        for n, seconds in medians(select(cell, rule=rule), "seconds").items()
        if n in (50, 100, 200)
    }
    known = [key for key in ours if key in MATLAB]
    text = "; ".join(
        f"{rule} N={n}: {1e3 * s:.1f} ms (Matlab {_matlab(rule, n)})"
        for (rule, n), s in ours.items()
    )
    holds = all(ours[key] < MATLAB[key] for key in known) if known else None
    statistics = {f"{rule} N={n}, seconds": s for (rule, n), s in ours.items()}
    return Verdict(f"one placement, d=6: {text}", holds, statistics)


def _matlab(rule: str, n: int) -> str:
    return f"{1e3 * MATLAB[rule, n]:.0f} ms" if (rule, n) in MATLAB else "not given"


def overhead_in_particles(records: Sequence[Record]) -> Verdict:
    """The time of placing 50 points, in likelihood evaluations of the flight data."""
    cell = select(records, model=PLACING, m=10_000, rule="FW", n=50)
    particles = 50 + medians(cell, "seconds")[50] / UAV_LIKELIHOOD
    return Verdict(
        f"at the paper's 4 ms per likelihood, SKH-FW with 50 particles takes the time of a PF "
        f"with {particles:.1f}",
        particles <= 90,
        {"particles": particles},
    )


def placing_pays(records: Sequence[Record]) -> Verdict:
    """The cost of a likelihood above which SKH reaches the same error sooner than PF and SQMC."""
    rules = {curve.rule: curve for curve in curves(records)}
    if missing := {"PF", "SQMC", "SKH-FW", "SKH-FCFW"} - set(rules):
        raise MissingError(f"no filters with {', '.join(sorted(missing))}")
    found: dict[str, Number] = {}
    parts = []
    for n, rmse in targets(records):
        for ours in ("SKH-FW", "SKH-FCFW"):
            for other in ("PF", "SQMC"):
                holds, text = _pays(rules[other], rules[ours], rmse)
                found[f"{ours} before {other}, error of a PF with {n}"] = text
                parts += [holds] if other == "PF" else []
    return Verdict(f"cost of one likelihood evaluation: {listed(found)}", together(parts), found)


def _pays(cheap: Curve, placing: Curve, rmse: float) -> tuple[bool | None, str]:
    """Whether placing ever pays, and from which cost on; None if the error is not reached."""
    if placing.needed(rmse) is None:
        return None, f"not reached with N ≤ {placing.n[-1]:.0f}"
    cost = break_even_cost(cheap, placing, rmse)
    return (False, "never") if cost is None else (True, f"from {1e6 * cost:.3g} µs")


CLAIMS = (
    Claim(
        "FW costs linear in N",
        "the FW-Quad algorithm scales as O(NM) ... when using FW (we also empirically observed "
        "this linear scaling in N)",
        fw_linear_in_n,
    ),
    Claim("FW costs linear in M", "scales as O(NM) when using FW", fw_linear_in_m),
    Claim("FCFW costs at most quadratic in N", "FCFW scales as O(N²M)", fcfw_quadratic),
    Claim(
        "SKH costs linear in T",
        "SKH scales linearly with the number of time steps T (as a standard PF)",
        linear_in_t,
    ),
    Claim(
        "Faster than the paper's Matlab implementation",
        "with N=50 about 0.15 s per time step for FW and 0.3 s for FCFW; 0.3 s for FW and 1.0 s "
        "for FCFW for N=100 (M=10,000)",
        beside_matlab,
    ),
    Claim(
        "SKH-FW with 50 particles costs no more than a PF with about 90",
        "SKH-FW can be run here with 50 particles in the same time as the standard PF is run with "
        "about 90 particles",
        overhead_in_particles,
    ),
    Claim(
        "From some cost of a likelihood on, placing wins in accuracy per second",
        "the gain in runtime depends on the exact implementation as well as the likelihood "
        "evaluation cost",
        placing_pays,
    ),
)
