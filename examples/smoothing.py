"""Smoothing: the level of the Nile, and a volatility, given all observations.

On the left the yearly flow of the Nile at Aswan (1871 to 1970, a local level with the variances of
Durbin and Koopman): the filter knows the past of each year only, the smoother all years.  On the
right the volatility of simulated returns, with paths drawn from its distribution.  The variances of
the Nile are fitted, too, and compared with the optimum of the Kalman filter.

    python examples/smoothing.py --out .     # writes smoothing.png
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import optimize

import skh

NILE = np.array(
    [
        *(1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020),
        *(960, 1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840),
        *(874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120),
        *(1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845),
        *(944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890),
        *(744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919),
        *(718, 714, 740),
    ],
    dtype=float,
)
LEVEL, FLOW = 1469.1, 15099.0  # variances of the level's steps and of the flow


def local_level(level=LEVEL, flow=FLOW):
    """A level that walks at random, seen with noise."""
    return skh.models.LinearGaussian([[1.0]], [[1.0]], [[level]], [[flow]], [1120.0], [[50_000.0]])


def fitted_nile():
    """Fit both variances; return the fit and by how much it misses the exact optimum."""
    start, bounds = {"level": 3000.0, "flow": 10_000.0}, {"level": (0, None), "flow": (0, None)}
    fit = skh.fit(local_level, NILE, start, bounds=bounds, n=30, rng=0)

    def exact(log_variances):
        return -skh.kalman_filter(local_level(*np.exp(log_variances)), NILE).log_evidence

    best = optimize.minimize(exact, np.log([LEVEL, FLOW]), method="Nelder-Mead").fun
    return fit, exact(np.log(list(fit.parameters.values()))) - best


def nile(axes):
    """Draw filter and smoother; return the smoother's largest error in standard deviations."""
    model, years = local_level(), np.arange(1871, 1971)
    result = skh.particle_filter(model, NILE, n=50, rng=0, quantiles=(0.05, 0.95), history=True)
    smoothed, exact = result.smooth(model), skh.kalman_smoother(model, NILE)
    low, high = smoothed.quantile([0.05, 0.95])[:, :, 0].T
    axes.plot(years, NILE, ".", color="0.6", ms=4, label="flow")
    axes.fill_between(years, *result.quantiles[:, :, 0].T, color="C0", alpha=0.15, lw=0)
    axes.plot(years, result.means[:, 0], color="C0", lw=1, label="filtered")
    axes.fill_between(years, low, high, color="C1", alpha=0.35, lw=0)
    axes.plot(years, smoothed.means[:, 0], color="C1", label="smoothed")
    axes.plot(years, exact.means[:, 0], "k:", lw=1, label="exact")
    axes.set(title="Level of the Nile, with 90 % bands", ylabel="flow / $10^8$ m$^3$ a year")
    axes.legend(frameon=False, ncols=2)
    sd = np.sqrt(exact.covariances[:, 0, 0])
    return float(np.abs((smoothed.means - exact.means)[:, 0] / sd).max())


def volatility(axes):
    """Draw the smoothed volatility of returns, some paths, and the truth."""
    model = skh.models.stochastic_volatility()
    states, ys = model.simulate(250, rng=3)
    smoothed = skh.smooth(model, ys, n=50, rng=0)
    low, middle, high = 0.6 * np.exp(smoothed.quantile([0.05, 0.5, 0.95])[:, :, 0].T / 2)
    paths = 0.6 * np.exp(smoothed.paths(4, rng=1)[:, :, 0] / 2)
    axes.plot(np.abs(ys), ".", color="0.75", ms=3, label="|return|")
    axes.fill_between(range(250), low, high, color="C1", alpha=0.3, lw=0)
    axes.plot(paths.T, color="C0", lw=0.5, alpha=0.7)
    axes.plot(middle, color="C1", label="smoothed, 90 % band")
    axes.plot(0.6 * np.exp(states[:, 0] / 2), color="k", lw=1, label="truth")
    axes.plot([], [], color="C0", lw=0.5, label="paths drawn")
    axes.set(title="Volatility of simulated returns", xlabel="day", ylim=(0, 1.9))
    axes.legend(frameon=False, ncols=2)


def main():
    """Write the figure; print how close the smoothed level is to the exact one."""
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path())
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    figure = Figure((12.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    error = nile(left)
    volatility(right)
    figure.savefig(out / "smoothing.png", dpi=100)
    fit, missed = fitted_nile()
    print(fit, f"the exact optimum has a log-evidence higher by {missed:.4f}", sep="\n")
    print(f"the smoothed level of the Nile is within {error:.3f} standard deviations of the exact")


if __name__ == "__main__":
    main()
