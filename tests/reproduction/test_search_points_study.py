"""Claims of appendix B on made-up records."""

from dataclasses import replace

import pytest

from made import rows
from skh.reproduction.search_points import claims
from skh.reproduction.search_points.tasks import SUFFIX
from skh.reproduction.statistics import MissingError


def test_more_search_points():
    def searched(power):
        return [
            replace(r, m=m)
            for rule in ("FW", "FCFW")
            for m in (100, 1_000, 10_000)
            for r in rows(rule, {10: m**power})
        ]

    assert claims.more_points_help(searched(-0.25)).holds is True
    assert claims.more_points_help(searched(0.25)).holds is False
    with pytest.raises(MissingError):
        claims.sobol_search(searched(-0.25))


def test_sobol_search_points_must_be_better_than_random_ones():
    def holds(factor):
        errors = {"FW": 1.0, "FCFW": 0.5}
        suffixed = {rule + SUFFIX: factor * e for rule, e in errors.items()}
        return claims.sobol_search(
            [r for rule, e in (errors | suffixed).items() for r in rows(rule, {10: e}, m=100)]
        ).holds

    assert holds(0.9) is True
    assert holds(1.1) is False
