"""Freed memory is kept for the next call.

The C library of Linux returns freed memory to the system once there is more of it than twice the
largest block seen so far, and the next call has it cleared and mapped again, page by page: an
eighth of the time with 50,000 search points.  A large block that comes and goes without being
touched raises that limit.
"""

from __future__ import annotations

import numpy as np

LARGEST = 31 << 20  # the C library leaves blocks of 32 MiB and more out of account


def keep_freed_memory() -> None:
    """Raise the limit above which freed memory is returned."""
    np.empty(LARGEST, np.uint8)
