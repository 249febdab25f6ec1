"""Figures of rendered images: errors per second, paths, and images of one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skh._typing import Array
from skh.filtering.particle_filter import ParticleFilter
from skh.geometry import Pose
from skh.models.rendering import InverseDepthCamera, ResidualFlight, Scene
from skh.reproduction import style
from skh.reproduction.engine.record import Record
from skh.reproduction.rendering.tasks import FIRST_SEED
from skh.reproduction.robots.figures import all_errors, rules_of
from skh.reproduction.robots.maps import trajectory
from skh.reproduction.robots.runs import PATH_OF
from skh.reproduction.robots.statistics import of_runs, whole_runs

NAME, TITLE = "rendering", "Rendered images"
STEP, N = 6, 100  # of the images


def pictures(records: Sequence[Record]) -> list[style.Picture]:
    """Errors, errors per second, paths if they were recorded, and images of one step."""
    found = [per_second(records), *all_errors(NAME, TITLE, records), images()]
    if any(r.rule == PATH_OF + "default" for r in records):
        found.append(trajectory(NAME, TITLE, records, plan_of_hall))
    return found


def per_second(records: Sequence[Record]) -> style.Picture:
    """Median error against the median time of a step, one point for each N."""
    figure, axes = style.panels(1, 1, width=6.4, height=4.0)
    axis = axes[0, 0]
    for rule in rules_of(records):
        n = sorted({r.n for r in whole_runs(records) if r.rule == rule})
        seconds, steps, error = (
            np.array([np.median(of_runs(records, field, rule=rule, n=k)) for k in n])
            for field in ("seconds", "steps", "rmse")
        )
        axis.plot(1e3 * seconds / steps, error, **style.look(rule), label=rule)
        for size, x, y in zip(n, 1e3 * seconds / steps, error, strict=True):
            if rule in ("PF", "default"):
                axis.annotate(f"{size:,}", (x, y), xytext=(3, 4), textcoords="offset points")
    axis.set(xscale="log", yscale="log", xlabel="ms per step", ylabel="RMSE to truth [m]")
    style.grid(axis)
    style.plain_heights(axis)
    style.legend(figure, axes)
    caption = (
        "Accuracy per second: median error over seeds against the time of a step, for each N. "
        "Times are by the clock, some of them on a machine that did other work as well."
    )
    return style.Picture(f"{NAME}-seconds", caption, figure)


def images() -> style.Picture:
    """One observed image, and those rendered at the truth, the prior and the posterior mean."""
    flight = ResidualFlight(camera=InverseDepthCamera())
    truth, observed = flight.simulate(STEP + 1, rng=FIRST_SEED)
    model = flight.charted()
    pf = ParticleFilter(model, n=N, rng=0)
    before, belief = [pf.step(y) for y in observed][-2:]
    prior = flight.transition(STEP - 1, _one(model.mean_state(before)))[0]
    poses = {
        "at the true pose": _one(Pose(truth.position[STEP], truth.rotation[STEP])),
        "at the predicted mean": prior,
        "at the posterior mean": _one(model.mean_state(belief)),
    }
    made = {name: flight.camera.images(flight.scene, pose)[0] for name, pose in poses.items()}
    shown = {"observed": observed[STEP], **made}
    return _drawn(shown, made["at the true pose"])


def _one(pose: Pose) -> Pose:
    return Pose(pose.position[None], pose.rotation[None])


def _drawn(shown: dict[str, Array], true: Array) -> style.Picture:
    """Images above, their differences to the true one below."""
    figure, axes = style.panels(2, len(shown), width=2.6, height=2.1)
    for (name, image), above, below in zip(shown.items(), *axes, strict=True):
        inverse = above.imshow(image, cmap="viridis", vmin=0, vmax=float(true.max()))
        change = below.imshow(image - true, cmap="RdBu", vmin=-0.1, vmax=0.1)
        above.set_title(name)
        for axis in (above, below):
            axis.set_xticks([])
            axis.set_yticks([])
    figure.colorbar(inverse, ax=axes[0].tolist(), label="inverse depth [1/m]")
    figure.colorbar(change, ax=axes[1].tolist(), label="difference [1/m]")
    caption = (
        f"An image of step {STEP}, and images rendered at the true pose, at the mean that odometry "
        f"predicts and at the mean of the posterior (default, N = {N}). Below: difference to the "
        "image at the true pose."
    )
    return style.Picture(f"{NAME}-images", caption, figure)


def plan_of_hall(axis: Any) -> None:
    """Draw the solids of the hall from above."""
    from matplotlib.patches import Circle, Rectangle

    scene = Scene()
    grey: dict[str, Any] = {"color": "0.85", "linewidth": 0}
    for x, y, _, far_x, far_y, _ in scene.boxes:
        axis.add_patch(Rectangle((x, y), far_x - x, far_y - y, **grey))
    for x, y, *_, radius in (*scene.spheres, *scene.pillars):
        axis.add_patch(Circle((x, y), radius, **grey))
