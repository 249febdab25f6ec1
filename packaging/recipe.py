"""Print a conda recipe of a source distribution, in the format of conda-forge's recipes.

python packaging/recipe.py dist/skh-*.tar.gz --url ADDRESS --home ADDRESS --maintainer NAME

Versions of dependencies are those of pyproject.toml.  The package has the command, so that the
extra `app` is among them.  Without ``--url`` the source is the file itself, to try a build.
"""

import argparse
import hashlib
import re
import tomllib
from pathlib import Path

PYPROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
PROJECT, BUILD = PYPROJECT["project"], PYPROJECT["build-system"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # without a toolkit for windows
RECIPE = """\
schema_version: 1

context:
  version: "{version}"
  python_min: "{python}"

package:
  name: skh
  version: ${{{{ version }}}}

source:
  url: {url}
  sha256: {sha256}

build:
  number: 0
  noarch: python
  script: ${{{{ PYTHON }}}} -m pip install . -vv --no-deps --no-build-isolation
  python:
    entry_points:
      - skh = {command}

requirements:
  host:
    - python ${{{{ python_min }}}}.*
    - pip
    - {backend}
  run:
    - python >=${{{{ python_min }}}}
    - {run}

tests:
  - python:
      imports:
        - skh
        - skh.robotics
      pip_check: true
      python_version: ${{{{ python_min }}}}.*
  - requirements:
      run:
        - python ${{{{ python_min }}}}.*
    script:
      - skh --version

about:
  homepage: {home}
  summary: {summary}
  license: {license}
  license_file:
    - {license_file}

extra:
  recipe-maintainers:
    - {maintainers}
"""


def conda(requirement):
    """A requirement of pyproject.toml as conda writes it.

    >>> conda("matplotlib>=3.9,<4")
    'matplotlib-base >=3.9,<4'
    """
    name, versions = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
    return f"{CONDA_NAMES.get(name, name)} {versions}".strip()


def recipe(sdist, url, home, maintainers):
    """The text of recipe.yaml."""
    run = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["app"]
    return RECIPE.format(
        version=re.fullmatch(r"skh-(.*)\.tar\.gz", sdist.name)[1],
        python=PROJECT["requires-python"].removeprefix(">="),
        url=url,
        sha256=hashlib.sha256(sdist.read_bytes()).hexdigest(),
        command=PROJECT["scripts"]["skh"],
        backend="\n    - ".join(map(conda, BUILD["requires"])),
        run="\n    - ".join(map(conda, run)),
        home=home,
        summary=f'"{PROJECT["description"]}"',  # it has a colon
        license=PROJECT["license"],
        license_file="\n    - ".join(PROJECT["license-files"]),
        maintainers="\n    - ".join(maintainers),
    )


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Print a conda recipe.")
    parser.add_argument("sdist", type=Path)
    parser.add_argument("--url", help="where the source distribution can be loaded from")
    parser.add_argument("--home", default="https://example.org/skh", help="of the project")
    parser.add_argument("--maintainer", action="append", help="account of a maintainer")
    given = parser.parse_args()
    url = given.url or given.sdist.resolve().as_uri()
    print(recipe(given.sdist, url, given.home, given.maintainer or ["maintainer"]), end="")


if __name__ == "__main__":
    main()
