"""A real log: a robot in the plane that sees tubes by a laser."""

from skh.reproduction.entry import Entry
from skh.reproduction.robots.tables import tables
from skh.reproduction.woods.claims import CLAIMS
from skh.reproduction.woods.figures import pictures
from skh.reproduction.woods.tasks import Woods

EXPERIMENT = Entry(Woods, CLAIMS, pictures, tables)
