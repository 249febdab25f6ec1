"""Draw the pictures of pages that no example or experiment draws: `make drawings`.

Each function draws one file of docs/pictures; all of them take a minute together.
"""

import re
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from stereo_flight import stereo_flight

import skh

PICTURES = Path(__file__).parent / "pictures"
BLUE, ORANGE, GREY = "#0b6aa2", "#d9730d", "0.55"


def example_mixture():
    """Three Gaussians in the plane."""
    covariances = [[[1.0, 0.6], [0.6, 0.8]], [[0.5, -0.2], [-0.2, 0.9]], [[1.4, 0.0], [0.0, 0.25]]]
    return skh.GaussianMixture(
        [0.5, 0.3, 0.2], [[-1.5, -0.5], [1.8, 1.2], [0.8, -2.0]], covariances
    )


def shade(axis, p, low=-4.5, high=4.5, middle=(0.0, 0.0)):
    """Shade a density in the plane."""
    grid = np.linspace(low, high, 160)
    X, Y = np.meshgrid(middle[0] + grid, middle[1] + grid)
    at = np.column_stack([X.ravel(), Y.ravel()])
    density = np.zeros(len(at))
    for w, m, C in zip(
        p.weights, p.means, np.broadcast_to(p.covariances, (len(p.weights), 2, 2)), strict=True
    ):
        d = at - m
        square = np.einsum("ni,ij,nj->n", d, np.linalg.inv(C), d)
        density += w * np.exp(-0.5 * square) / np.sqrt(np.linalg.det(C))
    axis.contourf(X, Y, density.reshape(X.shape), 12, cmap="Greys", alpha=0.6)
    axis.set(xticks=[], yticks=[], aspect="equal")


def dots(axis, points, colour=BLUE):
    """Draw points whose areas are their weights."""
    axis.scatter(*points.x.T, s=1500 * points.w, color=colour, alpha=0.75, lw=0)


def save(figure, name):
    """Write one picture."""
    figure.savefig(PICTURES / f"{name}.png", dpi=90)


def how_it_works():
    """Algorithm 1: the points after 1, 4, 16 and 64 steps, and the MMD of four rules."""
    p, kernel = example_mixture(), skh.GaussianKernel(1.0)
    figure = Figure((8.0, 5.0), layout="constrained")
    places = figure.subplot_mosaic([[1, 4, "mmd"], [16, 64, "mmd"]], width_ratios=[3, 3, 4])
    errors = places.pop("mmd")
    for n, axis in places.items():
        shade(axis, p)
        dots(axis, skh.FWQuad(kernel, skh.Herding())(p, n, rng=0))
        axis.set_title(f"{n} point{'s' * (n > 1)}")
    sizes = np.unique(np.geomspace(1, 100, 15).astype(int))
    rules = {"random": skh.MonteCarlo(), "Sobol": skh.QuasiMonteCarlo("storage")}
    rules |= {
        "herding": skh.FWQuad(kernel),
        "all weights": skh.FWQuad(kernel, skh.FullyCorrective()),
    }
    for name, rule in rules.items():
        measured = skh.Measured(rule, kernel)
        mmds = [np.mean([measured(p, int(n), rng=s).mmd for s in range(6)]) for n in sizes]
        errors.loglog(sizes, mmds, label=name)
    errors.set(xlabel="points", title="MMD")
    errors.legend(frameon=False)
    save(figure, "how_it_works")


def kernels():
    """Kernels that are too narrow, right and too wide."""
    p = example_mixture()
    figure = Figure((10.0, 3.8), layout="constrained")
    names = {0.01: "too narrow", 1.0: "about right", 100.0: "too wide"}
    for axis, (variance, name) in zip(figure.subplots(1, 3), names.items(), strict=True):
        shade(axis, p, -5.5, 5.5)
        rule = skh.FWQuad(skh.GaussianKernel(variance), skh.FullyCorrective())
        dots(axis, rule(p, 40, rng=0))
        axis.set(xlim=(-5.5, 5.5), ylim=(-5.5, 5.5), title=f"variance {variance:g}: {name}")
    save(figure, "kernels")


def sequence(name, rows, title):
    """Draw what happens when, a bar for each task."""
    figure = Figure((7.5, 0.5 * len(rows) + 1.2), layout="constrained")
    axis = figure.subplots()
    for k, (_, bars) in enumerate(rows):
        for start, length, colour in bars:
            axis.barh(-k, length, left=start, color=colour, height=0.7, edgecolor="white")
    axis.set(yticks=range(0, -len(rows), -1), yticklabels=[label for label, _ in rows])
    axis.set(xlabel="time", xticks=[], title=title)
    axis.spines[["top", "right", "left"]].set_visible(False)
    save(figure, name)


def sequences():
    """Likelihoods by workers, by conversation, and a run that is killed and goes on."""
    look = [(s, 0.2, BLUE) for s in (0.0, 3.4)]
    workers = [
        (f"worker {k}", [(0.25 + 3.4 * j, 2.7 + 0.3 * np.sin(5 * k + j), ORANGE) for j in (0, 1)])
        for k in range(4)
    ]
    sequence(
        "parallel",
        [("filter", look), *workers],
        "A look places points (blue); workers evaluate them (orange)",
    )
    asks = [("filter", [(0, 0.3, BLUE), (2.4, 0.3, BLUE), (4.8, 0.3, BLUE)])]
    asks += [
        (f"request {k}", [(0.35, 1 + 0.25 * k, ORANGE), (2.75, 1.8 - 0.25 * k, ORANGE)])
        for k in range(4)
    ]
    sequence("ask_tell", asks, "pf.ask(): requests under way; pf.tell(): the next question")
    shared = [(f"filter {k}", [(1.3 * j + 0.3 * k, 1.0, BLUE) for j in range(4)]) for k in range(3)]
    sequence(
        "asyncio_likelihood",
        [*shared, ("service", [(0, 5.2, ORANGE)])],
        "Three filters share one service",
    )
    run = [("first process", [(0, 2.6, BLUE)]), ("checkpoint", [(k, 0.08, ORANGE) for k in (1, 2)])]
    run += [("second process", [(3.2, 0.6, GREY), (3.8, 2.6, BLUE)])]
    sequence(
        "production",
        run,
        "Killed, and resumed: the same numbers to the bit",
    )


def boxes(name, labels, title):
    """Draw a chain of boxes, three in a row and the next row backwards, to be read on a phone."""
    figure = Figure((6.4, 2.9), layout="constrained")
    axis, before = figure.subplots(), None
    for k, label in enumerate(labels):
        row, place = divmod(k, 3)
        at = (2 - place if row % 2 else place, -row)
        style = {"boxstyle": "round,pad=0.5", "fc": "#e8f1f7", "ec": BLUE}
        box = axis.text(*at, label, ha="center", va="center", bbox=style, fontsize=10)
        if before:
            arrow = {"arrowstyle": "->", "color": GREY, "shrinkA": 2, "shrinkB": 2}
            arrow |= {"patchA": before.get_bbox_patch(), "patchB": box.get_bbox_patch()}
            axis.annotate("", at, before.get_position(), arrowprops=arrow)
        before = box
    axis.set(xlim=(-0.55, 2.55), ylim=(-1.5, 0.5), title=title)
    axis.axis("off")
    save(figure, name)


def chains():
    """One step of the filter, and where models come from."""
    step = [
        "model.prior()\nor transition",
        "GaussianMixture\nof the prediction",
        "rule(p, n)\nplaces points",
    ]
    step += ["log_likelihood\nat the points", "Belief:\nparticles, weights", "FilterResult"]
    boxes("api", step, "The path of one observation")
    models = [
        "particles, Stone Soup,\nAMCL parameters",
        "from_particles,\nfrom_stonesoup,\nrobotics",
    ]
    parts = ["Motion: odometry,\nvelocities, IMU", "Sensor: laser, camera,\nlandmarks, on a Map"]
    parts += ["localization_model\nor fastslam_model", "particle_filter\nor skh localize"]
    boxes("robotics", [*parts, "path, covariances,\nscores"], "Name the parts of a robot")
    boxes(
        "models",
        [*models, "a Model", "particle_filter\n(model, ys, n=50)", "means, evidence,\nfigures"],
        "Bring your model",
    )


def series(name, result, truth, title):
    """Draw a filtered series with its band."""
    figure = Figure((9.0, 3.2), layout="constrained")
    axis, steps = figure.subplots(), range(len(result.means))
    sd = np.sqrt(result.covariances[:, 0, 0])
    axis.fill_between(
        steps, result.means[:, 0] - 2 * sd, result.means[:, 0] + 2 * sd, color=BLUE, alpha=0.2, lw=0
    )
    axis.plot(steps, result.means[:, 0], color=BLUE, label="filtered, two standard deviations")
    axis.plot(steps, truth, "k:", lw=1, label="truth")
    axis.set(title=title, xlabel="step")
    axis.legend(frameon=False)
    save(figure, name)


def tutorial():
    """The figure at the end of the tutorial, by what the page shows."""
    page = (PICTURES.parent / "tutorial.md").read_text()
    cells = re.findall(r"```\{code-cell\} ipython3\n(?!:tags:)(.*?)```", page, re.DOTALL)
    (model,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with TemporaryDirectory() as folder, chdir(folder):
        Path("model.py").write_text(model)
        scope = {}
        for cell in cells:
            exec(cell, scope)
    scope["figure"].savefig(PICTURES / "tutorial.png", dpi=90)


def filtered_series():
    """A run on simulated data."""
    model = skh.model_from_functions(
        ([0.0], 1.0),
        lambda t, x: skh.student_t(0.95 * x, 0.4, df=3),
        lambda t, x, y: -0.5 * ((x[:, 0] - y) / 0.3) ** 2,
    )
    rng, x = np.random.default_rng(1), [0.0]
    for _ in range(79):
        x.append(0.95 * x[-1] + 0.4 * rng.standard_t(3))
    ys = np.array(x) + 0.3 * rng.standard_normal(80)
    series(
        "any_transition",
        skh.particle_filter(model, ys, n=50, rng=0),
        x,
        "A level with Student-t shocks",
    )


def starry_night():
    """A camera in space by 50 random and by 50 placed particles, from above."""
    model, ys, truth, landmarks = stereo_flight()
    figure = Figure((9.0, 3.8), layout="constrained")
    view, off = figure.subplots(1, 2)
    view.plot(*landmarks[:, :2].T, "*", color=GREY, label="landmarks")
    view.plot(*truth[:, :2].T, "k:", lw=1, label="truth")
    rules = {"50 random particles": (skh.Stratified(), ORANGE), "50 placed": (None, BLUE)}
    for name, (rule, colour) in rules.items():
        found = skh.particle_filter(model, ys, rule, 50, rng=0).mean_states.position
        view.plot(*found[:, :2].T, color=colour, lw=1, label=name)
        off.semilogy(100 * np.linalg.norm(found - truth, axis=1), color=colour, label=name)
    view.set(aspect="equal", xlabel="x / m", ylabel="y / m", title="From above")
    off.set(xlabel="step", title="Distance to the truth / cm")
    view.legend(frameon=False, fontsize=7)
    save(figure, "starry_night")


def lost():
    """The corridor of the example: equal doors, one odd gap, and the two starts."""
    figure = Figure((9.0, 2.7), layout="constrained")
    axis = figure.subplots()
    axis.bar(np.r_[np.arange(0, 37, 6), 45, 51], 1, 1.2, color=GREY, label="doors")
    axis.plot(6, 0.5, "o", color=BLUE, ms=11, label="right start")
    axis.plot(12, 0.5, "X", color=ORANGE, ms=11, label="one door too far")
    axis.set(
        yticks=[],
        xlabel="corridor / m",
        title="All doors look the same; the gap before the last two is odd",
    )
    figure.legend(frameon=False, ncols=3, loc="outside lower center")
    save(figure, "lost")


def default_step():
    """Animate one step: predictive, pilot, surrogate, second look, posterior."""
    p, y, noise = example_mixture(), np.array([1.2, 0.6]), 0.25
    stages = step_stages(p, y, noise)
    figure = Figure((8.0, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2)

    def frame(k):
        for axis in axes:
            axis.clear()
        stage(axes, stages[k], y)
        figure.suptitle(f"{k + 1}. {stages[k][0]}")

    animation = FuncAnimation(figure, frame, frames=len(stages), init_func=lambda: [])
    animation.save(PICTURES / "default_step.gif", PillowWriter(fps=0.5), dpi=100)
    figure = Figure((10.0, 4.6), layout="constrained")
    for k, axes in enumerate(figure.subplots(2, len(stages)).T):
        stage(axes, stages[k], y)
        axes[0].set_title(f"{k + 1}. {stages[k][0]}".replace(": ", ":\n"), fontsize=10)
    save(figure, "default_step")


def stage(axes, what, y, near=1.1):
    """Draw a stage of a step, the whole and what is near the observation."""
    _, mixture, points, colour = what
    for axis, (low, high) in zip(axes, ((-4.5, 4.5), (-near, near)), strict=True):
        middle = y if high == near else np.zeros(2)
        shade(axis, mixture, low, high, middle)
        if points is not None:
            dots(axis, points, colour)
        axis.plot(*y, "r+", ms=14)
        axis.set(xlim=middle[0] + (low, high), ylim=middle[1] + (low, high))
    corner, side = y - near, {"fill": False, "ec": "r", "lw": 0.8}
    axes[0].add_patch(Rectangle(corner, 2 * near, 2 * near, **side))
    axes[1].spines[:].set_color("r")


def step_stages(p, y, noise):
    """Titles, mixtures and points of the five stages of a step that looks twice."""
    asked = []
    model = skh.model_from_functions((p.means[0], np.eye(2)), lambda t, x: (x, 1.0), lambda *a: 0.0)
    pf = skh.ParticleFilter(PriorOnly(model, p), n=40, rng=0)
    question = pf.ask()
    while question is not None:
        asked.append(np.array(question.x))
        question = pf.tell(-0.5 * ((question.x - y) ** 2).sum(1) / noise**2)
    sharp = posterior(p, y, noise)
    pilot, second = (as_points(x) for x in (asked[0], np.concatenate(asked[1:])))
    belief = pf.belief
    return [
        ("the predictive mixture", p, None, BLUE),
        (f"the pilot: {len(asked[0])} evaluations", p, pilot, BLUE),
        ("mixture times surrogate", sharp, pilot, BLUE),
        (f"second look: {len(second.x)} evaluations", sharp, second, ORANGE),
        (
            "the posterior",
            sharp,
            skh.WeightedPoints(belief.x, belief.w, np.zeros(len(belief.w), int)),
            BLUE,
        ),
    ]


class PriorOnly:
    """A model with the given predictive mixture at its first step."""

    def __init__(self, model, p):
        self.prior, self.transition, self.log_likelihood = (
            lambda: p,
            model.transition,
            model.log_likelihood,
        )


def as_points(x):
    """Points of equal weight."""
    return skh.WeightedPoints(x, np.full(len(x), 1 / len(x)), np.zeros(len(x), int))


def posterior(p, y, noise):
    """The mixture given a Gaussian observation of the whole state, in closed form."""
    weights, means, covariances = [], [], []
    for w, m, C in zip(p.weights, p.means, p.covariances, strict=True):
        S = C + noise**2 * np.eye(2)
        K, r = C @ np.linalg.inv(S), y - m
        weights.append(w * np.exp(-0.5 * r @ np.linalg.inv(S) @ r) / np.sqrt(np.linalg.det(S)))
        means.append(m + K @ r)
        covariances.append(C - K @ C)
    return skh.GaussianMixture(np.array(weights) / sum(weights), means, covariances)


def main():
    """Draw all pictures."""
    PICTURES.mkdir(exist_ok=True)
    drawings = (how_it_works, kernels, sequences, chains, tutorial, filtered_series, lost)
    for draw in (*drawings, starry_night, default_step):
        draw()


if __name__ == "__main__":
    main()
