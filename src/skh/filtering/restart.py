"""Restart a filter in the middle of a series, from another prior."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any, TypeVar

from skh.filtering.belief import Belief
from skh.filtering.clock import ModelOverTime
from skh.filtering.conversation import Dialogue, OneAtATime
from skh.filtering.model_protocols import CarryingModel, prior_of
from skh.gaussians.predictive import Predictive

M = TypeVar("M")


class Restarting:
    """The part of a `ParticleFilter` that starts it anew."""

    _model: CarryingModel
    _models: ModelOverTime
    _alone: OneAtATime
    _dialogue: Dialogue
    _first: int
    _belief: Belief | None
    _next: tuple[CarryingModel, Predictive] | None

    def restart(self, prior: Any = None) -> None:
        """Forget all observations: the next one is the first of a state distributed as ``prior``.

        ``prior`` is what the model's ``prior()`` might return, by default the one it returns.  Time
        goes on: ``pf.t`` stays what it is.

        >>> import skh
        >>> pf = skh.ParticleFilter(skh.models.lgss3(), skh.Stratified(), 50, rng=0)
        >>> belief = pf.step(0.4)
        >>> pf.restart(skh.GaussianMixture([1.0], [[5.0, 0.0, 0.0]], 0.01))
        >>> pf.t, pf.belief, pf.predict().mean
        (1, None, array([5., 0., 0.]))
        """
        with self._alone:
            if self._dialogue.question is not None:
                self._dialogue.refuse("a restart")
            model = self._model if prior is None else with_prior(self._model, prior)
            d, was = prior_of(model).d, prior_of(self._model).d
            if d != was:
                raise ValueError(f"prior must have dimension {was}, as the model has, got {d}")
            self._first = self.t  # type: ignore[attr-defined] # of the filter
            self._model, self._models = model, ModelOverTime(model)
            self._belief = self._next = None


def with_prior(model: M, prior: Any) -> M:
    """Return a copy of a model whose ``prior()`` returns ``prior``.

    A model that wraps another one may have its own method ``with_prior(prior)``.
    """
    replaced = getattr(model, "with_prior", None)
    if replaced is not None:
        return replaced(prior)  # type: ignore[no-any-return]
    changed = copy(model)
    object.__setattr__(changed, "prior", partial(_given, prior))  # models may be frozen
    return changed


def _given(prior: Any) -> Any:
    return prior
