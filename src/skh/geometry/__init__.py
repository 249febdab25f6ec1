"""Rotations, poses and charts: filtering of states with orientations in R^d.

`rotation` and `charts` are geometry alone, `charted` makes a model on a manifold one in R^d.
Imports `filtering` and what it imports.
"""

from skh.geometry import rotation
from skh.geometry.charted import Charted
from skh.geometry.charted_records import ChartedCarry
from skh.geometry.charted_states import paths_of, reference_of, states_of
from skh.geometry.charts import SE2, SE3, Angles, Chart, Pose, in_space, wrap

__all__ = [
    "SE2",
    "SE3",
    "Angles",
    "Chart",
    "Charted",
    "ChartedCarry",
    "Pose",
    "in_space",
    "paths_of",
    "reference_of",
    "rotation",
    "states_of",
    "wrap",
]
