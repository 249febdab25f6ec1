"""Tracking by range and bearing, plain and Rao-Blackwellized, with the same number of particles.

A target moves at nearly constant velocity.  A sensor at the origin measures its range and bearing,
nonlinear functions of the position.  Given the path of positions the velocity is linear and
Gaussian, so only the position needs particles::

    p' = p + T v + w_p,   v' = v + w_v,   y = (|p|, atan2(p)) + e

The white-noise acceleration that drives both makes w_p and w_v correlated.

    python examples/range_bearing.py        # a table and range_bearing.png (needs matplotlib)
"""

import argparse
from pathlib import Path

import numpy as np

import skh

T = 1.0  # seconds between measurements
ACCELERATION = 0.02  # spectral density of the acceleration, m^2/s^3
R = np.diag([0.3, 0.02]) ** 2  # 0.3 m in range, 0.02 rad in bearing
START, START_COV = np.array([-15.0, 12.0]), 4.0 * np.eye(2)
VELOCITY, VELOCITY_COV = np.array([0.8, -0.2]), 0.25 * np.eye(2)
EYE = np.eye(2)
Q_P, Q_PV, Q_V = (ACCELERATION * c * EYE for c in (T**3 / 3, T**2 / 2, T))


def predicted(p):
    """Range and bearing of positions (n, 2)."""
    return np.stack([np.hypot(*p.T), np.arctan2(p[:, 1], p[:, 0])], axis=1)


def residual(y, prediction):
    """Difference of range and bearing, the angle wrapped to [-pi, pi)."""
    e = y - prediction
    e[:, 1] = (e[:, 1] + np.pi) % (2 * np.pi) - np.pi
    return e


def rao_blackwellized():
    """Position in the particles, velocity in a Kalman filter per particle."""
    return skh.RaoBlackwellized(
        prior=(START, START_COV),
        z_prior=(VELOCITY, VELOCITY_COV),
        x_dynamics=lambda t, p: (p, T * EYE, Q_P),
        z_dynamics=lambda t, p: (np.zeros(2), EYE, Q_V),
        observation=lambda t, p: (predicted(p), np.zeros((2, 2)), R),
        cross_noise=lambda t, p: Q_PV,
        residual=residual,
    )


def plain():
    """Position and velocity both in the particles: four dimensions."""
    F = np.block([[EYE, T * EYE], [0 * EYE, EYE]])
    Q = np.block([[Q_P, Q_PV], [Q_PV, Q_V]])

    def log_likelihood(t, x, y):
        return -0.5 * (residual(y, predicted(x[:, :2])) ** 2 / np.diag(R)).sum(axis=1) - log_norm

    log_norm = np.log(2 * np.pi) + 0.5 * np.log(np.diag(R)).sum()
    covariance = np.block([[START_COV, 0 * EYE], [0 * EYE, VELOCITY_COV]])
    prior = (np.concatenate([START, VELOCITY]), covariance)
    return skh.model_from_functions(prior, lambda t, x: (x @ F.T, Q), log_likelihood)


def simulate(steps, rng):
    """Simulate positions and velocities (steps, 4) and measurements (steps, 2)."""
    rng = np.random.default_rng(rng)
    model = plain()
    x, _ = model.prior().sample(1, rng=rng)
    states, ys = [], []
    for t in range(steps):
        states.append(x[0])
        ys.append(predicted(x[:, :2])[0] + rng.normal(size=2) * np.sqrt(np.diag(R)))
        mean, Q = model.transition(t, x)
        x, _ = skh.GaussianMixture([1.0], mean, Q).sample(1, rng=rng)
    return np.array(states), np.array(ys)


def joint_means(result):
    """Filtered position and velocity (steps, 4) of either model."""
    return result.means if result.z_means is None else np.hstack([result.means, result.z_means])


def filters(search_points=3000):
    """The four filters: two models, two rules.  Kernel scales are in metres and m/s."""
    scales, step = (0.03, 0.3, 3.0), skh.FullyCorrective()
    four = skh.GaussianKernel(scales, metric=np.diag([1.0, 1.0, 0.1, 0.1]))
    return {
        "plain, bootstrap": (plain(), skh.Stratified()),
        "plain, SKH": (plain(), skh.FWQuad(four, step, search_points)),
        "Rao-Blackwellized, bootstrap": (rao_blackwellized(), skh.Stratified()),
        "Rao-Blackwellized, SKH": (
            rao_blackwellized(),
            skh.FWQuad(skh.GaussianKernel(scales), step, search_points),
        ),
    }


def study(ns, batches, steps, reference_particles=20_000, search_points=3000, progress=True):
    """RMSE of (position, velocity) to a large filter's: {filter: (len(ns), batches, 2)}."""
    errors = {name: np.empty((len(ns), batches, 2)) for name in filters()}
    for batch in range(batches):
        _, ys = simulate(steps, batch)
        reference = joint_means(
            skh.particle_filter(
                rao_blackwellized(),
                ys,
                skh.Stratified(),
                reference_particles,
                rng=0,
                progress=progress,
            )
        )
        for name, (model, rule) in filters(search_points).items():
            for k, n in enumerate(ns):
                e = joint_means(skh.particle_filter(model, ys, rule, n, rng=batch)) - reference
                errors[name][k, batch] = np.sqrt((e**2).reshape(steps, 2, 2).mean(axis=(0, 2)))
    return errors


def figure(errors, ns, steps, path):
    """Draw the path with the particles of one filter, and the errors against N."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    states, ys = simulate(steps, 0)
    model, rule = filters()["Rao-Blackwellized, SKH"]
    result = skh.particle_filter(model, ys, rule, 50, rng=0, history=True)
    seen = np.stack([ys[:, 0] * np.cos(ys[:, 1]), ys[:, 0] * np.sin(ys[:, 1])], axis=1)
    colours = dict(zip(errors, ("0.6", "#7aa6d6", "#b5a642", "#c03d3e"), strict=True))
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        fig, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
        track = axes[0]
        track.plot(*states[:, :2].T, "k-", linewidth=1, label="truth")
        track.plot(*seen.T, "+", color="0.6", label="measured")
        for belief in result.history[:: max(steps // 8, 1)]:
            track.scatter(*belief.x.T, s=300 * belief.w, color="#c03d3e", alpha=0.35, linewidth=0)
        track.plot(*result.means.T, "-", color="#c03d3e", label="Rao-Blackwellized SKH, N = 50")
        track.plot(0, 0, "k^")
        track.annotate("sensor", (0, 0), xytext=(4, 4), textcoords="offset points")
        track.set(title="Path, measurements, particles", xlabel="m", ylabel="m")
        track.legend(frameon=False, fontsize=8)
        for axis, part, unit in zip(axes[1:], ("position", "velocity"), ("m", "m/s"), strict=True):
            column = ("position", "velocity").index(part)
            for name, e in errors.items():
                axis.plot(
                    ns, np.median(e[:, :, column], axis=1), "o-", color=colours[name], label=name
                )
            axis.set(xscale="log", yscale="log", xlabel="particles", ylabel=unit)
            axis.set_title(f"RMSE of the {part} against a large filter")
            axis.set_xticks(ns, [str(n) for n in ns])
            axis.minorticks_off()
            axis.grid(visible=True, color="0.93")
        axes[1].legend(frameon=False, fontsize=8)
        fig.savefig(path, dpi=120)
        plt.close(fig)


def main():
    """Run the study, print the table, write the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("range_bearing.png"))
    options = parser.parse_args()
    ns = (20, 50, 100)
    errors = study(ns, options.batches, options.steps)
    for name, e in errors.items():
        position, velocity = np.median(e, axis=1).T
        print(f"{name:30s} position {position.round(3)}   velocity {velocity.round(3)}   N = {ns}")
    figure(errors, ns, options.steps, options.out)


if __name__ == "__main__":
    main()
