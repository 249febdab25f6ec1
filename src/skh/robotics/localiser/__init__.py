"""The life of a localiser: a start anywhere, few points later, recovery, clusters of the belief."""

from skh.robotics.localiser.clusters import Cluster, clusters_of
from skh.robotics.localiser.kld import KLDSampling
from skh.robotics.localiser.localiser import Fix, Localiser
from skh.robotics.localiser.lost import LostTest
from skh.robotics.localiser.start import free_space

__all__ = [
    "Cluster",
    "Fix",
    "KLDSampling",
    "Localiser",
    "LostTest",
    "clusters_of",
    "free_space",
]
