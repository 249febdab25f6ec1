"""The paper's claims as code: records in, verdicts out; one file per experiment."""

from skh.claims import default, mixture, runtime, search_points, synthetic, uav
from skh.claims.claim import Claim, Judged, Verdict, judge

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "mixture": mixture.CLAIMS,
    "search-points": search_points.CLAIMS,
    "runtime": runtime.CLAIMS,
    "synthetic": synthetic.CLAIMS,
    "default": default.CLAIMS,
    "uav": uav.CLAIMS,
}

__all__ = ["CLAIMS", "Claim", "Judged", "Verdict", "judge"]
