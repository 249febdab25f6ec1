"""Loops over ranges, in few instructions.

numba's loops can have any step, which takes 40 instructions.  Most steps here are 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.cgutils import make_anonymous_struct, unpack_tuple

from skh._numba.compiler.fields import ONE, ZERO, FieldLower, is_constant

RANGES = (range, numba.prange)


class LoopLower(FieldLower):
    """Writes the code of loops."""

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """``range(stop)`` or ``range(start, stop)``."""
        function = getattr(self.typeof(expr.func.name), "typing_key", None)
        if function not in RANGES or resty != types.range_state64_type or len(expr.args) > 2:
            return super().lower_call(resty, expr)
        bounds = [self._cast_var(bound, types.intp) for bound in expr.args]
        return make_anonymous_struct(self.builder, [*[ZERO, *bounds][-2:], ONE])

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """The state of a loop, its next number, and whether there is one."""
        kind, write = SHORT.get(expr.op, (None, None))
        if write is None or self.typeof(expr.value.name) != kind:
            return super().lower_expr(resty, expr)
        value = write(self.builder, self.loadvar(expr.value.name))
        return super().lower_expr(resty, expr) if value is None else value


def write_getiter(builder: Any, value: Any) -> Any:
    """Return where the next number and the count of those left are kept."""
    start, stop, step = unpack_tuple(builder, value, 3)
    if not is_constant(step, 1):
        return None
    with builder.goto_entry_block():
        following, left = builder.alloca(start.type), builder.alloca(start.type)
    builder.store(start, following)
    count = builder.sub(stop, start)  # LLVM writes better code for one that is not negative
    count = builder.select(builder.icmp_signed("<", count, ZERO), ZERO, count)
    builder.store(count, left)
    return make_anonymous_struct(builder, (following, stop, step, left))


def write_iternext(builder: Any, value: Any) -> Any:
    """Return the next number, and whether there is one."""
    following, _, step, left = unpack_tuple(builder, value, 4)
    count, number = builder.load(left), builder.load(following)
    builder.store(builder.sub(count, ONE, flags=["nsw"]), left)
    builder.store(builder.add(number, step), following)
    return make_anonymous_struct(builder, (number, builder.icmp_signed(">", count, ZERO)))


PAIR = types.Pair(types.intp, types.boolean)
SHORT: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "getiter": (types.range_state64_type, write_getiter),
    "iternext": (types.range_iter64_type, write_iternext),
    "pair_first": (PAIR, lambda builder, pair: builder.extract_value(pair, 0)),
    "pair_second": (PAIR, lambda builder, pair: builder.extract_value(pair, 1)),
}
