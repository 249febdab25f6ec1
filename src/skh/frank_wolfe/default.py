"""The default rule of a filter; docs/default_rule.md explains the choice."""

from __future__ import annotations

from skh.frank_wolfe.fully_corrective import FullyCorrective
from skh.frank_wolfe.fw_quad import FWQuad
from skh.rules.refined import Refine


def default_rule() -> FWQuad:
    """Fully corrective steps with the adaptive kernel, then all points moved together.

    >>> default_rule().kernel is None  # adapted to each mixture
    True
    """
    return FWQuad(
        step=FullyCorrective(ridge=None, min_ess=0.5),
        search_points=None,
        refine=Refine(iterations=10),
    )
