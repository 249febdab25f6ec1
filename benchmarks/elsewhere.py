"""Models of other packages through this library, against those packages themselves.

    python benchmarks/elsewhere.py           # about half an hour
    python benchmarks/elsewhere.py --table   # only the table, from the last run

Makes an environment with this library, `particles` and Stone Soup, and one with dynamax; records
what they compute in ``tests/models/elsewhere.json`` for the ordinary tests, and prints the table
of docs/models_from_elsewhere.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parent
ENVIRONMENTS = HERE / ".peers"
RECORDED = ROOT / "tests" / "models" / "elsewhere.json"
NEEDS = {
    "elsewhere": [str(ROOT), "joblib", "scikit-learn", "matplotlib", "stonesoup>=1.5"],
    "dynamax": [str(ROOT), "dynamax>=1.0"],
}
WITHOUT_DEPENDENCIES = {"elsewhere": ["particles==0.4"]}  # it pins NumPy below 2, without need


def environment(peer: str) -> Path:
    """Path of the Python of an environment, which is created on first use."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    ready = ENVIRONMENTS / f"{peer}.ready"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENTS / peer], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *NEEDS[peer]], check=True)
        if alone := WITHOUT_DEPENDENCIES.get(peer):
            subprocess.run([*pip, "--no-deps", *alone], check=True)
        ready.touch()
    return python


def lines(script: str, peer: str = "elsewhere") -> list[dict[str, Any]]:
    """Run a script of peers; return its lines of JSON."""
    command = [environment(peer), HERE / "peers" / script]
    env = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    env["JAX_ENABLE_X64"] = "1"  # double precision, as ours
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True, env=env)
    return [json.loads(line) for line in run.stdout.splitlines()]


def record() -> dict[str, Any]:
    """Everything that the peers compute."""
    (laws,), (stonesoup,) = lines("particles_laws.py"), lines("stonesoup_models.py")
    (dynamax,) = lines("dynamax_models.py", "dynamax")
    models = {line["model"]: line["series"] for line in lines("particles_models.py")}
    everything: dict[str, Any] = {
        "laws": laws,
        "stonesoup": stonesoup,
        "dynamax": dynamax,
        "particles": models,
    }
    return {name: rounded(part) for name, part in everything.items()}


def rounded(value: Any) -> Any:
    """Numbers to twelve digits."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return {k: rounded(v) for k, v in value.items()} if isinstance(value, dict) else value


def rms(values: list[float], truth: float) -> float:
    """Root mean squared error."""
    return float(np.sqrt(np.mean(np.square(np.array(values) - truth))))


def reference(series: dict[str, Any]) -> float:
    """The exact log-evidence, or the mean of the large bootstrap filters of `particles`."""
    return float(series["mean"] if series["exact"] is None else series["exact"])


def standard_error(values: list[float]) -> float:
    """Of the mean of runs."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def deviation(series: dict[str, Any]) -> float:
    """Difference of the large bootstrap filters, ours minus theirs, in standard errors."""
    ours, theirs = series["ours_large"], series["theirs_large"]
    error = np.hypot(standard_error(theirs), np.std(theirs, ddof=1) / np.sqrt(len(ours)))
    return float((np.mean(ours) - np.mean(theirs)) / error)


def row(name: str, series: list[dict[str, Any]]) -> str:
    """A line of the table: errors are root mean squares over series and seeds."""
    small, ours = (
        np.sqrt(np.mean([rms(s[key], reference(s)) ** 2 for s in series]))
        for key in ("theirs_small", "ours")
    )
    far = max((deviation(s) for s in series), key=abs)
    kind = "draws" if series[0]["kind"] == "SimulatorModel" else "mixture"
    exact = "exact" if series[0]["exact"] is not None else "50,000"
    cells = name, kind, exact, f"{far:+.1f}", f"{small:.3f}", f"{ours:.3f}", f"{small / ours:.1f}"
    return "| " + " | ".join(cells) + " |"


def table(models: dict[str, Any]) -> str:
    """The table in Markdown."""
    head = (
        "| class | transition | reference | bootstrap, both N = 50,000: ours - theirs, in standard "
        "errors | error, `particles` N = 1,000 | error, default N = 50 | ratio |"
    )
    rows = [row(name, series) for name, series in models.items()]
    return "\n".join([head, "|---" * 7 + "|", *rows])


def details(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Numbers of single series and of linear models, by what they are."""
    series = [s for of in record["particles"].values() for s in of]
    rows = [
        ("mean square of the differences", f"{np.mean([deviation(s) ** 2 for s in series]):.2f}")
    ]
    for k, of in enumerate(record["particles"]["DiscreteCox"]):
        for name, key in (("default", "ours"), ("`particles`", "theirs_small")):
            rows.append((f"DiscreteCox, series {k}, {name}", f"{rms(of[key], reference(of)):.2f}"))
    for model, found in record["dynamax"].items():
        *peers, (_, runs) = found.items()
        rows += [(f"dynamax, {model}, {name}", f"{value:.2f}") for name, value in peers]
        rows += [(f"dynamax, {model}, {f.__name__}", f"{f(runs):.2f}") for f in (min, max)]
    linear = record["stonesoup"]["linear"]
    rows += [("Stone Soup, Kalman", f"{linear['log_evidence']:.1f}")]
    rows += [(f"Stone Soup, {f.__name__}", f"{f(linear['ours']):.1f}") for f in (np.mean, np.std)]
    return rows


if __name__ == "__main__":
    if "--table" not in sys.argv:
        RECORDED.write_text(json.dumps(record()) + "\n")
    print(table(json.loads(RECORDED.read_text())["particles"]))
