"""Print the lowest versions that pyproject.toml allows, as constraints of pip.

python packaging/lowest.py app > lowest.txt
"""

import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)")


def lowest(extras):
    """``name==version`` of all dependencies and of those of the extras."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found = [REQUIREMENT.match(requirement) for requirement in wanted]
    return [f"{name}=={version}.*" for name, version in (match.groups() for match in found)]


if __name__ == "__main__":
    print("\n".join(lowest(sys.argv[1:])))
