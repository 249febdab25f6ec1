"""Claims of section 4.1 and appendix C.1."""

from __future__ import annotations

from collections.abc import Sequence

from skh._typing import Array
from skh.claims.claim import Claim, Verdict, together
from skh.claims.statistics import Ratio, difference, log_ratios, ratio, remark, select
from skh.experiments.record import Record

SETTINGS = (("K=100, d=2", 1.0), ("K=20, d=2", 1.0), ("K=100, d=5", 1.0), ("K=100, d=5", 100.0))
OTHERS = ("MC", "Sobol", "Hilbert-Sobol", "FW", "FW-LS")
ABOUT_EQUAL = 1.25  # within a quarter


def _setting(model: str, sigma2: float) -> str:
    return f"{model}, σ²={sigma2:g}"


def fcfw_is_best(records: Sequence[Record]) -> Verdict:
    """FCFW against the best of all others in each setting."""
    parts, worst = [], {}
    every: list[Ratio] = []
    for model, sigma2 in SETTINGS:
        cell = select(records, model=model, sigma2=sigma2)
        fcfw = select(cell, rule="FCFW")
        ratios = {name: ratio(fcfw, select(cell, rule=name), "mmd") for name in OTHERS}
        name = max(ratios, key=lambda name: ratios[name].mean)
        worst[_setting(model, sigma2)] = f"{ratios[name]} of {name}"
        parts += [r.below_one for r in ratios.values()]
        every += ratios.values()
    text = "; ".join(f"{setting}: {text}" for setting, text in worst.items())
    text = f"MMD of FCFW relative to the next best: {text}{remark(every)}"
    return Verdict(text, together(parts), worst)


def line_search_is_the_same(records: Sequence[Record]) -> Verdict:
    """FW-LS relative to FW."""
    ratios = {}
    for model, sigma2 in SETTINGS:
        cell = select(records, model=model, sigma2=sigma2)
        pair = select(cell, rule="FW-LS"), select(cell, rule="FW")
        ratios[_setting(model, sigma2)] = ratio(*pair, "mmd")
    holds = all(1 / ABOUT_EQUAL < r.mean < ABOUT_EQUAL for r in ratios.values())
    text = "; ".join(f"{setting}: {r}" for setting, r in ratios.items())
    return Verdict(
        f"MMD of FW-LS relative to FW: {text}", holds, {k: str(r) for k, r in ratios.items()}
    )


def qmc_suffers_from_k(records: Sequence[Record]) -> Verdict:
    """The gain of Sobol over MC at K = 20 and K = 100, and that of FW and FCFW."""
    gains = {}
    for name in ("Sobol", "FW", "FCFW"):
        few, many = (_gain(records, f"K={K}, d=2", name) for K in (20, 100))
        gains[name] = difference(many, few)
    sobol = gains["Sobol"]
    spared = all(gains[name].mean > sobol.mean for name in ("FW", "FCFW"))
    text = ", ".join(f"{name} {g}" for name, g in gains.items())
    return Verdict(
        f"gain over MC in MMD at K=100 relative to K=20 (d=2): {text}",
        together([sobol.below_one, spared]),
        {name: str(g) for name, g in gains.items()},
    )


def _gain(records: Sequence[Record], model: str, rule: str, sigma2: float = 1.0) -> Array:
    """Log of MMD(MC) / MMD(rule), one number per batch."""
    cell = select(records, model=model, sigma2=sigma2)
    return log_ratios(select(cell, rule="MC"), select(cell, rule=rule), "mmd")


def differences_taper(records: Sequence[Record]) -> Verdict:
    """The gain of FW and FCFW over MC at d = 5 relative to d = 2, sigma^2 = 1."""
    gains = {
        name: difference(*(_gain(records, f"K=100, d={d}", name) for d in (5, 2)))
        for name in ("FW", "FCFW")
    }
    text = ", ".join(f"{name} {g}" for name, g in gains.items())
    return Verdict(
        f"gain over MC in MMD at d=5 relative to d=2 (K=100, σ²=1): {text}",
        together(g.below_one for g in gains.values()),
        {name: str(g) for name, g in gains.items()},
    )


def wide_kernel_helps(records: Sequence[Record]) -> Verdict:
    """The same mixtures in d = 5 with sigma^2 = 100 and 1: the error on the mean."""
    cell = select(records, model="K=100, d=5")
    ratios = {
        name: ratio(
            select(cell, rule=name, sigma2=100.0), select(cell, rule=name, sigma2=1.0), "rmse"
        )
        for name in ("FW", "FCFW")
    }
    text = ", ".join(f"{name} {r}" for name, r in ratios.items())
    return Verdict(
        f"error on the mean with σ²=100 relative to σ²=1 (d=5): {text}",
        together(r.below_one for r in ratios.values()),
        {name: str(r) for name, r in ratios.items()},
    )


CLAIMS = (
    Claim("FCFW is best in MMD in all four settings", "FCFW always performs best", fcfw_is_best),
    Claim(
        "FW-LS about equals FW", "The FW-LS results are identical to FW", line_search_is_the_same
    ),
    Claim(
        "The advantage of QMC over MC shrinks as K grows",
        "The improvement of QMC over MC decreases as the number of mixture components K increase. "
        "FW and FCFW are not affected by K as much",
        qmc_suffers_from_k,
    ),
    Claim(
        "In more dimensions the methods differ less",
        "As d increases, the difference between the methods tapers off for a fixed σ²",
        differences_taper,
    ),
    Claim(
        "A larger σ² helps FW and FCFW in d = 5",
        "increasing σ² gives better results for FW and FCFW; using a higher σ² helps "
        "significantly in higher dimension",
        wide_kernel_helps,
    ),
)
