"""The demo: the default rule and four others on the nonlinear benchmark."""

from skh.reproduction.demo.figures import pictures
from skh.reproduction.demo.tasks import Demo
from skh.reproduction.entry import Entry

EXPERIMENT = Entry(Demo, claims=(), pictures=pictures)
