"""Programs on rows become programs on sums over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    StringAttr,
    f64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from tilework.analysis.affine_maps import affine_of
from tilework.analysis.functions import body_of
from tilework.analysis.statistics_basis import ONE, Basis, Part
from tilework.dialects import graph, matrix
from tilework.dialects.bag import BagType, OneHotOp, ToMatrixOp
from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import MatrixType
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.transforms.base import TileworkPass
from tilework.transforms.matrix.writer import TensorWriter

ROWS = "rows"
"""What the function is called that sums over rows."""


@dataclass(frozen=True)
class SplitStatistics(TileworkPass):
    """Let functions that know rows only by sums over them take these sums, and let one function compute all of these.

        func.func @fit(%t: !bag.bag<N x [age: f64, town: !bag.dict<3>]>) -> ... {
          %x = bag.to_matrix %t {columns = ["age"]}
          %mean, %variance, %known = matrix.moments %x
    ->
        func.func @rows(%t: !bag.bag<N x [age: f64, town: !bag.dict<3>]>, %shift: tensor<5x1xf64>) -> tensor<5x5xf64> {
          %z = 1, the ages about their shift, whether the town is each of three
          %sums = matrix.gram %z
        func.func @fit(%shift: tensor<5x1xf64>, %sums: tensor<5x5xf64>) -> ... {
          %mean, %variance, %known = tensors computed of %sums

    Means, variances and scatters of columns that are affine in the numbers of a row follow from the sums of products of
    these numbers. Sums of parts of the rows are added, so that the same functions serve training sets that share rows,
    and the fit of each preprocessing step in each of them takes no row again. This is an algorithm and no pattern: what
    is summed for one function depends on what all others need. Requires that what else functions do with rows is
    `bag.to_matrix`, `bag.one_hot`, affine maps, columns, products with tensors; refuses anything else, with its name.
    Where a function asks for the least or the greatest of a column of the table, these are taken in the same pass.
    Arguments of the same number of rows are one table.
    """

    name = "matrix-split-statistics"
    numerics: ClassVar[Literal["exact", "reassociates"]] = "reassociates"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        functions = [f for f in op.ops if isinstance(f, FuncOp) and any(map(_is_table, f.function_type.inputs))]
        if not functions:
            return
        tables = [_tables(function) for function in functions]
        first = next(iter(tables[0].values()))
        for table in (t for found in tables for t in found.values()):
            if _without_rows(table) != _without_rows(first):
                raise CompileError("the functions take tables of different columns, which have no sums in common", op)
        ordered = any(isinstance(inner, matrix.ExtremesOp) for f in functions for inner in body_of(f).ops)
        rows = _sums_of_rows([argument.type for argument in first], ordered=ordered)
        for function, found in zip(functions, tables, strict=True):
            _Rewriting(function, Basis.of([a.type for a in first]), ordered=ordered).run(list(found.values()))
        op.body.block.insert_op_before(rows, functions[0])


def _is_table(type_: Attribute) -> bool:
    return isinstance(type_, BagType | MatrixType)


def _tables(function: FuncOp) -> dict[str, list[BlockArgument]]:
    """The arguments on the same rows, by what their number is called."""
    found: dict[str, list[BlockArgument]] = {}
    for argument in body_of(function).args:
        if isinstance(argument.type, BagType | MatrixType):
            found.setdefault(str(argument.type.rows), []).append(argument)
    return found


def _without_rows(table: Sequence[SSAValue]) -> list[Attribute]:
    """The types of arguments, whatever the number of their rows."""
    types = [argument.type for argument in table]
    bags = [BagType.of(0, t.columns, t.may_be_missing) for t in types if isinstance(t, BagType)]
    return [*bags, *(MatrixType.of(0, t.element_type, t.names) for t in types if isinstance(t, MatrixType))]


# -- the sums


def _sums_of_rows(types: Sequence[Attribute], *, ordered: bool) -> FuncOp:
    """The function that sums the products of the numbers of rows; the extremes of columns with them, if wanted."""
    basis = Basis.of(types)
    block = Block(arg_types=[*types, tensor_type((basis.size, 1), f64)])
    write = TensorWriter(block.add_op)
    *tables, shift = block.args
    shift.name_hint = "shift"
    numbers: list[SSAValue] = []
    for table, part in zip(tables, basis.parts, strict=True):
        if part.values:
            numbers.append(_about_shift(write, table, part, shift))
        if part.optional:
            numbers.append(write.map(write.columns(table, part.optional), [], _is_there))
        numbers += [write.of(OneHotOp.of(table, column=StringAttr(name), dtype=f64)) for name in part.codes]
    first = write.of(matrix.ColumnsOp.of(numbers[0], which=ints([0])))
    ones = write.map(first, [], _one)
    sums = write.of(matrix.GramOp.of(write.of(matrix.ConcatOp.of(ones, *numbers))))
    results = [sums, *(_extremes(write, tables, basis) if ordered else [])]
    block.add_op(ReturnOp(*results))
    return FuncOp(ROWS, (list(block.arg_types), [value.type for value in results]), Region(block))


def _extremes(write: TensorWriter, tables: Sequence[SSAValue], basis: Basis) -> list[SSAValue]:
    """The least and the greatest of each column of numbers, of all tables."""
    ends: list[Sequence[SSAValue]] = []
    for table, part in zip(tables, basis.parts, strict=True):
        if part.values:
            values = table if isinstance(table.type, MatrixType) else write.columns(table, [*part.values])
            extremes = matrix.ExtremesOp.of(values)
            write.of(extremes)
            ends.append(extremes.results)
    return [write.behind([both[i] for both in ends]) for i in range(2)]


def _about_shift(write: TensorWriter, table: SSAValue, part: Part, shift: SSAValue) -> SSAValue:
    """The values of columns without their shift, 0 where they are missing."""
    places = [*part.values.values()]
    own = write.slice(shift, places[0], places[-1] + 1)
    vector = write.of(graph.ReshapeOp.of(own, shape=DimsAttr.of([len(places)])))
    values = table if isinstance(table.type, MatrixType) else write.columns(table, [*part.values])

    def function(k: KernelBuilder, v: Scalar, s: Scalar) -> Scalar:
        moved = v - s
        return k.select(v.compare("ne", v), k.constant(0.0, f64), moved) if part.optional else moved

    return write.map(values, [vector], function)


def _one(k: KernelBuilder, v: Scalar) -> Scalar:
    return k.constant(1.0, f64)


def _is_there(k: KernelBuilder, v: Scalar) -> Scalar:
    return k.select(v.compare("ne", v), k.constant(0.0, f64), 1.0)


# -- programs on sums


@dataclass(frozen=True)
class _Form:
    """A matrix of rows as a product: of the numbers of the basis with `weights`, where `there` is 1.

    Both are a column for each of the matrix's: `there` has a 1 in the place of the number that says whether an element
    is there.
    """

    sums: SSAValue
    weights: SSAValue
    there: SSAValue


class _Rewriting:
    """Rewrites one function: operations on rows in order, each by what its operands are in the basis."""

    def __init__(self, function: FuncOp, basis: Basis, *, ordered: bool):
        self._function = function
        self._basis = basis
        self._ordered = ordered
        self._ends: dict[SSAValue, Sequence[SSAValue]] = {}
        self._columns: dict[SSAValue, list[int]] = {}
        self._block = body_of(function)
        self._forms: dict[SSAValue, _Form] = {}
        self._places: dict[SSAValue, tuple[SSAValue, Part]] = {}

    def run(self, tables: Sequence[Sequence[BlockArgument]]) -> None:
        """Let the function take the shift and the sums of each table in the places of the tables."""
        block, size = self._block, self._basis.size
        self._shift = block.insert_arg(tensor_type((size, 1), f64), 0)
        self._shift.name_hint = "shift"
        vector = tensor_type((len(self._basis.values),), f64)
        wanted = [("sums", tensor_type((size, size), f64)), *([("low", vector), ("high", vector)] * self._ordered)]
        for n, table in enumerate(tables):
            sums, *ends = (block.insert_arg(type_, 1 + n * len(wanted) + i) for i, (_, type_) in enumerate(wanted))
            for value, (hint, _) in zip((sums, *ends), wanted, strict=True):
                value.name_hint = hint
            self._ends[sums] = ends
            for argument, part in zip(table, self._basis.parts, strict=True):
                self._places[argument] = (sums, part)
                if isinstance(argument.type, MatrixType):
                    self._forms[argument] = self._values(sums, part, [*part.values], None)
                    self._columns[argument] = [*part.values.values()]
        done: list[Operation] = []
        for op in list(block.ops):
            if any(value in self._forms or value in self._places for value in op.operands):
                self._rewrite(op)
                done.append(op)
        for op in reversed(done):
            op.detach()
            op.erase()
        for argument in [a for table in tables for a in table]:
            block.erase_arg(argument)
        results = list(self._function.function_type.outputs)
        self._function.function_type = FunctionType.from_lists(list(block.arg_types), results)

    def _rewrite(self, op: Operation) -> None:
        write = self._writer(op)
        match op:
            case ToMatrixOp():
                sums, part = self._places[op.input]
                names = [name.data for name in op.columns]
                self._forms[op.result] = self._values(sums, part, names, op)
                self._columns[op.result] = [part.values[name] for name in names]
            case OneHotOp():
                sums, part = self._places[op.input]
                first = part.codes[op.column.data]
                places = range(first, first + op.known_values)
                self._forms[op.result] = _Form(sums, write.units(self._basis.size, places), self._always(write, op))
            case matrix.MapOp():
                self._forms[op.result] = self._mapped(write, op)
            case matrix.ConcatOp():
                forms = [self._forms[x] for x in op.inputs]
                weights, there = (
                    write.beside([getattr(form, name) for form in forms]) for name in ("weights", "there")
                )
                self._forms[op.result] = _Form(forms[0].sums, weights, there)
            case matrix.ColumnsOp():
                form, chosen = self._forms[op.input], write.units(len(_type(op.input).origins), op.which.get_values())
                weights, there = (write.product(x, chosen) for x in (form.weights, form.there))
                self._forms[op.result] = _Form(form.sums, weights, there)
            case matrix.MatmulOp():
                form = self._forms[op.input]
                weights = write.product(form.weights, op.weight)
                self._forms[op.result] = _Form(form.sums, weights, self._always(write, op))
            case matrix.MomentsOp():
                self._moments(write, op)
            case matrix.CovarianceOp():
                self._covariance(write, op)
            case matrix.ExtremesOp() if op.input in self._columns:
                places = [self._basis.values.index(place) for place in self._columns[op.input]]
                ends = self._ends[self._forms[op.input].sums]
                for result, end in zip(op.results, ends, strict=True):
                    result.replace_all_uses_with(write.taken(end, places))
            case matrix.CountOp():
                first = write.slice(self._forms[op.input].sums, ONE, ONE + 1)
                ones = write.units(self._basis.size, [ONE] * len(_type(op.input).origins))
                op.result.replace_all_uses_with(write.flat(write.product(first, ones)))
            case _:
                raise CompileError(f"{op.name} is no sum over rows of what is affine in them", op)

    def _values(self, sums: SSAValue, part: Part, names: Sequence[str], before: Operation | None) -> _Form:
        """Columns of numbers: their place about the shift, and the shift where they are there."""
        write = self._writer(before)
        own = write.units(self._basis.size, [part.values[name] for name in names])
        there = write.units(self._basis.size, [part.there[name] for name in names])
        shift = write.columns_sum(write.binary("*", own, self._shift))
        return _Form(sums, write.binary("+", own, write.binary("*", there, shift)), there)

    def _writer(self, before: Operation | None) -> TensorWriter:
        """What inserts in front of an operation, or of all."""
        place = before or self._block.first_op
        assert place is not None
        return TensorWriter(lambda op: self._block.insert_op_before(op, place))

    def _always(self, write: TensorWriter, op: Operation) -> SSAValue:
        return write.units(self._basis.size, [ONE] * _type(op.results[0]).columns)

    def _mapped(self, write: TensorWriter, op: matrix.MapOp) -> _Form:
        form, affine = self._forms[op.input], affine_of(op)
        if affine is None:
            raise CompileError("the map is not affine, so that no sum of what it makes follows from other sums", op)
        vectors = list(op.vectors)
        weights = write.binary("*", form.weights, write.number(affine.factor, vectors))
        offset = write.binary("*", form.there, write.number(affine.offset, vectors))
        weights = write.binary("+", weights, offset)
        if affine.fill is None:
            return _Form(form.sums, weights, form.there)
        always = self._always(write, op)
        missing = write.binary("-", always, form.there)
        filled = write.binary("*", missing, write.number(affine.fill, vectors))
        return _Form(form.sums, write.binary("+", weights, filled), always)

    def _centred(self, write: TensorWriter, form: _Form) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The mean of each column, how many elements are there, and the weights of what differs from the mean."""
        first = write.slice(form.sums, ONE, ONE + 1)
        total, count = (write.flat(write.product(first, x)) for x in (form.weights, form.there))
        mean = write.binary("/", total, count)
        return mean, count, write.binary("-", form.weights, write.binary("*", form.there, mean))

    def _moments(self, write: TensorWriter, op: matrix.MomentsOp) -> None:
        form = self._forms[op.input]
        mean, count, centred = self._centred(write, form)
        squares = write.columns_sum(write.binary("*", centred, write.product(form.sums, centred)))
        variance = write.binary("/", squares, count)
        for result, value in zip(op.results, (mean, variance, count), strict=True):
            result.replace_all_uses_with(value)

    def _covariance(self, write: TensorWriter, op: matrix.CovarianceOp) -> None:
        form = self._forms[op.input]
        mean, count, centred = self._centred(write, form)
        transposed = write.of(graph.TransposeOp.of(centred, permutation=ints([1, 0])))
        scatter = write.product(transposed, write.product(form.sums, centred))
        rows = write.of(graph.ReshapeOp.of(write.slice(count, 0, 1), shape=DimsAttr.of([])))
        for result, value in zip(op.results, (mean, scatter, rows), strict=True):
            result.replace_all_uses_with(value)


def _type(value: SSAValue) -> MatrixType:
    assert isinstance(value.type, MatrixType)
    return value.type
