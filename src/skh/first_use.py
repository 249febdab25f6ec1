"""A word to the user while the kernels are compiled, which happens once after installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from skh import _compiled

PATIENCE = 2.0  # seconds; loading kernels that were compiled before takes less
WORD = "skh: compiling its kernels, once after installation (about fifteen seconds) ..."


@contextmanager
def announced() -> Iterator[None]:
    """Say so if the work inside takes long because nothing has been compiled yet."""
    # Either mean map: a filter whose mixtures have one matrix per component uses only the second.
    if _compiled.add_bumps.signatures or _compiled.add_skewed_bumps.signatures:
        yield
        return
    timer = Timer(PATIENCE, lambda: print(WORD, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
