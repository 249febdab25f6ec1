"""Find a model: a built-in one, ``module:object``, or ``model.py`` with or without ``:object``."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from skh.app.input_error import InputError, did_you_mean, listed, one_line
from skh.app.scenario import ModelChoice
from skh.app.table import Table
from skh.filtering.model_protocols import as_carrying

NAMES = ("model", "make_model")  # looked for in a file that does not name its object
MARK = "__skh_model_file__"  # on modules loaded here, which may be replaced


def load_model(choice: ModelChoice, folder: Path, table: Table | None = None) -> Any:
    """Return the model of a scenario, checked to be one."""
    where, found = find(choice.use, folder)
    if is_model(found):
        if choice.parameters:
            names = listed(choice.parameters)
            raise InputError(f"{where} is a model already and takes no parameters, got {names}")
        return found
    model = _made(where, found, choice.parameters, table)
    try:
        as_carrying(model)
    except TypeError as error:
        raise InputError(f"{where}: {error}") from None
    return model


def is_model(value: Any) -> bool:
    """Whether a value has the methods of a model, and is not a class."""
    methods = ("prior", "transition", "log_likelihood")
    return not isinstance(value, type) and all(callable(getattr(value, m, None)) for m in methods)


def find(use: str, folder: Path) -> tuple[str, Any]:
    """Return a description of the place, and the object that it names."""
    name, _, attribute = use.rpartition(":") if ":" in use else (use, "", "")
    if name.endswith(".py"):
        return _in_file(folder / name, attribute)
    if attribute:
        return _in_module(name, attribute, folder)
    known = built_in()
    if use not in known:
        if (folder / f"{use}.py").exists():
            raise InputError(f"{use!r} is not a built-in model; for the file say {use}.py")
        what = f"there is no built-in model {use!r}{did_you_mean(use, known)}"
        raise InputError(f"{what}: expected model.py, module:object or one of {listed(known)}")
    return use, known[use]


def built_in() -> dict[str, Any]:
    """The models of this library whose observations are vectors, by their names."""
    from skh import models

    found = {name: getattr(models, name) for name in models.__all__}
    classes = {name for name, value in found.items() if hasattr(value, "prior")}
    return {
        name: value
        for name, value in sorted(found.items(), key=lambda item: (item[0][0].isupper(), item[0]))
        if name in classes
        or (callable(value) and getattr(value, "__annotations__", {}).get("return") in classes)
    }


def _in_file(path: Path, attribute: str) -> tuple[str, Any]:
    """Run a file, and return the object that it names, or its model."""
    if not path.exists():
        raise InputError("there is no such file", path)
    module = run_file(path)
    for name in (attribute,) if attribute else NAMES:
        if hasattr(module, name):
            return f"{path}: {name}", getattr(module, name)
    if attribute:
        names = [name for name in vars(module) if not name.startswith("_")]
        raise InputError(f"there is no object {attribute!r}{did_you_mean(attribute, names)}", path)
    return _only_model(path, module)


def _only_model(path: Path, module: ModuleType) -> tuple[str, Any]:
    """Return the only model of a file that has no object with the usual name."""
    models = {name: value for name, value in vars(module).items() if is_model(value)}
    if len(models) != 1:
        what = "there is no object 'model'" if not models else f"there are models {listed(models)}"
        raise InputError(f"{what}; name the object to use as {path.name}:object", path)
    name, value = models.popitem()
    return f"{path}: {name}", value


def run_file(path: Path) -> ModuleType:
    """Import a file under its own name, so that worker processes can import it as well."""
    name = path.stem
    _refuse_known_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError("this cannot be imported", path)
    module = importlib.util.module_from_spec(spec)
    setattr(module, MARK, True)
    sys.modules[name] = module
    _make_importable(path.parent)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a program may end itself
        del sys.modules[name]
        raise error_in(path, error) from error
    return module


def _refuse_known_name(path: Path) -> None:
    """Refuse the name of another module, which worker processes would import instead."""
    before = sys.modules.get(path.stem)
    if before is None:
        found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
        known = found is not None and Path(found.origin or "").resolve() != path.resolve()
    else:
        known = not hasattr(before, MARK)
    if known:
        raise InputError(f"another module is named {path.stem!r}; rename the file", path)


def _make_importable(folder: Path) -> None:
    """Let this process and its workers import modules of a folder, after all others."""
    if (name := str(folder.resolve())) not in sys.path:
        sys.path.append(name)


def error_in(path: Path, error: BaseException, before: str = "") -> InputError:
    """Return the error of a user's file as one line, with the line of the file it came from."""
    if isinstance(error, SyntaxError) and Path(error.filename or "").resolve() == path.resolve():
        return InputError(f"{before}SyntaxError: {error.msg}", path, error.lineno)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f.lineno for f in frames if Path(f.filename).resolve() == path.resolve()]
    what = f"{before}{type(error).__name__}: {one_line(error)}"
    return InputError(what, path, own[-1] if own else None)


def _in_module(name: str, attribute: str, folder: Path) -> tuple[str, Any]:
    """Import a module and return its object."""
    _make_importable(folder)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and not f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"module {name} needs {error.name}, which is not there") from None
        raise InputError(f"there is no module {name!r} to import") from None
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"module {name} cannot be imported: {what}") from error
    if not hasattr(module, attribute):
        guess = did_you_mean(attribute, vars(module))
        raise InputError(f"module {name} has no object {attribute!r}{guess}")
    return f"{name}:{attribute}", getattr(module, attribute)


def _made(where: str, make: Any, parameters: Mapping[str, Any], table: Table | None) -> Any:
    """Call a function that makes a model; one with an argument ``data`` is given the columns."""
    if not callable(make):
        what = f"must be a model or a function that returns one, got {one_line(repr(make))}"
        raise InputError(f"{where} {what}")
    arguments = dict(parameters)
    known = _arguments(make)
    if known is not None:
        if "data" in known and table is not None and "data" not in arguments:
            arguments["data"] = table.as_columns()
        _check_arguments(where, known, arguments)
    try:
        return make(**arguments)
    except Exception as error:
        what = one_line(error)
        kind = "" if isinstance(error, TypeError | ValueError) else f"{type(error).__name__}: "
        raise InputError(f"{where}: {kind}{what}") from error


def _arguments(make: Any) -> dict[str, inspect.Parameter] | None:
    """Return the named arguments of a function; None if it takes any."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        return None
    kinds = [p.kind for p in parameters.values()]
    return None if inspect.Parameter.VAR_KEYWORD in kinds else dict(parameters)


def _check_arguments(
    where: str, known: Mapping[str, inspect.Parameter], arguments: Mapping[str, Any]
) -> None:
    takes = f"it takes {listed(known)}"
    for name in arguments:
        if name not in known:
            guess = did_you_mean(name, known)
            raise InputError(f"{where} has no parameter {name!r}{guess}; {takes}")
    needed = [
        n for n, p in known.items() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    ]
    if missing := [name for name in needed if name not in arguments]:
        if missing == ["data"]:
            raise InputError(f"{where} needs data: name a table after the model")
        raise InputError(f"{where} needs the parameters {listed(missing)}; {takes}")
