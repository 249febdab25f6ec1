"""Options and arguments that a command does not take: one line, as for all bad inputs."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperGroup

from skh.app.stopping import failed

UsageError: Any = typer.BadParameter.__mro__[1]  # of click, or of the copy that typer has
NO_ARGUMENTS = "NoArgsIsHelpError"  # whose message is the help
ARGUMENTS = "skh.arguments"


class OneLineErrors(TyperGroup):
    """A group of commands that says in one line what is wrong with an option or argument."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the name of a command."""
        ctx.meta[ARGUMENTS] = list(args)
        with usage_in_one_line(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Find the command, read its options and run it."""
        with usage_in_one_line(ctx):
            return super().invoke(ctx)


@contextmanager
def usage_in_one_line(ctx: Any) -> Iterator[None]:
    """End with one line for an option or argument that is wrong; ``--debug`` shows where."""
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == NO_ARGUMENTS:
            raise
        arguments = ctx.meta[ARGUMENTS]
        if "--debug" in arguments:
            traceback.print_exception(error)
        command = (error.ctx or ctx).command_path
        message = error.format_message().rstrip(".") + given(error, arguments)
        raise failed(f"{message}; {command} --help lists what can be given") from error


def given(error: Any, arguments: Sequence[str]) -> str:
    """Return the value that an option was given, which the message may leave out."""
    names = getattr(getattr(error, "param", None), "opts", ())
    words = [part for word in arguments for part in word.split("=", 1)]  # --n=5 is --n 5
    values = [value for name, value in pairwise(words) if name in names]
    return f", got {values[-1]!r}" if values else ""
