"""An animated view of the particles on the map: one HTML file with a slider, without a network."""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from skh._typing import Array
from skh.app.localize.figures import ellipse, map_extent, map_image, settled_path
from skh.app.localize.run import LocalizeRun

MOST_FRAMES = 1500
MOST_DOTS = 400  # particles of a frame; more of them are resampled
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
)


def write_animation(run: LocalizeRun, path: Path) -> None:
    """Write the page."""
    title = f"{run.setup.scenario.log_path.name}: {len(run.times)} steps"
    data = json.dumps(animation_data(run), separators=(",", ":")).replace("<", "\\u003c")
    page = files("skh.app.localize").joinpath("assets/animation.html").read_text("utf-8")
    parts = {"policy": PAGE_POLICY, "title": escape(title), "data": data}
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text)
    path.write_text(page, encoding="utf-8")


def animation_data(run: LocalizeRun) -> dict[str, Any]:
    """Frames with particles, ellipses and paths, as the script of the page takes them."""
    steps = np.unique(np.linspace(0, len(run.times) - 1, MOST_FRAMES).round().astype(int))
    dots = [shown_dots(*run.planar_particles(int(t))) for t in steps]
    outlines = [ellipse(run.planar[t, :2], run.covariances[t][:2, :2])[::2] for t in steps]
    truth = run.true_planar
    return {
        "times": [round(float(t), 4) for t in run.times[steps] - run.times[0]],
        "ess": [round(float(e), 2) for e in run.result.ess[steps]],
        "counts": [len(rows) for rows in dots],
        "dots": packed(np.concatenate(dots)),
        "mean": packed(run.planar[steps]),
        "ellipses": packed(np.concatenate(outlines)),
        "outline": len(outlines[0]),
        "truth": None if truth is None else packed(truth[steps]),
        "path": packed(settled_path(run)),
        "steps": steps.tolist(),
        "landmarks": _landmarks(run),
        "map": _map(run),
    }


def shown_dots(particles: Array, w: Array) -> Array:
    """Rows (x, y, heading, weight relative to the largest); many particles are resampled."""
    if len(w) > MOST_DOTS:
        places = (np.arange(MOST_DOTS) + 0.5) / MOST_DOTS
        chosen = np.searchsorted(np.cumsum(w), places).clip(0, len(w) - 1)
        return np.column_stack([particles[chosen], np.ones(MOST_DOTS)])
    return np.column_stack([particles, w / w.max()])


def packed(rows: Array) -> str:
    """Numbers as single precision in base 64."""
    return b64encode(np.asarray(rows, dtype="<f4").tobytes()).decode("ascii")


def _landmarks(run: LocalizeRun) -> list[list[float]]:
    if run.setup.landmarks is None:
        return []
    return [[round(float(v), 4) for v in row[:2]] for row in run.setup.landmarks]


def _map(run: LocalizeRun) -> dict[str, Any] | None:
    """The map as an image, and where it lies."""
    if run.setup.grid is None:
        return None
    from PIL import Image

    file = BytesIO()
    grey = (255 * map_image(run.setup.grid)[::-1]).astype(np.uint8)
    Image.fromarray(grey).save(file, "PNG", optimize=True)
    image = "data:image/png;base64," + b64encode(file.getvalue()).decode("ascii")
    return {"image": image, "extent": list(map_extent(run.setup.grid))}
