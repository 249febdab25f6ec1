"""Number of threads in loops over search points: one by default.

Often many filters run at once, one per process, and more threads would compete for cores.  For one
large problem use `set_threads` or the environment variable ``SKH_THREADS``; results are the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from types import FunctionType
from typing import Any

import numba
from numba.core import config

from skh import _checks
from skh._numba.compiler.disk_cache import cached_on_disk
from skh._numba.compiling import RUN_BY_PYTHON

MIN_POINTS = 8192  # with fewer, starting threads takes longer than the work

# Numba parallelises these by default, which costs microseconds per array expression.
AUTOMATIC = ("comprehension", "fusion", "inplace_binop", "numpy", "reduction", "setitem", "stencil")
ONLY_PRANGE = dict.fromkeys(AUTOMATIC, False)

_threads = 1
_pool_is_lost = False  # forking a process with threads copies none of them


def set_threads(n: int) -> None:
    """Use ``n`` threads, at most as many as the machine has cores.

    With more than one, call this library from one Python thread at a time and keep the cores free:
    threads that wait for a busy core are slower than one thread.

    A forked process starts with one thread, and keeps to one if its parent had started more.
    """
    global _threads
    most = int(config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined] # set at import
    n = _checks.positive_int("n", n)
    _threads = 1 if _pool_is_lost or RUN_BY_PYTHON else min(n, most)


def get_threads() -> int:
    """Return the number of threads in use."""
    return _threads


def _threads_from_environment(text: str) -> int:
    text = text.strip() or "1"
    if not text.isdecimal() or int(text) == 0:
        raise ValueError(f"SKH_THREADS must be a positive integer, got {text!r}")
    return int(text)


def _use_one_thread_in_child() -> None:
    """Forget the parent's threads: numba ends a forked process that uses them."""
    global _threads, _pool_is_lost
    _threads = 1
    with suppress(ValueError):  # raised if no thread has been started
        numba.threading_layer()  # type: ignore[attr-defined] # missing in numba's list of names
        _pool_is_lost = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_use_one_thread_in_child)

set_threads(_threads_from_environment(os.environ.get("SKH_THREADS", "")))


def in_threads(kernel: Callable[..., Any], points: int) -> Callable[..., Any]:
    """Return the kernel or, if worthwhile for ``points``, its multithreaded twin."""
    if _threads == 1 or points < MIN_POINTS:
        return kernel

    twin = _twin(kernel)
    if numba.get_num_threads() == _threads:
        return twin

    def call(*arguments: Any) -> Any:
        with threads_enabled():
            return twin(*arguments)

    return call


def threads_enabled() -> AbstractContextManager[None]:
    """Enable the threads for all kernels called in the block."""
    # With one, do not start numba's pool, which a forked process could not use.
    return nullcontext() if _threads == 1 else _several_threads()


@contextmanager
def _several_threads() -> Iterator[None]:
    before = numba.get_num_threads()
    numba.set_num_threads(_threads)
    try:
        yield
    finally:
        numba.set_num_threads(before)


@cache
def _twin(kernel: Any) -> Callable[..., Any]:
    """Compile the same source for threads, under another name for numba's disk cache."""
    source = kernel.py_func
    twin = FunctionType(source.__code__, source.__globals__, f"{source.__name__}_in_threads")
    twin.__qualname__ = twin.__name__
    options = {**kernel.targetoptions, "parallel": {**ONLY_PRANGE, "prange": True}}
    options.pop("nopython", None)
    compiled: Callable[..., Any] = cached_on_disk(numba.njit(**options)(twin))
    return compiled
