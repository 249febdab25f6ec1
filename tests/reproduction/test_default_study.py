"""Claims about the default rule on made-up records."""

from dataclasses import replace

import pytest

from made import filters
from skh.reproduction.default import claims
from skh.reproduction.statistics import MissingError


def cells_of_default(ours, fixed=0.5):
    """The default rule, its rivals and one fixed configuration on a further model."""
    one = dict.fromkeys((20, 100), 1.0)
    rules = {"default": dict.fromkeys((20, 100), ours), "PF": one, "SQMC": one}
    plain = filters(rules, "volatility", sigma2=float("nan"))
    chosen = filters({"SKH-FCFW": dict.fromkeys((20, 100), fixed)}, "volatility", sigma2=0.1)
    worse = filters({"SKH-FCFW": one}, "volatility", sigma2=1.0)
    return [replace(r, log_evidence_error=-r.rmse) for r in plain + chosen + worse]


def test_the_default_rule_must_win_in_every_cell():
    good = cells_of_default(0.5)
    for options in ({"rival": "PF"}, {"rival": "PF", "field": "log_evidence_error"}):
        assert claims.below_everywhere(good, **options).holds is True
        bad = claims.below_everywhere(cells_of_default(1.2), **options)
        assert bad.holds is False
        assert "0 of 2 cells, above in Stochastic volatility, N=20: 1.2 of PF" in bad.measured


def test_the_default_rule_is_compared_with_the_best_fixed_one():
    assert claims.near_the_best_fixed(cells_of_default(0.52), limit=1.05).holds is True
    bad = claims.near_the_best_fixed(cells_of_default(0.6), limit=1.05)
    assert bad.holds is False
    assert "1.2 of SKH-FCFW, σ²=0.1" in bad.measured
    with pytest.raises(MissingError):
        claims.near_the_best_fixed(filters({"default": {20: 1.0}}, "lgss3"), limit=1.05)


def test_the_default_rule_must_keep_its_limit_in_one_cell():
    options = {"model": "volatility", "n": 100}
    assert claims.in_one_cell(cells_of_default(0.05), **options, limit=0.06).holds is True
    assert claims.in_one_cell(cells_of_default(0.07), **options, limit=0.06).holds is False
    with pytest.raises(MissingError):
        claims.in_one_cell(cells_of_default(0.05), model="lgss3", n=100, limit=0.4)
