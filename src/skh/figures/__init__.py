"""Records as pictures: one file per experiment, each with ``pictures(records)``.

The `demo` is no experiment of the catalogue and draws a file of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

import matplotlib
from PIL import Image

from skh.experiments.record import Record
from skh.figures import default, mixture, runtime, search_points, synthetic, uav
from skh.figures.style import RC, Picture

PICTURES: dict[str, Callable[[Sequence[Record]], list[Picture]]] = {
    "mixture": mixture.pictures,
    "search-points": search_points.pictures,
    "runtime": runtime.pictures,
    "synthetic": synthetic.pictures,
    "default": default.pictures,
    "uav": uav.pictures,
}


def draw(records: Mapping[str, Sequence[Record]], folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Write all pictures as PNG and SVG; returns (name, caption) of each, by experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, list[tuple[str, str]]] = {}
    with matplotlib.rc_context(RC):
        for experiment, of_experiment in records.items():
            pictures = PICTURES.get(experiment)
            for picture in pictures(of_experiment) if pictures else []:
                _save(picture, folder)
                drawn.setdefault(experiment, []).append((picture.name, picture.caption))
    return drawn


def _save(picture: Picture, folder: Path) -> None:
    pixels = BytesIO()
    picture.figure.savefig(pixels, dpi=150)
    # A palette of 128 colours is a third of the size and looks the same.
    image = Image.open(pixels).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    image.save(folder / f"{picture.name}.png", optimize=True, dpi=(150, 150))
    picture.figure.set_layout_engine("none")  # the places are found, and the same for both files
    # Without the date the same records give the same file.
    picture.figure.savefig(folder / f"{picture.name}.svg", metadata={"Date": None})
