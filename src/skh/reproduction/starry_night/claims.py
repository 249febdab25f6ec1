"""Claims about Starry Night."""

from __future__ import annotations

from functools import partial
from typing import Any

from skh.reproduction.claim import Claim
from skh.reproduction.robots.claims import at_most, few_like_many, never_worse
from skh.reproduction.starry_night.tasks import KNOWN_MAP

DEFAULT: dict[str, Any] = {"log": KNOWN_MAP, "rule": "default"}
CLAIMS = (
    Claim(
        "Starry Night: 50 placed particles, RMSE of at most 0.10 m",
        "(not in the paper: a real log of poses in space; random particles have 0.3 m)",
        partial(at_most, **DEFAULT, field="rmse", n=50, limit=0.10),
    ),
    Claim(
        "Starry Night: 50 placed particles, median NEES of at most 10",
        "(not in the paper: the spread of the particles is that of the errors)",
        partial(at_most, **DEFAULT, field="nees", n=50, limit=10.0),
    ),
    Claim(
        "Starry Night: 50 placed particles are as accurate as 50,000 random ones",
        "(not in the paper)",
        partial(few_like_many, **DEFAULT, field="rmse", n=50, limit=1.25),
    ),
    Claim(
        "Starry Night: the default is never worse than the PF",
        "(not in the paper: at equal numbers of particles)",
        partial(never_worse, **DEFAULT, field="rmse"),
    ),
)
