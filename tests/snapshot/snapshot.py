"""Record the results of all cases, to the bit, and compare.

    python tests/snapshot/snapshot.py --write      # after a change that is meant to change numbers

Floating-point results are equal to the bit only on the same processor with the same libraries, so
the file says on what it was recorded.  Elsewhere the test compares `summary` up to a tolerance.
"""

from __future__ import annotations

import json
import platform
import sys
from hashlib import sha256
from pathlib import Path

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import scipy

HERE = Path(__file__).parent
FILE = HERE / "snapshot.json"


def machine() -> dict[str, str]:
    """Processor and library versions, on which the last bit of a result may depend."""
    features = llvmlite.binding.get_host_cpu_features().flatten()
    return {
        "processor": llvmlite.binding.get_host_cpu_name(),
        "features": sha256(features.encode()).hexdigest()[:12],
        "system": platform.system(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{m.__name__: m.__version__ for m in (np, scipy, numba, llvmlite)},
    }


def digest(arrays: list[np.ndarray]) -> str:
    """Hash of the bits, shapes and types of all arrays."""
    found = sha256()
    for a in arrays:
        a = np.ascontiguousarray(a)
        found.update(f"{a.dtype.kind}{a.shape}".encode())
        found.update(a.tobytes())
    return found.hexdigest()[:16]


def summary(arrays: list[np.ndarray]) -> list[float]:
    """A few numbers that are reproducible on other processors up to rounding."""
    finite = [np.asarray(a, float).ravel() for a in arrays]
    finite = [a[np.isfinite(a)] for a in finite]
    total, size = sum(np.abs(a).sum() for a in finite), sum(a.size for a in finite)
    return [size, float(total / max(size, 1))]


def taken(names: list[str] | None = None) -> dict[str, dict[str, object]]:
    """Run the cases."""
    from cases import CASES

    found = {}
    for name in names or CASES:
        arrays = CASES[name]()
        found[name] = {"digest": digest(arrays), "summary": summary(arrays)}
    return found


def main() -> None:
    """Write the file, or report differences from it."""
    if "--write" in sys.argv:
        content = {"machine": machine(), "cases": taken()}
        FILE.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{len(content['cases'])} cases written to {FILE}")
        return
    recorded = json.loads(FILE.read_text())["cases"]
    now = taken()
    differing = [name for name in now if now[name]["digest"] != recorded[name]["digest"]]
    print(f"{len(now) - len(differing)} of {len(now)} cases equal to the bit")
    print("\n".join(f"differs: {name}" for name in differing))
    sys.exit(bool(differing))


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    main()
