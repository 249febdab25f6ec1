"""Claims about Starry Night."""

from __future__ import annotations

from skh.reproduction.robots.claims import claims_of
from skh.reproduction.starry_night.tasks import KNOWN_MAP

CLAIMS = claims_of("Starry Night", KNOWN_MAP, rmse=0.10, nees=10.0, like=1.25)
