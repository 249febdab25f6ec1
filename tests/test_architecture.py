"""Rules of the source tree: imports between folders, sizes and names of modules."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import skh

ROOT = Path(skh.__file__).parent
# Each folder may import those before it, and those on the same line.
LAYERS = [
    {"_typing"},
    {"_numba"},
    {"_checks"},
    {"_runtime"},
    {"files"},
    {"gaussians"},
    {"kernels"},
    {"rules"},
    {"frank_wolfe"},
    {"views"},
    {"filtering"},
    {"geometry"},
    {"trajectory"},
    {"models", "scores", "report"},
    {"robotics", "inference"},
    {"__init__"},
    {"reproduction"},
    {"app"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FOR_SCREENS = {"rich", "matplotlib", "PIL", "typer", "pandas", "pyarrow", "xarray"}


def modules():
    """All source files by their dotted names within the package."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts), path


def imports(path, everywhere):
    """Dotted names that a file imports; only at its top level unless ``everywhere``."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def graph(everywhere=False):
    """For each module, the modules of the package that it imports."""
    names = {name for name, _ in modules()}
    found = {}
    for name, path in modules():
        inside = [i.removeprefix("skh.") for i in imports(path, everywhere) if i.startswith("skh.")]
        ends = [i if i in names else i.rpartition(".")[0] or "__init__" for i in inside]
        found[name] = {end for end in ends if end in names} - {name}
    return found


def folder(name):
    return name.split(".")[0]


def test_no_cycles():
    try:
        order = list(TopologicalSorter(graph()).static_order())
    except CycleError as error:
        pytest.fail(f"modules import each other: {error.args[1]}")
    assert len(order) == len(list(modules()))


def test_folders_import_only_what_lies_below_them():
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        for other in others
        if folder(name) != folder(other) and LEVEL[folder(other)] >= LEVEL[folder(name)]
    ]
    assert wrong == []


def test_only_cli_imports_reproduction():
    users = {
        folder(n) for n, others in graph(True).items() if "reproduction" in map(folder, others)
    }
    assert users == {"reproduction", "cli"}


def test_only_commands_and_reproduction_import_plotting_packages():
    wrong = [
        name
        for name, path in modules()
        if folder(name) not in ("reproduction", "app", "cli")
        and FOR_SCREENS & {i.split(".")[0] for i in imports(path, everywhere=False)}
    ]
    assert wrong == []


def test_import_skh_loads_neither_plotting_nor_reproduction():
    code = (
        "import sys, skh; "
        "print(sorted({m.split('.')[0] for m in sys.modules} & "
        f"{FOR_SCREENS!r}), [m for m in sys.modules if m.startswith('skh.reproduction')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] []"


def test_no_module_is_shadowed_by_a_name_of_its_package():
    for info in pkgutil.walk_packages([str(ROOT)], "skh."):
        if info.name == "skh.__main__":
            continue
        importlib.import_module(info.name)
        package, _, name = info.name.rpartition(".")
        assert isinstance(getattr(sys.modules[package], name), ModuleType), info.name


def test_modules_are_short_and_every_package_has_a_docstring():
    long = [name for name, path in modules() if len(path.read_text().splitlines()) > 300]
    assert long == []
    for init in ROOT.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(init.read_text())), init


def test_few_modules_lie_outside_folders():
    assert len(list(ROOT.glob("*.py"))) <= 7


def test_a_constant_has_one_meaning():
    """Modules do not use one name for constants of different values."""
    values = {}
    for name, path in modules():
        if folder(name) == "reproduction":
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                constant = node.targets[0].id
                if constant.isupper() and len(constant) > 1:
                    values.setdefault(constant, []).append(name)
    assert {c: where for c, where in values.items() if len(where) > 1} == {}
