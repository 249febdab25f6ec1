"""Motion models by name: poses after a control, with the covariance of their errors."""

from skh.robotics.motion.planar import (
    DeadReckoning,
    DifferentialDrive,
    OmniDrive,
    VelocityMotion,
)
from skh.robotics.motion.preintegration import preintegrate, preintegrate_rates
from skh.robotics.motion.spatial import ImuRates, PoseReckoning

__all__ = [
    "DeadReckoning",
    "DifferentialDrive",
    "ImuRates",
    "OmniDrive",
    "PoseReckoning",
    "VelocityMotion",
    "preintegrate",
    "preintegrate_rates",
]
