"""Claims of section 4.1 and appendix C.1."""

from __future__ import annotations

from collections.abc import Sequence

from skh._typing import Array
from skh.reproduction.claim import (
    Claim,
    Verdict,
    as_text,
    listed,
    ratios_below_one,
    together,
)
from skh.reproduction.engine.record import Record
from skh.reproduction.statistics import Ratio, difference, log_ratios, ratio, remark, select

SETTINGS = (("K=100, d=2", 1.0), ("K=20, d=2", 1.0), ("K=100, d=5", 1.0), ("K=100, d=5", 100.0))
OTHERS = ("MC", "Sobol", "Hilbert-Sobol", "FW", "FW-LS")
ABOUT_EQUAL = 1.25  # a factor
IN_A_ROW = {"pair": "{} {}", "separator": ", "}  # how the ratios of a few rules are listed


def _cells(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each setting."""
    return {
        f"{model}, σ²={sigma2:g}": select(records, model=model, sigma2=sigma2)
        for model, sigma2 in SETTINGS
    }


def fcfw_is_best(records: Sequence[Record]) -> Verdict:
    """Compare FCFW with all other rules in each setting."""
    worst, every = {}, list[Ratio]()
    for setting, cell in _cells(records).items():
        fcfw = select(cell, rule="FCFW")
        ratios = {name: ratio(fcfw, select(cell, rule=name), "mmd") for name in OTHERS}
        name = max(ratios, key=lambda name: ratios[name].mean)
        worst[setting] = f"{ratios[name]} of {name}"
        every += ratios.values()
    text = f"MMD of FCFW relative to the next best: {listed(worst)}{remark(every)}"
    return Verdict(text, together(r.below_one for r in every), worst)


def line_search_is_the_same(records: Sequence[Record]) -> Verdict:
    """Compare FW-LS with FW."""
    ratios = {
        setting: ratio(select(cell, rule="FW-LS"), select(cell, rule="FW"), "mmd")
        for setting, cell in _cells(records).items()
    }
    holds = all(1 / ABOUT_EQUAL < r.mean < ABOUT_EQUAL for r in ratios.values())
    return Verdict(f"MMD of FW-LS relative to FW: {listed(ratios)}", holds, as_text(ratios))


def qmc_suffers_from_k(records: Sequence[Record]) -> Verdict:
    """Compare the gains of Sobol, FW and FCFW over MC at K = 100 with those at K = 20."""
    gains = {}
    for name in ("Sobol", "FW", "FCFW"):
        few, many = (_gain(records, f"K={K}, d=2", name) for K in (20, 100))
        gains[name] = difference(many, few)
    sobol = gains["Sobol"]
    spared = all(gains[name].mean > sobol.mean for name in ("FW", "FCFW"))
    text = "gain over MC in MMD at K=100 relative to K=20 (d=2)"
    holds = together([sobol.below_one, spared])
    return Verdict(f"{text}: {listed(gains, **IN_A_ROW)}", holds, as_text(gains))


def _gain(records: Sequence[Record], model: str, rule: str) -> Array:
    """Log of MMD(MC) / MMD(rule) for each batch, at sigma^2 = 1."""
    cell = select(records, model=model, sigma2=1.0)
    return log_ratios(select(cell, rule="MC"), select(cell, rule=rule), "mmd")


def differences_taper(records: Sequence[Record]) -> Verdict:
    """Compare the gains of FW and FCFW over MC at d = 5 with those at d = 2, sigma^2 = 1."""
    gains = {
        name: difference(*(_gain(records, f"K=100, d={d}", name) for d in (5, 2)))
        for name in ("FW", "FCFW")
    }
    what = "gain over MC in MMD at d=5 relative to d=2 (K=100, σ²=1)"
    return ratios_below_one(what, gains, **IN_A_ROW)


def wide_kernel_helps(records: Sequence[Record]) -> Verdict:
    """Compare the error of the mean with sigma^2 = 100 and 1, for d = 5."""
    cell = select(records, model="K=100, d=5")
    ratios = {
        name: ratio(
            select(cell, rule=name, sigma2=100.0), select(cell, rule=name, sigma2=1.0), "rmse"
        )
        for name in ("FW", "FCFW")
    }
    what = "error on the mean with σ²=100 relative to σ²=1 (d=5)"
    return ratios_below_one(what, ratios, **IN_A_ROW)


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
