"""How near mixtures of Gaussians come to Student's t and Laplace's distribution.

    python benchmarks/scale_mixtures.py > benchmarks/tables/scale-mixtures.md  # seconds

Errors of the distribution function are the largest of 200,001 places, evenly spread in probability
and, in the tails, down to 1e-12.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from quoted import print_head
from scipy import stats

import skh

FAMILIES: dict[str, tuple[Any, Any]] = {
    f"t, {df} df" if df > 1 else "Cauchy": (partial(skh.student_t, df=df), stats.t(df))
    for df in (1, 2, 3, 5, 10)
} | {"Laplace": (skh.laplace, stats.laplace())}


def error(family: str, components: int) -> float:
    """The largest error of the distribution function."""
    approximate, exact = FAMILIES[family]
    p = approximate(np.zeros((1, 1)), 1.0, components=components)
    shares = np.concatenate([np.linspace(1e-5, 0.5, 190_001), np.geomspace(1e-12, 1e-5, 10_000)])
    x, deviations = exact.ppf(shares), np.sqrt(np.ravel(p.covariances))
    found = sum(w * stats.norm.cdf(x / sd) for w, sd in zip(p.weights, deviations, strict=True))
    return float(np.abs(found - shares).max())


def main() -> None:
    """Print the table."""
    print_head(Path(__file__).name)
    print(f"| | {' | '.join(FAMILIES)} |\n|{'---|' * (len(FAMILIES) + 1)}")
    for components in (5, 10, 20):
        cells = [f"{error(family, components):.0e}" for family in FAMILIES]
        first = "error of the distribution function, " if components == 5 else ""
        short = " | ".join(cell.replace("e-0", "e-") for cell in cells)
        print(f"| {first}{components} components | {short} |")


if __name__ == "__main__":
    main()
