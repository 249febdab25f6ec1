"""A series of returns from the fit to the forecast: stochastic volatility of GBP/USD.

The log-variance of daily returns is an autoregressive process.  The program fits its three
parameters, profiles its persistence, draws from their posterior, smooths the volatility and
forecasts the next twenty days.  The rates come with the package `particles`; without it the returns
are simulated.

    python examples/volatility.py --out .              # writes volatility.png; some minutes
    python examples/volatility.py --days 80 --draws 50 # less than one
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import stats

import skh

BOUNDS = {"rho": (-1, 1), "sigma": (0, None)}
STARTS = [{"rho": 0.9, "sigma": 0.3, "mu": -1.0}, {"rho": 0.2, "sigma": 0.7, "mu": -1.0}]
PRIOR = {"rho": stats.uniform(-1, 2), "sigma": stats.gamma(2, scale=0.25), "mu": stats.norm(-1, 1)}
HORIZON = 20  # days of the forecast


def volatility(rho, sigma, mu):
    """Log-variance with mean mu, persistence rho and innovations of standard deviation sigma."""
    return skh.models.stochastic_volatility(rho, sigma, float(np.exp(mu / 2)))


def returns(days):
    """Daily returns of GBP/USD in percent (1997 and 1998), or simulated ones."""
    if (package := find_spec("particles")) is None:
        return volatility(0.9, 0.4, -1.4).simulate(days, rng=1)[1][:, 0], "simulated returns"
    path = Path(package.submodule_search_locations[0]) / "datasets" / "GBP_vs_USD_9798.txt"
    lines = [line for line in path.read_text().splitlines() if line[:1].isdigit()]
    rates = np.array([float(line.split()[3]) for line in lines])
    return 100 * np.diff(np.log(rates))[:days], "GBP/USD"


def draw_smoothed(axes, fit, ys):
    """The smoothed volatility with its 90 % band, and the forecast of the returns."""
    model, scale = fit.model, fit.model.scale
    smoothed = skh.smooth(model, ys, n=50, rng=0)
    low, middle, high = scale * np.exp(smoothed.quantile([0.05, 0.5, 0.95])[:, :, 0].T / 2)
    pf = skh.ParticleFilter(model, n=50, rng=0)
    for y in ys:
        pf.step(y)
    ahead = [pf.predict_observation(h, rng=h).quantile([0.05, 0.95]) for h in range(1, HORIZON + 1)]
    days = np.arange(len(ys))
    axes.plot(days, np.abs(ys), ".", color="0.75", ms=3, label="|return|")
    axes.fill_between(days, low, high, color="C1", alpha=0.3, lw=0)
    axes.plot(days, middle, color="C1", label="volatility, 90 % band")
    bands = np.array(ahead).reshape(HORIZON, 2)
    after = len(ys) + np.arange(HORIZON)
    axes.fill_between(after, *bands.T, color="C0", alpha=0.3, lw=0, label="forecast, 90 %")
    axes.set(xlabel="day", title="Smoothed volatility, forecast of returns")
    axes.legend(frameon=False, fontsize=8)


def draw_parameters(axes, profile, posterior):
    """The profile of the persistence beside its posterior."""
    axes.hist(posterior.draws["rho"].ravel(), 25, density=True, color="C0", alpha=0.4)
    drop = np.exp(profile.log_evidence - np.max(profile.log_evidence))
    height = axes.get_ylim()[1]
    axes.plot(profile.values, height * drop, "o-", color="C1", label="profile likelihood")
    axes.set(xlabel="persistence", yticks=[], title="Profile, and posterior")
    axes.legend(frameon=False, fontsize=8)


def main():
    """Fit, profile, sample, smooth, forecast; write the figure."""
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--days", type=int, default=250)
    parser.add_argument("--draws", type=int, default=250, help="of each of four chains")
    options = parser.parse_args()
    ys, name = returns(options.days)
    fit = skh.fit(volatility, ys, STARTS, bounds=BOUNDS, rng=0)
    print(name, fit, sep="\n")
    profile = fit.profile("rho", points=7)
    posterior = skh.sample_posterior(volatility, ys, PRIOR, draws=options.draws, rng=0)
    print(posterior)
    options.out.mkdir(parents=True, exist_ok=True)
    figure = Figure((12.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    draw_smoothed(left, fit, ys)
    draw_parameters(right, profile, posterior)
    figure.savefig(options.out / "volatility.png", dpi=100)


if __name__ == "__main__":
    main()
