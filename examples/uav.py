"""UAV navigation by camera, inertial sensors and barometer, with sensor failures.

Fifty particles, placed by the smoothed default rule, follow a simulated flight (section 4.3 of the
paper).  For two seconds the camera sees nothing, later a track jumps to another point, then the
barometer fails; the diagnostics show all three.  The estimated path is written as a TUM file.

    python examples/uav.py        # prints scores, writes uav.png and uav.txt (needs matplotlib)
"""

import argparse
from pathlib import Path

import numpy as np

import skh
from skh.geometry import states_of
from skh.models import UavObservation
from skh.scores import ate, nees, pose_estimate, rpe
from skh.trajectory import Trajectory, write_tum

BLIND, JUMP, DEAD = (0.3, 0.34), 0.6, 0.8  # times of the failures, as fractions of the flight


def spoiled(observations):
    """Observations with the three failures."""
    T, jumped = len(observations), observations[int(JUMP * len(observations))].tracks[0]
    out = []
    for t, y in enumerate(observations):
        tracks, pixels, barometer = y.tracks, y.pixels, y.barometer
        if BLIND[0] <= t / T < BLIND[1]:
            tracks, pixels = [], []
        if t / T >= JUMP:
            pixels = pixels + 60.0 * (np.asarray(tracks) == jumped)[:, None]
        if t / T >= DEAD:
            barometer = np.nan
        out.append(UavObservation(y.accelerometer, y.gyroscope, barometer, tracks, pixels))
    return out


def fly(flight, n, seed=0):
    """Filter a flight; return estimates, diagnostics and particle positions of each step."""
    rule = skh.Smoothed(skh.Matched(skh.default_rule()))
    pf = skh.ParticleFilter(flight.model, rule, n, rng=seed)
    estimates, reports, clouds = [], [], []
    for y in spoiled(flight.observations):
        belief = pf.step(y)
        poses = states_of(belief)
        estimates.append(pose_estimate(poses, belief.w))
        reports.append(skh.models.uav_diagnostics(belief))
        clouds.append(poses.position)
    return estimates, reports, clouds


def figure(flight, path, reports, clouds, out):
    """Draw the flight from above, the error over time, and the sensor diagnostics."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    t, truth = flight.times, flight.poses.position
    with plt.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        fig = plt.figure(figsize=(13, 5.6), layout="constrained")
        left, right = fig.subfigures(1, 2, width_ratios=[1.05, 1])
        above = left.subplots()
        above.plot(*flight.landmarks[:, :2].T, ".", color="0.82", markersize=2, label="landmarks")
        above.plot(*truth[:, :2].T, "k-", linewidth=1.2, label="true path")
        above.plot(*path.positions[:, :2].T, "-", color="#3b75af", label="estimate")
        for x in clouds[:: max(len(clouds) // 12, 1)]:
            above.scatter(*x[:, :2].T, s=5, color="#c03d3e", linewidth=0, alpha=0.6)
        above.scatter([], [], color="#c03d3e", s=8, label="particles")
        reach = np.abs(truth[:, :2]).max() + 12
        above.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        above.set(xlabel="x [m]", ylabel="y [m]", title="From above")
        above.legend(loc="lower left", fontsize=8, markerscale=2)
        error, seen, sensors = right.subplots(3, 1, sharex=True)
        error.plot(t, np.linalg.norm(path.positions - truth, axis=1), color="#3b75af")
        error.set(ylabel="m", title="Distance from the true position")
        seen.plot(t, [r["tracked"] for r in reports], color="0.4", label="landmarks used")
        gated = np.array([r["gated"] for r in reports])
        seen.plot(t[gated > 0.5], gated[gated > 0.5], "o", color="#c03d3e", label="gated")
        seen.set(title="Landmarks", ylim=(0, 14))
        for name, colour in (("camera", "#3b75af"), ("barometer", "#4f9460")):
            values = np.array([r[name] for r in reports])
            sensors.plot(t, values, ".", markersize=3, color=colour, label=name)
        sensors.set(yscale="log", ylim=(1e-2, 30), xlabel="time [s]")
        sensors.set_title("Normalised squared innovations (1 on average if all is well)")
        for axis in (error, seen, sensors):
            axis.axvspan(*(b * t[-1] for b in BLIND), color="0.92", linewidth=0)
            axis.axvline(JUMP * t[-1], color="0.6", linestyle=":")
            axis.axvline(DEAD * t[-1], color="0.6", linestyle="--")
        seen.legend(frameon=False, fontsize=8, ncols=2)
        sensors.legend(fontsize=8, ncols=2, loc="lower right", markerscale=3)
        fig.savefig(out, dpi=110)
        plt.close(fig)


def main():
    """Simulate, filter, score, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000)
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path())
    options = parser.parse_args()
    flight = skh.models.survey_flight(options.steps, rng=0)
    estimates, reports, clouds = fly(flight, options.n)
    truth = Trajectory(flight.times, *flight.poses)
    path = Trajectory.of(flight.times, estimates)
    options.out.mkdir(parents=True, exist_ok=True)
    write_tum(options.out / "uav.txt", path)
    print(f"ATE {ate(truth, path).rmse:.2f} m, aligned {ate(truth, path, aligned=True).rmse:.2f} m")
    print(f"RPE over 1 s: {rpe(truth, path, delta=20).rmse:.2f} m, ", end="")
    print(f"{rpe(truth, path, delta=20, part='rotation').rmse:.4f} rad")
    late = slice(len(path) // 10, None)  # the initial pose is known
    covariances = np.array([e.covariance[:3, :3] for e in estimates])[late]
    consistency = nees((path.positions - truth.positions)[late], covariances)
    print(f"NEES of the position per dimension: {consistency.mean:.1f}")
    figure(flight, path, reports, clouds, options.out / "uav.png")


if __name__ == "__main__":
    main()
