"""Claims about Starry Night."""

from __future__ import annotations

from functools import partial

from skh.reproduction.claim import Claim
from skh.reproduction.robots.claims import claims_of, never_worse
from skh.reproduction.starry_night.tasks import KNOWN_MAP, NO_MAP

CLAIMS = claims_of("Starry Night", KNOWN_MAP, rmse=0.10, nees=10.0, like=1.25)
SLAM_CLAIMS = (
    Claim(
        "Starry Night, SLAM: the RMSE of the default is never above that of the PF",
        "(not in the paper: each particle maps the landmarks itself)",
        partial(never_worse, log=NO_MAP, rule="default", field="rmse"),
    ),
    Claim(
        "Starry Night, SLAM: the median NEES of the default is never above that of the PF",
        "(not in the paper)",
        partial(never_worse, log=NO_MAP, rule="default", field="nees"),
    ),
)
