"""Large kernels are called, not copied, also by code that is loaded from disk."""

import os
import subprocess
import sys

import pytest

KERNELS = """
from skh._numba.compiling import compiled

@compiled
def small(x):
    return 2.0 * x

@compiled
def inner(a):
    total = 0.0
    for i in range(a.size):
        total += small(a[i])
    return total

@compiled
def between(a):
    least = inner(a)
    for i in range(a.size):
        least = min(least, a[i])
    return least

@compiled
def outer(a):
    return between(a) + 1.0

@compiled
def other(a):
    return between(a) + inner(a) + small(1.0)
"""

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, many
from skh._numba.compiler import machine_code
machine_code.LARGE = 10  # a loop is large
for name in sys.argv[2:]:
    kernel = getattr(many, name)
    right = kernel(np.arange(3.0)) == {"inner": 6, "between": 0, "outer": 1, "other": 8}[name]
    (result,) = kernel.overloads.values()
    called = machine_code.all_called(machine_code.large_calls(result.library))
    where = "loaded" if sum(kernel.stats.cache_hits.values()) else "compiled"
    print(name, where, right, *sorted(n for n in ("inner", "between") if n in str([*called])))
"""


@pytest.fixture
def run(tmp_path):
    """Call kernels in a new process, with the files of earlier ones."""
    (tmp_path / "many.py").write_text(KERNELS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": ""}

    def call(*names):
        command = [sys.executable, "-c", RUN, str(tmp_path), *names]
        return subprocess.check_output(command, text=True, env=environment).splitlines()

    return call


def test_large_kernels_are_called(run):
    assert run("inner", "outer") == ["inner compiled True", "outer compiled True between inner"]


def test_loaded_kernels_find_those_that_they_call(run):
    run("outer")
    assert run("outer") == ["outer loaded True between inner"]
    assert run("outer", "inner", "between")[1:] == [
        "inner loaded True",
        "between loaded True inner",
    ]
    assert run("inner", "between", "outer")[2] == "outer loaded True between inner"


def test_new_kernels_use_loaded_ones(run):
    run("outer")
    assert run("outer", "other")[1] == "other compiled True between inner"
    assert run("other") == ["other loaded True between inner"]
