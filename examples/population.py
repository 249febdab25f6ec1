"""A population that grows to a limit: fitted, smoothed, and compared with simpler growth.

Theta-logistic growth of a log-population, x' = x + a - b exp(c x) + noise, seen with noise.  The
counts of nutria come with the package `particles`; without it a population is simulated.  Is the
limit real?  Fits with and without it are compared by their log-evidence.

    python examples/population.py --out .     # writes population.png; a minute
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import skh

BOUNDS = dict.fromkeys(("growth", "limit", "noise", "error"), (0, None))
START = {"growth": 0.2, "limit": 0.2, "noise": 0.3, "error": 0.2}


def logistic(growth, limit, noise, error):
    """Growth that stops where exp(x) = growth / limit."""

    def grown(t, x):
        return x + growth - limit * np.exp(np.minimum(x, 50.0))

    return skh.gaussian_model(([0.0], 4.0), grown, noise**2, lambda t, x: x, error**2)


def unlimited(growth, noise, error):
    """The same without a limit."""
    return skh.gaussian_model(([0.0], 4.0), lambda t, x: x + growth, noise**2, _same, error**2)


def _same(t, x):
    return x


def log_counts():
    """Logarithms of the abundance of nutria, or of a simulated population."""
    if (package := find_spec("particles")) is not None:
        path = Path(package.submodule_search_locations[0]) / "datasets" / "nutria.txt"
        return np.log(np.loadtxt(path)), "nutria"
    rng, x, ys = np.random.default_rng(3), -1.5, []
    for _ in range(120):
        ys.append(x + 0.2 * rng.standard_normal())
        x = x + 0.3 - 0.3 * np.exp(x) + 0.2 * rng.standard_normal()
    return np.array(ys), "simulated population"


def main():
    """Fit both models, compare them, draw the smoothed population."""
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--steps", type=int, default=None, help="only the first observations")
    options = parser.parse_args()
    ys, name = log_counts()
    ys = ys[: options.steps]
    fit = skh.fit(logistic, ys, START, bounds=BOUNDS, n=30, rng=0)
    names = ("growth", "noise", "error")
    start, bounds = {k: START[k] for k in names}, {k: BOUNDS[k] for k in names}
    plain = skh.fit(unlimited, ys, start, bounds=bounds, n=30, rng=0)
    print(name, fit, skh.compare_models({"limited": fit, "unlimited": plain}, ys), sep="\n")
    smoothed = skh.smooth(fit.model, ys, n=50, rng=0)
    low, middle, high = np.exp(smoothed.quantile([0.05, 0.5, 0.95])[:, :, 0].T)
    figure = Figure((8.0, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot(np.exp(ys), ".", color="0.6", ms=4, label="counted")
    axes.fill_between(range(len(ys)), low, high, color="C1", alpha=0.3, lw=0)
    axes.plot(middle, color="C1", label="smoothed, 90 % band")
    ratio = fit.parameters["growth"] / fit.parameters["limit"]
    axes.axhline(ratio, color="C0", lw=1, ls="--", label="limit")
    axes.set(title=f"Abundance: {name}", xlabel="observation")
    axes.legend(frameon=False)
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "population.png", dpi=100)


if __name__ == "__main__":
    main()
