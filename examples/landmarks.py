"""Localisation of a robot in the plane by landmarks of known position.

Wheel odometry measures the motion, a camera the range and bearing of the landmarks in view.  One
sighting in fifty is false, and for twelve seconds the camera is blind.  The state (x, y, heading)
is filtered in a chart, so that headings are right across +-pi.

    python examples/landmarks.py     # prints scores, writes landmarks.png (needs matplotlib)
"""

import argparse
from pathlib import Path

import numpy as np

import skh
from skh.geometry import SE2, Charted, in_space, states_of, wrap
from skh.scores import ate, nees, rpe
from skh.trajectory import Trajectory

STEP = 0.25  # seconds
WHEELS = np.array([0.01, 0.004, 0.02])  # noise of a step: ahead, sideways [m], turn [rad]
RANGE, BEARING, FALSE = 0.1, 0.02, 0.02  # m, rad, share of false sightings
VIEW, REACH = np.pi / 3, 4.0  # half the angle of view [rad], range [m]
BLIND = (0.45, 0.55)  # start and end, as fractions of the drive
CHART = SE2()


def drive(T):
    """True states along a figure of eight, (T, 3)."""
    s = 2 * np.pi * np.arange(T) / 240
    x, y = 4 * np.sin(s), 3 * np.sin(2 * s)
    return np.stack([x, y, np.arctan2(6 * np.cos(2 * s), 4 * np.cos(s))], axis=1)


def in_world_axes(heading):
    """Matrices (n, 3, 3) from (ahead, sideways, turn) to (x, y, heading)."""
    c, s, zero = np.cos(heading), np.sin(heading), np.zeros_like(heading)
    rows = [[c, -s, zero], [s, c, zero], [zero, zero, zero + 1]]
    return np.moveaxis(np.array(rows), -1, 0)


def simulate(T, rng):
    """Simulate true states, odometry, sightings of each step, and the landmarks."""
    truth, landmarks = drive(T), rng.uniform([-5, -4], [5, 4], (12, 2))
    moved = CHART.minus(truth[1:], truth[:-1])
    moved = np.einsum("tji,tj->ti", in_world_axes(truth[:-1, 2]), moved)
    wheels = moved + WHEELS * rng.standard_normal(moved.shape)
    sightings = [see(state, landmarks, rng) for state in truth]
    first, last = (round(part * T) for part in BLIND)
    sightings[first:last] = [None] * (last - first)  # None: no measurement
    return truth, wheels, sightings, landmarks


def see(state, landmarks, rng):
    """Rows (x, y, range, bearing) of the landmarks in view, or None."""
    r, b = polar(state[None], landmarks)
    seen = (r[0] < REACH) & (np.abs(b[0]) < VIEW)
    if not seen.any():
        return None
    k = seen.sum()
    r = r[0, seen] + RANGE * rng.standard_normal(k)
    b = b[0, seen] + BEARING * rng.standard_normal(k)
    false = rng.random(k) < FALSE  # clutter, uniform in view
    r[false], b[false] = rng.uniform(0, REACH, false.sum()), rng.uniform(-VIEW, VIEW, false.sum())
    return np.column_stack([landmarks[seen], r, b])


def polar(states, landmarks):
    """Ranges and bearings (n, k) of landmarks from states."""
    d = landmarks - states[:, None, :2]
    bearing = np.arctan2(d[..., 1], d[..., 0]) - states[:, 2:]
    return np.hypot(d[..., 0], d[..., 1]), wrap(bearing)


def robot(wheels, start):
    """The model: odometry in the transition, sightings in the likelihood."""

    def transition(t, states):
        G = in_world_axes(states[:, 2])
        step = wheels[t] if t < len(wheels) else np.zeros(3)  # at rest after the last data
        return states + G @ step, G @ np.diag(WHEELS**2) @ G.swapaxes(1, 2)

    def log_likelihood(t, states, y):
        r, b = polar(states, y[:, :2])
        square = ((y[:, 2] - r) / RANGE) ** 2 + (wrap(y[:, 3] - b) / BEARING) ** 2
        true = np.log(1 - FALSE) - 0.5 * square - np.log(2 * np.pi * RANGE * BEARING)
        false = np.log(FALSE / (REACH * 2 * VIEW))  # uniform in view: bounds the log-likelihood
        return np.logaddexp(true, false).sum(axis=1)

    prior = start, np.diag([0.1, 0.1, 0.1]) ** 2
    return Charted(skh.model_from_functions(prior, transition, log_likelihood), CHART)


def dead_reckoning(wheels, start):
    """The path by odometry alone."""
    path = [start]
    for step in wheels:
        path.append(CHART.plus(path[-1], in_world_axes(path[-1][2:])[0] @ step))
    return np.array(path)


def figure(truth, landmarks, sightings, wheels, result, out):
    """Draw the drive from above, errors with two standard deviations, and sightings."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    t = STEP * np.arange(len(truth))
    error = CHART.minus(result.mean_states, truth)
    sd = np.sqrt(np.diagonal(result.covariances, axis1=1, axis2=2))
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        fig = plt.figure(figsize=(13, 5.4), layout="constrained")
        left, right = fig.subfigures(1, 2, width_ratios=[1.15, 1])
        above = left.subplots()
        above.plot(*landmarks.T, "^", color="0.4", markersize=8, label="landmarks")
        above.plot(*truth[:, :2].T, "k-", linewidth=1.2, label="true path")
        alone = dead_reckoning(wheels, truth[0])
        above.plot(*alone[:, :2].T, ":", color="0.6", label="wheels alone")
        above.plot(*result.mean_states[:, :2].T, color="#3b75af", label="estimate")
        cloud = np.concatenate([states_of(belief) for belief in result.history[::12]])
        above.scatter(*cloud[:, :2].T, s=4, color="#c03d3e", linewidth=0, alpha=0.6)
        above.scatter([], [], s=8, color="#c03d3e", label="particles")
        above.set(
            xlabel="x [m]", ylabel="y [m]", aspect="equal", title="From above, particles smoothed"
        )
        above.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8, frameon=False)
        axes = right.subplots(4, 1, sharex=True)
        for k, name in enumerate(("x [m]", "y [m]", "heading [rad]")):
            axes[k].fill_between(t, -2 * sd[:, k], 2 * sd[:, k], color="0.88", linewidth=0)
            axes[k].plot(t, error[:, k], color="#3b75af", linewidth=1)
            axes[k].set_ylabel(name)
        axes[0].set_title("Error, and two standard deviations (grey)")
        axes[3].vlines(t, 0, [0 if y is None else len(y) for y in sightings], color="0.4")
        axes[3].set(ylabel="in view", xlabel="time [s]")
        fig.savefig(out, dpi=110)
        plt.close(fig)


def main():
    """Simulate, filter, score, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=480)
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path())
    options = parser.parse_args()
    truth, wheels, sightings, landmarks = simulate(options.steps, np.random.default_rng(1))
    model, times = robot(wheels, truth[0]), STEP * np.arange(options.steps)
    rules = {
        "random": skh.Stratified(),
        "sobol": skh.QuasiMonteCarlo(),
        "sobol-smooth": skh.Smoothed(skh.Matched(skh.QuasiMonteCarlo())),
        "default": skh.default_rule(),
        "smoothed": skh.Smoothed(skh.Matched(skh.default_rule())),
    }
    exact = skh.particle_filter(model, sightings, skh.Stratified(), 20_000, rng=0)
    true_path = Trajectory.of(times, in_space(truth))
    print("ATE and RPE (1 s) in metres; median NEES (1 if consistent); off: distance of the mean")
    print("from that of 20,000 random particles, in standard deviations")
    print(f"{options.n} particles       ATE     RPE    NEES     off")
    results = {}
    for name, rule in rules.items():
        result = skh.particle_filter(
            model, sightings, rule, options.n, rng=options.seed, history=True
        )
        results[name] = result
        path = Trajectory.of(times, in_space(result.mean_states))
        truly = nees(CHART.minus(truth, result.mean_states), result.covariances).median
        off = nees(CHART.minus(result.mean_states, exact.mean_states), exact.covariances).mean
        errors = ate(true_path, path).rmse, rpe(true_path, path, delta=4).rmse
        print(f"{name:12s} {errors[0]:9.3f} {errors[1]:7.3f} {truly:7.2f} {off**0.5:7.2f}")
    options.out.mkdir(parents=True, exist_ok=True)
    figure(truth, landmarks, sightings, wheels, results["smoothed"], options.out / "landmarks.png")


if __name__ == "__main__":
    main()
