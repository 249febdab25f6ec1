"""Beyond the paper: the default rule against all others on eight models."""

from skh.reproduction.default.claims import CLAIMS
from skh.reproduction.default.figures import pictures
from skh.reproduction.default.tasks import Default
from skh.reproduction.entry import Entry

EXPERIMENT = Entry(Default, CLAIMS, pictures)
