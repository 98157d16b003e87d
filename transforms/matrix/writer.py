"""Operators on tensors, as passes over matrices insert them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Operation, SSAValue

from tilework.analysis.affine_maps import SIGNS, Number, Vector
from tilework.analysis.affine_maps import Operation as Combined
from tilework.dialects import arith, graph, matrix
from tilework.dialects.bag import ToMatrixOp
from tilework.dialects.graph.base import ints
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import Scalar

_SIGNS = {"+": graph.AddOp, "-": graph.SubOp, "*": graph.MulOp, "/": graph.DivOp}


class TensorWriter:
    """Inserts operators by `insert`, which says where."""

    def __init__(self, insert: Callable[[Operation], object]):
        self._insert = insert

    def of(self, op: Operation) -> SSAValue:
        """Insert an operation; its first result."""
        self._insert(op)
        return op.results[0]

    def columns(self, table: SSAValue, names: Sequence[str]) -> SSAValue:
        """Columns of numbers of a table."""
        return self.of(ToMatrixOp.of(table, columns=ArrayAttr([StringAttr(name) for name in names])))

    def map(self, x: SSAValue, vectors: Sequence[SSAValue], function: Callable[..., Scalar]) -> SSAValue:
        """A function of every element of a matrix."""
        return self.of(matrix.MapOp.by(x, vectors, function))

    def units(self, size: int, places: Sequence[int]) -> SSAValue:
        """A column for each place, with a 1 there."""
        return self.of(matrix.UnitsOp.of(size=IntegerAttr(size, i64), which=ints(places)))

    def binary(self, sign: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Two tensors, which broadcast, combined element by element."""
        return self.of(_SIGNS[sign].of(a, b))

    def product(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The product of two matrices."""
        return self.of(graph.MatmulOp.of(a, b))

    def beside(self, tensors: Sequence[SSAValue]) -> SSAValue:
        """The columns of several tensors."""
        return self.of(graph.ConcatOp.of(*tensors, axis=IntegerAttr(1, i64)))

    def behind(self, tensors: Sequence[SSAValue]) -> SSAValue:
        """Several tensors along their first axis."""
        return tensors[0] if len(tensors) == 1 else self.of(graph.ConcatOp.of(*tensors, axis=IntegerAttr(0, i64)))

    def columns_sum(self, x: SSAValue) -> SSAValue:
        """The sum of each column."""
        return self.of(graph.ReduceSumOp.of(x, axes=ints([0]), keep_dims=BoolAttr.from_bool(False)))

    def slice(self, x: SSAValue, start: int, stop: int) -> SSAValue:
        """Some of the first axis."""
        bounds = {"axes": [0], "starts": [start], "stops": [stop], "steps": [1]}
        return self.of(graph.SliceOp.of(x, **{name: ints(values) for name, values in bounds.items()}))

    def flat(self, x: SSAValue) -> SSAValue:
        """A matrix of one row as a vector."""
        return self.of(graph.ReshapeOp.of(x, shape=DimsAttr(dims_of(x.type)[1:])))

    def number(self, number: Number, vectors: Sequence[SSAValue]) -> SSAValue:
        """A number of each column, as a vector, or as one element for all."""
        if isinstance(number, Vector):
            return vectors[number.place]
        if not isinstance(number, Combined):
            value = DenseIntOrFPElementsAttr.from_list(TensorType(f64, [1]), [number])
            return self.of(arith.ConstantOp(value))
        return self.binary(number.sign, self.number(number.left, vectors), self.number(number.right, vectors))

    def mapped(self, op: matrix.MapOp, vector: SSAValue) -> SSAValue:
        """What an affine map without anything filled in makes of one number of each column, rounded as it rounds."""
        values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, (vector, *op.vectors), strict=True))
        for inner in op.body.block.ops:
            match inner:
                case matrix.YieldOp():
                    return values[inner.value]
                case arith.ConstantOp(value=FloatAttr() as value):
                    values[inner.result] = self.number(value.value.data, [])
                case _:
                    values[inner.results[0]] = self.binary(SIGNS[type(inner)], *(values[v] for v in inner.operands))
        raise AssertionError("the verifier has seen the yield")

    def taken(self, vector: SSAValue, places: Sequence[int]) -> SSAValue:
        """The elements of a vector at these places."""
        [size] = dims_of(vector.type)
        if size == len(places) and list(places) == list(range(len(places))):
            return vector
        if list(places) == list(range(places[0], places[0] + len(places))):
            return self.slice(vector, places[0], places[0] + len(places))
        indices = arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(places)]), list(places)))
        return self.of(graph.GatherOp.of(vector, self.of(indices), axis=IntegerAttr(0, i64)))

    def not_negative(self, x: SSAValue) -> SSAValue:
        """The elements, 0 for those that rounding has made less."""
        return self.of(graph.MaxOp.of(x, self.number(0.0, [])))

    def column(self, vector: SSAValue, length: int) -> SSAValue:
        """A vector of that length, or one element for all, as a matrix of one column."""
        if dims_of(vector.type)[0] != length:
            return vector
        return self.of(graph.ReshapeOp.of(vector, shape=DimsAttr.of([length, 1])))

    def with_zeros_behind(self, x: SSAValue) -> SSAValue:
        """A matrix of double-precision numbers with another row, of zeros."""
        zeros = self.binary("*", self.slice(x, 0, 1), self.number(0.0, []))
        return self.of(graph.ConcatOp.of(x, zeros, axis=IntegerAttr(0, i64)))
