"""Everything that a record depends on besides its task: configuration, source code, libraries.

Records with different fingerprints are never mixed.  The source is compared without comments and
docstrings, and only those modules count that the tasks of an experiment import, directly or
indirectly: a change of a docstring, a claim or a figure does not invalidate a long run.
"""

from __future__ import annotations

import ast
import json
import os
import platform
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import skh
from skh.reproduction.engine.task import Experiment

ROOT = Path(skh.__file__).parent
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")


def fingerprint_of(experiment: Experiment) -> dict[str, Any]:
    """Name, configuration, hash of the code and versions of an experiment."""
    return {
        "experiment": experiment.name,
        "configuration": configuration(experiment),
        **provenance(experiment),
    }


def provenance(experiment: Experiment) -> dict[str, Any]:
    """The code and the versions that this process runs; all workers must have the same."""
    return {
        "code": code_hash(type(experiment).__module__),
        "versions": {"python": platform.python_version()} | {n: version(n) for n in LIBRARIES},
        "processor": platform.machine(),
    }


def configuration(experiment: Experiment) -> dict[str, Any]:
    """The fields of an experiment, as JSON restores them."""
    fields = asdict(experiment)  # type: ignore[call-overload]  # experiments are dataclasses
    restored: dict[str, Any] = json.loads(json.dumps(fields))
    return restored


def machine() -> dict[str, str]:
    """The machine on which times are measured; other results do not depend on it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
    }


@cache
def code_hash(module: str) -> str:
    """A hash of a module and of all modules of this package that it imports."""
    if not _path(module):  # an experiment from elsewhere, whose source is not known here
        module = "skh.reproduction.engine.task"
    digest = sha256()
    for name in sorted(closure(module)):
        digest.update(f"{name}\n{_meaning(_path(name))}\n".encode())
    return digest.hexdigest()


def closure(module: str) -> set[str]:
    """The modules of this package that ``module`` imports, directly or indirectly.

    The ``__init__`` of a package counts if something is imported from the package itself, and not
    if only a module inside it is imported.
    """
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found and _path(name) and name != "skh":
            found.add(name)
            waiting += _imports(name)
    return found


def _path(module: str) -> Path | None:
    """The file of a module of this package, or None."""
    if module.split(".")[0] != "skh":
        return None
    base = ROOT.joinpath(*module.split(".")[1:])
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _imports(module: str) -> list[str]:
    """All imported names that may be modules: ``from a import b`` may mean a.b."""
    names: list[str] = []
    for node in ast.walk(_tree(_path(module))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def _tree(path: Path | None) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8")) if path else ast.Module([], [])


def _meaning(path: Path | None) -> str:
    """The syntax tree without docstrings."""
    tree = _tree(path)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:]  # type: ignore[attr-defined]  # checked above
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
