"""A real log: the pose of a stereo camera, moved by hand over known landmarks, in space."""

from skh.reproduction.entry import Entry
from skh.reproduction.robots.tables import tables
from skh.reproduction.starry_night.claims import CLAIMS
from skh.reproduction.starry_night.figures import pictures
from skh.reproduction.starry_night.tasks import StarryNight

EXPERIMENT = Entry(StarryNight, CLAIMS, pictures, tables)
