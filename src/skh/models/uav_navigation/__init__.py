"""UAV navigation (section 4.3 of the paper): model, simulated flights, diagnostics."""

from skh.models.uav_navigation.flight import Flight, drawn_flight, survey_flight, survey_path, uav
from skh.models.uav_navigation.model import UavModel
from skh.models.uav_navigation.observation import Observation
from skh.models.uav_navigation.parameters import Parameters, Start
from skh.models.uav_navigation.sensor_diagnostics import diagnostics

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
