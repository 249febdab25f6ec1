"""Draw the figures of experiments and write them to files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

from skh.reproduction.catalogue import EXPERIMENTS
from skh.reproduction.engine.record import Record
from skh.reproduction.engine.store import write_atomically
from skh.reproduction.style import RC, Picture


def draw(
    experiment: str,
    records: Sequence[Record],
    folder: Path,
    *,
    svg: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> list[tuple[str, str]]:
    """Write the figures of an experiment as PNG and SVG; return their names and captions.

    ``say`` is called with what is being done.
    """
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(RC):
        say(f"preparing the figures of {experiment}")
        pictures = EXPERIMENTS[experiment].pictures(records)
        for picture in pictures:
            say(f"drawing {picture.name}")
            _save_png(picture, folder)
            if svg:
                _save_svg(picture, folder)
    return [(picture.name, picture.caption) for picture in pictures]


def _save_png(picture: Picture, folder: Path) -> None:
    """Write a PNG with 128 colours, a third of the size of a full one; maps of colours have all."""
    from PIL import Image

    pixels = BytesIO()
    picture.figure.savefig(pixels, dpi=150)
    image = Image.open(pixels).convert("RGB")
    if not any(axes.images for axes in picture.figure.axes):
        image = image.quantize(128, dither=Image.Dither.NONE)
    small = BytesIO()
    image.save(small, format="PNG", optimize=True, dpi=(150, 150))
    write_atomically(folder / f"{picture.name}.png", small.getvalue())


def _save_svg(picture: Picture, folder: Path) -> None:
    """Write an SVG with the layout of the PNG, and the same bytes for the same records."""
    picture.figure.set_layout_engine("none")  # keep the layout that was found for the PNG
    text = BytesIO()
    picture.figure.savefig(text, format="svg", metadata={"Date": None})
    write_atomically(folder / f"{picture.name}.svg", text.getvalue())
