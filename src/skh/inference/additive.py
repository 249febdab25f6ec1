r"""Sums over time given all observations so far, in one pass forwards and constant memory.

For an additive functional :math:`S_t = s_0(x_0) + \sum_{u < t} s_u(x_u, x_{u+1})` the particles of
each step keep :math:`\tau_t^i = E[S_t | x_t = x_t^i, y_{0:t}]`, which a step moves on by the
backward weights B of `skh.inference.backward` (Del Moral, Doucet and Singh, 2010):

.. math:: \tau_{t+1}^j = \sum_i B_{ji} (\tau_t^i + s_t(x_t^i, x_{t+1}^j)).

It gives the same numbers as going back from the last step would.  With ``draws`` each sum is
replaced by a mean over that many i drawn from B: the functional is then evaluated at N ``draws``
pairs in place of N^2 (PaRIS: Olsson and Westerborn, 2017; with two draws and more the error stays
bounded).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skh import _checks
from skh._typing import RNG, Array
from skh.filtering.belief import Belief
from skh.filtering.clock import ModelOverTime
from skh.filtering.model_protocols import CarryingModel, Model, as_carrying
from skh.inference.backward import BackwardStep, backward_step, check_markov

Functional = Callable[[int, Array, Array], Any]


class AdditiveSmoother:
    """The smoothed mean of a sum over time, kept up to date with the beliefs of a filter.

    Parameters
    ----------
    model : Model
        That of the filter.
    functional : f(t, x, x_next)
        The term of times t and t + 1, for all pairs: ``x`` (1, n, d), ``x_next`` (m, 1, d), to be
        broadcast to (m, n) or, for several sums, (m, n, k).  With ``draws``: for rows (m, d).
    initial : f(x) -> (n,) or (n, k), optional
        The term of x_0; zero without it.
    second_moments : bool
        Also keep the second moments of the sums: ``covariance``.
    draws : int, optional
        Replace sums over ancestors by means over that many draws; ``rng`` draws them.

    Examples
    --------
    The smoothed sum of x_t x_{t+1}, of a stream:

    >>> import skh
    >>> model = skh.models.stochastic_volatility()
    >>> _, ys = model.simulate(20, rng=0)
    >>> pf = skh.ParticleFilter(model, n=30, rng=1)
    >>> sums = skh.AdditiveSmoother(model, lambda t, x, x_next: x[..., 0] * x_next[..., 0])
    >>> for y in ys:
    ...     value = sums.update(pf.step(y))
    >>> value.shape, sums.t
    ((1,), 19)
    """

    def __init__(
        self,
        model: Model | CarryingModel,
        functional: Functional,
        *,
        initial: Callable[[Array], Any] | None = None,
        second_moments: bool = False,
        draws: int | None = None,
        rng: RNG = None,
    ) -> None:
        for name, f in (("functional", functional), ("initial", initial or functional)):
            if not callable(f):
                raise TypeError(f"{name} must be a function, got {f!r}")
        carrying = as_carrying(model)
        check_markov(carrying)
        self._models, self._functional, self._initial = ModelOverTime(carrying), functional, initial
        self._keeps_squares = _checks.boolean("second_moments", second_moments)
        self._draws = None if draws is None else _checks.positive_int("draws", draws)
        self._rng = _checks.generator(rng)
        self._belief: Belief | None = None
        self._tau: Array = np.zeros((0, 0))  # (n, k)
        self._squares: Array | None = None  # (n, k, k)

    @property
    def t(self) -> int:
        """Index of the last observation, -1 before the first."""
        return -1 if self._belief is None else self._belief.t

    @property
    def value(self) -> Array:
        """The smoothed sums, (k,)."""
        return np.asarray(self._last().w @ self._tau)

    @property
    def covariance(self) -> Array:
        """Covariance (k, k) of the sums given the observations; needs ``second_moments=True``."""
        if self._squares is None:
            raise ValueError("the covariance of sums needs second_moments=True and a first update")
        mean = self.value
        second = np.einsum("i,iab->ab", self._last().w, self._squares)
        return np.asarray(second - np.outer(mean, mean))

    def update(self, belief: Belief) -> Array:
        """Take the next belief of the filter; return `value`."""
        if not isinstance(belief, Belief):
            raise TypeError(f"belief must be that of a filter, got {belief!r}")
        before = self._belief
        if before is None:
            self._start(belief)
        elif belief.t != before.t + 1:
            raise ValueError(f"belief must be that of t={before.t + 1}, got t={belief.t}")
        else:
            self._move(before, belief)
        self._belief = belief
        return self.value

    def _last(self) -> Belief:
        if self._belief is None:
            raise ValueError("there is no value before the first update(belief)")
        return self._belief

    def _start(self, belief: Belief) -> None:
        n, given = len(belief.w), self._initial
        first = np.zeros(n) if given is None else _checks.real_array("initial", given(belief.x))
        if first.shape[:1] != (n,) or first.ndim > 2:
            raise ValueError(f"initial must return shape ({n},) or ({n}, k), got {first.shape}")
        self._tau = first.reshape(n, -1)
        if self._keeps_squares:
            self._squares = self._tau[:, :, None] * self._tau[:, None, :]

    def _move(self, before: Belief, after: Belief) -> None:
        step = backward_step(self._models, before, after, regularize=False)
        rows = (
            self._drawn(step, after.x, before.t) if self._draws else self._all(step, before, after)
        )
        B, terms, tau, squares = rows
        sums = tau + terms
        if self._keeps_squares:
            spread = squares - tau[..., :, None] * tau[..., None, :]
            square = spread + sums[..., :, None] * sums[..., None, :]
            self._squares = np.einsum("ji,jiab->jab", B, square)
        self._tau = np.einsum("ji,jik->jk", B, sums)

    def _all(self, step: BackwardStep, before: Belief, after: Belief) -> Any:
        """Return backward weights, and the terms and sums of all pairs."""
        B = step.weights(after.x)[0]
        shape = (len(after.w), len(before.w))
        terms = self._terms(before.t, before.x[None], after.x[:, None], shape)
        squares = None if self._squares is None else self._squares[None]
        return B, terms, self._tau[None], squares

    def _drawn(self, step: BackwardStep, x_next: Array, t: int) -> Any:
        """Return equal weights, and the terms and sums of pairs drawn by the backward weights."""
        draws = self._draws or 1
        cumulative = np.cumsum(step.weights(x_next)[0], axis=1)
        u = (np.arange(draws) + self._rng.random((len(x_next), draws))) / draws
        i = (cumulative[:, None, :] < u[:, :, None] * cumulative[:, None, -1:]).sum(axis=2)
        pairs = step.x[i.ravel()], np.repeat(x_next, draws, axis=0)
        terms = self._terms(t, *pairs, (i.size,)).reshape(*i.shape, -1)
        B = np.full(i.shape, 1.0 / draws)
        return B, terms, self._tau[i], None if self._squares is None else self._squares[i]

    def _terms(self, t: int, x: Array, x_next: Array, shape: tuple[int, ...]) -> Array:
        """Validate the functional's terms; return them with their own axis, (..., k)."""
        terms = _checks.real_array(f"functional at t={t}", self._functional(t, x, x_next))
        if terms.shape != shape and terms.shape[:-1] != shape:
            raise ValueError(
                f"functional at t={t} must return shape {shape} or {(*shape, 'k')}, "
                f"got {terms.shape}"
            )
        terms = terms.reshape(*shape, -1)
        k = self._tau.shape[1]
        if terms.shape[-1] != k:
            if self._initial is not None or self._tau.any() or k != 1:
                raise ValueError(f"functional must return {k} sums at t={t}, got {terms.shape[-1]}")
            self._tau = np.zeros((len(self._tau), terms.shape[-1]))  # sums start from zero
            if self._squares is not None:
                self._squares = np.zeros((len(self._tau), terms.shape[-1], terms.shape[-1]))
        return terms
