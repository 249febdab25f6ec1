"""Claims about runtimes on made-up records."""

from dataclasses import replace

import numpy as np
import pytest

from made import rows
from skh.reproduction.runtime import claims
from skh.reproduction.runtime.break_even import Curve, break_even_cost
from skh.reproduction.runtime.tasks import FILTERING, PLACING, STREAMING


def timed(power, rule="FW", factor=1e-4, **fixed):
    """Seconds of one placement, a power of n."""
    times = {n: factor * n**power for n in (25, 50, 100, 200)}
    return rows(rule, times, field="seconds", **{"model": PLACING, "m": 10_000} | fixed)


def test_growth_of_the_time():
    assert claims.fw_linear_in_n(timed(1)).holds is True
    assert claims.fw_linear_in_n(timed(2)).holds is False
    quadratic = timed(2, "FCFW")
    assert claims.fcfw_quadratic(quadratic).holds is True
    assert claims.fcfw_quadratic(timed(0.5, "FCFW")).holds is True  # slower growth is allowed
    assert claims.fcfw_quadratic(timed(3, "FCFW")).holds is False


@pytest.mark.parametrize("field", ["m", "steps"])
def test_the_time_must_be_linear_in_search_points_and_in_steps(field):
    def holds(power):
        grown = [replace(r, **{field: r.n, "n": 100}) for r in timed(power)]
        if field == "m":
            return claims.fw_linear_in_m(grown).holds
        return claims.linear_in_t([replace(r, model=STREAMING) for r in grown]).holds

    assert holds(1) is True
    assert holds(2) is False


def test_a_placement_must_be_faster_than_the_paper_s():
    both = [*timed(1), *timed(1, "FCFW", 1e-3)]  # 5 ms and 50 ms for fifty points
    assert claims.beside_matlab(both).holds is True
    assert "FCFW N=50: 50" in claims.beside_matlab(both).measured
    slow = [*timed(1), *timed(1, "FCFW", 1e-2)]
    assert claims.beside_matlab(slow).holds is False


def test_the_overhead_is_counted_in_particles():
    fine = claims.overhead_in_particles(timed(1, noise=0.0, factor=2e-3))
    assert fine.holds is True
    assert fine.statistics["particles"] == pytest.approx(75)  # 0.1 s at 4 ms each
    assert claims.overhead_in_particles(timed(1, factor=4e-3)).holds is False


def test_placing_pays_if_it_reaches_the_error_of_random_particles_with_fewer():
    def verdict(power):
        """Errors n^-0.5 of cheap rules, n^power of expensive ones."""
        errors = {"PF": -0.5, "SQMC": -0.5, "SKH-FW": power, "SKH-FCFW": power}
        fixed = {"field": "rmse", "model": FILTERING}
        return claims.placing_pays(
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


def test_break_even_is_where_the_times_are_equal():
    n = np.array([10.0, 100.0, 1000.0])
    cheap = Curve("PF", n, n**-0.5, 1e-6 * n, n)
    placing = Curve("SKH-FW", n, n**-1.0, 1e-3 * n, n)
    cost = break_even_cost(cheap, placing, 0.1)
    assert cost == pytest.approx((1e-2 - 1e-4) / 90)
    costs = np.array([cost])
    assert cheap.seconds(0.1, costs) == pytest.approx(placing.seconds(0.1, costs))
    assert break_even_cost(cheap, placing, 0.01) == 0.0  # out of reach for the cheap rule
    assert break_even_cost(placing, cheap, 0.01) is None
    assert break_even_cost(placing, cheap, 0.1) is None
    assert np.isinf(cheap.seconds(0.001, costs)).all()
    assert cheap.needed(1.0) == pytest.approx((10.0, 1e-5, 10.0))
