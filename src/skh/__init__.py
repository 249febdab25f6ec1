"""Particle filtering for expensive likelihoods: sequential kernel herding.

    import skh

    model = skh.models.nonlinear_benchmark()
    states, ys = model.simulate(100, rng=0)
    rule = skh.FWQuad(skh.GaussianKernel(0.1), step=skh.FullyCorrective())
    result = skh.particle_filter(model, ys, rule, n=50, rng=1)
    result.means, result.log_evidence

A rule (`FWQuad`, `MonteCarlo`, `Stratified`, `Systematic`, `QuasiMonteCarlo`) turns a
`GaussianMixture` into `WeightedPoints`; `ParticleFilter` and `particle_filter` apply it at each
step of a `Model`.  `default_plan`, used if no rule is given, needs no kernel and no tuning.
`Refined`, `Matched`, `Smoothed` and `Regularized` wrap other rules: they move points, or smooth.
`SecondLook` spends half of a rule's likelihood evaluations where the other half says it matters.
`RaoBlackwellized` models keep the linear part of the state in a Kalman filter per particle.
`geometry.Charted` models have states with angles or poses; `trajectory` and `scores` read, align
and score trajectories.  `kalman_filter` and `jump_markov_filter` are exact references.
`robotics` reads maps and logs of robots, and `report.write_run_html` writes an interactive page
about a run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skh._runtime.threads import get_threads, set_threads
from skh.files.container import SavedFileError
from skh.filtering.belief import Belief
from skh.filtering.default_plan import default_plan
from skh.filtering.function_model import model_from_functions
from skh.filtering.model_checks import ZeroLikelihoodError
from skh.filtering.model_protocols import CarryingModel, Model
from skh.filtering.parallel import parallel
from skh.filtering.particle_filter import ParticleFilter
from skh.filtering.rao_blackwell import RaoBlackwellized
from skh.filtering.result import FilterResult
from skh.filtering.second_look import SecondLook
from skh.filtering.series import particle_filter
from skh.filtering.workers import LikelihoodError
from skh.frank_wolfe.default import default_rule
from skh.frank_wolfe.fully_corrective import FullyCorrective
from skh.frank_wolfe.fw_quad import FWPoints, FWQuad
from skh.frank_wolfe.iterate import Stop
from skh.frank_wolfe.pairwise import BlendedPairwise, Pairwise
from skh.frank_wolfe.steps import Herding, LineSearch, OpenLoop
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.gaussian_kernel import GaussianKernel, mmd
from skh.kernels.simplex_qp import solve_simplex_qp
from skh.rules.base import Rule, WeightedPoints
from skh.rules.matched import Matched
from skh.rules.refined import Refine, Refined
from skh.rules.regularized import Regularized
from skh.rules.sampling import MonteCarlo, QuasiMonteCarlo, Stratified, Systematic
from skh.rules.smoothed import Smoothed
from skh.rules.wrappers import Measured

if TYPE_CHECKING:  # loaded when first used, see `__getattr__`
    from skh import geometry, models, report
    from skh import robotics as robotics
    from skh import scores as scores
    from skh import trajectory as trajectory
    from skh.filtering.residuals import Residuals, pit
    from skh.filtering.result_files import load_result
    from skh.filtering.simulator_model import from_simulator
    from skh.gaussians.scale_mixtures import laplace, student_t
    from skh.inference.additive import AdditiveSmoother
    from skh.inference.chain_diagnostics import effective_sample_size, r_hat
    from skh.inference.compare import compare_models
    from skh.inference.em import EM
    from skh.inference.fit import fit
    from skh.inference.fixed_lag import FixedLagSmoother
    from skh.inference.posterior import sample_posterior
    from skh.inference.score import Score, score, score_of
    from skh.inference.scoring import Scoring
    from skh.inference.smoothing import smooth
    from skh.inference.smoothing_result import SmoothingResult
    from skh.inference.surface import Surface
    from skh.models.elsewhere.gaussian_functions import gaussian_model
    from skh.models.elsewhere.particles import from_particles
    from skh.models.elsewhere.stonesoup import from_stonesoup
    from skh.models.exact_filters import jump_markov_filter, kalman_filter
    from skh.models.exact_smoothers import jump_markov_smoother, kalman_smoother
    from skh.models.linear_gaussian import rao_blackwellize

__version__ = "0.2.0"

__all__ = [
    "EM",
    "AdditiveSmoother",
    "Belief",
    "BlendedPairwise",
    "CarryingModel",
    "FWPoints",
    "FWQuad",
    "FilterResult",
    "FixedLagSmoother",
    "FullyCorrective",
    "GaussianKernel",
    "GaussianMixture",
    "Herding",
    "LikelihoodError",
    "LineSearch",
    "Matched",
    "Measured",
    "Model",
    "MonteCarlo",
    "OpenLoop",
    "Pairwise",
    "ParticleFilter",
    "QuasiMonteCarlo",
    "RaoBlackwellized",
    "Refine",
    "Refined",
    "Regularized",
    "Residuals",
    "Rule",
    "SavedFileError",
    "Score",
    "Scoring",
    "SecondLook",
    "Smoothed",
    "SmoothingResult",
    "Stop",
    "Stratified",
    "Surface",
    "Systematic",
    "WeightedPoints",
    "ZeroLikelihoodError",
    "compare_models",
    "default_plan",
    "default_rule",
    "effective_sample_size",
    "fit",
    "from_particles",
    "from_simulator",
    "from_stonesoup",
    "gaussian_model",
    "geometry",
    "get_threads",
    "jump_markov_filter",
    "jump_markov_smoother",
    "kalman_filter",
    "kalman_smoother",
    "laplace",
    "load_result",
    "mmd",
    "model_from_functions",
    "models",
    "parallel",
    "particle_filter",
    "pit",
    "r_hat",
    "rao_blackwellize",
    "report",
    "robotics",
    "sample_posterior",
    "score",
    "score_of",
    "set_threads",
    "smooth",
    "solve_simplex_qp",
    "student_t",
]

# Loaded on first use: together they take as long as all the rest.
LATE_MODULES = ("geometry", "models", "report", "robotics", "scores", "trajectory")
LATE_NAMES = {
    "AdditiveSmoother": "skh.inference.additive",
    "EM": "skh.inference.em",
    "Scoring": "skh.inference.scoring",
    "Surface": "skh.inference.surface",
    "FixedLagSmoother": "skh.inference.fixed_lag",
    "Residuals": "skh.filtering.residuals",
    "compare_models": "skh.inference.compare",
    "effective_sample_size": "skh.inference.chain_diagnostics",
    "fit": "skh.inference.fit",
    "Score": "skh.inference.score",
    "SmoothingResult": "skh.inference.smoothing_result",
    "from_particles": "skh.models.elsewhere.particles",
    "from_simulator": "skh.filtering.simulator_model",
    "from_stonesoup": "skh.models.elsewhere.stonesoup",
    "gaussian_model": "skh.models.elsewhere.gaussian_functions",
    "jump_markov_filter": "skh.models.exact_filters",
    "jump_markov_smoother": "skh.models.exact_smoothers",
    "kalman_filter": "skh.models.exact_filters",
    "kalman_smoother": "skh.models.exact_smoothers",
    "laplace": "skh.gaussians.scale_mixtures",
    "load_result": "skh.filtering.result_files",
    "pit": "skh.filtering.residuals",
    "r_hat": "skh.inference.chain_diagnostics",
    "rao_blackwellize": "skh.models.linear_gaussian",
    "sample_posterior": "skh.inference.posterior",
    "score": "skh.inference.score",
    "score_of": "skh.inference.score",
    "smooth": "skh.inference.smoothing",
    "student_t": "skh.gaussians.scale_mixtures",
}


def __getattr__(name: str) -> Any:
    """Import a late module or name on first use."""
    if name in LATE_MODULES:
        return import_module(f"skh.{name}")
    if name in LATE_NAMES:
        return getattr(import_module(LATE_NAMES[name]), name)
    raise AttributeError(f"module 'skh' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List all names, including those not loaded yet."""
    return sorted({*globals(), *LATE_MODULES, *LATE_NAMES})
