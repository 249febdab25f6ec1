r"""Paths drawn backwards from the distribution of all states given all observations.

From a last particle, drawn by its weight, each step draws a particle before it by the backward
weights at the path's own x_{t+1} (Godsill, Doucet and West, 2004).  The numbers that are used for
neighbouring paths are far apart (`rules.ancestor_sampling`), so that averages over paths are close.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skh._numba.resampling import systematic
from skh._typing import Array
from skh.gaussians.linear_algebra import apply
from skh.inference.backward import BackwardStep
from skh.rules.ancestor_sampling import sample_ancestors


def draw_paths(chain: Any, m: int, rng: np.random.Generator) -> Array:
    """Draw ``m`` paths, (m, T, d)."""
    last = chain.beliefs[-1]
    x = last.x[systematic(np.ascontiguousarray(last.w), m, rng.random())]
    path = [x]
    for t in range(len(chain.beliefs) - 2, -1, -1):
        x = drawn_before(chain.step(t), x, rng)
        path.append(x)
    return np.stack(path[::-1], axis=1)


def drawn_before(step: BackwardStep, x_next: Array, rng: np.random.Generator) -> Array:
    """Draw x_t given each row of x_{t+1}."""
    c, law = sample_ancestors(step.mixture, x_next, rng), step.displacement
    if law is None:
        return np.asarray(step.x[c // step.each])
    towards = apply(law.gain[c], x_next - law.centre[c])
    return np.asarray(law.base[c] + towards + apply(law.root[c], rng.standard_normal(x_next.shape)))
