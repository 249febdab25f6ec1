"""Reuse of freed memory between calls.

The C library of Linux returns freed memory to the system above twice the size of the largest block
so far; mapping and clearing it again takes an eighth of the time with 50,000 search points.
Allocating and freeing a large untouched block raises that limit, but blocks of 32 MiB and more,
common with 100,000 particles, are not covered.  Keeping those too saves a sixth of the time, but
affects the whole process, so it is left to applications.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

LARGEST_BLOCK = 31 << 20  # the limit ignores blocks of 32 MiB and more
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of <malloc.h>


def keep_freed_memory() -> None:
    """Raise the limit above which freed memory is returned."""
    np.empty(LARGEST_BLOCK, np.uint8)


def keep_all_freed_memory() -> None:
    """Never return freed memory to the system (Linux), not even large blocks."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda option, value: 0)
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
