"""The paragraph "Runtimes": the time that placing points takes, and when it pays."""

from skh.reproduction.entry import Entry
from skh.reproduction.runtime.claims import CLAIMS
from skh.reproduction.runtime.figures import pictures
from skh.reproduction.runtime.tasks import Runtime

EXPERIMENT = Entry(Runtime, CLAIMS, pictures)
