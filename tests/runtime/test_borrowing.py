"""Kernels count few references, lose no memory and use none after it is freed."""

import gc

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from skh._numba.compiling import RUN_BY_PYTHON, njit

pytestmark = pytest.mark.skipif(RUN_BY_PYTHON, reason="Python runs the kernels")


@njit
def total_of_slices(a):
    total = 0.0
    for i in range(len(a)):
        row = a[i]
        for j in range(1, row.size):
            total += row[j:].sum() - row[j]
    return total


@njit
def overwrite(n):
    """Take memory that was freed, if there is any."""
    return np.full(n, -1.0).sum()


@njit
def cumulative(a):
    """Slices of an array of its own, in two names that change places."""
    new, old = np.zeros(a.shape[1]), np.ones(a.shape[1] + 1)[1:]
    for i in range(len(a)):
        new, old = old, new
        overwrite(new.size)
        for j in range(new.size):
            new[j] = old[j] + a[i, j]
    return new.sum() + 2.0 * old.sum()


@njit
def remade(a):
    """Arrays made in a loop, one of which outlives the next ones."""
    kept = a[0]
    for i in range(len(a)):
        row = np.full(a.shape[1], float(i))
        part = row[1:]
        if i % 3 == 0:
            kept = part
        other = np.full(a.shape[1], -1.0)
        part[0] += other[0]
    return kept.sum()


@njit
def one_or_the_other(a, copies):
    """A name for an argument or for an array of its own."""
    if copies:
        b = a.copy()
        b[0] = 7.0
    else:
        b = a
    return b[0].sum() + b[1:].sum()


@njit
def part_of_argument(a):
    return a[1:]


@njit
def part_of_own(a):
    own = 2.0 * a
    if own[0, 0] > 1e9:
        return own
    return own[1:]


@njit
def pair(a):
    own = np.ones(3)
    return own, a[0], own[1:]


@njit
def picked(a):
    rows = np.array([1, 0, 1])
    return a[rows].sum() + a[:, 0][a[:, 0] > 0.0].sum()


@njit
def calls(a):
    """Arrays of other kernels, once and in a loop."""
    ones, first, rest = pair(a)
    total = ones.sum() + rest.sum() + first.sum()
    own = part_of_own(a)
    for i in range(4):
        own = part_of_own(a[i:])
        total += own.sum()
    return total + total_of_slices(own) + total_of_slices(part_of_argument(a))


@njit
def chosen(arrays, i):
    """One of several arguments in a tuple."""
    first, second = arrays
    row = first[i] if i % 2 else second[i]
    return row[1:].sum()


CASES = [
    (total_of_slices, ()),
    (cumulative, ()),
    (remade, ()),
    (one_or_the_other, (True,)),
    (one_or_the_other, (False,)),
    (part_of_argument, ()),
    (part_of_own, ()),
    (pair, ()),
    (picked, ()),
    (calls, ()),
]


def arrays_in_use():
    gc.collect()
    stats = rtsys.get_allocation_stats()
    return stats.mi_alloc - stats.mi_free


@pytest.fixture
def counted():
    """Let numba count its arrays."""
    was_counting = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not was_counting:
        _nrt_python.memsys_disable_stats()


@pytest.mark.parametrize(("kernel", "options"), CASES)
def test_memory_is_freed_and_not_before(kernel, options, counted):
    a = np.random.default_rng(0).normal(size=(8, 500))
    kernel(a, *options)
    before = arrays_in_use()
    for _ in range(10):
        np.testing.assert_equal(flat(kernel(a, *options)), flat(kernel.py_func(a, *options)))
    assert arrays_in_use() == before


def flat(result):
    """All numbers of a result, to a few digits fewer than they have."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.round(np.concatenate([np.ravel(part) for part in parts]), 9)


@pytest.mark.parametrize("kernel", [total_of_slices, cumulative])
def test_slices_are_not_counted(kernel):
    kernel(np.ones((3, 4)))
    (code,) = kernel.inspect_llvm().values()
    assert "call void @NRT_incref" not in code


def test_items_of_a_tuple_are_borrowed():
    a, b = np.arange(12.0).reshape(3, 4), np.ones((3, 4))
    assert [chosen((a, b), i) for i in range(3)] == [3.0, 18.0, 3.0]
    assert a.sum() == 66.0
    assert b.sum() == 12.0
