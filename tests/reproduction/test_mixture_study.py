"""Claims of section 4.1 on made-up records."""

from dataclasses import replace

import numpy as np

from made import rows
from skh.reproduction.claim import judge
from skh.reproduction.mixture import claims
from skh.reproduction.mixture.claims import CLAIMS
from skh.reproduction.statistics import select


def settings(errors):
    """The same errors in all four settings of the mixture experiment."""
    return [
        r
        for model, sigma2 in claims.SETTINGS
        for rule, error in errors.items()
        for r in rows(rule, {10: error, 20: error / 2}, model=model, sigma2=sigma2)
    ]


ORDINARY = {"MC": 1.0, "Sobol": 0.9, "Hilbert-Sobol": 0.8, "FW": 0.5, "FW-LS": 0.51, "FCFW": 0.3}


def test_fcfw_must_be_best_everywhere():
    assert claims.fcfw_is_best(settings(ORDINARY)).holds is True
    assert claims.fcfw_is_best(settings({**ORDINARY, "Sobol": 0.2})).holds is False
    assert claims.fcfw_is_best(settings({**ORDINARY, "FW": 0.3})).holds is None


def test_line_search_must_be_about_equal():
    assert claims.line_search_is_the_same(settings(ORDINARY)).holds is True
    verdict = claims.line_search_is_the_same(settings({**ORDINARY, "FW-LS": 0.9}))
    assert verdict.holds is False
    assert "1.8" in verdict.measured


def scaled(records, factors, **where):
    """Scale the errors of rules in some cells, with independent noise."""
    inside, rng = {id(r) for r in select(records, **where)}, np.random.default_rng(1)
    errors = (r.mmd * (factors.get(r.rule, 1.0) if id(r) in inside else 1.0) for r in records)
    noisy = (error * np.exp(0.05 * rng.standard_normal()) for error in errors)
    return [replace(r, mmd=e, rmse=e) for r, e in zip(records, noisy, strict=True)]


def test_the_gain_of_sobol_must_shrink_as_components_grow():
    def holds(**factors):
        return claims.qmc_suffers_from_k(
            scaled(settings(ORDINARY), factors, model="K=100, d=2")
        ).holds

    assert holds(Sobol=1.5) is True
    assert holds(Sobol=0.5) is False
    assert holds(Sobol=1.5, FW=2.0, FCFW=2.0) is False  # these must suffer less


def test_the_gain_of_herding_must_shrink_with_the_dimension():
    def holds(factor):
        both = {"FW": factor, "FCFW": factor}
        return claims.differences_taper(scaled(settings(ORDINARY), both, model="K=100, d=5")).holds

    assert holds(1.5) is True
    assert holds(0.5) is False


def test_a_wide_kernel_must_lower_the_error_of_the_mean():
    def holds(factor):
        both = {"FW": factor, "FCFW": factor}
        return claims.wide_kernel_helps(scaled(settings(ORDINARY), both, sigma2=100.0)).holds

    assert holds(0.5) is True
    assert holds(1.5) is False


def test_missing_records_leave_a_claim_open_and_say_which():
    found = judge("mixture", CLAIMS, settings({"MC": 1.0}))
    assert {j.experiment for j in found} == {"mixture"}
    assert {j.outcome for j in found} == {"undecided"}
    assert "not enough records: rule = FCFW" in found[0].verdict.measured
