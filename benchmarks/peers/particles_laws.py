"""Laws of `particles`: means and covariances of many draws; prints JSON."""

import json
import sys
from pathlib import Path

import numpy as np
from particles import distributions

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from elsewhere_cases import cases, states

DRAWS = 400_000

if __name__ == "__main__":
    np.random.seed(0)
    found = {}
    for name, (d, make) in cases(distributions).items():
        draws = [
            np.reshape(make(np.repeat(row[None], DRAWS, axis=0)).rvs(size=DRAWS), (DRAWS, d))
            for row in states(d)
        ]
        found[name] = {
            "means": [x.mean(axis=0).tolist() for x in draws],
            "covariances": [np.atleast_2d(np.cov(x.T)).tolist() for x in draws],
        }
    print(json.dumps(found))
