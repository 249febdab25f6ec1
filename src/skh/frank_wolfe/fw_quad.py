"""Algorithm 1, FW-Quad: quadrature of a Gaussian mixture by Frank-Wolfe optimisation of the MMD.

Add one point at a time to a convex combination: find the point that lowers the linearised MMD most
(line 3), take a step (lines 4 to 6), and stop at n points or when the MMD is small enough.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from skh import _checks
from skh._numba.array_checks import positive_total
from skh._runtime.compile_notice import notice_while_compiling
from skh._runtime.memory import keep_freed_memory
from skh._runtime.threads import threads_enabled
from skh._typing import RNG, Array
from skh.frank_wolfe.iterate import Step, Stop
from skh.frank_wolfe.spread_search import EVEN, search_on_line, search_points_on_line
from skh.frank_wolfe.steps import Herding
from skh.frank_wolfe.vertex_search import Target
from skh.gaussians.mixture import GaussianMixture
from skh.kernels.adaptive import adaptive_kernel
from skh.kernels.base import Kernel, check_kernel_protocol
from skh.kernels.gaussian_kernel import GaussianKernel, root
from skh.rules.base import Rule, WeightedPoints, check_call, uses_information
from skh.rules.blocks import POINTS_PER_BLOCK, place_in_blocks
from skh.rules.energy import MAX_AT_ONCE
from skh.rules.parts import place_in_parts
from skh.rules.refined import Refine
from skh.rules.sampling import MonteCarlo, Sampling, draw_points

keep_freed_memory()  # for the search points of the next call

MIN_SEARCH_POINTS, MAX_SEARCH_POINTS = 1_000, 10_000  # if search_points is None
# Search points if points are moved afterwards
EVEN_SEARCH = 200, 3  # in more than one dimension: at least, and per point
LINE_AT_ONCE = 400  # points that are placed together in one dimension
BLOCK_ITERATIONS = 1.6, 1.0, 1.2  # times those of refinement, in one, two and more dimensions


@dataclass(frozen=True, eq=False)
class FWPoints(WeightedPoints):
    """Points of FW-Quad; all weights are positive, so there may be fewer than n.

    ``mmd_trace[k]`` is the MMD after k + 1 steps, without refinement; its last value is that of the
    returned weights, which ``min_ess`` may have raised.  ``status`` is why it ended.
    With the adaptive kernel, a mixture of distant parts has no trace: each part has its own kernel.
    """

    mmd_trace: Array = field(default_factory=lambda: np.empty(0))
    status: Stop = Stop.POINTS


@dataclass(frozen=True)
class FWQuad:
    """Frank-Wolfe quadrature of a Gaussian mixture (Algorithm 1).

    Parameters
    ----------
    kernel : GaussianKernel, optional
        Defines the distance to minimise; for other kernels see `kernels.base`.  By default it is
        adapted to each mixture and to the likelihood (see `kernels.adaptive`), and to each part of
        the mixture where parts are far apart (see `rules.parts`).
    step : Step
        `Herding` (the paper's FW, equal weights) or `LineSearch` (FW-LS), which may repeat points,
        or `FullyCorrective` (FCFW, the most accurate per point), which omits those of weight zero.
    search_points : int, optional
        M, the number of draws from the mixture among which vertices are searched.  None stands for
        n^2 / 10, between 1,000 and 10,000 but not below n: M random points resolve 1 / sqrt(M), and
        n well-placed ones 1 / n.  With ``refine`` fewer will do, and None stands for 3 n, at least
        200 (on a line see `spread_search`), Sobol points unless ``search`` is another rule.
    tol : float, optional
        Stop when the MMD is at or below it; rounding limits the MMD to about 1e-8.
    search : Rule
        Draws the search points: `MonteCarlo`, or `QuasiMonteCarlo` for more even ones.
    lazy : deprecated, no effect
    refine : Refine, optional
        Move all points together after the last step.

    Examples
    --------
    >>> p = GaussianMixture([0.5, 0.5], [[0.0], [4.0]], 1.0)
    >>> points = FWQuad(GaussianKernel(1.0))(p, 20, rng=0)
    >>> points.x.shape, points.mmd < 0.05, str(points.status)
    ((20, 1), True, 'n steps were taken')
    """

    kernel: Kernel | None = None
    step: Step = Herding()
    search_points: int | None = 10_000
    tol: float | None = None
    search: Rule = MonteCarlo()
    lazy: bool | None = None
    refine: Refine | None = None

    def __post_init__(self) -> None:
        if self.kernel is not None:
            check_kernel_protocol("kernel", self.kernel)
        if not isinstance(self.refine, Refine | None):
            raise TypeError(f"refine must be a skh.Refine or None, got {self.refine!r}")
        if self.refine is not None and not isinstance(self.kernel, GaussianKernel | None):
            raise TypeError(f"refine needs a GaussianKernel or None as kernel, got {self.kernel!r}")
        if not callable(getattr(self.step, "start", None)) or isinstance(self.step, type):
            raise TypeError(f"step must be a step such as skh.Herding(), got {self.step!r}")
        if not isinstance(self.search, Sampling):
            _checks.rule("search", self.search)
        if self.search_points is not None:
            _checks.positive_int("search_points", self.search_points)
        if self.lazy is not None:
            _checks.boolean("lazy", self.lazy)
            warnings.warn("lazy has no effect: leave it out", DeprecationWarning, stacklevel=3)
        if self.tol is not None and not (_checks.is_number(self.tol) and 0 <= self.tol < inf):
            raise ValueError(f"tol must be None or a non-negative number, got {self.tol!r}")

    @property
    def important_first(self) -> bool:
        """True: points are chosen greedily."""
        return True

    @property
    def uses_information(self) -> bool:
        """True if the kernel is adaptive or the search rule uses it."""
        return self.kernel is None or uses_information(self.search)

    def __call__(self, p: GaussianMixture, n: int, *, rng: RNG = None) -> FWPoints:
        """Return at most ``n`` points of ``p``."""
        n, rng = check_call(p, n, rng)
        if (kernel := self.kernel) is None:
            kernel = adaptive_kernel(p, n)
            if parts := place_in_parts(self, p, n, rng, kernel.finest(p.d)):
                return FWPoints(parts.x, parts.w, parts.component, parts.mmd)
        with notice_while_compiling(), threads_enabled():
            at_once = LINE_AT_ONCE if p.d == 1 else MAX_AT_ONCE
            if self.refine is not None and self.search_points is None and n > at_once:
                start = place_in_blocks(self._block_rule(kernel, n, p.d), p, n, rng)
                points = FWPoints(start.x, start.w, start.component)
                factor = BLOCK_ITERATIONS[min(p.d, 3) - 1]
                return self.refine.longer(factor)(kernel, p, points, rng=rng)
            x, component = draw_points(
                self._search_for(n, p.d), p, self.search_points_for(n, p.d), rng
            )
            target = Target.of(kernel, p, x)  # mu_p at the search points
            iterate = self.step.start(target, n)  # line 1
            trace, status = iterate.run(n, self.tol)  # lines 2 to 7
            chosen, w, mmd2 = iterate.solution()  # line 8
            trace[-1:] = root(mmd2)  # protected weights may raise it
            if not (total := positive_total(w)):
                chosen, w = chosen[w > 0], w[w > 0]
                total = w.sum()
            if not w.size:
                raise ValueError(f"step must take in at least one point, got none by {self.step!r}")
            x, w, component = x.take(chosen, 0), w / total, component.take(chosen)
            points = FWPoints(x, w, component, root(mmd2), None, trace, status)
            if self.refine is None:
                return points
            return self.refine(kernel, p, points, rng=rng, norm2=target.norm2)

    def _block_rule(self, kernel: Kernel, n: int, d: int) -> FWQuad:
        """Return the rule for each block of ``n`` points, which are then refined together."""
        fixed = getattr(self.step, "for_block_of", None)
        step = self.step if fixed is None else fixed(n, d)
        return replace(
            self,
            kernel=kernel,
            step=step,
            search=self._search,
            search_points=(2 if d == 1 else 1) * self.search_points_for(POINTS_PER_BLOCK, d),
            refine=None,
        )

    @property
    def _draws_evenly(self) -> bool:
        """Whether few search points, for points moved afterwards, replace random ones."""
        few = self.refine is not None and self.search_points is None
        return few and type(self.search) is MonteCarlo

    @property
    def _search(self) -> Rule:
        """The rule that draws the search points of a block."""
        return EVEN if self._draws_evenly else self.search

    def _search_for(self, n: int, d: int) -> Rule:
        """The rule that draws the search points of all points."""
        return search_on_line(n) if d == 1 and self._draws_evenly else self._search

    def search_points_for(self, n: int, d: int = 1) -> int:
        """Number of search points used for ``n`` points in ``d`` dimensions."""
        if self.search_points is not None:
            return self.search_points
        if self.refine is None:
            return max(n, min(max(n * n // 10, MIN_SEARCH_POINTS), MAX_SEARCH_POINTS))
        if d == 1:
            return search_points_on_line(n)
        least, each = EVEN_SEARCH
        return max(least, each * n)
