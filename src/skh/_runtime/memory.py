"""Freed memory is kept for the next call.

The C library of Linux returns freed memory to the system once there is more of it than twice the
largest block seen so far, and the next call has it cleared and mapped again, page by page: an
eighth of the time with 50,000 search points.  A large block that comes and goes without being
touched raises that limit.

That does not reach blocks of 32 MiB and more, of which there are many with 100,000 particles.  To
keep those as well is up to whoever owns the process; it saves a sixth of the time.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

LARGEST_BLOCK = 31 << 20  # the C library leaves blocks of 32 MiB and more out of account
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of <malloc.h>


def keep_freed_memory() -> None:
    """Raise the limit above which freed memory is returned."""
    np.empty(LARGEST_BLOCK, np.uint8)


def keep_all_freed_memory() -> None:
    """Let this process return none of its memory: not even large blocks are mapped one by one."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda option, value: 0)
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
