"""Random linear systems with given poles, as by Matlab's ``drss``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from skh._typing import Array


def system_with_poles(poles: Sequence[complex], rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw an observable pair (A, C): A with the given poles, C one row.

    A complex pole stands for itself and its conjugate.  A is the real block diagonal matrix of the
    poles, rotated at random; C has standard normal entries, drawn until (A, C) is observable.
    """
    blocks = [[[p.real, p.imag], [-p.imag, p.real]] if p.imag else [[p.real]] for p in poles]
    D = block_diag(*(np.array(block) for block in blocks))
    d = len(D)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    A = rotation @ D @ rotation.T
    while True:
        C = rng.standard_normal((1, d))
        if is_observable(A, C):
            return A, C


def is_observable(A: Array, C: Array) -> bool:
    """Whether (A, C) is observable: [A - s I; C] has full rank at each pole s (Hautus)."""
    d = len(A)
    stacks = [np.vstack([A - s * np.eye(d), C]) for s in np.linalg.eigvals(A)]
    return all(np.linalg.matrix_rank(stack) == d for stack in stacks)
