"""A real log: the pose of a stereo camera, moved by hand over landmarks, in space."""

from skh.reproduction.entry import Entry
from skh.reproduction.robots.tables import tables
from skh.reproduction.starry_night.claims import CLAIMS, SLAM_CLAIMS
from skh.reproduction.starry_night.figures import pictures, slam_pictures
from skh.reproduction.starry_night.tasks import StarryNight, StarryNightSlam

EXPERIMENT = Entry(StarryNight, CLAIMS, pictures, tables)
SLAM = Entry(StarryNightSlam, SLAM_CLAIMS, slam_pictures, tables)
