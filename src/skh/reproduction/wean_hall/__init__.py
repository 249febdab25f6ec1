"""Real robots: Wean Hall, a laser in corridors: tracking, starts anywhere, a kidnapped robot."""

from skh.reproduction.entry import Entry
from skh.reproduction.wean_hall.claims import CLAIMS
from skh.reproduction.wean_hall.figures import pictures
from skh.reproduction.wean_hall.tables import all_tables
from skh.reproduction.wean_hall.tasks import WeanHall

EXPERIMENT = Entry(WeanHall, CLAIMS, pictures, all_tables)
