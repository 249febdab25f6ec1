"""Wheel and source distribution: what they contain, and that the wheel works by itself."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile

import pytest

import skh
from pages import ROOT

SMALL = 2_000_000  # bytes of a source distribution
FILTER = """
import numpy as np, skh, sys
model = skh.models.lgss3()
states, ys = model.simulate(5, rng=0)
result = skh.particle_filter(model, ys, skh.QuasiMonteCarlo(), n=50, rng=0)
assert np.isfinite(result.means).all()
assert "site-packages" in skh.__file__, skh.__file__
print(skh.__version__)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of a wheel and a source distribution; the backend runs in this environment."""
    pytest.importorskip("hatchling", reason="the build backend is part of the extra test")
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", out], check=True, cwd=ROOT, timeout=120
    )
    return out


@pytest.fixture(scope="module")
def wheel(built):
    (file,) = built.glob("*.whl")
    return file


def test_the_wheel_has_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"skh"}
    assert "skh/py.typed" in names
    assert any(name.startswith("skh/report/assets/") for name in names)
    assert not [name for name in names if "test" in name or name.endswith((".nbi", ".nbc"))]


def test_links_of_the_readme_work_outside_of_the_repository(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        _, _, readme = archive.read(name).decode().partition("\n\n")
    assert "## Your own model in ten lines" in readme
    assert re.findall(r"\]\((?!https://)[^)]*\)", readme) == []
    assert "<!--" not in readme


@pytest.mark.parametrize("home", ["", "https://example.org/skh"])
def test_the_address_of_the_project_is_that_of_the_build(home, tmp_path):
    pytest.importorskip("hatchling", reason="the build backend is part of the extra test")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path],
        check=True,
        cwd=ROOT,
        env={**os.environ, "SKH_HOME": home},
        timeout=120,
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(name).decode()
    assert ("Project-URL: Source, https://example.org/skh" in text) == bool(home)
    assert ("](https://example.org/skh/raw/main/docs/demo.png)" in text) == bool(home)


def test_the_source_distribution_is_small(built):
    (file,) = built.glob("*.tar.gz")
    assert file.stat().st_size < SMALL
    with tarfile.open(file) as archive:
        members = archive.getmembers()
    names = {member.name.split("/", 1)[1] for member in members}
    assert {"README.md", "LICENSE", "pyproject.toml", "tests/conftest.py"} <= names
    assert max(member.size for member in members) < 1_000_000
    assert "results/records.csv.gz" not in names


def test_the_source_distribution_builds_the_same_wheel(built, wheel, tmp_path):
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(command, check=True, cwd=tree, timeout=120)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as ours, zipfile.ZipFile(wheel) as theirs:
        assert contents(ours) == contents(theirs)


def contents(archive):
    """Checksums of the files of a wheel by name."""
    return {entry.filename: entry.CRC for entry in archive.infolist()}


@pytest.fixture(scope="module")
def recipe(built):
    """The text of a conda recipe of the source distribution."""
    (file,) = built.glob("*.tar.gz")
    command = [sys.executable, ROOT / "packaging" / "recipe.py", file, "--maintainer", "somebody"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_recipe_has_the_dependencies_and_the_source(recipe, built):
    (file,) = built.glob("*.tar.gz")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    run = re.search(r"  run:\n((?:    - .*\n)*)", recipe)[1]
    listed = re.findall(r"- ([\w-]+) ?(.*)", run)[1:]  # after Python
    wanted = project["dependencies"] + project["optional-dependencies"]["app"]
    found = [f"{name.removesuffix('-base')}{versions}" for name, versions in listed]
    assert found == wanted
    assert f"sha256: {hashlib.sha256(file.read_bytes()).hexdigest()}\n" in recipe
    assert f"  url: {file.as_uri()}\n" in recipe


def test_the_recipe_can_be_read_by_rattler_build(recipe):
    """Which refuses names that it does not know."""
    stage0 = pytest.importorskip("rattler_build.stage0", reason="make recipe installs it")
    (rendered,) = stage0.Stage0Recipe.from_yaml(recipe).render()
    found = rendered.recipe.to_dict()
    assert (found["package"]["version"], found["build"]["noarch"]) == (skh.__version__, "python")
    assert found["about"]["license_file"] == ["LICENSE"]
    with pytest.raises(Exception, match="licence"):
        stage0.Stage0Recipe.from_yaml(recipe.replace("  license:", "  licence:"))


def test_the_wheel_filters_without_extras(wheel, tmp_path):
    """Dependencies are those of this environment; those of extras are hidden from it."""
    place = tmp_path / "site-packages"
    zipfile.ZipFile(wheel).extractall(place)
    environment = tmp_path / "clean"
    venv.create(environment, with_pip=False)
    hide = (
        "import sys\n"
        "for name in ('matplotlib', 'PIL', 'typer', 'threadpoolctl', 'pandas', 'xarray'):\n"
        "    sys.modules[name] = None\n"
    )
    here = [path for path in sys.path if path.endswith("site-packages")]
    paths = os.pathsep.join([str(place), *here])
    variables = {**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "0"}
    run = subprocess.run(
        [environment / "bin" / "python", "-W", "error", "-c", hide + FILTER],
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
