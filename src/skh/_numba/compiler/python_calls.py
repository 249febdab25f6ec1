"""Wrappers by which Python calls kernels, for those that Python does call.

numba writes one for each kernel, a sixth of all its code; but two thirds of the kernels are called
by other kernels only.  Here a kernel that is compiled for another one gets none.  If Python calls
it later, it is compiled again.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

for_python: ContextVar[bool] = ContextVar("for_python", default=True)


class KernelDispatcher(CPUDispatcher):
    """A kernel, with its code for each combination of types."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile for another kernel."""
        before = for_python.set(False)
        try:
            return super().get_call_template(args, kws)
        finally:
            for_python.reset(before)

    def compile(self, sig: Any) -> Any:
        """Compile, also if there is code that Python cannot call."""
        arguments, _ = normalize_signature(sig)
        with global_compiler_lock:
            known = self.overloads.get(tuple(arguments))
            if known is not None and not serves(known):
                del self.overloads[tuple(arguments)]
            return super().compile(sig)

    def add_overload(self, code: Any) -> None:
        """Let other kernels use this code, and Python if it can."""
        if _has_wrapper(code):
            super().add_overload(code)
        else:
            self.overloads[tuple(code.signature.args)] = code


def serves(code: Any) -> bool:
    """Whether code has what its present caller needs."""
    return not for_python.get() or _has_wrapper(code)


def _has_wrapper(code: Any) -> bool:
    name = code.fndesc.llvm_cpython_wrapper_name
    return bool(code.library.get_pointer_to_function(name))
