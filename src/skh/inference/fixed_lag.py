"""Fixed-lag smoothing of streams: each state given the observations up to some steps later."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from skh import _checks
from skh._typing import RNG
from skh.filtering.belief import Belief
from skh.filtering.model_protocols import CarryingModel, Model, as_carrying
from skh.inference.smoothing import check_prune, check_smoothable, smooth_history
from skh.inference.smoothing_result import SmoothingResult


class FixedLagSmoother:
    """Smoothed states of the last ``lag`` + 1 steps, kept up to date with the beliefs of a filter.

    Memory and time per step do not grow: ``lag`` steps back, of N^2 transition densities each.  The
    other arguments are those of `FilterResult.smooth`.

    >>> import skh
    >>> model = skh.models.lgss3()
    >>> _, ys = model.simulate(8, rng=0)
    >>> pf, smoother = skh.ParticleFilter(model, n=30, rng=1), skh.FixedLagSmoother(model, lag=3)
    >>> for y in ys:
    ...     window = smoother.update(pf.step(y))
    >>> smoother.t, window.means.shape  # t = 4 given the observations to t = 7, and those after it
    (4, (4, 3))
    """

    def __init__(
        self,
        model: Model | CarryingModel,
        lag: int,
        *,
        regularize: bool = True,
        prune: float = 0.0,
        paths: int | None = None,
        rng: RNG = None,
    ) -> None:
        check_smoothable(as_carrying(model))
        regularize, prune = _checks.boolean("regularize", regularize), check_prune(prune)
        self._smooth = partial(smooth_history, model=model, regularize=regularize, prune=prune)
        self._drawing: dict[str, Any] = {"paths": paths, "rng": _checks.generator(rng)}
        self._before: Belief | None = None  # the window
        self._window: deque[Belief] = deque(maxlen=_checks.positive_int("lag", lag) + 1)

    @property
    def t(self) -> int:
        """Time of the first state of the window, -1 before the first update."""
        return self._window[0].t if self._window else -1

    def update(self, belief: Belief) -> SmoothingResult:
        """Take the next belief of the filter; return the smoothed states of the window."""
        if not isinstance(belief, Belief):
            raise TypeError(f"belief must be that of a filter, got {belief!r}")
        if self._window and belief.t != self._window[-1].t + 1:
            raise ValueError(f"belief must be that of t={self._window[-1].t + 1}, got t={belief.t}")
        if len(self._window) == self._window.maxlen:
            self._before = self._window[0]
        self._window.append(belief)
        return self._smooth(tuple(self._window), before=self._before, **self._drawing)
