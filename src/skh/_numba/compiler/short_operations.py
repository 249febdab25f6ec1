"""Operations on numbers, whose code is known from their types.

numba tries three times whether it has other code for operands that are constants, which it has for
powers only, and then infers the types once more.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.lowering import Lower

POWERS = (operator.pow, operator.ipow)


class OperationLower(Lower):
    """Writes the code of operations."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """``a + b``, ``a < b`` and so on."""
        signature = self.fndesc.calltypes[expr]
        if op in POWERS or not all(isinstance(kind, types.Number) for kind in signature.args):
            return super().lower_binop(resty, expr, op)
        operands = map(self._cast_var, (expr.lhs, expr.rhs), signature.args)
        value = self.context.get_function(op, signature)(self.builder, tuple(operands))
        return self.context.cast(self.builder, value, signature.return_type, resty)
