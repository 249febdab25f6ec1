"""A word to the user while the kernels are compiled, which happens once after installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

PATIENCE = 2.0  # seconds; loading kernels that were compiled before takes less
NOTICE = "skh: a first call; kernels are compiled once after installation (up to half a minute) ..."

_ready = False  # after the first call: a timer for each would cost a tenth of a millisecond


@contextmanager
def notice_while_compiling() -> Iterator[None]:
    """Say so if the work inside takes long because nothing has been compiled yet."""
    global _ready
    if _ready:
        yield
        return
    timer = Timer(PATIENCE, lambda: print(NOTICE, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        _ready = True
        timer.cancel()
