"""Python's garbage collector pauses while a kernel is compiled, and only then."""

import gc

import pytest
from numba.core.compiler import Compiler

from skh._numba.compiling import njit


@pytest.fixture
def seen(monkeypatch):
    """Whether the collector ran when each function began to be compiled."""
    compile_extra, running = Compiler.compile_extra, []

    def watched(self, func):
        running.append(gc.isenabled())
        return compile_extra(self, func)

    monkeypatch.setattr(Compiler, "compile_extra", watched)
    return running


def test_collector_pauses(seen):
    inner = njit(lambda x: 2.0 * x)
    outer = njit(lambda x: inner(x) + 1.0)
    assert gc.isenabled()
    assert outer(3.0) == 7.0
    assert seen == [False, False]
    assert gc.isenabled()


def test_collector_that_was_off_stays_off(seen):
    gc.disable()
    try:
        assert njit(lambda x: 2.0 * x)(3.0) == 6.0
        assert not gc.isenabled()
    finally:
        gc.enable()
