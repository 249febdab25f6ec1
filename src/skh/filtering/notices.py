"""Warnings about steps that went badly, through Python's `logging`, logger ``skh``.

    import logging
    logging.getLogger("skh").addHandler(logging.StreamHandler())

Three kinds of steps are reported:

- ``ess``: nearly all weight is on one particle;
- ``unguided``: the likelihood was sharp, and a second look could not be guided;
- ``collapsed``: all particles are the same.

A filter reports the first step of a kind, the tenth, the hundredth, and so on, so that a long run
does not flood its log.  Records have ``kind``, ``t`` and ``count`` as attributes, for handlers.
"""

from __future__ import annotations

import logging
from typing import Any

from skh.filtering.belief import Belief
from skh.gaussians.predictive import Predictive

LOGGER = logging.getLogger("skh")
LOGGER.addHandler(logging.NullHandler())  # silent unless the application wants to hear

FEWEST_PARTICLES = 10  # with fewer, a small ESS says nothing
LONELY_ESS = 1.5  # nearly all weight on one particle
CONCENTRATED = 1 / 5  # sum of squared weights, above which a step is looked at: an ESS of 5
SHARP_EFFICIENCY = 0.1  # ESS per particle, below which a likelihood was sharp
POWERS_OF_TEN = frozenset(10**k for k in range(19))
LONELY = "the estimate rests on one point; use more particles, or check the model and the data"
UNGUIDED = "use more particles, or give the model an observation_metric"
COLLAPSED = "the model moves them without noise; add noise, or smooth with skh.Smoothed"


class Watched:
    """The part of a `ParticleFilter` that reports steps that went badly."""

    _notices: dict[str, int] | None = None  # reported kinds and how often they occurred

    def _watch(self, belief: Belief, p: Predictive) -> None:
        """Report a belief that is concentrated or collapsed; takes 0.7 microseconds if not."""
        w, x = belief.w, belief.x
        if w.dot(w) > CONCENTRATED:
            self._concentrated(belief)
        if x.item(0) == x.item(-x.shape[1]) and is_collapsed(belief, p):
            self._report("collapsed", belief, f"all {len(w)} particles are the same: {COLLAPSED}")

    def _concentrated(self, belief: Belief) -> None:
        """Report a step whose weights are on few particles."""
        n, ess = len(belief.w), belief.ess
        if n < FEWEST_PARTICLES or belief.n_likelihood_evaluations == 0:
            return
        if ess < LONELY_ESS:
            self._report("ess", belief, f"an ESS of {ess:.2f} with {n} particles: {LONELY}")
        looks = belief.looks
        if len(looks) == 1 and ess < SHARP_EFFICIENCY * n:
            text = f"a sharp likelihood (ESS {ess:.2f} of {n}) without a guided look, because"
            self._report("unguided", belief, f"{text} {looks[0].reason}: {UNGUIDED}")

    def _report(self, kind: str, belief: Belief, text: str) -> None:
        """Log the first step of a kind, the tenth, the hundredth, ..."""
        if self._notices is None:
            self._notices = {}
        count = self._notices[kind] = self._notices.get(kind, 0) + 1
        if count in POWERS_OF_TEN:
            so_far = f" ({count} such steps so far)" if count > 1 else ""
            extra: dict[str, Any] = {"kind": kind, "t": belief.t, "count": count}
            LOGGER.warning("t=%d: %s%s", belief.t, text, so_far, extra=extra)


def is_collapsed(belief: Belief, p: Predictive) -> bool:
    """Whether all particles are the same, though they could have different ancestors."""
    x = belief.x
    if len(x) < 2 or len(p) < 2 or x[0].tobytes() != x[-1].tobytes():
        return False
    return bool((x == x[0]).all())
