r"""Smoothing of jump-Markov models: particles of x, each with all modes.

A filter carries the probabilities :math:`\alpha_t^i(k)` of the mode given the particle's history.
Together, (x, mode) is Markov: the pairs (i, k) have the weights :math:`w_t^i \alpha_t^i(k)`, and
the backward weights of a pair (j, l) at t + 1 are proportional to

.. math:: w_t^i\, \alpha_t^i(k)\, \mathcal N(x_{t+1}^j | A_k x_t^i, Q_k)\, \Pi_{kl}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skh._numba.backward_weights import backward_weights
from skh._numba.resampling import choose_in_rows, systematic
from skh._typing import Array, Indices
from skh.filtering.belief import Belief
from skh.filtering.model_protocols import propagate
from skh.inference.smoothing_result import SmoothedStep
from skh.models.jump_markov import JumpMarkov, log


@dataclass(frozen=True, eq=False)
class ModesChain:
    """The beliefs of a filter of a jump-Markov model, as particles of (x, mode)."""

    model: JumpMarkov
    beliefs: tuple[Belief, ...]
    prune: float = 0.0

    def logs(self, t: int, x_next: Array) -> Array:
        """Logarithms of the backward weights without the switching, (m, n modes)."""
        b = self.beliefs[t]
        return propagate(self.model, b.t, b.x, b.w, b.carry).log_densities(x_next)

    def switched(self, t: int, mode: int) -> Array:
        """Logarithms of the probabilities to switch to a mode, for all pairs of a particle."""
        return np.tile(log(self.model.switching[:, mode]), len(self.beliefs[t].w))

    def last(self) -> Array:
        """Smoothed weights of the last particles and modes, (n, modes)."""
        return np.asarray(self.beliefs[-1].w[:, None] * np.exp(self.beliefs[-1].carry))

    def backward_pass(self) -> list[SmoothedStep]:
        """Return the smoothed particles of all steps."""
        W = self.last()
        steps = [self._step(-1, W)]
        for t in range(len(self.beliefs) - 2, -1, -1):
            after, x_next = steps[-1], self.beliefs[t + 1].x
            logs, mass, dropped = self.logs(t, x_next), 0.0, 0
            shares = np.zeros(logs.shape)
            for mode in np.flatnonzero(W.sum(axis=0) > 0.0).tolist():
                B, lost, zeros = backward_weights(logs + self.switched(t, mode), 1, self.prune)
                shares += W[:, mode, None] * B
                mass, dropped = mass + float(W[:, mode] @ lost), dropped + int(zeros.sum())
            W = shares.sum(axis=0).reshape(len(self.beliefs[t].w), -1)
            W = W / W.sum()
            of_particle = shares.reshape(len(x_next), len(W), -1).sum(axis=2)
            x = self.beliefs[t].x
            cross = (x_next - after.mean).T @ of_particle @ (x - W.sum(axis=1) @ x)
            share = dropped / (shares.size * W.shape[1])
            steps.append(
                replace(self._step(t, W), cross=cross, pruned_pairs=share, pruned_mass=mass)
            )
        return steps[::-1]

    def _step(self, t: int, W: Array) -> SmoothedStep:
        """Return smoothed particles, with the probabilities of the modes given each."""
        w = W.sum(axis=1)
        modes = W / np.where(w > 0.0, w, 1.0)[:, None]
        modes[w <= 0.0] = 1.0 / W.shape[1]
        return SmoothedStep(self.beliefs[t].x, w, z=self.model.hidden_moments(log(modes)))

    def paths(self, m: int, rng: np.random.Generator) -> Array:
        """Draw paths of x, (m, T, d)."""
        W = self.last().ravel()
        chosen = systematic(W / W.sum(), m, rng.random())
        return self._drawn(chosen, rng)

    def _drawn(self, chosen: Indices, rng: np.random.Generator) -> Array:
        modes = len(self.model.A)
        path = [self.beliefs[-1].x[chosen // modes]]
        for t in range(len(self.beliefs) - 2, -1, -1):
            logs, order = self.logs(t, path[-1]), np.arange(len(self.beliefs[t].w) * modes)
            logs = (
                logs + np.stack([self.switched(t, mode) for mode in range(modes)])[chosen % modes]
            )
            choose_in_rows(chosen, logs, order, rng.random(len(chosen)))
            path.append(self.beliefs[t].x[chosen // modes])
        return np.stack(path[::-1], axis=1)

    def mean_states(self, steps: tuple[SmoothedStep, ...]) -> None:
        """Return None: states are vectors."""
        return
