"""Priors of named parameters: frozen distributions of SciPy, or objects with logpdf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh._typing import Array
from skh.inference.bounds import Bounds, checked_bounds, checked_names


@dataclass(frozen=True, eq=False)
class Prior:
    """Independent priors of the parameters, as a density of their free coordinates."""

    laws: Mapping[str, Any]
    bounds: Bounds

    @classmethod
    def of(cls, prior: Any) -> Prior:
        """Validate ``prior``: a dict of objects with ``logpdf``; ``support`` gives their bounds."""
        names = checked_names("prior", prior)
        for name in names:
            if not callable(getattr(prior[name], "logpdf", None)):
                raise TypeError(
                    f"prior[{name!r}] must have a method logpdf, such as scipy.stats.norm(0, 1), "
                    f"got {prior[name]!r}"
                )
        supports = {name: _support(prior[name]) for name in names}
        return cls(dict(prior), checked_bounds(names, supports))

    def log_density(self, z: Array) -> float:
        """Return the log-density of free coordinates."""
        values = self.bounds.values(z)
        pairs = zip(self.bounds.names, values, strict=True)
        total = sum(float(self.laws[name].logpdf(value)) for name, value in pairs)
        with np.errstate(divide="ignore"):
            return total + float(np.log(np.abs(self.bounds.slopes(z))).sum())

    def start(self) -> dict[str, float]:
        """Return the medians of the priors."""
        lacking = [name for name, law in self.laws.items() if not hasattr(law, "median")]
        if lacking:
            raise ValueError(f"start must be given, for prior[{lacking[0]!r}] has no median")
        return {name: float(law.median()) for name, law in self.laws.items()}


def _support(law: Any) -> tuple[float, float]:
    """Return where a law has its mass, everywhere if it does not say."""
    support = getattr(law, "support", None)
    low, high = support() if callable(support) else (-np.inf, np.inf)
    return float(low), float(high)
