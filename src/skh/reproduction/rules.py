"""The rules that the paper compares, by their names in tables and figures."""

from __future__ import annotations

from skh.frank_wolfe.fully_corrective import FullyCorrective
from skh.frank_wolfe.fw_quad import FWQuad
from skh.frank_wolfe.iterate import Step
from skh.frank_wolfe.steps import Herding, LineSearch
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.rules.base import Rule
from skh.rules.sampling import MonteCarlo, QuasiMonteCarlo, Stratified

SOBOL: dict[str, Rule] = {
    "Sobol": QuasiMonteCarlo("storage"),
    "Hilbert-Sobol": QuasiMonteCarlo("hilbert"),
}
SAMPLING: dict[str, Rule] = {"MC": MonteCarlo(), **SOBOL}  # for a single mixture
FILTERS: dict[str, Rule] = {
    "PF": Stratified(),
    "QMC": SOBOL["Sobol"],
    "SQMC": SOBOL["Hilbert-Sobol"],
}
STEPS: dict[str, Step] = {"FW": Herding(), "FW-LS": LineSearch(), "FCFW": FullyCorrective()}


def frank_wolfe(
    name: str, sigma2: float | tuple[float, ...], m: int, search: Rule = SAMPLING["MC"]
) -> FWQuad:
    """FW, FW-LS or FCFW with ``m`` search points, random ones by default."""
    return FWQuad(GaussianKernel(sigma2), STEPS[name], m, search=search)
