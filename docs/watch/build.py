"""Write the page "watch it place" as one file that needs no network.

python docs/watch/build.py docs/_build/html/watch.html
"""

import json
import sys
from pathlib import Path

from frames import all_scenes

HERE = Path(__file__).parent


def page(data):
    """The HTML with its script and its data inside."""
    text = (HERE / "page.html").read_text()
    text = text.replace("/*SCRIPT*/", (HERE / "page.js").read_text())
    return text.replace("/*DATA*/null", json.dumps(data, separators=(",", ":")))


def main():
    """Write the page to the file of the command line."""
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(all_scenes()))
    print(f"{out}: {out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
