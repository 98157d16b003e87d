"""Matrix algebra in quoted functions: products, sums along an axis, equations, and cross-validation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import BoolAttr, DenseIntOrFPElementsAttr, IntegerAttr, TensorType, f64, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, const
from tilework.dialects import arith, graph
from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import FoldGramsOp, R2Op, SolveOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of
from tilework.frontends.quoted.values import Constant, Matrix, Number, Part, Value, not_known, text_of

SIGNS: Mapping[type[ast.operator], type[Operation]] = {
    ast.Add: graph.AddOp, ast.Sub: graph.SubOp, ast.Mult: graph.MulOp, ast.Div: graph.DivOp,
}  # fmt: skip
FUNCTIONS: Mapping[str, type[Operation]] = {
    "sqrt": graph.SqrtOp, "exp": graph.ExpOp, "log": graph.LogOp, "abs": graph.AbsOp,
}  # fmt: skip
REDUCTIONS: Mapping[str, type[Operation]] = {
    "sum": graph.ReduceSumOp, "mean": graph.ReduceMeanOp, "min": graph.ReduceMinOp, "max": graph.ReduceMaxOp,
}  # fmt: skip
BATCH = 2
"""The leading axes of what a cross-validation computes: folds, and values that are tried."""


@dataclass(frozen=True)
class Statistics:
    """What a training set is known by, for each fold and value: X'X, X'y, y'y, the sums of both, how many rows."""

    xx: Matrix
    xy: Matrix
    yy: Matrix
    sx: Matrix
    sy: Matrix
    n: Matrix


class Algebra:
    """Appends operations on matrices by `insert`. statistics: what stands for X and y where these are `Part`s."""

    def __init__(self, insert: Callable[[Operation], object], statistics: Statistics | None = None):
        self._insert = insert
        self._statistics = statistics

    def matrix(self, node: ast.AST, value: Value) -> Matrix:
        """A matrix, or a number as one without axes. Raises NotKnown for anything else."""
        match value:
            case Matrix():
                return value
            case Number(value=inner, labels=None):
                return Matrix(inner)
            case Constant(value=int() | float() as number):
                return self.constant([float(number)], [])
            case Part():
                raise not_known(node, f"{text_of(node)} reads rows: of X and y a fit knows X.T @ X, X.T @ y and sums")
            case _:
                raise not_known(node, f"{text_of(node)} is no matrix and no number")

    def constant(self, values: Sequence[float], shape: Sequence[int], batch: int = 0) -> Matrix:
        """Numbers that are known."""
        array = DenseIntOrFPElementsAttr.from_list(TensorType(f64, list(shape)), list(values))
        return Matrix(self._of(arith.ConstantOp(array)), batch)

    def computed(self, node: ast.AST, op: type[ast.operator], a: Value, b: Value) -> Value:
        """Two matrices or numbers, combined element by element."""
        if op is ast.MatMult:
            return self._number(self.product(node, a, b))
        return self._number(self._binary(node, SIGNS[op], self.matrix(node, a), self.matrix(node, b)))

    def product(self, node: ast.AST, a: Value, b: Value) -> Matrix:
        """The product of matrices and vectors, as numpy's `@`."""
        if isinstance(a, Part) and isinstance(b, Part):
            return self._product_of_rows(node, a, b)
        left, right = self.matrix(node, a), self.matrix(node, b)
        ranks = _rank(left), _rank(right)
        if not {*ranks} <= {1, 2}:
            raise not_known(node, f"{text_of(node)} multiplies what is neither a matrix nor a vector")
        x = left if ranks[0] == 2 else self._with_axis(left, left.batch)
        y = right if ranks[1] == 2 else self._with_axis(right, right.batch + 1)
        made = Matrix(self._checked(node, graph.MatmulOp, x.value, y.value), max(x.batch, y.batch))
        kept = [axis for axis, rank in zip((0, 1), ranks, strict=True) if rank == 2]
        dims = dims_of(made.value.type)
        return self._shaped(made, [*dims[: made.batch], *(dims[made.batch + axis] for axis in kept)])

    def transposed(self, node: ast.AST, value: Value) -> Value:
        """x.T"""
        if isinstance(value, Part):
            return Part(value.name, not value.transposed)
        x = self.matrix(node, value)
        if _rank(x) < 2:
            return x
        order = [*range(x.batch), x.batch + 1, x.batch]
        return Matrix(self._of(graph.TransposeOp.of(x.value, permutation=ints(order))), x.batch)

    def reduced(self, node: ast.AST, value: Value, method: str, axis: int | None) -> Value:
        """The sum, the mean, the least or the greatest of all elements, or of those along an axis."""
        if isinstance(value, Part):
            return self._sum_of_rows(node, value, method, axis)
        x = self.matrix(node, value)
        if axis is not None and not -_rank(x) <= axis < _rank(x):
            raise not_known(node, f"{text_of(node)}: there is no axis {axis}")
        axes = [*range(_rank(x))] if axis is None else [axis % _rank(x)]
        kept: dict[str, Any] = {"axes": ints([x.batch + a for a in axes]), "keep_dims": BoolAttr.from_bool(False)}
        reduce: Any = REDUCTIONS[method]
        return self._number(Matrix(self._of(reduce.of(x.value, **kept)), x.batch))

    def solved(self, node: ast.AST, a: Value, b: Value) -> Matrix:
        """The x with a @ x = b, for a vector or a matrix b."""
        left, right = self.matrix(node, a), self.matrix(node, b)
        is_vector = _rank(right) == 1
        y = self._with_axis(right, right.batch + 1) if is_vector else right
        made = Matrix(self._checked(node, SolveOp, left.value, y.value), max(left.batch, y.batch))
        return self._shaped(made, dims_of(made.value.type)[:-1]) if is_vector else made

    def identity(self, size: int) -> Matrix:
        """eye(size)"""
        return self.constant([float(i == j) for i in range(size) for j in range(size)], [size, size])

    def function(self, node: ast.AST, name: str, value: Value) -> Value:
        """A function of every element."""
        x, operator = self.matrix(node, value), FUNCTIONS[name]
        made: Any = operator
        return self._number(Matrix(self._of(made.of(x.value)), x.batch))

    def count(self, node: ast.AST, value: Value) -> Matrix:
        """How many rows a training set has. Raises NotKnown for anything else."""
        if not isinstance(value, Part) or self._statistics is None:
            raise not_known(node, f"{text_of(node)} is no table")
        return self._statistics.n

    # -- cross-validation

    def statistics(self, node: ast.AST, x: Matrix, y: Matrix, folds: int) -> tuple[Statistics, Statistics]:
        """Those of each training set and of each fold that is held out, whose products are about its own means."""
        if _rank(x) != 2 or _rank(y) != 1 or x.batch or y.batch:
            raise not_known(node, "cross_validate takes a matrix and a vector")
        target = self._with_axis(y, 1)
        ones = self._binary(node, graph.AddOp, self._binary(node, graph.MulOp, target, self.constant([0.0], [])),
                            self.constant([1.0], []))  # fmt: skip
        rows = [x.value, target.value, ones.value]
        beside = self._checked(node, graph.ConcatOp, *rows, axis=IntegerAttr(1, i64))
        columns = dims_of(x.value.type)[1].constant
        assert columns is not None
        made = self._checked(node, FoldGramsOp, beside, folds=IntegerAttr(folds, i64)).owner
        assert isinstance(made, FoldGramsOp)
        grams, others, centred = (self._parts(value, columns) for value in made.results)
        return others, replace(centred, sx=grams.sx, sy=grams.sy, n=grams.n)

    def r2(self, node: ast.AST, weights: Value, held_out: Statistics, tried: Matrix) -> Matrix:
        """The share of the target's squares that a fit explains, for each value that is tried and each fold."""
        w = self.matrix(node, weights)
        if w.batch != BATCH or _rank(w) != 1:
            raise not_known(node, f"{text_of(node)} fits no vector of weights to what is known of X and y")
        two = self.constant([2.0], [])
        explained = self._binary(node, graph.MulOp, two, self.product(node, w, held_out.xy))
        squares = self.product(node, w, self.product(node, held_out.xx, w))
        varying = self._binary(node, graph.AddOp, self._binary(node, graph.SubOp, held_out.yy, explained), squares)
        left = self._binary(node, graph.SubOp, held_out.sy, self.product(node, w, held_out.sx))
        square = self._binary(node, graph.DivOp, self._binary(node, graph.MulOp, left, left), held_out.n)
        error = self._binary(node, graph.AddOp, varying, square)
        scores = Matrix(self._checked(node, R2Op, error.value, held_out.yy.value, held_out.n.value), BATCH)
        nothing = self._binary(node, graph.MulOp, tried, self.constant([0.0], []))  # a fit may not read the value
        every = self._binary(node, graph.AddOp, scores, nothing)
        return Matrix(self._of(graph.TransposeOp.of(every.value, permutation=ints([1, 0]))))

    def _parts(self, grams: SSAValue, columns: int) -> Statistics:
        """What stands in X'X of the columns of X, y and 1, of each fold."""
        y, one = columns, columns + 1

        def part(rows: tuple[int, int], across: tuple[int, int]) -> Matrix:
            starts, stops = zip(rows, across, strict=True)
            places = {"axes": ints([1, 2]), "starts": ints(starts), "stops": ints(stops), "steps": ints([1, 1])}
            cut = Matrix(self._of(graph.SliceOp.of(grams, **places)))
            sizes = [const(b - a) for a, b in (rows, across) if b - a > 1 or (a, b) == (0, columns)]
            return Matrix(self._shaped(cut, [dims_of(grams.type)[0], const(1), *sizes]).value, BATCH)

        x, target, count = (0, columns), (y, y + 1), (one, one + 1)
        return Statistics(
            part(x, x), part(x, target), part(target, target), part(x, count), part(target, count), part(count, count)
        )

    def _product_of_rows(self, node: ast.AST, a: Part, b: Part) -> Matrix:
        """X.T @ X, X.T @ y and the like. Raises NotKnown for what is no sum over rows."""
        s = self._statistics
        assert s is not None
        match (a.name, a.transposed or a.name == "y"), (b.name, b.transposed and b.name == "X"):
            case ("X", True), ("X", False):
                return s.xx
            case (("X", True), ("y", False)) | (("y", True), ("X", False)):
                return s.xy
            case ("y", True), ("y", False):
                return s.yy
            case _:
                raise not_known(node, f"{text_of(node)} is no sum over the rows of a training set")

    def _sum_of_rows(self, node: ast.AST, value: Part, method: str, axis: int | None) -> Matrix:
        s = self._statistics
        assert s is not None
        wanted = 1 if value.transposed and value.name == "X" else 0
        if method not in ("sum", "mean") or (axis != wanted and not (value.name == "y" and axis is None)):
            raise not_known(node, f"{text_of(node)} is no sum over the rows of a training set")
        total = s.sx if value.name == "X" else s.sy
        return total if method == "sum" else self._binary(node, graph.DivOp, total, s.n)

    # -- operations

    def _binary(self, node: ast.AST, operator: Any, a: Matrix, b: Matrix) -> Matrix:
        rank = max(_rank(a), _rank(b))
        left, right = (self._padded(x, rank) for x in (a, b))
        return Matrix(self._checked(node, operator, left.value, right.value), max(a.batch, b.batch))

    def _padded(self, x: Matrix, rank: int) -> Matrix:
        """The same with axes of one element behind the batch, so that the trailing ones are aligned."""
        if not x.batch or _rank(x) == rank:
            return x
        dims = dims_of(x.value.type)
        return self._shaped(x, [*dims[: x.batch], *[const(1)] * (rank - _rank(x)), *dims[x.batch :]])

    def _with_axis(self, x: Matrix, place: int) -> Matrix:
        dims = dims_of(x.value.type)
        return self._shaped(x, [*dims[:place], const(1), *dims[place:]])

    def _shaped(self, x: Matrix, dims: Sequence[Expr]) -> Matrix:
        if list(dims) == list(dims_of(x.value.type)):
            return x
        return Matrix(self._of(graph.ReshapeOp.of(x.value, shape=DimsAttr.of(list(dims)))), x.batch)

    def _number(self, x: Matrix) -> Value:
        """A matrix without axes is a number."""
        return Number(x.value) if not x.batch and not _rank(x) else x

    def _checked(self, node: ast.AST, operator: Any, *operands: SSAValue, **properties: Any) -> SSAValue:
        """The result of an operator. Raises NotKnown where the sizes do not fit."""
        try:
            return self._of(operator.of(*operands, **properties))
        except VerifyException as error:
            raise not_known(node, f"{text_of(node)}: {error}") from None

    def _of(self, op: Operation) -> SSAValue:
        self._insert(op)
        return op.results[0]


def _rank(x: Matrix) -> int:
    return len(dims_of(x.value.type)) - x.batch
