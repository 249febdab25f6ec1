"""A real log: a robot in the plane that sees barcodes on known landmarks."""

from skh.reproduction.entry import Entry
from skh.reproduction.mrclam.claims import CLAIMS
from skh.reproduction.mrclam.figures import pictures
from skh.reproduction.mrclam.tasks import Mrclam
from skh.reproduction.robots.tables import tables

EXPERIMENT = Entry(Mrclam, CLAIMS, pictures, tables)
