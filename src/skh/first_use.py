"""A word to the user while the kernels are compiled, which happens once after installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from skh import _compiled_bumps

PATIENCE = 2.0  # seconds; loading kernels that were compiled before takes less
WORD = "skh: compiling its kernels, once after installation (about fifteen seconds) ..."


@contextmanager
def announced() -> Iterator[None]:
    """Say so if the work inside takes long because nothing has been compiled yet."""
    # Any of the mean maps: a filter whose mixtures have one matrix per component uses one only.
    b = _compiled_bumps
    if any(k.signatures for k in (b.add_bumps, b.add_skewed_bumps, b.add_aligned_bumps)):
        yield
        return
    timer = Timer(PATIENCE, lambda: print(WORD, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
