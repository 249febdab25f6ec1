"""Statistics behind the verdicts, against values worked out by hand."""

from math import isnan

import numpy as np
import pytest

from made import rows
from skh.reproduction.statistics import (
    MissingError,
    difference,
    fit,
    median_interval,
    medians,
    ratio,
    remark,
    select,
)


def test_a_ratio_is_paired_by_batch_and_n():
    a, b = rows("a", {10: 1.0, 20: 0.5}), rows("b", {10: 2.0, 20: 1.0})
    found = ratio(a, b, "mmd")
    assert found.mean == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5)  # equal noise cancels
    assert found.below_one is True
    assert found.batches == 8
    assert ratio(b, a, "mmd").below_one is False
    assert ratio(a, a, "mmd").below_one is None
    assert isnan(ratio(a[:1], b[:1], "mmd").low)
    with pytest.raises(MissingError):
        ratio(a, rows("b", {30: 1.0}), "mmd")


def test_a_ratio_near_one_has_a_remark():
    a, b = rows("a", {10: 0.99}), rows("b", {10: 1.0})
    assert "of little use" in remark([ratio(a, b, "mmd")])
    assert remark([ratio(rows("a", {10: 0.5}), b, "mmd"), ratio(b, a, "mmd")]) == ""


def test_a_difference_of_independent_batches():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 0.1, 50), rng.normal(1, 0.1, 40)
    found = difference(a, b)
    assert found.low < np.exp(-1) < found.high < 1
    assert isnan(difference(a[:1], b).high)


def test_the_interval_of_a_median_has_its_nominal_coverage():
    """Ten values: the interval without the outermost two has coverage 1 - 22 / 1024."""
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


def test_selection_accepts_alternatives():
    records = rows("a", {10: 1.0, 20: 1.0, 30: 1.0}, batches=1)
    assert [r.n for r in select(records, n=(10, 30), rule="a")] == [10, 30]
