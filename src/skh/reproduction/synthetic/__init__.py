"""Section 4.2 and appendix C.2: filtering four models with few particles."""

from skh.reproduction.entry import Entry
from skh.reproduction.synthetic.claims import CLAIMS
from skh.reproduction.synthetic.figures import pictures
from skh.reproduction.synthetic.tasks import Synthetic

EXPERIMENT = Entry(Synthetic, CLAIMS, pictures)
