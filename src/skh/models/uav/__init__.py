"""The UAV of section 4.3: model, simulated flights, diagnostics; one idea per file."""

from skh.models.uav.diagnostics import diagnostics
from skh.models.uav.flight import Flight, drawn_flight, survey_flight, survey_path, uav
from skh.models.uav.model import UavModel
from skh.models.uav.observation import Observation
from skh.models.uav.parameters import Parameters, Start

__all__ = [
    "Flight",
    "Observation",
    "Parameters",
    "Start",
    "UavModel",
    "diagnostics",
    "drawn_flight",
    "survey_flight",
    "survey_path",
    "uav",
]
