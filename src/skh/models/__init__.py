"""State-space models of the paper and a few more, each a `Model` that can also simulate data.

`exact_filters` has the Kalman and the exact jump-Markov filter, `robot_sensors` robots with precise
sensors, `rendering` a camera whose images are rendered from a map, `uav_navigation` the UAV with
its compiled kernels.  Imports `filtering` and `geometry`.
"""

from skh.models.beacon_localisation import Localisation, localisation
from skh.models.bearings import BearingsOnly, bearings_only
from skh.models.benchmark import NonlinearBenchmark, nonlinear_benchmark
from skh.models.count_series import Counts, counts
from skh.models.jump_markov import JumpMarkov, jmls
from skh.models.linear_gaussian import LinearGaussian, lgss3, lgss15
from skh.models.lorenz import Lorenz63, lorenz63
from skh.models.rendering import (
    InverseDepthCamera,
    RenderedFlight,
    ResidualFlight,
    TellingFlight,
)
from skh.models.robot_sensors import (
    DepthCamera,
    FieldMap,
    GridMap,
    LaserBeams,
    LikelihoodField,
    Radar,
    RangeBearing,
    ResidualRangeBearing,
    depth_camera,
    field_map,
    laser_beams,
    likelihood_field,
    office,
    radar,
    range_bearing,
)
from skh.models.uav_navigation import Flight, drawn_flight, survey_flight, uav
from skh.models.uav_navigation import Observation as UavObservation
from skh.models.uav_navigation import Parameters as UavParameters
from skh.models.uav_navigation import Start as UavStart
from skh.models.uav_navigation import diagnostics as uav_diagnostics
from skh.models.volatility import StochasticVolatility, stochastic_volatility

__all__ = [
    "BearingsOnly",
    "Counts",
    "DepthCamera",
    "FieldMap",
    "Flight",
    "GridMap",
    "InverseDepthCamera",
    "JumpMarkov",
    "LaserBeams",
    "LikelihoodField",
    "LinearGaussian",
    "Localisation",
    "Lorenz63",
    "NonlinearBenchmark",
    "Radar",
    "RangeBearing",
    "RenderedFlight",
    "ResidualFlight",
    "ResidualRangeBearing",
    "StochasticVolatility",
    "TellingFlight",
    "UavObservation",
    "UavParameters",
    "UavStart",
    "bearings_only",
    "counts",
    "depth_camera",
    "drawn_flight",
    "field_map",
    "jmls",
    "laser_beams",
    "lgss3",
    "lgss15",
    "likelihood_field",
    "localisation",
    "lorenz63",
    "nonlinear_benchmark",
    "office",
    "radar",
    "range_bearing",
    "stochastic_volatility",
    "survey_flight",
    "uav",
    "uav_diagnostics",
]
