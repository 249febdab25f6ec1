"""Gain of smoothing the predictive mixture in six dimensions, against the exact Kalman filter.

Each of d coordinates moves at nearly constant velocity, and its position is measured 20 times a
second; positions are in the particles, velocities in Kalman filters, as in navigation.  The model
is linear and Gaussian, so that one Kalman filter is exact::

    p' = p + T v + w_p,   v' = v + w_v,   y = p + e

The noise of a step is an eighth of that of a measurement: the components of the predictive mixture
are narrow and hardly overlap.

    python examples/smoothed.py        # prints a table, writes smoothed.png (needs matplotlib)
"""

import argparse
from pathlib import Path

import numpy as np

import skh
from skh._runtime.progress import progress_bar
from skh.rules.smoothed import squared_bandwidth

T, POSITION, VELOCITY, MEASUREMENT = 0.05, 0.01, 0.05, 0.08  # s, m, m/s, m
ERRORS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2.5)  # ticks
RULES = {
    "PF": skh.Stratified(),
    "PF, smoothed": skh.Smoothed(skh.Matched(skh.Stratified())),
    "default rule": skh.default_rule(),
    "default rule, smoothed": skh.Smoothed(skh.Matched(skh.default_rule())),
}
COLOURS = dict(zip(RULES, ("0.45", "0.7", "#1f6fb4", "#c03d3e"), strict=True))


def coordinates(d):
    """The model of d positions and d velocities."""
    one, none = np.eye(d), np.zeros((d, d))
    return skh.models.LinearGaussian(
        A=np.block([[one, T * one], [none, one]]),
        C=np.block([one, none]),
        Q=np.diag(np.repeat([POSITION, VELOCITY], d) ** 2),
        R=MEASUREMENT**2 * one,
        initial_mean=np.zeros(2 * d),
        initial_covariance=np.diag(np.repeat([0.05, 0.02], d) ** 2),
    )


def error(d, rule, n, steps, seed):
    """RMSE of the positions to the exact means, in exact standard deviations."""
    model = coordinates(d)
    _, ys = model.simulate(steps, rng=seed)
    exact = skh.kalman_filter(model, ys)
    result = skh.particle_filter(skh.rao_blackwellize(model, range(d)), ys, rule, n, rng=seed)
    e = (result.means - exact.means[:, :d])[steps // 6 :]
    return np.sqrt(np.mean(e**2)) / exact.covariances[-1, 0, 0] ** 0.5


def study(ds, ns, batches, steps, progress=True):
    """The errors, {rule: (len(ds), len(ns), batches)}."""
    errors = {name: np.empty((len(ds), len(ns), batches)) for name in RULES}
    cells = list(np.ndindex(len(ds), len(ns), batches))
    with progress_bar(progress, "filters") as report:
        for done, (i, j, seed) in enumerate(cells):
            for name, rule in RULES.items():
                errors[name][i, j, seed] = error(ds[i], rule, ns[j], steps, seed)
            report(done + 1, len(cells))
    return errors


def one_mixture(steps=60):
    """A predictive mixture of fifty particles in two dimensions."""
    model = coordinates(2)
    _, ys = model.simulate(steps, rng=3)
    pf = skh.ParticleFilter(skh.rao_blackwellize(model, range(2)), skh.Stratified(), 50, rng=0)
    for y in ys:
        pf.step(y)
    return pf.predict()


def density(p, x):
    """The density of a mixture at the rows of ``x``."""
    return np.exp(np.logaddexp.reduce(p.log_densities(x), axis=1))


def draw_mixture(axis, p):
    """Draw the mixture, the smoothed mixture, and points of both."""
    low, high = (p.mean + side * 4 * np.sqrt(np.diag(p.covariance)) for side in (-1, 1))
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 150).T), axis=-1)
    at = grid.reshape(-1, 2)
    lumps, smooth = (density(q, at).reshape(150, 150) for q in (p, p.shrunk(squared_bandwidth(p))))
    axis.contourf(*np.moveaxis(grid, -1, 0), lumps, levels=12, cmap="Greys")
    axis.contour(*np.moveaxis(grid, -1, 0), smooth, levels=6, colors="#c03d3e", linewidths=0.8)
    for name in ("default rule", "default rule, smoothed"):
        axis.plot(*RULES[name](p, 50, rng=0).x.T, ".", color=COLOURS[name], label=name)
    axis.set(title="A mixture, its smooth law, 50 points of each", xlabel="m", ylabel="m")
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axis.legend(frameon=False, fontsize=8)


def figure(errors, ds, ns, path):
    """Draw a mixture in two dimensions, and the errors against N."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        fig, axes = plt.subplots(1, 1 + len(ds), figsize=(4.4 * (1 + len(ds)), 4.2), layout="tight")
        draw_mixture(axes[0], one_mixture())
        for i, (axis, d) in enumerate(zip(axes[1:], ds, strict=True)):
            for name, e in errors.items():
                axis.plot(ns, e[i].mean(axis=1), "o-", color=COLOURS[name], label=name)
            axis.set(xscale="log", yscale="log", xlabel="particles")
            axis.set_title(f"{d} positions: error / exact standard deviation")
            axis.set_xticks(ns, [str(n) for n in ns])
            axis.set_yticks(ERRORS, [str(e) for e in ERRORS])
            axis.set_ylim(ERRORS[0], ERRORS[-1])
            axis.minorticks_off()
            axis.grid(visible=True, color="0.93")
        axes[-1].legend(frameon=False, fontsize=8)
        fig.savefig(path, dpi=110)
        plt.close(fig)


def main():
    """Run the study, print the table, write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("smoothed.png"))
    options = parser.parse_args()
    ds, ns = (2, 6), (25, 50, 100, 200)
    errors = study(ds, ns, options.batches, options.steps)
    for i, d in enumerate(ds):
        for name, e in errors.items():
            print(f"{d} positions, {name:24s} {e[i].mean(axis=1).round(3)}   N = {ns}")
    figure(errors, ds, ns, options.out)


if __name__ == "__main__":
    main()
