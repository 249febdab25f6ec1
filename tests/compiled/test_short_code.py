"""Indices, slices, loops and new arrays of compiled kernels are those of Python."""

from itertools import product

import numpy as np
import pytest
from numba.core.errors import TypingError

from skh._numba.compiling import RUN_BY_PYTHON, njit

pytestmark = pytest.mark.skipif(RUN_BY_PYTHON, reason="Python runs the kernels")

BOUNDS = (-9, -5, -4, -1, 0, 1, 4, 5, 9)


@njit
def slices(A, a, b):
    """With both bounds, one, or none, and slices of slices."""
    x = A[:, :1].copy().reshape(len(A))
    return (
        (x[a:b], x[a:], x[:b], x[:], x[:-1][1:], x[a:b][1:], x[-3:-1]),
        (A[:, a:b], A[a:], A[a:b, a:b], A[:2][:, 1:], A[a:b], A[1:, :b], A[-3:-1]),
        (x[a:b:2], x[::-1], A[::2, b:], x[b:a:-1]),
    )


@njit
def rows_and_columns(A, a, b):
    """Integers beside slices."""
    return A[a:b, 1], A[-2, a:b], A[1:, -1], A[-1], A[2][a:b], A[:, a:b][1], A[b - b], A[a:, 0]


def layouts(n):
    """Square arrays of the same numbers, differently in memory."""
    A = np.arange(1.0 * n * n).reshape(n, n)
    wide = np.zeros((2 * n, 3 * n))
    wide[::2, ::3] = A
    fixed = A.copy()
    fixed.flags.writeable = False
    return [A, np.asfortranarray(A), A.T.copy().T, wide[::2, ::3], A[::-1, ::-1], fixed]


def assert_same_views(got, expected):
    for here, there in zip(got, expected, strict=True):
        assert here.shape == there.shape
        np.testing.assert_array_equal(here, there)
        if there.size:
            assert here.strides == there.strides


@pytest.mark.parametrize("layout", range(6))
@pytest.mark.parametrize("n", [1, 3, 5])
def test_slices(layout, n):
    A = layouts(n)[layout]
    for a, b in product(BOUNDS, BOUNDS):
        for got, expected in zip(slices(A, a, b), slices.py_func(A, a, b), strict=True):
            assert_same_views(got, expected)
        if n > 2:
            assert_same_views(rows_and_columns(A, a, b), rows_and_columns.py_func(A, a, b))


@njit
def parts(A, a, b):
    return A[a:b], A[:, a:b], A[1:], A[:, :-1], A[a:b, b:]


@pytest.mark.parametrize("shape", [(0, 0), (4, 0), (0, 4)])
def test_slices_of_empty_arrays(shape):
    for A, a, b in product((np.zeros(shape), np.zeros(shape[::-1]).T), BOUNDS, BOUNDS):
        assert_same_views(parts(A, a, b), parts.py_func(A, a, b))


@njit
def items(A, B, flags, i, j):
    """Items from the front and from the end, by numbers of several types."""
    A[i, j] += A[-1, np.uint64(abs(j))] + B[i, j, -1]
    A[np.int32(i)][j - 1] = 7
    row = A[i]
    row[-2] = 3
    B[-1][0, j] = A[0, i]
    flags[j] = not flags[j - 1]
    B[0, 1, np.uint8(2)] = True
    return A[i, -1], A[i][j], B[i][j][0], B[i, j].sum(), flags[-1], A.T[j, i]


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("layout", range(5))
def test_items(layout, dtype):
    for i, j in product(range(-3, 3), range(-2, 3)):
        here, there = (layouts(3)[layout].astype(dtype) for _ in range(2))
        B, other = (np.arange(27.0).reshape(3, 3, 3).transpose(0, 2, 1) for _ in range(2))
        flags, same = np.array([True, False, True]), np.array([True, False, True])
        assert items(here, B, flags, i, j) == items.py_func(there, other, same, i, j)
        np.testing.assert_array_equal(here, there)
        np.testing.assert_array_equal(B, other)
        np.testing.assert_array_equal(flags, same)


@njit
def numbers(a, b, step, out):
    """What ranges give, also after a loop and out of it."""
    n, i = 0, -1
    for i in range(a, b):
        out[n], n = i, n + 1
    out[n], n = i, n + 1
    for i in range(b, a, -1):
        out[n], n = i, n + 1
    for i in range(a, b, step):
        out[n], n = i, n + 1
        if i == 3:
            break
    for i in range(b):
        for j in range(i, b):
            if j == 2:
                continue
            out[n], n = j, n + 1
    for i in range(np.uint64(abs(a))):
        out[n], n = i, n + 1
    for i in range(np.int32(b)):
        out[n], n = i, n + 1
    return n, len(range(a, b, step))


@pytest.mark.parametrize("step", [-2, -1, 1, 2, 7])
def test_ranges(step):
    here, there = np.zeros(200), np.zeros(200)
    for a, b in product(BOUNDS, BOUNDS):
        assert numbers(a, b, step, here) == numbers.py_func(a, b, step, there)
        np.testing.assert_array_equal(here, there)
    with pytest.raises(ValueError, match="zero"):
        numbers(0, 1, 0, here)


@njit
def new_arrays(m, n):
    return (
        np.empty(n).size,
        np.empty((m, n), np.float32).shape,
        np.empty((n,), dtype=np.int8).shape,
        np.zeros(n, np.bool_),
        np.zeros((m, n, 2)),
        np.zeros((np.int32(m), n), np.complex128),
        np.zeros(n, np.intp),
        np.zeros((m, n), dtype=float),
    )


def test_new_arrays():
    for m, n in product((0, 1, 3), (0, 2, 500)):
        for got, right in zip(new_arrays(m, n), new_arrays.py_func(m, n), strict=True):
            np.testing.assert_array_equal(got, right)
            if isinstance(right, np.ndarray):
                assert got.dtype == right.dtype
                assert got.flags.writeable
                assert got.strides == right.strides or not right.size
    for sizes in [(-1, 2), (2, -1), (2**32, 2**31), (2**62, 4)]:
        with pytest.raises(ValueError, match="not allowed"):
            new_arrays(*sizes)


@njit
def extremes(a, b, c):
    return max(a, b), min(a, b), max(a, b, c, 1), min(a, b, c), max((a, b)), min(1, b)


def test_extremes():
    for values in product([-1.5, 0.0, 2.0, np.nan, np.inf], repeat=3):
        np.testing.assert_equal(extremes(*values), extremes.py_func(*values))
    assert extremes(3, 2.5, -1) == (3, 2.5, 3, -1, 3, 1)


@njit
def first(x):
    return x[0]


def test_wrong_arguments():
    for wrong in (None, object(), {"a": 1}):
        with pytest.raises(TypingError):
            first(wrong)
    for arguments in ((np.zeros(1), 1), ()):
        with pytest.raises(TypeError):
            first(*arguments)
    assert first(np.array([2.0])) == 2.0
