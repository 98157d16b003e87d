"""Operators that move elements."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, cast

from tilework import te
from tilework.algebra.errors import UsageError
from tilework.compat.tvm.topi import tag
from tilework.compat.tvm.topi.utils import axes_in_order, axes_of, get_const_int


def expand_dims(a: te.Tensor, axis: int, num_newaxis: int = 1) -> te.Tensor:
    """The tensor with axes of extent 1 from `axis` on."""
    first = axis % (a.ndim + 1)
    shape = (*a.shape[:first], *[1] * num_newaxis, *a.shape[first:])
    return te.compute(shape, lambda *i: a(*i[:first], *i[first + num_newaxis :]), "T_expand_dims", tag.BROADCAST)


def squeeze(a: te.Tensor, axis: Any = None) -> te.Tensor:
    """The tensor without axes of extent 1, all of them by default."""
    ones = [place for place, size in enumerate(a.shape) if te.is_one(size)]
    gone = ones if axis is None else axes_of(axis, a.ndim)
    if wrong := [place for place in gone if place not in ones]:
        raise UsageError(f"squeeze of axis {wrong[0]}, whose extent is {a.shape[wrong[0]]}")
    kept = [place for place in range(a.ndim) if place not in gone]

    def element(*at: Any) -> Any:
        index = dict(zip(kept, at, strict=True))
        return a(*(index.get(place, 0) for place in range(a.ndim)))

    return te.compute(tuple(a.shape[p] for p in kept), element, "T_squeeze", tag.INJECTIVE)


def transpose(a: te.Tensor, axes: Sequence[int] | None = None) -> te.Tensor:
    """The tensor with axes in another order, by default the opposite one."""
    order = list(range(a.ndim))[::-1] if axes is None else [get_const_int(axis) % a.ndim for axis in axes]
    if sorted(order) != list(range(a.ndim)):
        raise UsageError(f"transpose of {a.ndim} dimensions by axes {order}")
    shape = tuple(a.shape[axis] for axis in order)
    return te.compute(shape, lambda *i: a(*(i[order.index(p)] for p in range(a.ndim))), "T_transpose", tag.INJECTIVE)


def flip(a: te.Tensor, axis: int = 0) -> te.Tensor:
    """The tensor from the end of an axis to its beginning."""
    place = axis % a.ndim
    last = a.shape[place] - 1
    return te.compute(
        a.shape, lambda *i: a(*(last - e if p == place else e for p, e in enumerate(i))), "T_flip", tag.INJECTIVE
    )


def reshape(a: te.Tensor, newshape: Any) -> te.Tensor:
    """The elements in their order in another shape; one size may be -1, which the others say."""
    sizes: list[Any] = list(cast("Sequence[Any]", newshape)) if isinstance(newshape, list | tuple) else [newshape]
    count: Any = functools.reduce(lambda x, y: x * y, a.shape, 1)
    if -1 in [size for size in sizes if isinstance(size, int)]:
        at = sizes.index(-1)
        sizes[at] = count // functools.reduce(lambda x, y: x * y, (s for p, s in enumerate(sizes) if p != at), 1)
    made: Any = functools.reduce(lambda x, y: x * y, sizes, 1)
    if isinstance(made, int) and isinstance(count, int) and made != count:
        raise UsageError(f"reshape of {count} elements to {made}")
    return te.compute(tuple(sizes), lambda *i: a(*_unraveled(_raveled(i, sizes), a.shape)), "T_reshape", tag.INJECTIVE)


def _raveled(at: Sequence[Any], shape: Sequence[Any]) -> Any:
    position: Any = 0
    for index, size in zip(at, shape, strict=True):
        position = position * size + index
    return position


def _unraveled(position: Any, shape: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    for size in reversed(shape[1:]):
        found.append(te.floormod(position, size))
        position = te.floordiv(position, size)
    return tuple([position, *reversed(found)][: len(shape)])


def concatenate(a_tuple: Sequence[te.Tensor], axis: int = 0) -> te.Tensor:
    """Tensors one behind the other along an axis."""
    first = a_tuple[0]
    place = axis % first.ndim
    ends: list[Any] = [first.shape[place]]
    for tensor in a_tuple[1:]:
        ends.append(ends[-1] + tensor.shape[place])

    def element(*at: Any) -> Any:
        def of(tensor: te.Tensor, begin: Any) -> Any:
            return tensor(*(index - begin if p == place else index for p, index in enumerate(at)))

        value = of(a_tuple[-1], ends[-2] if len(ends) > 1 else 0)
        for number in range(len(a_tuple) - 2, -1, -1):
            begin = ends[number - 1] if number else 0
            value = te.if_then_else(at[place] < ends[number], of(a_tuple[number], begin), value)
        return value

    shape = tuple(ends[-1] if p == place else size for p, size in enumerate(first.shape))
    return te.compute(shape, element, "T_concat", tag.INJECTIVE)


def stack(a: Sequence[te.Tensor], axis: int = 0) -> te.Tensor:
    """Tensors of one shape along a new axis."""
    return concatenate([expand_dims(tensor, axis) for tensor in a], axis)


def split(ary: te.Tensor, indices_or_sections: Any, axis: int = 0) -> list[te.Tensor]:
    """Parts of a tensor along an axis: so many equal ones, or between the given indices."""
    place = axis % ary.ndim
    size = get_const_int(ary.shape[place])
    if isinstance(indices_or_sections, int):
        if size % indices_or_sections:
            raise UsageError(f"split of {size} elements into {indices_or_sections} equal parts")
        cuts = list(range(0, size, size // indices_or_sections))
    else:
        cuts = [0, *map(get_const_int, indices_or_sections)]

    def part(begin: int, end: int) -> te.Tensor:
        shape = tuple(end - begin if p == place else s for p, s in enumerate(ary.shape))
        return te.compute(
            shape, lambda *i: ary(*(e + begin if p == place else e for p, e in enumerate(i))), "T_split", tag.INJECTIVE
        )

    return [part(begin, end) for begin, end in zip(cuts, [*cuts[1:], size], strict=True)]


def strided_slice(
    a: te.Tensor, begin: Sequence[int], end: Sequence[int], strides: Sequence[int] | None = None, axes: Any = None
) -> te.Tensor:
    """Elements from `begin` on and before `end`, one in so many, along the first axes, or those that are named."""
    places = list(range(len(begin))) if axes is None else axes_of(axes, a.ndim)
    steps = [1] * len(places) if strides is None else list(strides)
    rows = {p: range(get_const_int(a.shape[p]))[b:e:s] for p, b, e, s in zip(places, begin, end, steps, strict=True)}
    shape = tuple(len(rows[p]) if p in rows else size for p, size in enumerate(a.shape))

    def element(*at: Any) -> Any:
        return a(*(rows[p].start + e * rows[p].step if p in rows else e for p, e in enumerate(at)))

    return te.compute(shape, element, "T_strided_slice", tag.INJECTIVE)


def take(a: te.Tensor, indices: te.Tensor, axis: int | None = None, mode: str = "clip") -> te.Tensor:
    """The elements at indices along an axis, of all in a row without one; indices beyond an end are clipped."""
    if mode not in ("clip", "fast"):
        raise UsageError(f'take: mode is "clip" or "fast", not "{mode}"')
    if axis is None:
        return take(reshape(a, (-1,)), indices, 0, mode)
    place = axis % a.ndim
    rank, last = indices.ndim, a.shape[place] - 1

    def element(*at: Any) -> Any:
        index = indices(*at[place : place + rank])
        index = index if mode == "fast" else te.min(te.max(index, 0), last)
        return a(*at[:place], index, *at[place + rank :])

    shape = (*a.shape[:place], *indices.shape, *a.shape[place + 1 :])
    return te.compute(shape, element, "T_take", tag.INJECTIVE)


def tile(a: te.Tensor, reps: Sequence[int]) -> te.Tensor:
    """The tensor again and again along each axis."""
    rank = max(a.ndim, len(reps))
    shape = [1] * (rank - a.ndim) + list(a.shape)
    times = [1] * (rank - len(reps)) + list(reps)
    own = rank - a.ndim
    sizes = tuple(size * n for size, n in zip(shape, times, strict=True))
    return te.compute(
        sizes,
        lambda *i: a(*(te.floormod(e, s) for e, s in zip(i[own:], a.shape, strict=True))),
        "T_tile",
        tag.BROADCAST,
    )


def repeat(a: te.Tensor, repeats: int, axis: int) -> te.Tensor:
    """Each element so many times in a row along an axis."""
    place = axis % a.ndim
    shape = tuple(size * repeats if p == place else size for p, size in enumerate(a.shape))
    return te.compute(
        shape,
        lambda *i: a(*(te.floordiv(e, repeats) if p == place else e for p, e in enumerate(i))),
        "T_repeat",
        tag.BROADCAST,
    )


def where(condition: te.Tensor, x: te.Tensor, y: te.Tensor) -> te.Tensor:
    """Elements of x where the condition is not 0, of y elsewhere."""
    return te.compute(
        x.shape, lambda *i: te.if_then_else(condition(*i).astype("bool"), x(*i), y(*i)), "T_where", tag.BROADCAST
    )


def arange(start: int, stop: int | None = None, step: int = 1, dtype: str = "float32") -> te.Tensor:
    """Numbers from start on and before stop."""
    first, end = (0, start) if stop is None else (start, stop)
    count = len(range(first, end, step))
    return te.compute((count,), lambda *i: (i[0] * step + first).astype(dtype), "T_arange", tag.INJECTIVE)


def matmul(a: te.Tensor, b: te.Tensor, transp_a: bool = False, transp_b: bool = False) -> te.Tensor:
    """The product of two matrices, each of them transposed if asked for."""
    rows, depth = (a.shape[1], a.shape[0]) if transp_a else (a.shape[0], a.shape[1])
    columns = b.shape[0] if transp_b else b.shape[1]
    k = te.reduce_axis((0, depth), "k")

    def element(i: Any, j: Any) -> Any:
        return te.sum((a[k, i] if transp_a else a[i, k]) * (b[j, k] if transp_b else b[k, j]), axis=k)

    return te.compute((rows, columns), element, "T_matmul", "matmul")


def tensordot(a: te.Tensor, b: te.Tensor, axes: Any = 2) -> te.Tensor:
    """The sum of products over axes of both: the last so many of a and the first of b, or those that are named."""
    if isinstance(axes, int):
        of_a, of_b = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        given = cast("Sequence[Any]", axes)
        of_a, of_b = (axes_in_order(one) for one in given)
    over = [te.reduce_axis((0, a.shape[axis]), f"k{n}") for n, axis in enumerate(of_a)]
    free_a = [axis for axis in range(a.ndim) if axis not in of_a]
    free_b = [axis for axis in range(b.ndim) if axis not in of_b]

    def at(free: list[int], summed: list[int], own: Sequence[Any], rank: int) -> list[Any]:
        index = dict(zip(free, own, strict=True)) | dict(zip(summed, over, strict=True))
        return [index[axis] for axis in range(rank)]

    def element(*i: Any) -> Any:
        first, second = i[: len(free_a)], i[len(free_a) :]
        return te.sum(a(*at(free_a, of_a, first, a.ndim)) * b(*at(free_b, of_b, second, b.ndim)), axis=over)

    shape = (*(a.shape[axis] for axis in free_a), *(b.shape[axis] for axis in free_b))
    return te.compute(shape, element, "T_tensordot", "matmul")


__all__ = [
    "arange",
    "concatenate",
    "expand_dims",
    "flip",
    "matmul",
    "repeat",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "take",
    "tensordot",
    "tile",
    "transpose",
    "where",
]
