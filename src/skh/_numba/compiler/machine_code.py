"""Machine code of kernels, each compiled once.

numba copies the code of a kernel into every kernel that calls it, optimises the copies again and
translates them again: three times the code that there is.  Here only small kernels are copied, so
that LLVM can inline them, and large ones are called where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary

LARGE = 120  # instructions; LLVM inlines functions of at most some fifty


class MachineCode(NamedTuple):
    """The object file of a large kernel, and the names of the large kernels that it calls."""

    file: bytes
    calls: tuple[str, ...]


_large: dict[str, MachineCode] = {}  # the large kernels of this process


class KernelLibrary(JITCodeLibrary):
    """The code of one kernel, and of all small ones that it calls."""

    def add_linking_library(self, library: Any) -> None:
        """Copy the code of another kernel, unless it is large."""
        if _own_function(library).name not in _large:
            super().add_linking_library(library)

    def finalize(self) -> None:
        """Compile, and let others call this kernel if it is large."""
        super().finalize()
        own = _own_function(self)
        instructions = chain.from_iterable(block.instructions for block in own.blocks)
        if sum(1 for _ in islice(instructions, LARGE + 1)) > LARGE:
            _large[own.name] = MachineCode(self._get_compiled_object(), tuple(large_calls(self)))


def _own_function(library: Any) -> Any:
    """The function that a library was made for; those that were copied into it come later."""
    functions = library._get_module_for_linking().functions
    return next(function for function in functions if not function.is_declaration)


def large_calls(library: Any) -> Iterator[str]:
    """Names of the large kernels that are called by the code of a library."""
    for function in library._get_module_for_linking().functions:
        if function.is_declaration and function.name in _large:
            yield function.name


def all_called(names: Iterable[str]) -> dict[str, MachineCode]:
    """These large kernels, and those that they call, directly or not."""
    found: dict[str, MachineCode] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _large[name]
            waiting.extend(found[name].calls)
    return found


def load(kernels: Mapping[str, MachineCode], codegen: Any) -> None:
    """Load the code of large kernels, unless it is there."""
    for name, code in kernels.items():
        if name not in _large:
            codegen._engine._ee.add_object_file(llvm.ObjectFileRef.from_data(code.file))
            _large[name] = code
