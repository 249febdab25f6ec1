"""A word to the user while the kernels are compiled, which happens once after installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from skh._compiled_bumps import add_aligned_bumps, add_bumps, add_skewed_bumps
from skh._compiled_refine import descend

PATIENCE = 2.0  # seconds; loading kernels that were compiled before takes less
WORD = "skh: compiling its kernels, once after installation (up to half a minute) ..."
USUAL = (add_bumps, add_skewed_bumps, add_aligned_bumps, descend)  # every rule needs one of them


@contextmanager
def announced() -> Iterator[None]:
    """Say so if the work inside takes long because nothing has been compiled yet."""
    if any(kernel.signatures for kernel in USUAL):
        yield
        return
    timer = Timer(PATIENCE, lambda: print(WORD, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
