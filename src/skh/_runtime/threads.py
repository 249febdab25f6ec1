"""How many threads the loops over search points use: one, unless told otherwise.

Most users run many filters at once, one per process, and threads inside each would only get in
their way.  For one large problem, `set_threads` or the environment variable ``SKH_THREADS`` says
how many.  The result does not depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

import numba
from numba.core import config

from skh import _checks

MIN_POINTS = 8192  # for fewer, waking up threads takes longer than the work

# What numba would put into threads unasked, at microseconds per array expression.
AUTOMATIC = ("comprehension", "fusion", "inplace_binop", "numpy", "reduction", "setitem", "stencil")
ONLY_PRANGE = dict.fromkeys(AUTOMATIC, False)

_threads = 1


def set_threads(n: int) -> None:
    """Use ``n`` threads, or as many as the machine has cores if that is less.

    With more than one, call this library from one Python thread at a time, and leave it the cores:
    threads that must wait for a core taken by others are slower than one thread.
    """
    global _threads
    most = int(config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined] # set at import
    _threads = min(_checks.positive_int("n", n), most)


def get_threads() -> int:
    """The number of threads in use."""
    return _threads


def _threads_from_environment(text: str) -> int:
    """The number of threads that the variable SKH_THREADS asks for; one if it is empty."""
    text = text.strip() or "1"
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"SKH_THREADS must be a positive integer, got {text!r}")
    return int(text)


set_threads(_threads_from_environment(os.environ.get("SKH_THREADS", "")))


def in_threads(kernel: Callable[..., Any], points: int) -> Callable[..., Any]:
    """A compiled kernel for so many points: itself, or its twin that uses the threads."""
    if _threads == 1 or points < MIN_POINTS:
        return kernel

    twin = _twin(kernel)
    if numba.get_num_threads() == _threads:
        return twin

    def call(*arguments: Any) -> Any:
        with threads_enabled():
            return twin(*arguments)

    return call


@contextmanager
def threads_enabled() -> Iterator[None]:
    """The threads for all kernels that are called inside, without asking for them each time."""
    if _threads == 1:  # do not even wake numba's pool: a process that has one cannot be forked
        yield
        return
    before = numba.get_num_threads()
    numba.set_num_threads(_threads)
    try:
        yield
    finally:
        numba.set_num_threads(before)


@cache
def _twin(kernel: Any) -> Callable[..., Any]:
    """The same source compiled for threads; under another name, for numba's cache on disk."""
    source = kernel.py_func
    twin = FunctionType(source.__code__, source.__globals__, f"{source.__name__}_in_threads")
    twin.__qualname__ = twin.__name__
    options = {**kernel.targetoptions, "parallel": {**ONLY_PRANGE, "prange": True}}
    options.pop("nopython", None)
    compiled: Callable[..., Any] = numba.njit(cache=True, **options)(twin)
    return compiled
