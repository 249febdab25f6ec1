r"""The observed information: minus the second derivatives of the log-evidence.

By Louis' identity (1982), with the log-density :math:`\ell` of states and observations,

.. math:: -\nabla^2 \log p_\theta(y) = -E[\nabla^2 \ell \mid y] - \mathrm{Var}[\nabla \ell \mid y].

The first term is that of the expected log-density, by differences at the fixed states of the
smoother.  The second is the covariance of an additive functional: exact given the particles by
`AdditiveSmoother`; where particles are displaced or carry records, over paths drawn backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy  # loads scipy.special on first use

from skh._typing import Array
from skh.filtering.model_protocols import as_carrying, propagate
from skh.filtering.observations import is_missing
from skh.inference.additive import AdditiveSmoother
from skh.inference.expected_density import ExpectedDensity
from skh.inference.parameters import Parameters
from skh.inference.path_density import PathDensity
from skh.inference.smoothing import Chain
from skh.inference.support import Support

SECOND_STEP = 10.0  # of second differences, in steps of the first: rounding counts more


def observed_information(
    density: ExpectedDensity | PathDensity,
    parameters: Parameters,
    h: Array,
    paths: Array | None,
) -> Array:
    """Return the observed information (p, p); ``paths`` if the variance is to be that of paths."""
    curvature = -hessian(density, parameters, SECOND_STEP * h)
    models = moved_models(parameters, h)
    if paths is None:
        assert isinstance(density, ExpectedDensity)
        return curvature - pairs_covariance(density, models, h)
    logs = PathDensity(paths, density.chain, density.ys).of_paths(models)
    gradients = (logs[1::2] - logs[2::2]) / (2 * h[:, None])
    return np.asarray(curvature - np.atleast_2d(np.cov(gradients)))


def moved_models(parameters: Parameters, h: Array) -> list[Any]:
    """The model, and those with each parameter moved by h and by -h."""
    moved = (parameters.moved(sign * e) for e in np.diag(h) for sign in (1.0, -1.0))
    return [parameters.model(), *moved]


def hessian(density: ExpectedDensity | PathDensity, parameters: Parameters, h: Array) -> Array:
    """Second derivatives of the expected log-density, by central differences."""
    p, steps = len(h), np.diag(h)
    corners = [
        parameters.moved(a * steps[k] + b * steps[j])
        for k, j in combinations(range(p), 2)
        for a, b in ((1, 1), (-1, -1), (1, -1), (-1, 1))
    ]
    Q = density.at([*moved_models(parameters, h), *corners])
    H = np.diag((Q[1 : 2 * p + 1 : 2] - 2 * Q[0] + Q[2 : 2 * p + 1 : 2]) / h**2)
    for i, (k, j) in enumerate(combinations(range(p), 2)):
        same, opposite = Q[2 * p + 1 + 4 * i :][:2].sum(), Q[2 * p + 3 + 4 * i :][:2].sum()
        H[k, j] = H[j, k] = (same - opposite) / (4 * h[k] * h[j])
    return H


def pairs_covariance(density: ExpectedDensity, models: Sequence[Any], h: Array) -> Array:
    """Covariance of the gradient of the log-density of states and observations, (p, p)."""
    chain, ys, carrying = density.chain, density.ys, [as_carrying(model) for model in models]
    kind, p = type(chain.models), len(h)

    def differences(logs: Sequence[Array]) -> Array:
        """Central differences of what the models returned, (..., p)."""
        return np.stack([(logs[2 * k + 1] - logs[2 * k + 2]) / (2 * h[k]) for k in range(p)], -1)

    def likelihood(index: int, x: Array) -> Array:
        b = chain.beliefs[index]
        if is_missing(ys[index]):
            return np.zeros((len(x), p))
        carry = b.carry
        told = [model.log_likelihood(b.t, x, ys[index], carry)[0] for model in carrying]
        return differences(told)

    def initial(x: Array) -> Array:
        priors = [model.prior() for model in carrying]
        support = Support.of(priors[0])
        logs = [support.log_mixture(prior, x) for prior in priors]
        return differences(logs) + likelihood(0, x)

    def functional(t: int, x: Array, x_next: Array) -> Array:
        index = t - chain.beliefs[0].t
        before, after = chain.beliefs[index], chain.beliefs[index + 1]
        moving = [kind(model).until(before, after.time) for model in carrying]
        even = np.full(len(before.w), 1.0 / len(before.w))
        laws = [propagate(model, t, before.x, even, before.carry) for model in moving]
        logs = [grouped(law.log_densities(after.x), len(before.w)) for law in laws]
        return differences(logs) + likelihood(index + 1, after.x)[:, None, :]

    model = chain.models.model
    sums = AdditiveSmoother(model, functional, initial=initial, second_moments=True)
    for belief in chain.beliefs:
        sums.update(belief)
    return sums.covariance


def grouped(logs: Array, n: int) -> Array:
    """Log-densities of particles from those of their components."""
    each = logs.shape[1] // n
    if each == 1:
        return logs
    return np.asarray(scipy.special.logsumexp(logs.reshape(len(logs), n, each), axis=2))


def needs_paths(chain: Any) -> bool:
    """Whether some step displaces particles, or has a transition without a density."""
    if not isinstance(chain, Chain):
        return True
    steps = (chain.step(t) for t in range(len(chain.beliefs) - 1))
    return any(s.displacement is not None or Support.of(s.mixture).along is not None for s in steps)
