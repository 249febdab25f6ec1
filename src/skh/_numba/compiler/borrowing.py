"""Kernels that borrow their arrays.

numba counts a reference to an array for each slice of it, and each count is an atomic operation: an
eighth of a filter step of few points, 6,500 counts, was spent so.  But a caller holds the arrays
that it passes until the kernel returns.  So here slices of arguments are not counted, nor are
those of arrays that a kernel makes outside of loops, which it keeps until it returns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering

from skh._numba.compiler.registers import assigned_before_use
from skh._numba.compiler.short_indexing import IndexingLower
from skh._numba.compiler.short_loops import LoopLower
from skh._numba.compiler.short_operations import OperationLower

Assigned = Mapping[str, list[Any]]  # values that are assigned to each variable

# These yield what exists, or parts of it; all other expressions may make an array.
TAKE_PARTS = {"build_tuple", "cast", "exhaust_iter", "getattr", "getitem", "static_getitem"}


class BorrowingLower(LoopLower, IndexingLower, OperationLower):
    """Writes the code of a kernel, with few counts."""

    def init(self) -> None:
        """Choose the variables that need no count."""
        super().init()
        assigned = self._assigned()
        kept = self._made_once(assigned)
        self._borrowed = self._not_counted(assigned, kept)
        _delete_at_return(self.blocks, kept)
        self._singly_assigned_vars -= kept  # assigned in one block, but deleted in another
        once = assigned_before_use(self.blocks)
        self._singly_assigned_vars |= {name for name in once if not self._owns(name)}

    def _assigned(self) -> Assigned:
        """What is assigned to variables that hold arrays, but for the one that is returned."""
        returned = {end.value.name for end in _found(self.blocks.values(), ir.Return)}
        assigned: dict[str, list[Any]] = defaultdict(list)
        for assign in _found(self.blocks.values(), ir.Assign):
            if assign.target.name not in returned and self._is_counted(assign.target):
                assigned[assign.target.name].append(assign.value)
        return assigned

    def _is_counted(self, variable: ir.Var) -> bool:
        """Whether numba counts references to what a variable holds."""
        return self._has_memory(self.typeof(variable.name))

    def _has_memory(self, kind: Any) -> bool:
        return bool(self.context.data_model_manager[kind].contains_nrt_meminfo())

    def _owns(self, name: str) -> bool:
        """Whether a variable counts a reference."""
        return name not in self._borrowed and self._has_memory(self.typeof(name))

    def delvar(self, name: str) -> None:
        """Release what a variable holds, if it owns that."""
        if self._owns(name):
            super().delvar(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Set a variable, without a look at what it held if it owns nothing."""
        if self._owns(name) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def _made_once(self, assigned: Assigned) -> set[str]:
        """Variables of arrays that are made in one place outside of loops."""
        loops = compute_cfg_from_blocks(self.blocks).loops().values()
        repeated = {label for loop in loops for label in loop.body}
        once = [block for label, block in self.blocks.items() if label not in repeated]
        return {
            assign.target.name
            for assign in _found(once, ir.Assign)
            if len(assigned.get(assign.target.name, ())) == 1 and self._may_make(assign.value)
        }

    def _not_counted(self, assigned: Assigned, kept: set[str]) -> set[str]:
        """Variables that only ever hold parts of arguments and of arrays that are kept."""
        borrowed = set(assigned) - kept
        while counted := {
            name
            for name in borrowed
            if any(
                self._may_make(value) or _names(value) & assigned.keys() - borrowed - kept
                for value in assigned[name]
            )
        }:
            borrowed -= counted
        return borrowed

    def _may_make(self, value: Any) -> bool:
        """Whether a value may be a new array, not a part of those in its variables."""
        if not isinstance(value, ir.Expr):
            return False
        picks = value.op == "getitem" and self._is_counted(value.index)  # an array as an index
        return picks or value.op not in TAKE_PARTS

    def lower_inst(self, inst: Any) -> None:
        """Write the code of a statement."""
        name = inst.value if isinstance(inst, ir.Del) else None
        name = inst.target.name if isinstance(inst, ir.Assign) else name
        with self._counting(name not in self._borrowed):
            super().lower_inst(inst)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Let Python call this kernel; it holds the arguments."""
        with self._counting(self._has_memory(self.fndesc.restype)):
            super().create_cpython_wrapper(release_gil)

    @contextmanager
    def _counting(self, counts: bool) -> Iterator[None]:
        before = self.context.enable_nrt
        self.context.enable_nrt = before and counts
        try:
            yield
        finally:
            self.context.enable_nrt = before


def _found(blocks: Iterable[ir.Block], kind: type) -> Iterator[Any]:
    return chain.from_iterable(block.find_insts(kind) for block in blocks)


def _names(value: Any) -> set[str]:
    """Variables in a value."""
    variables = [value] if isinstance(value, ir.Var) else getattr(value, "list_vars", list)()
    return {variable.name for variable in variables}


def _delete_at_return(blocks: Mapping[int, ir.Block], kept: set[str]) -> None:
    """Move the ends of variables to where the kernel returns."""
    for block in blocks.values():
        block.body = [s for s in block.body if not (isinstance(s, ir.Del) and s.value in kept)]
        if isinstance(end := block.terminator, ir.Return):
            block.body[-1:] = [*(ir.Del(name, end.loc) for name in sorted(kept)), end]


@register_pass(mutates_CFG=True, analysis_only=False)
class BorrowingLowering(BaseNativeLowering):
    """The step of the compiler that writes code."""

    _name = "skh_borrowing"  # type: ignore[assignment] # numba declares None

    @property
    def lowering_class(self) -> type[BorrowingLower]:
        """What writes it."""
        return BorrowingLower
