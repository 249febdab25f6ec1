"""Beyond the paper: a second look against one look, at equal numbers of likelihood evaluations."""

from skh.reproduction.entry import Entry
from skh.reproduction.second_look.claims import CLAIMS
from skh.reproduction.second_look.figures import pictures
from skh.reproduction.second_look.tasks import SecondLookStudy

EXPERIMENT = Entry(SecondLookStudy, CLAIMS, pictures)
