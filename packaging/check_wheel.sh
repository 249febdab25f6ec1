#!/usr/bin/env bash
# Install a built wheel into a clean environment of a given Python, without extras, and filter with it.
# Usage: check_wheel.sh python3.12 dist/skh-*.whl [further arguments of pip, such as a file of constraints]
# With EXTRAS=app the command is installed and run, too.
set -euo pipefail
python=$1 wheel=$(realpath "$2")${EXTRAS:+[$EXTRAS]}
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel" "$@"
cd "$folder"
unset PYTHONPATH
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys

import numpy as np

import skh

assert "site-packages" in skh.__file__, skh.__file__
model = skh.models.lgss3()
states, ys = model.simulate(5, rng=0)
result = skh.particle_filter(model, ys, n=30, rng=0)
assert np.isfinite(result.means).all()
print(f"skh {skh.__version__} filters on Python {sys.version.split()[0]}, NumPy {np.__version__}")
PYTHON
if [[ ${EXTRAS:-} == *app* ]]; then
    printf 'time,y\n1,0.5\n2,-0.3\n3,\n4,1.1\n' > data.csv
    "$folder/venv/bin/skh" run stochastic_volatility data.csv --columns y --times time --out out
    ls out/table.csv out/plot.png out/run.html >/dev/null
fi
