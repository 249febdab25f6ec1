"""Without a folder for compiled kernels, or with damaged files in it, they are compiled again."""

import importlib.util
import os
import resource
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numba
import pytest

import skh
from skh._numba.compiler import disk_cache

TINY = """
from skh._numba.compiling import compiled

@compiled
def scaled(x):
    return {factor} * x
"""

IMPORT = """
import sys, warnings
import numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import skh, skh.models
    from skh._numba.array_checks import first_not_finite
    assert first_not_finite(np.array([0.0, np.inf])) == 1
assert skh.__file__.startswith(sys.argv[1]), skh.__file__
print(*(warning.message for warning in caught), sep="\\n")
"""


LOAD = """
import sys
sys.path.insert(0, sys.argv[1])
from tiny import scaled
assert scaled(3.0) == 6.0
print(sum(scaled.stats.cache_hits.values()), "scipy.linalg" in sys.modules)
"""


@pytest.fixture(autouse=True)
def _as_after_a_start(monkeypatch):
    monkeypatch.setattr(disk_cache, "_warned", set())
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # files are beside their source


def as_in_a_new_process(folder, factor=2.0):
    """A kernel x -> factor x of a file in the folder, not yet compiled or loaded."""
    path = folder / "tiny.py"
    path.write_text(TINY.format(factor=factor))
    spec = importlib.util.spec_from_file_location("tiny", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.scaled


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def hits_of_a_call(kernel):
    assert kernel(3.0) == 6.0
    return hits(kernel)


@contextmanager
def files_of_at_most(size):
    """Let writing beyond ``size`` bytes fail, as on a full disk, for root as well."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_import_works_where_no_folder_is_writable(tmp_path):
    package = tmp_path / "skh"
    shutil.copytree(
        Path(skh.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in {path.parent for path in package.rglob("*.py")}:
        (folder / "__pycache__").touch()  # a file: not even root can write into it
    nowhere = {"HOME": "/dev/null/home", "XDG_CACHE_HOME": "/dev/null/cache"}
    environment = {**os.environ, **nowhere, "PYTHONPATH": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    run = subprocess.run(
        [sys.executable, "-c", IMPORT, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert run.stdout.strip() == disk_cache.NO_FOLDER
    assert "set the environment variable NUMBA_CACHE_DIR" in disk_cache.NO_FOLDER


DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
    "text": lambda data: b"no pickle",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_are_replaced(tmp_path, suffix, damage):
    assert as_in_a_new_process(tmp_path)(3.0) == 6.0
    (path,) = tmp_path.rglob(f"*.{suffix}")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="could not read a compiled kernel") as caught:
        assert as_in_a_new_process(tmp_path)(3.0) == 6.0
    assert len(caught) == 1
    assert str(path.parent) in str(caught[0].message)
    again = as_in_a_new_process(tmp_path)
    assert (again(3.0), hits(again)) == (6.0, 1)


def test_kernels_are_compiled_again_after_a_change_of_others(tmp_path, monkeypatch):
    assert as_in_a_new_process(tmp_path)(3.0) == 6.0
    with monkeypatch.context() as changed:
        changed.setattr(disk_cache, "_digest_of_kernels", lambda: b"another source")
        assert hits_of_a_call(as_in_a_new_process(tmp_path)) == 0
        assert hits_of_a_call(as_in_a_new_process(tmp_path)) == 1
    assert hits_of_a_call(as_in_a_new_process(tmp_path)) == 0


def test_loading_imports_nothing_that_only_a_compiler_needs(tmp_path):
    (tmp_path / "tiny.py").write_text(TINY.format(factor=2.0))
    environment = {**os.environ, "NUMBA_CACHE_DIR": ""}
    command = [sys.executable, "-c", LOAD, str(tmp_path)]
    runs = [subprocess.check_output(command, text=True, env=environment) for _ in range(2)]
    assert [run.split() for run in runs] == [["0", "True"], ["1", "False"]]


def test_one_warning_for_many_damaged_files(tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        as_in_a_new_process(folder)(3.0)
        next(folder.rglob("*.nbi")).write_bytes(b"")
    with pytest.warns(RuntimeWarning, match="could not read") as caught:
        assert [as_in_a_new_process(folder)(3.0) for folder in folders] == [6.0, 6.0]
    assert len(caught) == 1


def test_damaged_files_that_cannot_be_deleted_are_ignored(tmp_path, monkeypatch):
    as_in_a_new_process(tmp_path)(3.0)
    next(tmp_path.rglob("*.nbi")).write_bytes(b"")

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert as_in_a_new_process(tmp_path)(3.0) == 6.0
    assert ["could not read" in str(w.message) for w in caught] == [True, False]
    assert "could not save" in str(caught[1].message)


@pytest.mark.parametrize("size", [0, 1024])  # not even an index fits, or no code
def test_a_full_disk_is_a_warning(tmp_path, size):
    kernel = as_in_a_new_process(tmp_path)
    with files_of_at_most(size), pytest.warns(RuntimeWarning, match="could not save") as caught:
        assert [kernel(3.0), kernel(3)] == [6.0, 6]  # compiled for each type
    assert len(caught) == 1
    assert "NUMBA_CACHE_DIR" in str(caught[0].message)
    assert not list(tmp_path.rglob("*.nb*"))


def test_code_of_an_earlier_source_is_not_loaded_after_a_full_disk(tmp_path):
    assert as_in_a_new_process(tmp_path, 2.0)(3.0) == 6.0
    changed = as_in_a_new_process(tmp_path, 5.0)
    with files_of_at_most(1024), pytest.warns(RuntimeWarning, match="could not save"):
        assert changed(3.0) == 15.0
    assert as_in_a_new_process(tmp_path, 5.0)(3.0) == 15.0
