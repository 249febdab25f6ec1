"""State-space models of the paper and a few more, each a `Model` that can also simulate data.

`exact_filters` has the Kalman and the exact jump-Markov filter, `uav_navigation` the UAV with its
compiled kernels.  Imports `filtering` and `geometry`.
"""

from skh.models.beacon_localisation import Localisation, localisation
from skh.models.bearings import BearingsOnly, bearings_only
from skh.models.benchmark import NonlinearBenchmark, nonlinear_benchmark
from skh.models.jump_markov import JumpMarkov, jmls
from skh.models.linear_gaussian import LinearGaussian, lgss3, lgss15
from skh.models.lorenz import Lorenz63, lorenz63
from skh.models.uav_navigation import Flight, drawn_flight, survey_flight, uav
from skh.models.uav_navigation import Observation as UavObservation
from skh.models.uav_navigation import Parameters as UavParameters
from skh.models.uav_navigation import Start as UavStart
from skh.models.uav_navigation import diagnostics as uav_diagnostics
from skh.models.volatility import StochasticVolatility, stochastic_volatility

__all__ = [
    "BearingsOnly",
    "Flight",
    "JumpMarkov",
    "LinearGaussian",
    "Localisation",
    "Lorenz63",
    "NonlinearBenchmark",
    "StochasticVolatility",
    "UavObservation",
    "UavParameters",
    "UavStart",
    "bearings_only",
    "drawn_flight",
    "jmls",
    "lgss3",
    "lgss15",
    "localisation",
    "lorenz63",
    "nonlinear_benchmark",
    "stochastic_volatility",
    "survey_flight",
    "uav",
    "uav_diagnostics",
]
