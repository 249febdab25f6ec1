"""The code on a page or in the docstring of a module, executed."""

import re
from pathlib import Path
from textwrap import dedent

import numpy as np

import skh

ROOT = Path(__file__).parents[1]


def on_page(page, **scope):
    """Run all code blocks of a page; return their namespace."""
    *_, scope = all_on_page(page, **scope)
    return scope


def all_on_page(page, **scope):
    """Run all code blocks of a page one after the other; yield their namespace after each."""
    for code in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        exec(code, scope)
        yield scope


def in_docstring(module, **scope):
    """Run the indented lines of a module's docstring; return their namespace."""
    lines = [line for line in module.__doc__.splitlines() if line.startswith("    ")]
    scope.update(np=np, skh=skh)
    exec(dedent("\n".join(lines)), scope)
    return scope
