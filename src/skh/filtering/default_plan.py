"""The default of a filter: what it does without being told; docs/default_rule.md explains it."""

from __future__ import annotations

from skh.filtering.second_look import SecondLook
from skh.frank_wolfe.default import default_rule
from skh.rules.regularized import Regularized


def default_plan() -> SecondLook:
    """The default rule, with a second look, for the mixture smoothed where it is lumpy.

    >>> import skh
    >>> skh.default_plan() == skh.SecondLook(skh.Regularized(skh.default_rule()))
    True
    """
    return SecondLook(Regularized(default_rule()))
