#!/usr/bin/env bash
# Run tests, all if none are named, with a built wheel, all extras included, in a clean environment of a given Python.
# Usage: test_wheel.sh python3.12 dist/skh-*.whl [arguments of pytest, such as tests/rules -n 2]
set -euo pipefail
python=$1 wheel=$(realpath "$2")
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[app,cluster,io,test]"
mkdir "$folder/tree"
git archive HEAD | tar -x -C "$folder/tree"
cd "$folder/tree"
PATH="$folder/venv/bin:$PATH" "$folder/venv/bin/python" - <<'PYTHON'
import sys
import skh
assert "site-packages" in skh.__file__, skh.__file__
print(f"testing skh {skh.__version__} of {skh.__file__} on Python {sys.version.split()[0]}")
PYTHON
PATH="$folder/venv/bin:$PATH" "$folder/venv/bin/pytest" -q -p no:cacheprovider "${@:-tests}"
