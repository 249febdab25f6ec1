"""Bad inputs to the commands: each ends with status 2 and one clear line, and writes nothing."""

import re
import sys

import pytest
from typer.testing import CliRunner

from skh.cli import app

MODEL = """
import numpy as np
import skh

model = skh.model_from_functions(
    ([0.0], 1.0), lambda t, x: (0.9 * x, 0.1), lambda t, x, y: -0.5 * (y[0] - x[:, 0]) ** 2
)
number = 3
"""
DATA = "day,y,note\n1,0.1,a\n2,0.2,b\n3,0.3,c\n"
SCENARIO = '[model]\nuse = "model.py"\n[data]\nfile = "data.csv"\ncolumns = ["y"]\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # folders of models join it
    for name, text in (("model.py", MODEL), ("data.csv", DATA), ("s.toml", SCENARIO)):
        (tmp_path / name).write_text(text)
    return tmp_path


def refused(*arguments):
    """The error of a command that must end with status 2, without a traceback."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2, result.output + repr(result.exception)
    assert "Traceback" not in result.output
    return result.stderr


def one_error(before, *arguments):
    """The one line that a command prints about a bad input; no file may be new."""
    files = sorted(before.rglob("*"))
    error = refused(*arguments)
    assert error.count("\n") == 1
    assert [f for f in sorted(before.rglob("*")) if "__pycache__" not in f.parts] == files
    return error.removeprefix("error: ").rstrip("\n")


# The scenario, and the line that is wrong with it.
SCENARIOS = {
    "not TOML": ("[model\nuse = 3", "s.toml:1: this is not TOML: Expected ']' at the end of"),
    "unfinished text": ('[model]\nuse = "a', "s.toml:2: this is not TOML: Unterminated string"),
    "unknown section": (
        SCENARIO + "[filters]\nn = 5\n",
        "s.toml:6: there is no section [filters]; the sections are model, data, filter, outputs "
        "(did you mean 'filter'?)",
    ),
    "unknown key": (
        SCENARIO.replace("columns", "colums"),
        "s.toml:5: [data] has no key 'colums'; its keys are file, columns, inputs, times, "
        "missing, separator, decimal, date_format (did you mean 'columns'?)",
    ),
    "no data": ('[model]\nuse = "model.py"\n', "s.toml: [data] needs the key 'file'"),
    "no model": ('[model]\n[data]\nfile = "data.csv"', "s.toml:1: [model] needs the key 'use'"),
    "not a section": ('model = "model.py"\n', "s.toml:1: model must be a section [model], got"),
    "negative n": (
        SCENARIO + "[filter]\nseed = 1\nn = -3\n",
        "s.toml:8: [filter] n must be a whole number above zero, got -3",
    ),
    "fractional n": (
        SCENARIO + "[filter]\nn = 2.5\n",
        "s.toml:7: [filter] n must be a whole number above zero, got 2.5",
    ),
    "text as seed": (
        SCENARIO + '[filter]\nseed = "one"\n',
        "s.toml:7: [filter] seed must be a whole number, zero or above, got 'one'",
    ),
    "unknown rule": (
        SCENARIO + '[filter]\nrule = "magic"\n',
        "s.toml:7: [filter] rule must be one of 'default', 'default_rule', 'MonteCarlo', "
        "'Stratified', 'Systematic', 'SQMC', got 'magic'",
    ),
    "quantile above one": (
        SCENARIO + "[filter]\nquantiles = [0.5, 95]\n",
        "s.toml:7: [filter] quantiles must be a list of numbers from 0 to 1, got [0.5, 95]",
    ),
    "unknown executor": (
        SCENARIO + '[filter]\nexecutor = "cloud"\n',
        "s.toml:7: [filter] executor must be one of 'none', 'threads', 'processes', got 'cloud'",
    ),
    "table of unknown format": (
        SCENARIO + '[outputs]\ntable = "table.xlsx"\n',
        's.toml:7: [outputs] table must be a name that ends in .csv or .parquet ("" for no file), '
        "got 'table.xlsx'",
    ),
    "output in place of the data": (
        SCENARIO + '[outputs]\nfolder = "."\ntable = "data.csv"\n',
        "data.csv: the table would replace this input",
    ),
    "output below a file": (
        SCENARIO + '[outputs]\nfolder = "data.csv/run"\n',
        "data.csv: the outputs need a folder here, but this is a file",
    ),
    "unknown parameter": (
        '[model]\nuse = "stochastic_volatility"\nparameters = {persistance = 0.9}\n'
        '[data]\nfile = "data.csv"\ncolumns = ["y"]\n',
        "stochastic_volatility has no parameter 'persistance' (did you mean 'persistence'?); it "
        "takes persistence, noise, scale",
    ),
    "bad parameter": (
        '[model]\nuse = "stochastic_volatility"\nparameters = {persistence = 1.5}\n'
        '[data]\nfile = "data.csv"\ncolumns = ["y"]\n',
        "stochastic_volatility: persistence must be a number in (-1, 1), got 1.5",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_bad_scenarios(folder, name):
    text, line = SCENARIOS[name]
    (folder / "s.toml").write_text(text)
    assert one_error(folder, "run", "s.toml").startswith(line)


# The table, the options, and the line.
TABLES = {
    "empty file": ("", (), "data.csv: the file is empty"),
    "no rows": ("day,y\n", (), "data.csv: there are no rows below the names of the columns"),
    "missing column": (
        DATA,
        ("--columns", "Y"),
        "data.csv:1: there is no column 'Y'; its columns are day, y, note",
    ),
    "missing column of times": (
        DATA,
        ("--columns", "y", "--times", "dya"),
        "data.csv:1: there is no column 'dya'; its columns are day, y, note (did you mean 'day'?)",
    ),
    "text in numbers": (
        DATA.replace("0.2", "0.2 m"),
        ("--columns", "y"),
        "data.csv:3: column 'y': '0.2 m' is not a number; if it means that nothing was measured, "
        "say --missing '0.2 m', or in a scenario missing = ['0.2 m']",
    ),
    "dates among numbers": (
        "day,y\n2024-03-31,0.5\n",
        (),
        "data.csv:2: column 'day': '2024-03-31' is not a number; if it is the time of the row, "
        "name the column as times (--times)",
    ),
    "decimal commas": (
        "day;y\n1;0,5\n",
        ("--columns", "y"),
        "data.csv:2: column 'y': '0,5' is not a number; for decimal commas say "
        '--decimal ","; in a scenario, decimal = ","',
    ),
    "a line break in a cell before": (
        'day,y,note\n1,0.1,"a\nb"\n2,?,c\n',
        ("--columns", "y"),
        "data.csv:4: column 'y': '?' is not a number;",
    ),
    "infinite number": (
        DATA.replace("0.3", "inf"),
        ("--columns", "y"),
        "data.csv:4: column 'y': 'inf' is not finite; leave the cell empty if nothing was measured",
    ),
    "too few cells": (
        DATA.replace("2,0.2,b", "2,0.2"),
        ("--columns", "y"),
        "data.csv:3: 2 cells, but 3 columns: day, y, note",
    ),
    "all missing": (
        "day,y\n1,\n2,NA\n",
        ("--columns", "y"),
        "data.csv: all values of y are missing",
    ),
    "times out of order": (
        DATA.replace("3,0.3", "1.5,0.3"),
        ("--columns", "y", "--times", "day"),
        "data.csv:4: column 'day': the time 1.5 comes after 2.0; sort the file by it",
    ),
    "a time twice": (
        DATA.replace("3,0.3", "2,0.3"),
        ("--columns", "y", "--times", "day"),
        "data.csv:4: column 'day': the time 2.0 is that of the row before; each row needs a "
        "time of its own",
    ),
    "a word for a time": (
        DATA.replace("2,0.2", "tuesday,0.2"),
        ("--columns", "y", "--times", "day"),
        "data.csv:3: column 'day': the time 'tuesday' is neither a number nor a date such as",
    ),
    "another way to write dates": (
        DATA.replace("1,0.1", "03.01.2024 06:00,0.1"),
        ("--columns", "y", "--times", "day"),
        "data.csv:2: column 'day': the time '03.01.2024 06:00' is neither a number nor a date "
        'such as 2024-03-31 or 2024-03-31T12:00:00; say --date-format "%d.%m.%Y %H:%M"',
    ),
    "day or month first": (
        DATA.replace("1,0.1", "3/1/2024,0.1"),
        ("--columns", "y", "--times", "day"),
        "data.csv:2: column 'day': the time '3/1/2024' is neither a number nor a date such as "
        '2024-03-31 or 2024-03-31T12:00:00; say --date-format "%d/%m/%Y" or --date-format '
        '"%m/%d/%Y"',
    ),
    "a date of another format": (
        DATA.replace("1,0.1", "2024-01-03,0.1"),
        ("--columns", "y", "--times", "day", "--date-format", "%d.%m.%Y"),
        "data.csv:2: column 'day': the time '2024-01-03' is not a date of the format '%d.%m.%Y'",
    ),
    "dates in another way among numbers": (
        "day,y\n31.03.2024,0.5\n",
        (),
        "data.csv:2: column 'day': '31.03.2024' is not a number; if it is the time of the row",
    ),
    "a missing time": (
        DATA.replace("2,0.2", ",0.2"),
        ("--columns", "y", "--times", "day"),
        "data.csv:3: column 'day': the time is missing",
    ),
    "numbers and dates": (
        DATA.replace("3,0.3", "2024-01-03,0.3"),
        ("--columns", "y", "--times", "day"),
        "data.csv:4: column 'day' has numbers and dates",
    ),
    "no header": (
        "1,0.1\n2,0.2\n",
        (),
        "data.csv:1: the first line must name the columns, got the number '1'",
    ),
    "a name twice": ("y,y\n1,2\n", (), "data.csv:1: two columns are named 'y'"),
    "a column twice": (DATA, ("--columns", "y,y"), "data.csv: a column is asked for twice: y, y"),
    "times as observation": (
        DATA,
        ("--columns", "y,day", "--times", "day"),
        "data.csv:1: column 'day' cannot be times and observation",
    ),
    "a quote that does not end": (
        'day,y\n1,"0.1\n2,0.2\n',
        (),
        "data.csv:2: this is not CSV: unexpected end of data",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_bad_tables(folder, name):
    text, options, line = TABLES[name]
    (folder / "data.csv").write_text(text)
    assert one_error(folder, "run", "model.py", "data.csv", *options).startswith(line)


def test_tables_that_are_not_text(folder):
    (folder / "data.csv").write_bytes(b"day,y\n1,\xff\xfe\n")
    assert one_error(folder, "run", "model.py", "data.csv") == (
        'data.csv: this is not text in UTF-8; a spreadsheet saves it as "CSV UTF-8"'
    )
    (folder / "data.xlsx").write_bytes(b"PK")
    assert one_error(folder, "run", "model.py", "data.xlsx") == (
        "data.xlsx: data files end in .csv, .tsv, .txt, .parquet, .pq, got .xlsx"
    )
    (folder / "sub.csv").mkdir()
    assert one_error(folder, "run", "model.py", "sub.csv") == (
        "sub.csv: this is a folder; expected a CSV or Parquet file"
    )


def test_bad_parquet_files(folder):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    (folder / "bad.parquet").write_bytes(b"PAR1 or not")
    error = one_error(folder, "run", "model.py", "bad.parquet")
    assert error.startswith("bad.parquet: this is not a Parquet file:")
    table = pa.table({"y": ["a", "b"], "z": [1.0, float("inf")], "day": [2, 1]})
    parquet.write_table(table, folder / "d.parquet")
    for columns, line in (
        ("y", "d.parquet: column 'y' holds string, expected numbers"),
        ("z", "d.parquet:2: column 'z': inf is not finite"),
        ("x", "d.parquet:1: there is no column 'x'; its columns are y, z, day"),
    ):
        assert one_error(folder, "run", "model.py", "d.parquet", "--columns", columns) == line
    options = ("--columns", "day", "--times", "day")
    assert "cannot be times and observation" in one_error(
        folder, "run", "model.py", "d.parquet", *options
    )


# The model as the command names it, the file model.py, and the line.
MODELS = {
    "no such file": ("other.py", MODEL, "other.py: there is no such file"),
    "syntax error": ("model.py", "x = 1\ndef f(:\n", "model.py:2: SyntaxError: invalid syntax"),
    "a program that exits": ("model.py", "import sys\nsys.exit(3)\n", "model.py:2: SystemExit: 3"),
    "error when run": (
        "model.py",
        "import skh\n\nmodel = 1 / 0\n",
        "model.py:3: ZeroDivisionError: division by zero",
    ),
    "no such module in it": (
        "model.py",
        "import nothing_like_it\n",
        "model.py:1: ModuleNotFoundError: No module named 'nothing_like_it'",
    ),
    "no model": (
        "model.py",
        "x = 1\n",
        "model.py: there is no object 'model'; name the object to use as model.py:object",
    ),
    "two models": (
        "model.py",
        MODEL.replace("model = skh", "a = skh") + "b = a\n",
        "model.py: there are models a, b; name the object to use as model.py:object",
    ),
    "no such object": (
        "model.py:modle",
        MODEL,
        "model.py: there is no object 'modle' (did you mean 'model'?)",
    ),
    "not a model": (
        "model.py:number",
        MODEL,
        "model.py: number must be a model or a function that returns one, got 3",
    ),
    "makes no model": (
        "model.py",
        "def model():\n    return 3\n",
        "model.py: model: model must be an object with prior, transition, log_likelihood; got 3",
    ),
    "needs arguments": (
        "model.py",
        "def model(speed, data):\n    return speed\n",
        "model.py: model needs the parameters speed; it takes speed, data",
    ),
    "fails when made": (
        "model.py",
        "def model():\n    raise RuntimeError('no map')\n",
        "model.py: model: RuntimeError: no map",
    ),
    "no module": ("no.module:x", MODEL, "there is no module 'no.module' to import"),
    "no object of a module": (
        "skh.models:stochastic_vol",
        MODEL,
        "module skh.models has no object 'stochastic_vol' (did you mean 'stochastic_volatility'?)",
    ),
    "not built in": (
        "stochastic_volatilty",
        MODEL,
        "there is no built-in model 'stochastic_volatilty' (did you mean 'stochastic_volatility'?)",
    ),
    "the name of a module": ("json.py", MODEL, "json.py: another module is named 'json'; rename"),
    "without its ending": ("model", MODEL, "'model' is not a built-in model; for the file say"),
}


@pytest.mark.parametrize("name", MODELS)
def test_bad_models(folder, name):
    use, text, line = MODELS[name]
    (folder / "model.py").write_text(text)
    (folder / "json.py").write_text(MODEL)
    for command in ("run", "compare", "check"):
        assert one_error(folder, command, use, "data.csv", "--columns", "y").startswith(line)


# What the likelihood does at the third observation, and the line.
FAILURES = {
    "raises": (
        "    raise RuntimeError('sensor unknown')",
        "model.py:8: at t=2 (data.csv:4): RuntimeError: sensor unknown",
    ),
    "NaN": (
        "    return np.nan * x[:, 0]",
        "model.py: at t=2 (data.csv:4): ValueError: model.log_likelihood at t=2 must return "
        "numbers below +inf, got nan",
    ),
    "shape": (
        "    return x",
        "model.py: at t=2 (data.csv:4): ValueError: model.log_likelihood at t=2 must return shape",
    ),
    "zero": (
        "    return np.full(len(x), -np.inf)",
        "t=2 (data.csv:4): no particle explains this observation: all likelihoods are zero; "
        'on_zero_likelihood = "skip" goes on without such observations',
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_models_that_fail_at_a_step_keep_the_steps_before(folder, name):
    body, line = FAILURES[name]
    (folder / "model.py").write_text(
        "import numpy as np\nimport skh\n\n\n"
        "def likelihood(t, x, y):\n    if t < 2:\n        return 0 * x[:, 0]\n"
        f"{body}\n\n\n"
        "model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 0.1), likelihood)\n"
    )
    options = ("--columns", "y", "--n", "5", "--rule", "Stratified")
    error = refused("run", "model.py", "data.csv", *options)
    assert error.startswith(f"error: {line}")
    assert error.rstrip("\n").endswith("; the first 2 of 3 steps are in run/table.csv")
    assert error.count("\n") == 1
    assert len((folder / "run" / "table.csv").read_text().splitlines()) == 3
    assert [path.name for path in (folder / "run").iterdir()] == ["table.csv"]


ARGUMENTS = {
    "nothing": (("run",), "name a scenario.toml, or a model and a table"),
    "only a table": (
        ("run", "data.csv"),
        "'data.csv' is a table, and a model is needed too: skh run model.py data.csv (or check",
    ),
    "no table": (("run", "model.py"), "name the table for the model 'model.py': skh run model.py"),
    "a table for a scenario": (("run", "s.toml", "data.csv"), "a scenario names its data: leave"),
    "no scenario": (("run", "t.toml"), "t.toml: there is no such file"),
    "no table there": (("run", "model.py", "no.csv"), "no.csv: there is no such file"),
    "n": (("run", "s.toml", "--n", "0"), "--n must be a whole number above zero, got 0"),
    "rule": (
        ("run", "s.toml", "--rule", "best"),
        "--rule must be one of 'default', 'default_rule'",
    ),
    "seed": (("run", "s.toml", "--seed", "-1"), "--seed must be a whole number, zero or above"),
    "existing scenario": (("run", "--init", "s.toml"), "s.toml: this file is there already;"),
    "scenario nowhere": (("run", "--init", "no/s.toml"), "no/s.toml: cannot be written: No such"),
    "decimal": (("run", "s.toml", "--decimal", ";"), "--decimal must be one of '.', ','"),
    "date format": (
        ("run", "s.toml", "--date-format", "German"),
        "--date-format must be a format of dates such as %d.%m.%Y, got 'German'",
    ),
    "columns of no table": (
        ("check", "model.py", "--columns", "y"),
        "--columns: name a table after the model",
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_bad_arguments(folder, name):
    arguments, line = ARGUMENTS[name]
    assert one_error(folder, *arguments).startswith(line)


# The words are those of click and typer, and differ between their versions.
USAGE = {
    "text for a number": (("run", "s.toml", "--n", "abc"), r"value for '--n': .*got 'abc'"),
    "half a particle": (("run", "s.toml", "--n=1.5"), r"value for '--n': .*got '1.5'"),
    "seed in words": (("run", "s.toml", "--seed", "one"), r"value for '--seed': .*got 'one'"),
    "too few data sets": (("demo", "--batches", "0"), r"value for '--batches': .*got '0'"),
    "no value": (("run", "s.toml", "--n"), r"'--n' requires an argument"),
    "unknown option": (("run", "s.toml", "--particles", "5"), r"No such option:? '?--particles"),
    "option of another": (("check", "model.py", "--init"), r"No such option:? '?--init"),
    "too many arguments": (("run", "a", "b", "c"), r"unexpected extra argument.*c"),
    "no model to check": (("check",), r"(?i)missing argument 'what'"),
    "unknown command": (("rn", "s.toml"), r"No such command '?rn"),
    "unknown option before": (("--n", "5", "run"), r"No such option:? '?--n"),
}


@pytest.mark.parametrize(("arguments", "line"), USAGE.values(), ids=USAGE)
def test_bad_options(folder, arguments, line):
    error = one_error(folder, *arguments)
    assert re.search(line, error)
    assert error.endswith("--help lists what can be given")


def test_debug_shows_where_an_option_was_refused(folder):
    result = CliRunner().invoke(app, ["run", "s.toml", "--n", "abc", "--debug"])
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback")
    assert "error: Invalid value for '--n'" in result.stderr


def test_without_arguments_there_is_help(folder):
    result = CliRunner().invoke(app, [])
    assert "Usage" in result.output
    assert "error:" not in result.output


def test_debug_shows_where_an_error_arose(folder):
    result = CliRunner().invoke(app, ["run", "t.toml", "--debug"])
    assert type(result.exception).__name__ == "InputError"


def test_there_are_forty_and_more():
    lists = (SCENARIOS, TABLES, MODELS, FAILURES, ARGUMENTS, USAGE)
    assert sum(map(len, lists)) >= 60
