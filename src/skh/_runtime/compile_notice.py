"""Notice while kernels are compiled, which happens once after installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Timer

PATIENCE = 2.0  # seconds; loading compiled kernels takes less
NOTICE = "skh: a first call; kernels are compiled once after installation (up to half a minute) ..."

_ready = False  # after the first call: a timer per call would cost 0.1 ms


def notice_while_compiling() -> AbstractContextManager[None]:
    """Print a notice if the first block takes long, as kernels are being compiled."""
    return nullcontext() if _ready else _notice()


@contextmanager
def _notice() -> Iterator[None]:
    global _ready
    timer = Timer(PATIENCE, lambda: print(NOTICE, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        _ready = True
        timer.cancel()
