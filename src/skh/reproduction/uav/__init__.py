"""Section 4.3: the pose of a UAV from a camera, inertial sensors and a barometer."""

from skh.reproduction.entry import Entry
from skh.reproduction.uav.claims import CLAIMS
from skh.reproduction.uav.figures import pictures
from skh.reproduction.uav.tasks import Uav

EXPERIMENT = Entry(Uav, CLAIMS, pictures)
