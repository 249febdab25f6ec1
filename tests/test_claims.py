"""Verdicts follow the records, and say so where the records do not decide."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from skh.claims import CLAIMS, default, judge, mixture, runtime, search_points, synthetic
from skh.claims.break_even import Curve, break_even
from skh.claims.claim import Claim, together
from skh.claims.statistics import (
    MissingError,
    difference,
    fit,
    median_interval,
    medians,
    ratio,
    remark,
    select,
)
from skh.experiments.record import Record
from skh.experiments.runtime import FILTERING

BASE = Record(experiment="x", model="m", rule="a", sigma2=1.0, n=10, batch=0, seed=0)


def rows(rule, errors, *, field="mmd", noise=0.05, batches=8, **fixed):
    """Records whose field is ``errors[n]`` with some noise that all rules share."""
    rng = np.random.default_rng(0)
    return [
        replace(BASE, rule=rule, n=n, batch=b, **{field: error * f}, **fixed)
        for b, f in enumerate(np.exp(noise * rng.standard_normal(batches)))
        for n, error in errors.items()
    ]


def settings(errors):
    """The same errors in all four settings of the mixture experiment."""
    return [
        r
        for model, sigma2 in mixture.SETTINGS
        for rule, error in errors.items()
        for r in rows(rule, {10: error, 20: error / 2}, model=model, sigma2=sigma2)
    ]


ORDINARY = {"MC": 1.0, "Sobol": 0.9, "Hilbert-Sobol": 0.8, "FW": 0.5, "FW-LS": 0.51, "FCFW": 0.3}


def test_a_ratio_is_paired_by_batch_and_n():
    a, b = rows("a", {10: 1.0, 20: 0.5}), rows("b", {10: 2.0, 20: 1.0})
    found = ratio(a, b, "mmd")
    assert found.mean == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5)  # the noise is the same, so that it cancels
    assert found.below_one is True
    assert found.batches == 8
    assert ratio(b, a, "mmd").below_one is False
    assert ratio(a, a, "mmd").below_one is None
    assert isnan(ratio(a[:1], b[:1], "mmd").low)
    with pytest.raises(MissingError):
        ratio(a, rows("b", {30: 1.0}), "mmd")


def test_a_ratio_near_one_is_remarked_upon():
    a, b = rows("a", {10: 0.99}), rows("b", {10: 1.0})
    assert "of little use" in remark([ratio(a, b, "mmd")])
    assert remark([ratio(rows("a", {10: 0.5}), b, "mmd"), ratio(b, a, "mmd")]) == ""


def test_a_difference_of_independent_batches():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 0.1, 50), rng.normal(1, 0.1, 40)
    found = difference(a, b)
    assert found.low < np.exp(-1) < found.high < 1
    assert isnan(difference(a[:1], b).high)


def test_the_interval_of_a_median_holds_it_as_often_as_it_says():
    """Ten values: all but the outermost two, which hold it with probability 1 - 22 / 1024."""
    rng = np.random.default_rng(0)
    draws = rng.exponential(size=(4_000, 10))
    assert median_interval(draws[0]) == tuple(np.sort(draws[0])[[1, -2]])
    intervals = np.array([median_interval(draw) for draw in draws])
    held = (intervals[:, 0] < np.log(2)) & (np.log(2) < intervals[:, 1])
    assert held.mean() == pytest.approx(1 - 22 / 1024, abs=0.01)  # four standard errors
    assert median_interval(draws[0, :5]) == (-np.inf, np.inf)


def test_a_power_law_is_found():
    found = fit({n: 3.0 * n**2 for n in (10, 20, 40)})
    assert found.slope == pytest.approx(2)
    assert fit({n: 2.0 + n for n in (10, 20, 40)}).r2 == pytest.approx(1)
    with pytest.raises(MissingError):
        fit({1: 1.0, 2: 2.0})
    assert medians(rows("a", {10: 1.0}, noise=0.0), "mmd") == {10: 1.0}


def test_fcfw_must_be_best_everywhere():
    assert mixture.fcfw_is_best(settings(ORDINARY)).holds is True
    assert mixture.fcfw_is_best(settings({**ORDINARY, "Sobol": 0.2})).holds is False
    assert mixture.fcfw_is_best(settings({**ORDINARY, "FW": 0.3})).holds is None


def test_line_search_must_be_about_equal():
    assert mixture.line_search_is_the_same(settings(ORDINARY)).holds is True
    verdict = mixture.line_search_is_the_same(settings({**ORDINARY, "FW-LS": 0.9}))
    assert verdict.holds is False
    assert "1.8" in verdict.measured


def scaled(records, factors, **where):
    """The records, a rule's error times its factor in some cells, with noise of its own."""
    inside, rng = {id(r) for r in select(records, **where)}, np.random.default_rng(1)
    errors = (r.mmd * (factors.get(r.rule, 1.0) if id(r) in inside else 1.0) for r in records)
    noisy = (error * np.exp(0.05 * rng.standard_normal()) for error in errors)
    return [replace(r, mmd=e, rmse=e) for r, e in zip(records, noisy, strict=True)]


def test_the_gain_of_sobol_must_shrink_as_components_grow():
    def holds(**factors):
        return mixture.qmc_suffers_from_k(
            scaled(settings(ORDINARY), factors, model="K=100, d=2")
        ).holds

    assert holds(Sobol=1.5) is True
    assert holds(Sobol=0.5) is False
    assert holds(Sobol=1.5, FW=2.0, FCFW=2.0) is False  # these must suffer less


def test_the_gain_of_herding_must_shrink_with_the_dimension():
    def holds(factor):
        both = {"FW": factor, "FCFW": factor}
        return mixture.differences_taper(scaled(settings(ORDINARY), both, model="K=100, d=5")).holds

    assert holds(1.5) is True
    assert holds(0.5) is False


def test_a_wide_kernel_must_lower_the_error_of_the_mean():
    def holds(factor):
        both = {"FW": factor, "FCFW": factor}
        return mixture.wide_kernel_helps(scaled(settings(ORDINARY), both, sigma2=100.0)).holds

    assert holds(0.5) is True
    assert holds(1.5) is False


def filters(errors, model="nonlinear", sigma2=1.0, particles=None):
    return [
        r
        for rule, error in errors.items()
        for r in rows(
            *(rule, error),
            field="rmse",
            model=model,
            sigma2=sigma2,
            n_particles=30.0 if rule == particles else 200.0,
        )
    ]


def test_skh_must_beat_both_others():
    one = dict.fromkeys((20, 200), 1.0)
    better = {"PF": one, "QMC": one, "SKH-FW": {20: 0.5, 200: 0.5}, "SKH-FCFW": {20: 0.4, 200: 0.4}}
    options = {"model": "lgss3", "others": ("PF", "QMC")}
    assert synthetic.skh_wins(filters(better, "lgss3"), **options).holds is True
    worse = {**better, "SKH-FW": {20: 2.0, 200: 2.0}}
    assert synthetic.skh_wins(filters(worse, "lgss3"), **options).holds is False


def test_robust_is_better_in_most_cells():
    def verdict(*factors):
        """SKH relative to the PF on the four models."""
        cells = zip(synthetic.REPORTED, factors, strict=True)
        every = [({"PF": 1.0, "SKH-FW": f, "SKH-FCFW": f}, m) for m, f in cells]
        return synthetic.robust_to_sigma(
            [r for e, m in every for r in filters({rule: {20: v} for rule, v in e.items()}, m)]
        )

    assert verdict(0.5, 0.5, 0.5, 2.0).holds is True
    assert "better than the PF in 6 of 8 cells" in verdict(0.5, 0.5, 0.5, 2.0).measured
    assert verdict(0.5, 0.5, 2.0, 2.0).holds is False


def test_fcfw_best_at_twenty_and_flat():
    falling = {20: 1.0, 200: 0.2}
    errors = {"PF": falling, "SKH-FW": falling, "SKH-FCFW": {20: 0.5, 200: 0.5}}
    records = filters(errors, particles="SKH-FCFW")
    assert synthetic.fcfw_best_with_few(records).holds is True
    verdict = synthetic.fcfw_stays_flat(records)
    assert verdict.holds is True
    assert "30 of 200 particles" in verdict.measured
    assert synthetic.fcfw_stays_flat(filters(errors)).holds is False
    falling_too = filters({**errors, "SKH-FCFW": falling}, particles="SKH-FCFW")
    assert synthetic.fcfw_stays_flat(falling_too).holds is False


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
        assert default.below_everywhere(good, **options).holds is True
        bad = default.below_everywhere(cells_of_default(1.2), **options)
        assert bad.holds is False
        assert "0 of 2 cells, above in Stochastic volatility, N=20: 1.2 of PF" in bad.measured


def test_the_default_rule_is_compared_with_the_best_fixed_one():
    assert default.near_the_best_fixed(cells_of_default(0.52), limit=1.05).holds is True
    bad = default.near_the_best_fixed(cells_of_default(0.6), limit=1.05)
    assert bad.holds is False
    assert "1.2 of SKH-FCFW, σ²=0.1" in bad.measured
    with pytest.raises(MissingError):
        default.near_the_best_fixed(filters({"default": {20: 1.0}}, "lgss3"), limit=1.05)


def test_the_default_rule_in_one_cell():
    options = {"model": "volatility", "n": 100}
    assert default.in_one_cell(cells_of_default(0.05), **options, limit=0.06).holds is True
    assert default.in_one_cell(cells_of_default(0.07), **options, limit=0.06).holds is False
    with pytest.raises(MissingError):
        default.in_one_cell(cells_of_default(0.05), model="lgss3", n=100, limit=0.4)


def timed(power, rule="FW", factor=1e-4, **fixed):
    """Seconds of one placement, a power of n."""
    times = {n: factor * n**power for n in (25, 50, 100, 200)}
    return rows(rule, times, field="seconds", **{"model": runtime.PLACING, "m": 10_000} | fixed)


def test_growth_of_the_time():
    assert runtime.fw_linear_in_n(timed(1)).holds is True
    assert runtime.fw_linear_in_n(timed(2)).holds is False
    quadratic = timed(2, "FCFW")
    assert runtime.fcfw_quadratic(quadratic).holds is True
    assert runtime.fcfw_quadratic(timed(0.5, "FCFW")).holds is True  # less is no fault
    assert runtime.fcfw_quadratic(timed(3, "FCFW")).holds is False


@pytest.mark.parametrize("field", ["m", "steps"])
def test_the_time_must_be_linear_in_search_points_and_in_steps(field):
    def holds(power):
        grown = [replace(r, **{field: r.n, "n": 100}) for r in timed(power)]
        if field == "m":
            return runtime.fw_linear_in_m(grown).holds
        return runtime.linear_in_t([replace(r, model=runtime.STREAMING) for r in grown]).holds

    assert holds(1) is True
    assert holds(2) is False


def test_a_placement_must_be_faster_than_the_paper_s():
    both = [*timed(1), *timed(1, "FCFW", 1e-3)]  # 5 ms and 50 ms for fifty points
    assert runtime.beside_matlab(both).holds is True
    assert "FCFW N=50: 50" in runtime.beside_matlab(both).measured
    slow = [*timed(1), *timed(1, "FCFW", 1e-2)]
    assert runtime.beside_matlab(slow).holds is False


def test_the_overhead_is_counted_in_particles():
    fine = runtime.overhead_in_particles(timed(1, noise=0.0, factor=2e-3))
    assert fine.holds is True
    assert fine.statistics["particles"] == pytest.approx(75)  # 0.1 s at 4 ms each
    assert runtime.overhead_in_particles(timed(1, factor=4e-3)).holds is False


def test_placing_pays_if_it_reaches_the_error_of_random_particles_with_fewer():
    def verdict(power):
        """Errors n^-0.5 of cheap rules, n^power of dear ones."""
        errors = {"PF": -0.5, "SQMC": -0.5, "SKH-FW": power, "SKH-FCFW": power}
        fixed = {"field": "rmse", "model": FILTERING}
        return runtime.placing_pays(
            [
                replace(r, seconds=(1e-6 if e == -0.5 else 1e-3) * r.n, n_particles=float(r.n))
                for rule, e in errors.items()
                for r in rows(rule, {n: n**e for n in (10, 100, 1_000)}, noise=0.0, **fixed)
            ]
        )

    assert verdict(-1.0).holds is True
    assert "error of a PF with 100: from 110 µs" in verdict(-1.0).measured  # 9.9 ms / 90
    assert verdict(-0.4).holds is False
    assert verdict(-0.1).holds is None  # not reached by as many as were tried


def test_more_search_points():
    def searched(power):
        return [
            replace(r, m=m)
            for rule in ("FW", "FCFW")
            for m in (100, 1_000, 10_000)
            for r in rows(rule, {10: m**power})
        ]

    assert search_points.more_points_help(searched(-0.25)).holds is True
    assert search_points.more_points_help(searched(0.25)).holds is False
    with pytest.raises(MissingError):
        search_points.sobol_search(searched(-0.25))


def test_sobol_search_points_must_be_better_than_random_ones():
    def holds(factor):
        errors = {"FW": 1.0, "FCFW": 0.5}
        suffixed = {rule + search_points.SUFFIX: factor * e for rule, e in errors.items()}
        return search_points.sobol_search(
            [r for rule, e in (errors | suffixed).items() for r in rows(rule, {10: e}, m=100)]
        ).holds

    assert holds(0.9) is True
    assert holds(1.1) is False


def test_break_even_is_where_the_times_are_equal():
    n = np.array([10.0, 100.0, 1000.0])
    cheap = Curve("PF", n, n**-0.5, 1e-6 * n, n)
    placing = Curve("SKH-FW", n, n**-1.0, 1e-3 * n, n)
    cost = break_even(cheap, placing, 0.1)
    assert cost == pytest.approx((1e-2 - 1e-4) / 90)
    costs = np.array([cost])
    assert cheap.seconds(0.1, costs) == pytest.approx(placing.seconds(0.1, costs))
    assert break_even(cheap, placing, 0.01) == 0.0  # out of reach for the cheap rule
    assert break_even(placing, cheap, 0.01) is None
    assert break_even(placing, cheap, 0.1) is None
    assert np.isinf(cheap.seconds(0.001, costs)).all()
    assert cheap.needed(1.0) == pytest.approx((10.0, 1e-5, 10.0))


def test_missing_records_leave_a_claim_open_and_say_which():
    found = judge(CLAIMS, {"mixture": settings({"MC": 1.0}), "synthetic": []})
    assert {j.experiment for j in found} == {"mixture"}
    assert {j.outcome for j in found} == {"undecided"}
    assert "not enough records: rule = FCFW" in found[0].verdict.measured


def test_parts_decide_together():
    assert together([True, True]) is True
    assert together([True, None]) is None
    assert together([None, False]) is False
    assert together([]) is None


def test_selection_takes_alternatives():
    records = rows("a", {10: 1.0, 20: 1.0, 30: 1.0}, batches=1)
    assert [r.n for r in select(records, n=(10, 30), rule="a")] == [10, 30]


def test_every_claim_has_a_name_of_its_own():
    names = [claim.name for claims in CLAIMS.values() for claim in claims]
    assert len(set(names)) == len(names) > 20
    assert all(isinstance(c, Claim) and c.words for claims in CLAIMS.values() for c in claims)
