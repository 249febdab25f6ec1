"""Appendix B: the number and the kind of the search points."""

from skh.reproduction.entry import Entry
from skh.reproduction.search_points.claims import CLAIMS
from skh.reproduction.search_points.figures import pictures
from skh.reproduction.search_points.tasks import SearchPoints

EXPERIMENT = Entry(SearchPoints, CLAIMS, pictures)
