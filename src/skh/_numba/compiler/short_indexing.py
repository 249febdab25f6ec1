"""Items and slices of arrays, in few instructions."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

from llvmlite.ir import Constant
from numba.core import types
from numba.core.cgutils import intp_t, make_anonymous_struct, pointer_add, unpack_tuple
from numba.core.imputils import impl_ret_borrowed
from numba.np.arrayobj import load_item, store_item

from skh._numba.compiler.fields import (
    DATA,
    ITEMSIZE,
    MEMINFO,
    ONE,
    PARENT,
    SHAPE,
    STRIDES,
    ZERO,
    FieldLower,
    array_of,
    is_constant,
)

END = types.intp.maxval  # of a slice without one


class Place(NamedTuple):
    """A part of an array."""

    pointer: Any
    shape: list[Any]
    strides: list[Any]


class IndexingLower(FieldLower):
    """Writes the code of items and slices."""

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """``start:stop``."""
        function = getattr(self.typeof(expr.func.name), "typing_key", None)
        if function is not slice or resty != types.slice2_type or len(expr.args) != 2:
            return super().lower_call(resty, expr)
        bounds = [
            default if self.typeof(bound.name) == types.none else self._cast_var(bound, types.intp)
            for bound, default in zip(expr.args, (ZERO, intp_t(END)), strict=True)
        ]
        return make_anonymous_struct(self.builder, (*bounds, ONE))

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """``array[i, j]``, ``array[i]``, ``array[start:stop]`` and so on."""
        kind, by = signature.args
        if not _is_simple(kind, by, (types.Integer, types.SliceType)):
            return super().lower_getitem(resty, expr, value, index, signature)
        array, place = self._place(value, index, signature)
        if isinstance(resty, types.Array):
            view = _view(self.builder, array, place)
            return impl_ret_borrowed(self.context, self.builder, resty, view)
        item = load_item(self.context, self.builder, kind, place.pointer)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """``array[i, j] = value`` and so on, for a single value."""
        kind, by, _ = signature.args
        if not _is_simple(kind, by, types.Integer) or kind.ndim != len(_each(by)):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self._cast_var(value_var, kind.dtype)
        _, place = self._place(target_var, index_var, signature)
        store_item(self.context, self.builder, kind, value, place.pointer)
        return self.context.get_dummy_value()

    def _place(self, value: Any, index: Any, signature: Any) -> tuple[Any, Place]:
        """An array, and the part that an index tells."""
        kind, by = signature.args[:2]
        array, at = self.loadvar(value.name), self._cast_var(index, by)
        kinds = _each(by)
        values = unpack_tuple(self.builder, at) if isinstance(by, types.BaseTuple) else [at]
        indices = [
            self.context.cast(self.builder, v, k, types.uintp if is_unsigned(k) else types.intp)
            if isinstance(k, types.Integer)
            else v
            for k, v in zip(kinds, values, strict=True)
        ]
        return array, _locate(self.builder, kind, array, kinds, indices)


def _each(by: Any) -> tuple[Any, ...]:
    """Types of the indices."""
    return (*by,) if isinstance(by, types.BaseTuple) else (by,)  # type: ignore[misc]


def is_unsigned(kind: Any) -> bool:
    """Whether an index cannot be negative."""
    return isinstance(kind, types.Integer) and not kind.signed  # type: ignore[attr-defined]


def _is_simple(kind: Any, by: Any, wanted: Any) -> bool:
    return (
        isinstance(kind, types.Array)
        and kind.ndim > 0
        and all(
            isinstance(k, wanted) and (isinstance(k, types.Integer) or k == types.slice2_type)
            for k in _each(by)
        )
    )


def _locate(builder: Any, kind: Any, array: Any, kinds: Any, indices: list[Any]) -> Place:
    """Where indices point to, with shape and strides of what is there."""
    sizes = unpack_tuple(builder, builder.extract_value(array, SHAPE), kind.ndim)
    steps = unpack_tuple(builder, builder.extract_value(array, STRIDES), kind.ndim)
    at, shape, strides = [], [], []
    for k, index, size, step in zip(kinds, indices, sizes, steps, strict=False):
        if isinstance(k, types.Integer):
            at.append(index if is_unsigned(k) else _wrapped(builder, index, size))
            continue
        start, stop = (_bounded(builder, b, size) for b in unpack_tuple(builder, index, 2))
        at.append(start)
        shape.append(_at_least_zero(builder, builder.sub(stop, start)))
        strides.append(step)
    rest = len(at)
    at += [ZERO] * (kind.ndim - rest)
    pointer = _pointer(builder, kind.layout, builder.extract_value(array, DATA), at, sizes, steps)
    return Place(pointer, shape + sizes[rest:], strides + steps[rest:])


def _pointer(builder: Any, layout: str, data: Any, at: Any, sizes: Any, steps: Any) -> Any:
    if layout not in "CF":
        offsets = [builder.mul(index, step) for index, step in zip(at, steps, strict=True)]
        return pointer_add(builder, data, reduce(builder.add, offsets))
    order = range(len(at)) if layout == "C" else range(len(at) - 1, -1, -1)
    place = None
    for k in order:
        place = at[k] if place is None else _add(builder, builder.mul(place, sizes[k]), at[k])
    return builder.gep(data, [place])


def _view(builder: Any, array: Any, place: Place) -> Any:
    meminfo, parent, itemsize = (
        builder.extract_value(array, at) for at in (MEMINFO, PARENT, ITEMSIZE)
    )
    return array_of(builder, meminfo, parent, itemsize, *place)


def _wrapped(builder: Any, index: Any, size: Any) -> Any:
    """An index that counts from the end if it is negative."""
    if isinstance(index, Constant):
        return index if index.constant >= 0 else builder.add(index, size)
    negative = builder.icmp_signed("<", index, ZERO)
    return builder.select(negative, builder.add(index, size), index)


def _bounded(builder: Any, bound: Any, size: Any) -> Any:
    """A bound of a slice, between 0 and the size."""
    if is_constant(bound, 0):
        return bound
    if is_constant(bound, END):
        return size
    bound = _at_least_zero(builder, _wrapped(builder, bound, size))
    return builder.select(builder.icmp_signed(">=", bound, size), size, bound)


def _at_least_zero(builder: Any, value: Any) -> Any:
    return builder.select(builder.icmp_signed("<", value, ZERO), ZERO, value)


def _add(builder: Any, total: Any, term: Any) -> Any:
    return total if is_constant(term, 0) else builder.add(total, term)
