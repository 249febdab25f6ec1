r"""Markov chains whose proposals come from an emulator and are corrected by filters.

A proposal is the end of a short random walk that leaves the emulated posterior
:math:`\pi_1` invariant.  It is accepted with probability

.. math::

    \min\Big(1, \frac{\hat\pi_2(u')\, \pi_1(u)}{\hat\pi_2(u)\, \pi_1(u')}\Big)

(Christen and Fox, 2005; Liu, 2001), where :math:`\hat\pi_2` has an unbiased estimate of the
evidence, which is kept until the next acceptance (Andrieu and Roberts, 2009): the chain then has
the exact posterior, whatever the emulator and the number of particles.  One iteration in ten is a
plain random walk, for regions that the emulator does not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from skh._typing import Array
from skh.inference.emulator import Emulator

WALK = 75  # steps of the emulated walk that makes a proposal: ends are nearly independent
PLAIN_SHARE = 0.1  # of iterations without the emulator

LogPosterior = Callable[[Array, int], tuple[float, float]]  # (u, seed) -> log-posterior, evidence


class Chain(NamedTuple):
    """The states of a chain in u (draws, p), their log-evidence, and which proposals were taken."""

    u: Array
    log_evidence: Array
    accepted: Array
    n_filters: int


@dataclass
class Walk:
    """A random walk on an emulated posterior."""

    emulator: Emulator
    root: Array  # of the covariance of its steps
    rng: np.random.Generator
    accepted: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)

    def run(self, u: Array, steps: int) -> tuple[Array, float, float]:
        """Walk from ``u``; return the end and the emulated values at both ends."""
        first = here = self.emulator(u)
        for jump, level in zip(
            self.rng.standard_normal((steps, len(u))) @ self.root.T,
            np.log(self.rng.random(steps)),
            strict=True,
        ):
            there = self.emulator(u + jump)
            if level < there - here:
                u, here = u + jump, there
                self.accepted += 1
        self.steps += steps
        return u, first, here


def run_chain(
    target: LogPosterior,
    emulator: Emulator,
    root: Array,
    start: Array,
    draws: int,
    rng: np.random.Generator,
    report: Callable[[], object] = lambda: None,
) -> Chain:
    """Run one chain of ``draws`` iterations from ``start``."""
    walk, p = Walk(emulator, root, rng), len(start)
    u, (here, evidence) = start, target(start, _seed(rng))
    states, evidences, accepted, n_filters = [], [], [], 1
    for _ in range(draws):
        if rng.random() < PLAIN_SHARE:
            v, correction = u + root @ rng.standard_normal(p), 0.0
        else:
            v, first, last = walk.run(u, WALK)
            correction = first - last
        took = False
        if not np.array_equal(v, u):
            there, evidence_there = target(v, _seed(rng))
            n_filters += 1
            took = bool(np.log(rng.random()) < there - here + correction)
            if took:
                u, here, evidence = v, there, evidence_there
        states.append(u)
        evidences.append(evidence)
        accepted.append(took)
        report()
    return Chain(np.array(states), np.array(evidences), np.array(accepted), n_filters)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))
