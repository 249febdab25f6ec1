"""How a command ends: an error in one line, Ctrl-C, or a request to terminate."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console

from skh.app.input_error import InputError, one_line

BAD_INPUT = 2  # exit status


class Terminated(BaseException):
    """Another process asked this one to end."""


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Turn the first SIGTERM into `Terminated`; a second one ends the process at once."""

    def terminate(number: int, frame: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():  # others cannot handle signals
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


@contextmanager
def errors_in_one_line(debug: bool) -> Iterator[None]:
    """End the command with one line for a bad input, and say so when it was stopped."""
    try:
        with sigterm_raises():
            yield
    except InputError as error:
        if debug:
            raise
        raise failed(str(error)) from error
    except KeyboardInterrupt:
        say_error("Interrupted; nothing is half written.")
        raise typer.Exit(128 + signal.SIGINT) from None
    except Terminated:
        say_error("Terminated; nothing is half written.")
        raise typer.Exit(128 + signal.SIGTERM) from None


def failed(message: str) -> typer.Exit:
    """Print an error; return the exit of a bad input."""
    say_error(f"error: {one_line(message)}", style="red")
    return typer.Exit(BAD_INPUT)


def say_error(text: str, style: str = "") -> None:
    """Print to standard error, as one line however long."""
    console = Console(stderr=True)
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
