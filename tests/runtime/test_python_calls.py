"""Kernels get wrappers for Python when Python calls them."""

import threading

import numpy as np
import pytest

from skh._numba.compiling import RUN_BY_PYTHON, njit

pytestmark = pytest.mark.skipif(RUN_BY_PYTHON, reason="Python runs the kernels")


def make():
    @njit
    def called(x):
        return x + 1.0

    @njit
    def caller(x):
        return 2.0 * called(x)

    return called, caller


def has_wrapper(kernel):
    (code,) = kernel.overloads.values()
    return code.fndesc.llvm_cpython_wrapper_name in str(code.library.get_llvm_str())


def test_only_kernels_that_python_calls_have_wrappers():
    called, caller = make()
    assert caller(3.0) == 8.0
    assert has_wrapper(caller)
    assert not has_wrapper(called)
    assert called(3.0) == 4.0
    assert has_wrapper(called)
    assert called(3) == 4.0
    assert caller(4.0) == 10.0
    assert caller(4) == 10.0
    assert called(np.arange(3.0)).tolist() == [1.0, 2.0, 3.0]


def test_python_first():
    called, caller = make()
    assert called(3.0) == 4.0
    assert caller(3.0) == 8.0
    assert has_wrapper(called)
    with pytest.raises(TypeError):
        called(1.0, 2.0)


def test_threads_at_the_same_time():
    called, caller = make()
    results = []
    kernels = [caller, called] * 4
    threads = [threading.Thread(target=lambda f=f: results.append(f(3.0))) for f in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [4.0] * 4 + [8.0] * 4
