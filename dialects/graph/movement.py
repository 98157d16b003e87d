"""Operators that only move elements: transpose, concat, slice, pad, broadcast. (reshape is in a file of its own.)"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import base, irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.predicate import less_than
from tilework.algebra.requirement import Requirement
from tilework.dialects.graph.base import Array, Category, GraphOp, SizesDiffer, normalize_axis
from tilework.dialects.graph.joint_shapes import broadcast_to_requirements, read_broadcast, sizes_beside
from tilework.dialects.graph.padding import padded_dims, padding_requirements, padding_told, widths_of
from tilework.dialects.graph.windows import pad_stage
from tilework.dialects.support.index_attr import DimsAttr, WidthsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor


@irdl_op_definition
class TransposeOp(GraphOp):
    """Axis i of the result is axis `permutation[i]` of the input.

    %y = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
    """

    name = "graph.transpose"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        x, permutation = self.dims(0), self.permutation.get_values()
        if sorted(permutation) != list(range(len(x))):
            raise VerifyException(f"[{', '.join(map(str, permutation))}] does not permute the {len(x)} axes")
        return [tensor_type([x[axis] for axis in permutation], self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        permutation = self.permutation.get_values()
        dims = [x.dims[axis] for axis in permutation]
        return k.compute(
            "transpose", dims, lambda *i: x[tuple(i[permutation.index(axis)] for axis in range(len(dims)))]
        )

    def evaluate(self, *inputs: Array) -> Array:
        return inputs[0].transpose(self.permutation.get_values())


@irdl_op_definition
class ConcatOp(GraphOp):
    """The inputs behind one another along `axis`.

    %y = graph.concat %a, %b {axis = 1 : i64} : (tensor<1x2x4xf32>, tensor<1x3x4xf32>) -> tensor<1x5x4xf32>
    """

    name = "graph.concat"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if not self.inputs:
            raise VerifyException("there is nothing to concatenate")
        self.require_same_dtype()
        first, axis = self.dims(0), self.axis.value.data
        if axis < 0 or normalize_axis(axis, len(first)) != axis:
            raise VerifyException(f"the axis is counted from the front, it is not {axis}")
        total = const(0)
        for i in range(len(self.inputs)):
            dims = self.dims(i)
            pairs = list(enumerate(zip(first, dims, strict=False)))
            differing = [(at, pair) for at, pair in pairs if at != axis and pair[0] != pair[1]]
            if differing or len(dims) != len(first):
                types = f"{self.operands[0].type} and {self.operands[i].type}"
                message = f"operands differ along axis {axis} only, not as {types}"
                if len(dims) != len(first):
                    raise VerifyException(message)
                at, (one, other) = differing[0]
                raise SizesDiffer(one, other, message, (i, at, one), (0, at, other))
            total = total + dims[axis]
        return [tensor_type((*first[:axis], total, *first[axis + 1 :]), self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        axis = self.axis.value.data
        ends: list[Expr] = []
        for x in inputs:
            ends.append((ends[-1] if ends else const(0)) + x.dims[axis])

        def choose(index: tuple[Expr, ...], first: int, stop: int) -> Scalar:
            """The element of one of inputs first to stop - 1, found by bisection."""
            if stop - first == 1:
                start = ends[first] - inputs[first].dims[axis]
                return inputs[first][(*index[:axis], index[axis] - start, *index[axis + 1 :])]
            middle = (first + stop) // 2
            return k.if_then_else(
                [less_than(index[axis], ends[middle - 1])],
                lambda: choose(index, first, middle),
                lambda: choose(index, middle, stop),
                inputs[first].dtype,
            )

        dims = (*inputs[0].dims[:axis], ends[-1], *inputs[0].dims[axis + 1 :])
        return k.compute("concat", dims, lambda *i: choose(i, 0, len(inputs)))

    def evaluate(self, *inputs: Array) -> Array:
        return np.concatenate(inputs, axis=self.axis.value.data)


@irdl_op_definition
class SliceOp(GraphOp):
    """Take along each of `axes` (of constant size) the elements start, start + step, ... before `stop`, as in Python.

    Starts and stops are counted from the front; a negative step walks backwards to a stop of -1 at least.

    %y = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 2>, stops = array<i64: 8>, steps = array<i64: 3>}
        : (tensor<4x9xf32>) -> tensor<4x2xf32>
    """

    name = "graph.slice"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(i64))
    starts = prop_def(DenseArrayBase.constr(i64))
    stops = prop_def(DenseArrayBase.constr(i64))
    steps = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def ranges(self) -> dict[int, range]:
        """What is kept, by axis. Raises VerifyException where that does not lie in the input."""
        x = self.dims(0)
        columns = [list[int](a.get_values()) for a in (self.axes, self.starts, self.stops, self.steps)]
        if len(set(map(len, columns))) > 1 or len(set(columns[0])) < len(columns[0]):
            raise VerifyException("axes differ; each has one start, one stop and one step")
        kept: dict[int, range] = {}
        for nth, axis in enumerate(columns[0]):
            start, stop, step = (column[nth] for column in columns[1:])
            if not 0 <= axis < len(x):
                raise VerifyException(f"a tensor of rank {len(x)} has no axis {axis}")
            extent = x[axis].constant
            if extent is None:
                raise VerifyException(f"only an axis of constant size is sliced; axis {axis} has size {x[axis]}")
            if step == 0:
                raise VerifyException("a step is not 0")
            taken = range(start, stop, step)
            if taken and not (0 <= taken[0] < extent and 0 <= taken[-1] < extent):
                raise VerifyException(f"elements {taken[0]} to {taken[-1]} do not lie in axis {axis} of size {extent}")
            kept[axis] = taken
        return kept

    def infer(self) -> Sequence[TensorType[Attribute]]:
        kept = self.ranges()
        dims = [const(len(kept[axis])) if axis in kept else d for axis, d in enumerate(self.dims(0))]
        return [tensor_type(dims, self.dtype())]

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        [x] = inputs
        kept = self.ranges()
        dims = [const(len(kept[axis])) if axis in kept else d for axis, d in enumerate(x.dims)]
        return k.compute(
            "slice",
            dims,
            lambda *index: x[
                tuple(i * kept[axis].step + kept[axis].start if axis in kept else i for axis, i in enumerate(index))
            ],
        )

    def evaluate(self, *inputs: Array) -> Array:
        [x] = inputs
        for axis, taken in self.ranges().items():
            x = x.take(np.asarray(taken, np.intp), axis=axis)
        return x


@irdl_op_definition
class PadOp(GraphOp):
    """`value` around the input; `pads` lists how much in front of every axis, then how much behind every one.

    %y = graph.pad %x {pads = array<i64: 0, 1, 0, 2>, value = 0.0 : f32} : (tensor<4x5xf32>) -> tensor<4x8xf32>
    %y = graph.pad %x {pads = #graph.widths<[0, 4 - N]>, value = 0.0 : f32}
        : (tensor<?xf32, #graph.dims<[N]>>) -> tensor<4xf32>

    Widths over symbols may be negative, and then elements are taken away. Further operands, whose elements are not
    read, tell symbols that the input does not.
    """

    name = "graph.pad"
    CATEGORY: ClassVar[Category] = Category.INJECTIVE
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    pads = prop_def(DenseArrayBase.constr(i64) | base(WidthsAttr))
    value = prop_def(FloatAttr | IntegerAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def ends(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The padding in front of and behind every axis, where symbols do not decide it."""
        if isinstance(self.pads, WidthsAttr):
            return None
        pads, rank = self.pads.get_values(), len(self.dims(0))
        return pads[:rank], pads[rank:]

    def infer(self) -> Sequence[TensorType[Attribute]]:
        if self.value.type != self.dtype():
            raise VerifyException(f"the value is of the elements' type, {self.dtype()}, not {self.value.type}")
        return [tensor_type(padded_dims(self, self.pads), self.dtype())]

    def requirements(self) -> Iterable[Requirement]:
        return padding_requirements(self)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x = inputs[0]
        before = widths_of(self.pads)[: len(x.dims)]
        return pad_stage(k, x, before, padded_dims(self, self.pads), self.value.value.data)

    def evaluate(self, *inputs: Array) -> Array:
        x = inputs[0]
        widths = padding_told(self, self.pads, inputs)
        result = np.full([n + b + a for n, (b, a) in zip(x.shape, widths, strict=True)], self.value.value.data, x.dtype)
        kept = [max(min(n, n + a) - max(-b, 0), 0) for n, (b, a) in zip(x.shape, widths, strict=True)]
        source = tuple(slice(max(-b, 0), max(-b, 0) + count) for (b, _), count in zip(widths, kept, strict=True))
        target = tuple(slice(max(b, 0), max(b, 0) + count) for (b, _), count in zip(widths, kept, strict=True))
        result[target] = x[source]
        return result


@irdl_op_definition
class BroadcastOp(GraphOp):
    """The input repeated to dimensions `shape`, as numpy's broadcast_to does.

    %y = graph.broadcast %x {shape = #graph.dims<[N, 4]>} : (tensor<1x4xf32>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>

    A symbol in `shape` must occur in the input's dimensions, or in those of further operands, whose elements are not
    read: there is nothing else that it could be bound by.
    """

    name = "graph.broadcast"
    CATEGORY: ClassVar[Category] = Category.BROADCAST
    input = operand_def(TensorType)
    sizes = var_operand_def(TensorType)
    shape = prop_def(DimsAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[TensorType[Attribute]]:
        self.require_symbols_of_operands(self.shape)
        if len(self.dims(0)) > len(self.shape) or any(r.is_never_met() for r in self.requirements()):
            raise VerifyException(f"{self.input.type} does not broadcast to [{', '.join(map(str, self.shape))}]")
        return [tensor_type(self.shape.data, self.dtype())]

    def joined_sizes(self) -> Iterable[tuple[Expr, Expr]]:
        return sizes_beside(self.shape.data, self.dims(0))

    def requirements(self) -> Iterable[Requirement]:
        return broadcast_to_requirements(self.title, self.dims(0), self.shape.data)

    def define(self, k: KernelBuilder, *inputs: Tensor) -> Tensor:
        x, dims = inputs[0], self.shape.data
        return k.compute("broadcast", dims, lambda *i: read_broadcast(x, dims, i))

    def evaluate(self, *inputs: Array) -> Array:
        return np.broadcast_to(inputs[0], self.evaluate_dims(self.shape.data, inputs))
