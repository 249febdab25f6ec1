"""Claims of section 4.2 on made-up records."""

from made import filters
from skh.reproduction.synthetic import claims


def test_skh_must_beat_both_others():
    one = dict.fromkeys((20, 200), 1.0)
    better = {"PF": one, "QMC": one, "SKH-FW": {20: 0.5, 200: 0.5}, "SKH-FCFW": {20: 0.4, 200: 0.4}}
    options = {"model": "lgss3", "others": ("PF", "QMC")}
    assert claims.skh_wins(filters(better, "lgss3"), **options).holds is True
    worse = {**better, "SKH-FW": {20: 2.0, 200: 2.0}}
    assert claims.skh_wins(filters(worse, "lgss3"), **options).holds is False


def test_robust_is_better_in_most_cells():
    def verdict(*factors):
        """SKH relative to the PF on the four models."""
        cells = zip(claims.REPORTED, factors, strict=True)
        every = [({"PF": 1.0, "SKH-FW": f, "SKH-FCFW": f}, m) for m, f in cells]
        return claims.robust_to_sigma(
            [r for e, m in every for r in filters({rule: {20: v} for rule, v in e.items()}, m)]
        )

    assert verdict(0.5, 0.5, 0.5, 2.0).holds is True
    assert "better than the PF in 6 of 8 cells" in verdict(0.5, 0.5, 0.5, 2.0).measured
    assert verdict(0.5, 0.5, 2.0, 2.0).holds is False


def test_fcfw_best_at_twenty_and_flat():
    falling = {20: 1.0, 200: 0.2}
    errors = {"PF": falling, "SKH-FW": falling, "SKH-FCFW": {20: 0.5, 200: 0.5}}
    records = filters(errors, particles="SKH-FCFW")
    assert claims.fcfw_best_with_few(records).holds is True
    verdict = claims.fcfw_stays_flat(records)
    assert verdict.holds is True
    assert "30 of 200 particles" in verdict.measured
    assert claims.fcfw_stays_flat(filters(errors)).holds is False
    falling_too = filters({**errors, "SKH-FCFW": falling}, particles="SKH-FCFW")
    assert claims.fcfw_stays_flat(falling_too).holds is False
