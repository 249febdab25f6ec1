"""The logs of Wean Hall: odometry and a laser in corridors, on an occupancy grid.

Data of S. Thrun's robots at Carnegie Mellon University, as given to courses there.  There is no
true path: estimates are compared with filters of very many particles.  A scan is used when the
robot has moved by 0.2 m or turned by 0.2 rad.

The beams of a scan are not independent, and neither are scans: furniture that is not on the map
deceives many of them.  So 45 beams count as 4.5 (``power``): then the right pose keeps some
per cent of the belief from the first scan on when it starts anywhere, found on log 1.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from skh._typing import Array
from skh.models.robot_sensors.grid_map import GridMap
from skh.reproduction.robots.log import Log
from skh.robotics.localization import localization_model
from skh.robotics.log_timelines import timeline_of
from skh.robotics.logs.carmen import CarmenLog, read_carmen_log
from skh.robotics.logs.data_sets import data_file
from skh.robotics.maps import read_map
from skh.robotics.motion.planar import DifferentialDrive
from skh.robotics.sensors.laser import LikelihoodFieldModel
from skh.robotics.timeline import Timeline

FOLDER = "wean_hall"
MAP_FILE = f"{FOLDER}/wean.dat.gz"
FILES = {
    "log 1": f"{FOLDER}/robotdata1.log.gz",
    "log 3": f"{FOLDER}/robotdata3.log.gz",
}
# Poses at the start, from starts anywhere whose settled end was traced back.
STARTS = {"log 1": (40.0, 41.33, -1.67), "log 3": (39.84, 41.54, -1.75)}
START_DEVIATIONS = (0.3, 0.3, 0.15)
THRESHOLD = 0.2  # metres, and radians
DRIVE = DifferentialDrive(alpha1=0.01, alpha2=0.01, alpha3=0.02, alpha4=0.01)


@lru_cache(maxsize=1)
def grid() -> GridMap:
    """The map, cells of 0.1 m."""
    return read_map(data_file(*MAP_FILE.split("/")))


@lru_cache(maxsize=4)
def read(name: str) -> CarmenLog:
    """One of the logs."""
    return read_carmen_log(data_file(*FILES[name].split("/")))


def sensor(log: CarmenLog) -> LikelihoodFieldModel:
    """The laser's model."""
    return LikelihoodFieldModel(
        grid(),
        log.scans.angles,
        max_range=8.0,
        z_hit=0.9,
        z_rand=0.1,
        sigma_hit=0.25,
        max_beams=45,
        power=0.1,
        mount=log.scans.mount,
    )


@lru_cache(maxsize=4)
def timeline(name: str, steps: int) -> Timeline:
    """The scans that are used, and the steps between them."""
    return timeline_of(read(name), min_way=THRESHOLD, min_turn=THRESHOLD).first(steps)


@lru_cache(maxsize=4)
def tracked(name: str, steps: int) -> Log:
    """A log with the pose at its start given."""
    seen = timeline(name, steps)
    start = np.array(STARTS[name]), np.diag(START_DEVIATIONS) ** 2
    model = localization_model(start, DRIVE, sensor(read(name)), seen.controls)
    return Log(model, seen.observations, seen.times)


def odometry(name: str, steps: int) -> Array:
    """Poses (T, 3) by odometry at the steps of the timeline."""
    scans = read(name).scans
    assert scans.odometry is not None
    rows = np.searchsorted(scans.times, timeline(name, steps).times)
    return np.asarray(scans.odometry.poses[rows])
