"""Arguments and options that the commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skh.app.input_error import InputError
from skh.app.scenario import Scenario, parse, read_scenario

TABLES = (".csv", ".parquet")  # how the files of tables end

What = Annotated[
    str | None,
    typer.Argument(help="scenario.toml; or a model: model.py, module:object, a built-in name."),
]
Data = Annotated[str | None, typer.Argument(help="CSV or Parquet file, after a model.")]
ColumnList = Annotated[str | None, typer.Option(help="Columns to use, such as a,b.")]
Times = Annotated[str | None, typer.Option(help="The column with the times.")]
Decimal = Annotated[str | None, typer.Option(help=". or , in numbers.", show_default=".")]
DateFormat = Annotated[
    str | None, typer.Option(help="Of the times, such as %d.%m.%Y.", show_default="2024-03-31")
]
Missing = Annotated[
    str | None, typer.Option(help="Cells without a measurement, such as n.a.,-999.")
]
RuleName = Annotated[str | None, typer.Option(help="default, MonteCarlo, SQMC, ...")]
Number = Annotated[int | None, typer.Option(help="Particles.", show_default="50")]
Seed = Annotated[int | None, typer.Option(help="Of the random numbers.", show_default="0")]
Folder = Annotated[str | None, typer.Option(help="For the outputs.", show_default="run")]
Kind = Annotated[str | None, typer.Option(help="none, threads or processes.", show_default="none")]
Workers = Annotated[int | None, typer.Option(help="Threads or processes.", show_default="2")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")]


def scenario_of(
    what: str | None,
    data: str | None,
    reading: dict[str, str | None],
    filtering: dict[str, Any],
    out: str | None,
) -> Scenario:
    """Return the scenario of a file, or of arguments, with the options that were given."""
    if what is None:
        raise InputError("name a scenario.toml, or a model and a table; skh run --init writes one")
    given = {
        "data": {name: _listed(name, text) for name, text in reading.items()},
        "filter": filtering,
        "outputs": {"folder": out},
    }
    options = {
        name: {key: value for key, value in section.items() if value is not None}
        for name, section in given.items()
    }
    if what.endswith(".toml"):
        if data is not None:
            raise InputError(f"a scenario names its data: leave out {data!r}, or name a model")
        return read_scenario(Path(what), options)
    if what.endswith(TABLES) and data is None:
        raise InputError(
            f"{what!r} is a table, and a model is needed too: skh run model.py {what} (or check "
            "or compare), or a scenario that names both, which skh run --init scenario.toml writes"
        )
    if data is None:
        raise InputError(f"name the table for the model {what!r}: skh run {what} data.csv")
    return parse({"model": {"use": what}, "data": {"file": data}}, options)


def _listed(name: str, text: str | None) -> str | list[str] | None:
    """Return the value of an option; those that take several have commas between them."""
    if text is None or name not in ("columns", "missing"):
        return text
    return [part.strip() for part in text.split(",")]
