"""How sharp a likelihood is against the predictive, and whether placing points pays.

The effective sample size of random particles says which share of them an observation keeps.  The
time of a step with placed points, in random particles of the same time, says what these must be
worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skh._typing import Array
from skh.app.check import Finding, explained
from skh.app.compare import count, duration
from skh.app.trials import Series, cost_of
from skh.rules.sampling import Stratified

SERIES = 30  # steps of the pilot filter
PILOT = 1000  # its particles, if the likelihood is cheap
PATIENCE_OF_CHECK = 4.0  # seconds for the pilot filter
WIDE, SHARP = 0.25, 0.02  # shares of random particles that an observation keeps
PLACED_STEPS = 5


def judge(model: Any, series: Series, n: int, each: float) -> Iterator[Finding]:
    """Yield how sharp the likelihood is and whether placing ``n`` points pays.

    ``each`` is about what one likelihood takes, in seconds.
    """
    particles = int(np.clip(PATIENCE_OF_CHECK / (SERIES * max(each, 1e-9)), 4 * n, PILOT))
    steps = int(np.clip(PATIENCE_OF_CHECK / (particles * max(each, 1e-9)), 3, SERIES))
    try:
        pilot = series.first(steps).filtered(model, Stratified(), particles, 0)
        placed = series.first(PLACED_STEPS).filtered(model, None, n, 0)
    except Exception as error:
        so_far = getattr(error, "result", None)
        t = 0 if so_far is None else len(so_far.means)
        yield Finding("wrong", "filter", f"at {series.place(t)}: {explained(error)}")
        return
    seen = pilot.n_likelihood_evaluations > 0
    shares = pilot.ess[seen] / particles
    yield sharpness(shares, particles)
    each = cost_of([pilot]).total / particles
    yield worth(n, cost_of([placed]).total, each, float(np.median(shares)))


def sharpness(shares: Array, particles: int) -> Finding:
    """Say which share of random particles an observation keeps."""
    usual, worst = float(np.median(shares)), float(shares.min())
    text = f"an observation keeps {usual:.1%} of {particles} random particles, {worst:.2%} at worst"
    if usual >= WIDE:
        return Finding("ok", "sharpness", f"{text}: a wide likelihood, easy for any filter")
    if usual >= SHARP:
        return Finding("ok", "sharpness", f"{text}: moderately sharp; placing points helps")
    advice = "very sharp: random particles are mostly wasted; the default looks twice at each step"
    return Finding("note", "sharpness", f"{text}: {advice}")


def worth(n: int, step: float, each: float, share: float) -> Finding:
    """Say how many particles placing must save, and whether that is likely.

    A step with ``n`` placed points takes ``step`` seconds, a random particle ``each``; an
    observation keeps a ``share`` of random particles.
    """
    equal, placing = max(step / each, n), max(step - n * each, 0.0)
    text = (
        f"placing {n} points takes {duration(placing)} a step: it pays if they are as good as "
        f"{count(equal)} random particles, which take as long"
    )
    if share * equal <= n:
        kept = f"an observation keeps {share:.1%} of those"
        return Finding("ok", "placing", f"{text}, but {kept}; use the default")
    if equal <= 2 * n:
        return Finding("ok", "placing", f"{text}; use the default")
    if equal <= 20 * n:
        return Finding("ok", "placing", f"{text}, as is usual; skh compare measures it")
    cheap = "the likelihood is so cheap that many random particles may do as well"
    return Finding("note", "placing", f"{text}; {cheap}; skh compare measures it")
