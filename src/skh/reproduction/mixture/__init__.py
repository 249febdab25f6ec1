"""Section 4.1 and appendix C.1: n weighted points for a mixture of Gaussians."""

from skh.reproduction.entry import Entry
from skh.reproduction.mixture.claims import CLAIMS
from skh.reproduction.mixture.figures import pictures
from skh.reproduction.mixture.tasks import Mixture

EXPERIMENT = Entry(Mixture, CLAIMS, pictures)
