"""What to do with the result of a run: tables, figures, forecasts, and a check of the model.

A robot circles in the plane and measures ranges and bearings to three landmarks.  Its sensors fail
for a while, and the bands widen.

    python examples/results.py --out results      # writes run.csv, results.png and residuals.png
"""

import argparse
from pathlib import Path

import numpy as np

import skh

STEPS, GAP = 80, range(30, 36)
NAMES = ("east / m", "north / m")


def run():
    """Filter a simulated drive; return the model, the true states, observations and the result."""
    model = skh.models.RangeBearing(range_noise=0.3, bearing_noise=0.1)
    states, ys = model.simulate(STEPS, rng=1)
    ys[GAP] = np.nan
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    result = skh.particle_filter(model, ys, n=60, rng=0, quantiles=levels, history=True)
    return model, states, ys, result


def figure(states, result):
    """Draw the course of the run, and the particles of one step beside it."""
    from matplotlib.figure import Figure

    drawn = Figure((12.0, 5.6), layout="constrained")
    left, right = drawn.subfigures(1, 2, width_ratios=[1.25, 1.0])
    result.plot(states, names=NAMES, figure=left)
    result.plot_particles(68, truth=states, names=NAMES, figure=right)
    return drawn


def main():
    """Write the table and the figures; print a forecast and the check of the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path())
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    model, states, ys, result = run()
    print(result)
    result.to_csv(out / "run.csv", names=("east", "north"))
    figure(states, result).savefig(out / "results.png", dpi=100)
    residuals = result.pit(model, ys, draws=400, rng=0)
    residuals.plot(name="range to the first landmark").savefig(out / "residuals.png", dpi=100)
    print(residuals)
    pf = skh.ParticleFilter(model, n=60, rng=1, belief=result.history[-1])
    print("in 3 steps", pf.predict(3).quantile([0.05, 0.95]).round(1).tolist())
    print("range then", pf.predict_observation(3).quantile([0.05, 0.95])[:, 0].round(1).tolist())


if __name__ == "__main__":
    main()
