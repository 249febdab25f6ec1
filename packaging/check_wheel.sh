#!/usr/bin/env bash
# Install a built wheel, without extras, into a clean environment of a given Python, and filter with it.
# Usage: check_wheel.sh python3.12 dist/skh-*.whl [further arguments of pip, such as a file of constraints]
set -euo pipefail
python=$1 wheel=$(realpath "$2")
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel" "$@"
cd "$folder"
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys

import numpy as np

import skh

model = skh.models.lgss3()
states, ys = model.simulate(5, rng=0)
result = skh.particle_filter(model, ys, n=30, rng=0)
assert np.isfinite(result.means).all()
print(f"skh {skh.__version__} filters on Python {sys.version.split()[0]}, NumPy {np.__version__}")
PYTHON
