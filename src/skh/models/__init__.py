"""The models of the paper's section 4.2, each a `Model` that can also simulate data."""

from skh.models.benchmark import NonlinearBenchmark, nonlinear_benchmark
from skh.models.jump_markov import JumpMarkov, jmls
from skh.models.linear_gaussian import LinearGaussian, lgss3, lgss15
from skh.models.uav import Flight, drawn_flight, survey_flight, uav
from skh.models.uav import Observation as UavObservation
from skh.models.uav import Parameters as UavParameters
from skh.models.uav import diagnostics as uav_diagnostics

__all__ = [
    "Flight",
    "JumpMarkov",
    "LinearGaussian",
    "NonlinearBenchmark",
    "UavObservation",
    "UavParameters",
    "drawn_flight",
    "jmls",
    "lgss3",
    "lgss15",
    "nonlinear_benchmark",
    "survey_flight",
    "uav",
    "uav_diagnostics",
]
