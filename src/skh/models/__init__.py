"""The models of the paper's section 4.2, each a `Model` that can also simulate data."""

from skh.models.benchmark import NonlinearBenchmark, nonlinear_benchmark
from skh.models.jump_markov import JumpMarkov, jmls
from skh.models.linear_gaussian import LinearGaussian, lgss3, lgss15

__all__ = [
    "JumpMarkov",
    "LinearGaussian",
    "NonlinearBenchmark",
    "jmls",
    "lgss3",
    "lgss15",
    "nonlinear_benchmark",
]
