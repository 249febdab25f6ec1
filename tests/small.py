"""The experiments of the paper, at sizes that take about a second."""

from dataclasses import replace

from skh.reproduction.default.tasks import Default
from skh.reproduction.mixture.tasks import Mixture
from skh.reproduction.rendering.tasks import Rendering
from skh.reproduction.runtime.tasks import Runtime
from skh.reproduction.search_points.tasks import SearchPoints
from skh.reproduction.second_look.tasks import SecondLookStudy
from skh.reproduction.synthetic.tasks import Synthetic
from skh.reproduction.uav.tasks import Uav

MIXTURE = Mixture(n=(4, 8, 16), search_points=200, batches=3)
SEARCH = SearchPoints(m=(50, 100, 200), m_filter=(50, 100, 200), n=10, n_filter=5, T=3, batches=2)
RUNTIME = Runtime(
    n=(20, 50, 100),
    m=(100, 200, 400),
    T=(2, 4, 8),
    n_fixed=100,
    repeats=1,
    n_sampling=(20, 100, 500),
    n_placing=(20, 50),
    T_filter=4,
    reference_particles=2_000,
    batches=2,
)
SYNTHETIC = Synthetic(
    n=(10, 20), search_points=100, batches=2, T=4, T_jmls=3, reference_particles=500
)
UAV = Uav(
    flights=2,
    n=(5, 10),
    runs=2,
    T=12,
    moments=4,
    search_points=100,
    reference_particles=50,
    reference_runs=(3, 2),
)
DEFAULT = Default(
    n=(10, 20),
    search_points=100,
    search_points_scales=100,
    batches=2,
    T=3,
    T_jmls=3,
    reference_particles=500,
)
SECOND_LOOK = SecondLookStudy(
    models=("lgss3", "range-bearing", "counts"),
    n=(20, 30),
    batches=2,
    T=3,
    bootstrap=(100, 400),
    bootstrap_batches=1,
    timed=("lgss3",),
    timed_batches=1,
)
RENDERING = Rendering(
    n=(20,),
    shown=20,
    seeds=1,
    shown_seeds=1,
    many=((40, 1),),
    T=3,
    moments=2,
    pictured=1,
    pixels=(8, 6),
    search_points=100,
    reference_particles=50,
)
SMALL = (MIXTURE, SEARCH, RUNTIME, SYNTHETIC, DEFAULT, SECOND_LOOK, UAV)
# For the engines: a few short tasks of both kinds of reference.
FILTERS = replace(SYNTHETIC, models=("jmls", "nonlinear"), n=(6, 9, 12), batches=8)
