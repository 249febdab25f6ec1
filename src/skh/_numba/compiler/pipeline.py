"""numba's compiler without pauses for Python's garbage collector.

A compiler makes millions of small objects that it keeps until it is done, and the collector looks
at all of them again and again: a tenth of the time of a first use.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.compiler import Compiler
from numba.core.typed_passes import NativeLowering

from skh._numba.compiler.borrowing import BorrowingLowering
from skh._numba.compiler.machine_code import KernelLibrary
from skh._numba.compiler.own_functions import OwnFunctions

# For closures, `with`, `literally`, exceptions with values and reports: a twentieth of the time.
IDLE = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.LiteralUnroll,
    untyped_passes.FindLiterallyCalls,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
}

OWN_STEPS: dict[type, type] = {
    NativeLowering: BorrowingLowering,
    untyped_passes.InlineInlinables: OwnFunctions,
}


class KernelCompiler(Compiler):
    """The compiler of kernels, and of the kernels that they call."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        with _collector_paused():
            return super().compile_extra(func)

    def define_pipelines(self) -> Any:
        """Let kernels borrow their arrays, and leave out what they have no use for."""
        (steps,) = super().define_pipelines()
        steps.passes = [_own(step, name) for step, name in steps.passes if step not in IDLE]
        steps.finalize()
        return [steps]


def _own(step: type, name: str) -> tuple[type, str]:
    return OWN_STEPS.get(step, step), name


@contextmanager
def _collector_paused() -> Iterator[None]:
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:  # not in a kernel that is compiled for another one
            gc.enable()
