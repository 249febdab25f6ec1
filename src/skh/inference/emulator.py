"""An emulator of the log-posterior: a Gaussian process around a heavy-tailed mean.

Its coordinates u are those in which the posterior is about a standard normal at its mode.  It is
fitted to some hundred filter runs and costs microseconds, where a filter costs milliseconds or
hours.  Chains that it proposes are corrected by filters (`delayed_acceptance`), so it need not be
exact: where it is far off, proposals are rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # loads scipy.linalg on first use

from skh._typing import Array

TAIL_DEGREES = 5.0  # of the Student-t law that is the mean: heavier tails than posteriors have
LOWEST_EMULATED = 30.0  # values this far below the mode count as that far below it
EVIDENCE_NOISES = (1e-3, 0.03, 0.3)  # standard deviations of the evidence that are tried
LENGTHS, HEIGHTS = (0.7, 1.4, 2.8, 5.6), (0.3, 1.0, 3.0, 10.0)  # of the process, tried as well


@dataclass(frozen=True, eq=False)
class Emulator:
    """Predicts the log-posterior, relative to ``top``, from values at points ``U`` (m, p)."""

    U: Array
    top: float
    length: float
    height: float
    solution: Array  # (m,)

    @classmethod
    def of(cls, U: Array, values: Array) -> Emulator:
        """Fit the process by the largest marginal likelihood over a grid."""
        top = float(values.max())
        residuals = np.maximum(values - top, -LOWEST_EMULATED) - tail(U)
        squares = ((U[:, None] - U[None]) ** 2).sum(axis=2)
        best = max(
            (
                cls._scored(squares, residuals, length, height, noise)
                for length in LENGTHS
                for height in HEIGHTS
                for noise in EVIDENCE_NOISES
            ),
            key=lambda found: found[0],
        )
        return cls(U, top, best[1], best[2], best[3])

    @staticmethod
    def _scored(
        squares: Array, residuals: Array, length: float, height: float, noise: float
    ) -> tuple[float, float, float, Array]:
        """Return the log marginal likelihood of one setting, the setting and its solution."""
        K = height**2 * np.exp(-0.5 * squares / length**2)
        K[np.diag_indices(len(K))] += noise**2 + 1e-8 * height**2
        L = np.linalg.cholesky(K)
        solution = scipy.linalg.cho_solve((L, True), residuals)
        score = -0.5 * float(residuals @ solution) - float(np.log(np.diagonal(L)).sum())
        return score, length, height, solution

    def __call__(self, u: Array) -> float:
        """Predict the log-posterior at ``u`` (p,), up to a constant."""
        difference = self.U - u
        squares = np.einsum("ij,ij->i", difference, difference)
        weights = np.exp(squares * (-0.5 / self.length**2))
        return float(tail(u) + self.height**2 * (weights @ self.solution))


def tail(u: Array) -> Array:
    """Log-density of a multivariate Student-t law, up to a constant."""
    p = u.shape[-1]
    return np.asarray(-0.5 * (TAIL_DEGREES + p) * np.log1p((u * u).sum(axis=-1) / TAIL_DEGREES))
