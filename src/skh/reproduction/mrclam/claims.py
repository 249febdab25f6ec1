"""Claims about MRCLAM 7 robot 1."""

from __future__ import annotations

from skh.reproduction.mrclam.tasks import ROBOT
from skh.reproduction.robots.claims import claims_of

CLAIMS = claims_of("MRCLAM 7 robot 1", ROBOT, rmse=0.155, nees=2.0, like=1.25)
