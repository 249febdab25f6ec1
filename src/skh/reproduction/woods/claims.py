"""Claims about Lost in the Woods."""

from __future__ import annotations

from skh.reproduction.robots.claims import claims_of
from skh.reproduction.woods.tasks import ALL

CLAIMS = claims_of("Lost in the Woods", ALL, rmse=0.03, nees=4.0, like=1.1)
