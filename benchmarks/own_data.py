"""What the commands print on the page of your own data, following the page.

    python benchmarks/own_data.py     # a minute; needs the package `particles`, which has the data

Writes the files own-data*.md of benchmarks/tables; `make numbers` puts them into the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import skh
from skh.app import read_observations

HERE = Path(__file__).parent
PAGE = (HERE.parent / "docs" / "own_data.md").read_text()
HEAD = f"<!-- python benchmarks/own_data.py; {date.today()} -->\n\n"
WIDTH = 76  # letters of a line
UNSAID = re.compile(r"^(filtering|comparing): .*\n|^\([\d.]+ s\)\n", re.MULTILINE)  # progress


def printed(command: str) -> str:
    """What a command of the page prints, as a terminal breaks it."""
    run = subprocess.run(
        command.split(),
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": str(WIDTH)},
    )
    lines = UNSAID.sub("", run.stdout).splitlines()
    return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent=" " * 7) for line in lines)


def keep(name: str, text: str) -> None:
    """Write one file, for people to read on the page."""
    (HERE / "tables" / f"{name}.md").write_text(f"{HEAD}{text}\n")


def bootstrap() -> list[str]:
    """Rows of the log-evidence of three bootstrap filters with 50,000 particles."""
    model = skh.models.stochastic_volatility(0.98, 0.15, 0.6)
    ys = read_observations("returns.csv", "return", "date").values
    found = [
        skh.particle_filter(model, ys, skh.Systematic(), 50_000, rng=seed).log_evidence
        for seed in range(3)
    ]
    return [f"| bootstrap filter {k} | {value:.2f} |" for k, value in enumerate(found, 1)]


def main() -> None:
    """Follow the page."""
    for text in re.findall(r"^```(?:python|toml)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        Path(str(re.match(r"# (\S+)", text)[1])).write_text(text)
    exec(Path("export.py").read_text(), {})
    commands = re.findall(r"^\$ (skh .*)$", PAGE, re.MULTILINE)
    outputs = {command: printed(command) for command in commands}
    for name, command in zip(("check", "run", "compare"), commands[:3], strict=True):
        keep(f"own-data-{name}", f"```text\n{outputs[command]}\n```")
    heavy = re.search(r"log-evidence (-[\d.]+)", outputs[commands[-1]])
    rows = [*bootstrap(), f"| Student's t | {heavy[1]} |"]
    keep("own-data", "\n".join(["| filter | log-evidence |", "|---|---|", *rows]))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
