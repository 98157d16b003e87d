"""Elements put where other data say: rows of a table by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.predicate import at_least, less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects import loop
from tilework.dialects.graph.base import Array, Category, GraphOp, normalize_axis
from tilework.dialects.graph.gather import INDEX_TYPES, INDICES
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.builder_scalars import is_unsigned
from tilework.dialects.te.operands import INDEX

REPLACE = "replace"

COMBINE: Mapping[str, tuple[str, np.ufunc]] = {
    "add": ("+", np.add),
    "mul": ("*", np.multiply),
    "max": ("max", np.maximum),
    "min": ("min", np.minimum),
}
"""How an update may be combined with the element that is there: as an operator of scalars, and of arrays."""


@irdl_op_definition
class ScatterOp(GraphOp):
    """The input with updates where `indices` say along `axis`, at the update's own place along the others.

    The update at [i, j, k] goes to [i, indices[i, j, k], k] for axis 1: one after the other, in the order in which they
    lie in memory, it takes that place ("replace"), or what is there is combined with it ("add", "mul", "max", "min").
    Along an axis where indices have size 1 all updates take the same one. A negative index counts from the end; one
    that is out of range changes nothing.

    %y = graph.scatter %table, %rows, %new {axis = 0 : i64, combine = "add"}
        : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
    """

    name = "graph.scatter"
    CATEGORY: ClassVar[Category] = Category.OPAQUE
    input = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    combine = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, indices, updates, axis = self.dims(0), self.dims(INDICES), self.dims(2), self.axis.value.data
        if axis < 0 or normalize_axis(axis, len(x)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        if self.dtype(INDICES) not in INDEX_TYPES:
            raise VerifyException(
                f"indices are of type {' or '.join(map(str, INDEX_TYPES))}, not {self.dtype(INDICES)}"
            )
        if self.dtype(2) != self.dtype():
            raise VerifyException(f"updates are of the input's type, {self.dtype()}, not {self.dtype(2)}")
        if self.combine.data not in (REPLACE, *COMBINE):
            known = ", ".join((REPLACE, *COMBINE))
            raise VerifyException(f"updates are combined by one of {known}, not '{self.combine.data}'")
        if self.dtype() == i1 and self.combine.data != REPLACE:
            raise VerifyException(f"truth values are replaced, not combined by '{self.combine.data}'")
        if not len(x) == len(indices) == len(updates):
            raise VerifyException(f"{len(indices)} axes of indices and {len(updates)} of updates for {len(x)}")
        for i, (size, named) in enumerate(zip(updates, indices, strict=True)):
            if named not in (size, 1):
                raise VerifyException(f"{named} indices for {size} updates along axis {i}")
        for requirement in self.requirements():
            if requirement.is_never_met():
                raise VerifyException(requirement.text)
        return [tensor_type(x, self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        for i, (size, extent) in enumerate(zip(self.dims(2), self.dims(0), strict=True)):
            if i != self.axis.value.data:
                yield Requirement.of(at_least(extent, size), f"{size} updates do not fit {extent} along axis {i}")

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, indices, updates = inputs
        axis, rank = self.axis.value.data, len(x.dims)
        # from this axis on, all updates take the same place
        rest = next(i for i in range(rank, axis, -1) if i == axis + 1 or indices.dims[i - 1] != 1)

        def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
            source, numbers, new, result = buffers
            dims, counts = [here(d) for d in x.dims], [here(d) for d in updates.dims]

            def copy(*i: Expr) -> None:
                k.insert(loop.StoreOp(k.insert(loop.LoadOp(source, i)).value, result, i))

            def find(*i: Expr) -> None:
                own = (*i, *[const(0)] * (rank - rest))
                at = [e if size != 1 else const(0) for e, size in zip(own, indices.dims, strict=True)]
                number = _from_front(k, k.insert(loop.LoadOp(numbers, at)), dims[axis])

                def put(*others: Expr) -> None:
                    own = (*i, *others)
                    place = (*own[:axis], number, *own[axis + 1 :])
                    update = k.insert(loop.LoadOp(new, own))
                    k.insert(loop.StoreOp(self._combined(k, result, place, update, x.dtype).value, result, place))

                in_range = loop.IfOp([at_least(number, 0), less_than(number, dims[axis])], Region(Block()))
                k.insert(in_range)
                with k.inside(in_range.then_body.block):
                    k.for_each(counts[rest:], put)

            k.for_each(dims, copy)
            k.for_each(counts[:rest], find)

        [result] = k.extern("scatter", inputs, [tensor_type(x.dims, x.dtype)], write)
        return result

    def _combined(
        self, k: KernelBuilder, result: SSAValue, place: Sequence[Expr], update: Scalar, dtype: Attribute
    ) -> Scalar:
        """What an update makes of the element at its place."""
        if self.combine.data == REPLACE:
            return update
        there = Scalar(k.insert(loop.LoadOp(result, place)).value, k, is_unsigned(dtype))
        return there.binary(COMBINE[self.combine.data][0], Scalar(update.value, k, is_unsigned(dtype)))

    def evaluate(self, *inputs: Array) -> Array:
        x, indices, updates = inputs
        axis, result = self.axis.value.data, x.copy()
        numbers = np.broadcast_to(indices, updates.shape).astype(np.int64)
        numbers = np.where(numbers < 0, numbers + x.shape[axis], numbers)
        in_range = (numbers >= 0) & (numbers < x.shape[axis])
        at = list(np.nonzero(in_range))  # in memory order
        at[axis] = numbers[in_range]
        if self.combine.data == REPLACE:
            result[tuple(at)] = updates[in_range]
        else:
            COMBINE[self.combine.data][1].at(result, tuple(at), updates[in_range])
        return result


def _from_front(k: KernelBuilder, number: Scalar, extent: Expr) -> Expr:
    """A number that counts from the end where it is below zero, as an index."""
    index = k.cast(number, INDEX)
    from_end = loop.ApplyOp(var(index.value) + extent)
    k.insert(from_end)
    return var(k.select(number.compare("lt", 0), Scalar(from_end.result, k), index).value)
