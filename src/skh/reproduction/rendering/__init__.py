"""Beyond the paper: a likelihood of milliseconds, images rendered for each particle in SE(3)."""

from skh.reproduction.entry import Entry
from skh.reproduction.rendering.claims import CLAIMS
from skh.reproduction.rendering.figures import pictures
from skh.reproduction.rendering.tasks import Rendering
from skh.reproduction.robots.tables import tables

EXPERIMENT = Entry(Rendering, CLAIMS, pictures, tables)
