"""What a record depends on besides its task: configuration, source code, libraries.

Records of different fingerprints are never put together.  The source is compared without comments
and docstrings, and only the modules that an experiment imports, directly or through others, count:
a new sentence in a docstring or a new colour in a figure does not spoil a long run.
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
from skh.experiments.task import Experiment

ROOT = Path(skh.__file__).parent
LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")


def fingerprint(experiment: Experiment) -> dict[str, Any]:
    """Configuration, hash of the code and versions, as JSON gives them back."""
    known = {
        "experiment": experiment.name,
        "configuration": configuration(experiment),
        **provenance(experiment),
    }
    restored: dict[str, Any] = json.loads(json.dumps(known))
    return restored


def provenance(experiment: Experiment) -> dict[str, Any]:
    """What this process would compute the records with; all workers must have the same."""
    return {
        "code": code_hash(type(experiment).__module__),
        "versions": {"python": platform.python_version()} | {n: version(n) for n in LIBRARIES},
        "processor": platform.machine(),
    }


def configuration(experiment: Experiment) -> dict[str, Any]:
    """The fields of the experiment."""
    return asdict(experiment)  # type: ignore[call-overload, no-any-return]  # all are dataclasses


def machine() -> dict[str, str]:
    """Where the times were measured; the other numbers do not depend on it."""
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
    """A hash of the module and of all modules of this package that it needs."""
    if not _path(module):  # an experiment of one's own: only the library below it is known
        module = "skh.experiments.task"
    digest = sha256()
    for name in sorted(closure(module)):
        digest.update(f"{name}\n{_meaning(_path(name))}\n".encode())
    return digest.hexdigest()


def closure(module: str) -> set[str]:
    """The modules of this package that ``module`` imports, directly or through others."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found and _path(name) and name != "skh":
            found.add(name)
            waiting += _imports(name)
    return found


def _path(module: str) -> Path | None:
    """The file of a module of this package, if there is one."""
    if module.split(".")[0] != "skh":
        return None
    base = ROOT.joinpath(*module.split(".")[1:])
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _imports(module: str) -> list[str]:
    """Names that may be modules: ``from a import b`` may mean a.b."""
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
            node.body = body[1:]  # type: ignore[attr-defined] # it has one
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
